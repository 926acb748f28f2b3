"""The vectors of what is asked: where the embedder gives none, a question is searched for by its words."""

from __future__ import annotations

import logging
from typing import Any

from ..errors import DimensionMismatch, EmbedderError
from ..flow import Flow, embed

_PROBE = ("hello",)  # what any embedder can embed
_LOG = logging.getLogger("evimem")


class QuestionVectors:
    """The vectors of the queries of one question, each embedded once.

    Where the embedder fails, that query and all further ones are searched for by their words: a question is not refused
    for what is derived from it, nor does it wait again and again for a service that is down.

    Attributes:
        by_words: The queries without a vector that nobody has been told of yet.
    """

    def __init__(self) -> None:
        self.by_words: tuple[str, ...] = ()
        self._vectors: dict[str, Any] = {}
        self._failed = False

    def of(self, text: str) -> Flow[Any]:
        """Return the vector of a query, shape (dimension,); None, with one warning in the log, where there is none.

        Raise DimensionMismatch where the embedder is another than the memory was built with.
        """
        if text not in self._vectors:
            self._vectors[text] = None if self._failed else (yield from self._embedded(text))
            self.by_words += (text,) if self._vectors[text] is None else ()
        return self._vectors[text]

    def _embedded(self, text: str) -> Flow[Any]:
        try:
            return (yield from embed([text]))[0]
        except EmbedderError as error:
            failure: Exception = error
        except DimensionMismatch as error:
            if not (yield from is_of_texts(error)):
                raise
            failure = error
        self._failed = True
        _LOG.warning("a question is searched for by its words alone: the embedder failed (%s)", cause_of(failure))
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
