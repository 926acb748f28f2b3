"""MemR3 over another library's index: chunks of 256 tokens, found by BM25, the best twenty reranked by an embedding.

    python chunk_index.py alice.evimem "Who looks after the dog?"

A chunk is one `Turn`: what a backend returns may be of any size. The model is one behind an OpenAI-compatible endpoint
(OPENAI_BASE_URL, OPENAI_API_KEY); without the key, the loop decides and answers without one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby

from rank_bm25 import BM25Okapi

import evimem
from evimem.embedding import count_tokens

SIZE, CANDIDATES = 256, 20  # tokens of a chunk; chunks that are reranked


def chunks(turns: Iterable[evimem.Turn]) -> Iterator[evimem.Turn]:
    """Join whole turns of a session to chunks of at most SIZE tokens, or of one turn that is longer."""
    for session, said in groupby(turns, key=lambda turn: turn.session):
        parts: list[tuple[evimem.Turn, str]] = []
        for turn in said:
            line = f"{turn.speaker}: {turn.text}"
            if parts and count_tokens("\n".join((*(one for _, one in parts), line))) > SIZE:
                yield evimem.Turn(parts[0][0].id, session, "chat", "\n".join(one for _, one in parts), parts[0][0].time)
                parts = []
            parts.append((turn, line))
        yield evimem.Turn(parts[0][0].id, session, "chat", "\n".join(one for _, one in parts), parts[0][0].time)


class Reranked:
    """A searcher: `search(query, k, exclude=ids)` is all that a loop asks of it."""

    def __init__(self, found: Iterable[evimem.Turn]) -> None:
        self.chunks, self.embedder = list(found), evimem.StaticEmbedder()
        self.index = BM25Okapi([chunk.text.lower().split() for chunk in self.chunks])
        self.vectors = self.embedder.embed([chunk.text for chunk in self.chunks])

    def search(self, query: str, k: int, *, exclude: Collection[str] = ()) -> list[evimem.Hit]:
        words, cosines = self.index.get_scores(query.lower().split()), self.vectors @ self.embedder.embed([query])[0]
        allowed = [row for row, chunk in enumerate(self.chunks) if chunk.id not in exclude]
        candidates = sorted(allowed, key=lambda row: -words[row])[:CANDIDATES]
        best = sorted(candidates, key=lambda row: -cosines[row])[:k]
        return [evimem.Hit(self.chunks[row], (), float(cosines[row])) for row in best]


if __name__ == "__main__":
    with evimem.open(sys.argv[1]) as memory:
        said = list(memory.turns())
    model = evimem.OpenAI(os.environ.get("MODEL", "gpt-4o-mini")) if "OPENAI_API_KEY" in os.environ else None
    answer = evimem.ask_searcher(sys.argv[2], Reranked(chunks(said)), llm=model, speakers={one.speaker for one in said})
    print(answer)
    print(*(f"searched for: {event.query}" for event in answer.trace if event.kind == "query"), sep="\n")
