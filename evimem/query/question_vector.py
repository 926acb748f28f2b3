"""The vector of a question, where the embedder gives one: a text that it refuses is searched for by its words."""

from __future__ import annotations

import logging
from typing import Any

from ..errors import DimensionMismatch, EmbedderError
from ..flow import Flow, embed

_PROBE = ("hello",)  # what any embedder can embed
_LOG = logging.getLogger("evimem")


def question_vector(text: str, *, warn: bool = True) -> Flow[Any]:
    """Return the vector of a question, shape (dimension,); None, with a warning in the log, where it is refused.

    Raise EmbedderError where the embedder cannot be reached, or DimensionMismatch where it is another than the memory
    was built with.
    """
    try:
        return (yield from embed([text]))[0]
    except (EmbedderError, DimensionMismatch) as error:
        if not (yield from is_of_texts(error)):
            raise
        if warn:
            _LOG.warning("a question is searched for by its words alone: the embedder refused it (%s)", cause_of(error))
        return None


def is_of_texts(error: EmbedderError | DimensionMismatch) -> Flow[bool]:
    """Return whether the texts are why an embedder failed: it says so, or a text that cannot be is embedded."""
    if isinstance(error, EmbedderError) and (error.of_texts is not None or error.retry_after is not None):
        return bool(error.of_texts)
    try:
        yield from embed(_PROBE)
    except (EmbedderError, DimensionMismatch):
        return False
    return True


def cause_of(error: BaseException) -> str:
    """Return the type of what an embedder raised: its words may quote the text."""
    return type(error.__cause__ or error).__name__
