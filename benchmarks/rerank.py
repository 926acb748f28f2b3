"""R@10 of a search with a reranker, on labelled chats: `python -m benchmarks.rerank CHATS ...`.

Without a reranker; with one that knows the gold turns (what reordering the first hits can reach at all), one that draws
lots by a digest of query and text (what it can lose), one that counts words of the question, and any of the reader's:
`--reranker MODULE:NAME`, a reranker or a function that makes one, or `--endpoint URL --model NAME`, with the key in
RERANK_API_KEY. `--texts` and `--tokens` bound what is sent, as `evimem.Reranking` does.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

import evimem
from evimem.text.terms import terms

from .recording import add_result, data_set, record
from .scoring.estimates import estimate
from .scoring.labelled_chats import LabelledChat, read_chats
from .scoring.result_file import Cell, ResultTable
from .scoring.retrieval_metrics import recall

K = 10
CHATS = Path(__file__).parent / "chats"


class GoldReranker:
    """Puts the texts of gold turns first: set `gold` to their words before each search."""

    def __init__(self) -> None:
        self.gold: tuple[str, ...] = ()

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return 1 for each text that is a gold turn's, or its first passage."""
        return [float(any(_words(text) in gold for gold in self.gold)) for text in texts]


def draw_lots(query: str, texts: Sequence[str]) -> list[float]:
    """Return a number a text that depends on nothing but the two texts, and means nothing."""
    return [
        float(int.from_bytes(blake2b(f"{query}\n{text}".encode(), digest_size=6).digest(), "big")) for text in texts
    ]


def count_words(query: str, texts: Sequence[str]) -> list[float]:
    """Return how many of the terms of a query each text has."""
    wanted = set(terms(query))
    return [float(len(wanted & set(terms(text)))) for text in texts]


def measure(chats: Sequence[LabelledChat], rerankers: Mapping[str, Any], bounds: Mapping[str, Any]) -> ResultTable:
    """Return the table of R@10 by reranker, with how many questions each changes."""
    found: dict[str, list[tuple[str, float]]] = {name: [] for name in rerankers}
    failed = dict.fromkeys(rerankers, 0)
    for chat in chats:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "chat.evimem"
            with evimem.open(path) as memory:
                memory.extend(chat.turns)
                memory.enrich()
            for name, reranker in rerankers.items():
                reranking = None if reranker is None else evimem.Reranking(reranker, **bounds)
                with evimem.open(path, reranker=reranking) as memory:
                    found[name] += [(chat.name, one) for one in _recalls(memory, chat, reranker)]
                failed[name] += 0 if reranking is None else reranking.failed
    rows: list[tuple[Cell, ...]] = []
    for name, scores in found.items():
        changed = sum(one != own for one, own in zip(scores, found["none"], strict=True))
        mean = estimate(scores, lambda one: one[1], lambda one: one[0])
        rows.append((name, mean, changed, failed[name], len(scores)))
    columns = ("reranker", "R@10", "questions changed", "calls failed", "questions")
    return ResultTable("rerank", "Reranked searches", columns, tuple(rows))


def _recalls(memory: evimem.Memory, chat: LabelledChat, reranker: Any) -> Iterator[float]:
    texts = {turn.id: _words(f"{turn.speaker}: {turn.text} {turn.caption or ''}") for turn in chat.turns}
    for question in chat.questions:
        gold = [turn_id for turn_id in question.evidence if turn_id in texts]
        if not gold or question.answer is None:
            continue
        if isinstance(reranker, GoldReranker):
            reranker.gold = tuple(texts[turn_id] for turn_id in gold)
        hits = memory.search(question.text, K, asked_at=question.asked_at)
        yield recall([hit.turn.id for hit in hits], gold, K)


def _words(text: str) -> str:
    return " ".join(text.split())


def load_reranker(place: str) -> Any:
    """Return the reranker that "module:name" is, or makes."""
    module, _, name = place.partition(":")
    found = getattr(import_module(module), name)
    return found() if isinstance(found, type) else found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chats", type=data_set("chats"), nargs="*", default=[CHATS])
    parser.add_argument("--reranker", metavar="MODULE:NAME", help="a reranker of yours")
    parser.add_argument("--endpoint", metavar="URL", help="the root of a /rerank endpoint")
    parser.add_argument("--model", default="default", help="the model that the endpoint is asked for")
    parser.add_argument("--texts", type=int, default=50, help="hits of a search that are reranked")
    parser.add_argument("--tokens", type=int, default=512, help="tokens of each text that are sent")
    parser.add_argument("--seconds", type=float, default=30.0, help="for each call")
    add_result(parser)
    options = parser.parse_args()
    rerankers: dict[str, Any] = {"none": None, "oracle": GoldReranker(), "random": draw_lots, "lexical": count_words}
    if options.reranker:
        rerankers[options.reranker] = load_reranker(options.reranker)
    if options.endpoint:
        key = os.environ.get("RERANK_API_KEY")
        rerankers[options.model] = evimem.EndpointReranker(
            options.model, options.endpoint, key, deadline=options.seconds
        )
    bounds = {"texts": options.texts, "tokens": options.tokens, "seconds": options.seconds}
    chats = [chat for folder in options.chats for chat in read_chats(folder)]
    record("rerank", options, [measure(chats, rerankers, bounds)], options.chats)


if __name__ == "__main__":
    main()
