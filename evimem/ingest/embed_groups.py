"""Embed texts in groups: the passages of each turn, the facts of each turn. One text that fails is no outage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import TypeAlias

from ..errors import DimensionMismatch, EmbedderError
from ..flow import Flow, embed
from ..index.document import embedding_texts
from ..query.question_vector import cause_of, is_of_texts
from ..types.attempt import attempt
from ..types.values import Turn
from ..types.vectors import Vectors


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A group with a text for which the embedder fails; `error` is the type of what it raised."""

    error: str


Embedded: TypeAlias = "Vectors | Unembedded"


def embed_groups(groups: Iterable[Sequence[str]]) -> Flow[list[Embedded]]:
    """Return the vectors of each group of texts, float32 of shape (texts in the group, dimension), in order.

    They are asked for with one request. Where that fails though the embedder works, by halves, until the groups are
    found that it fails for. Raise EmbedderError where it cannot be reached, or DimensionMismatch where it is another
    than the memory was built with; then no group has vectors.
    """
    texts = list(groups)
    try:
        vectors = yield from embed(list(chain.from_iterable(texts)))
    except (EmbedderError, DimensionMismatch) as error:
        if not (yield from is_of_texts(error)):
            raise
        if len(texts) == 1:
            return [Unembedded(cause_of(error))]
        half = len(texts) // 2
        return (yield from embed_groups(texts[:half])) + (yield from embed_groups(texts[half:]))
    bounds = accumulate(map(len, texts), initial=0)
    return [vectors[start:end] for start, end in pairwise(bounds)]


def embed_turns(
    turns: Sequence[tuple[Turn, int | None]], further: Sequence[Sequence[str]] = ()
) -> Flow[list[Embedded]]:
    """Return the vectors of the passages of each turn, given the number of its rows, and of further groups of texts."""
    read = [attempt((), embedding_texts, turn, rows) for turn, rows in turns]
    vectors = yield from embed_groups([*(one.value for one in read), *further])
    own = [one if texts.error is None else Unembedded(texts.error) for texts, one in zip(read, vectors, strict=False)]
    return [*own, *vectors[len(turns) :]]


def embedded(found: Embedded | None) -> Vectors | None:
    """Return the vectors of a group, None where it has none."""
    return None if isinstance(found, Unembedded) else found
