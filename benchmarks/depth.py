"""How recall and cost move with the depth of a chain: `python -m benchmarks.depth 2000`.

The synthetic set (benchmarks/scoring/synthetic.py) from some seeds. A chain of n turns leads from a person over n - 1
relations to what is asked ("the boss of the cousin of Mira"): a search finds its beginning, and a loop may go on from
there. Times are of the processor.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import evimem
from evimem.types.trace import Found

from .recording import add_result, record
from .scoring.bootstrap import percentile
from .scoring.estimates import estimate
from .scoring.result_file import Cell, ResultTable
from .scoring.retrieval_metrics import found_all, recall
from .scoring.synthetic import synthetic_chat

CUT = 10
COLUMNS = (
    "chain of", "questions", f"search, R@{CUT}", f"search, All@{CUT}", "`ask`, found", "`ask`, all found",
    "search, ms, p50", "`ask`, ms, p50", "`ask`, ms, p99",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Followed:
    """One question: the turns of its chain, those that a search ranked, those that a loop found, and milliseconds."""

    seed: int
    gold: tuple[str, ...]
    ranked: tuple[str, ...]
    found: tuple[str, ...]
    search_ms: float
    ask_ms: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("turns", type=int)
    parser.add_argument("--seeds", type=int, default=5, help="conversations (5)")
    parser.add_argument("--depth", type=int, default=6, help="turns of the longest chain (6)")
    add_result(parser)
    options = parser.parse_args()
    asked = [one for seed in range(options.seeds) for one in followed(seed, options.turns, options.depth)]
    rows = tuple(row(n, [one for one in asked if len(one.gold) == n]) for n in sorted({len(one.gold) for one in asked}))
    title = f"Recall and cost by depth, synthetic, {options.turns:,} turns"
    record("depth", options, [ResultTable("depths", title, COLUMNS, rows, (), COLUMNS[2:6])])


def followed(seed: int, turns: int, depth: int) -> Iterator[Followed]:
    """Yield the questions of a conversation that have an answer; what needs one turn is a chain of 1."""
    chat = synthetic_chat(seed, turns=turns, depth=depth)
    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
        memory.extend(chat.turns, strict=True)
        memory.ask("warm up?")
        for one in chat.questions:
            if one.answer is None:
                continue
            started = time.process_time()
            ranked = tuple(hit.turn.id for hit in memory.search(one.text, CUT))
            searched = time.process_time()
            trace = memory.ask(one.text).trace
            ended = time.process_time()
            found = tuple(turn for event in trace if isinstance(event, Found) for turn in event.turns)
            yield Followed(seed, one.evidence, ranked, found, 1000 * (searched - started), 1000 * (ended - searched))


def row(length: int, asked: list[Followed]) -> tuple[Cell, ...]:
    """Return the figures of the chains of a length, with intervals over conversations."""
    measures: tuple[Callable[[Followed], float], ...] = (
        lambda one: recall(one.ranked, one.gold, CUT),
        lambda one: found_all(one.ranked, one.gold, CUT),
        lambda one: recall(one.found, one.gold, len(one.found)),
        lambda one: found_all(one.found, one.gold, len(one.found)),
    )
    shares = (estimate(asked, measure, lambda one: one.seed) for measure in measures)
    asks = [one.ask_ms for one in asked]
    times = (percentile([one.search_ms for one in asked], 0.5), percentile(asks, 0.5), percentile(asks, 0.99))
    return (length, len(asked), *shares, *times)


if __name__ == "__main__":
    main()
