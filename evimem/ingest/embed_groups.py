"""Embed texts in groups with one request: the passages of each turn, the facts of each turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise

from ..flow import Flow, embed
from ..types.vectors import Vectors


def embed_groups(groups: Iterable[Sequence[str]]) -> Flow[list[Vectors]]:
    """Return the vectors of each group of texts, float32 of shape (texts in the group, dimension), in order.

    Raise EmbedderError where the embedder fails; then no group has vectors.
    """
    texts = list(groups)
    vectors = yield from embed(list(chain.from_iterable(texts)))
    bounds = accumulate(map(len, texts), initial=0)
    return [vectors[start:end] for start, end in pairwise(bounds)]
