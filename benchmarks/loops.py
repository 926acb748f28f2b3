"""Evidence recall by loop on labelled chats, without a model: `python -m benchmarks.loops CHATS [--loops NAME ...]`.

Of the questions that the chat answers: the share of gold turns that a loop found after each of its iterations, how many
turns it looked at, what it cites, and how often it abstains. Nothing is random: two runs print the same.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import evimem
from evimem.bench.estimates import estimate
from evimem.bench.result_file import ResultTable
from evimem.bench.retrieval_metrics import recall
from evimem.bench.right_answer import is_right
from evimem.loaders.labelled_chats import ChatQuestion, LabelledChat, read_chats
from evimem.loops import LOOPS
from evimem.types.answer import Answer
from evimem.types.trace import Found

from .recording import add_result, record

STEPS = 3  # iterations after which recall is printed, before that at the end
LAST = 99


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a loop came to for one question of a chat: turns found up to each iteration, and what the answer is."""

    chat: str
    found: tuple[tuple[str, ...], ...]
    gold: tuple[str, ...]
    cites_gold: bool
    kind: str
    right: bool

    def recall_after(self, step: int) -> float:
        """Return the share of gold turns found up to an iteration, counted from 1; later ones add nothing."""
        turns = self.found[min(step, len(self.found)) - 1] if self.found else ()
        return recall(turns, self.gold, max(1, len(turns)))


MEASURES = {
    **{f"after {n}": lambda one, n=n: one.recall_after(n) for n in range(1, STEPS + 1)},
    "at end": lambda one: one.recall_after(LAST),
    "turns looked at": lambda one: len(one.found[-1]) if one.found else 0,
    "cites gold": lambda one: one.cites_gold,
    "short answers": lambda one: one.kind == "answer",
    "abstains": lambda one: one.kind == "abstained",
}


def main() -> None:
    """Ask every question through every loop and print a row for each loop."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chats", type=Path)
    parser.add_argument("--loops", nargs="+", metavar="NAME", choices=sorted(LOOPS), default=sorted(LOOPS))
    add_result(parser)
    options = parser.parse_args()
    outcomes: dict[str, list[Outcome]] = {name: [] for name in options.loops}
    with tempfile.TemporaryDirectory() as scratch:
        for number, chat in enumerate(read_chats(options.chats, None)):
            with evimem.open(Path(scratch) / f"{number}.evimem") as memory:
                memory.extend(chat.turns, strict=True)
                for name in options.loops:
                    outcomes[name] += _asked(memory, chat, name)
    rows = tuple(
        (
            f"`{name}`",
            *(estimate(found, measure, lambda one: one.chat) for measure in MEASURES.values()),
            estimate([one for one in found if one.kind == "answer"], lambda one: one.right, lambda one: one.chat),
        )
        for name, found in outcomes.items()
    )
    columns = ("loop", *MEASURES, "short answers right")
    record("loops", options, [ResultTable("loops", "Loops without a model", columns, rows, intervals=("at end",))])


def _asked(memory: evimem.Memory, chat: LabelledChat, loop: str) -> Iterator[Outcome]:
    for question in chat.questions:
        if question.answer is not None and question.evidence:
            yield _outcome(chat.name, question, memory.ask(question.text, loop, asked_at=question.asked_at))


def _outcome(chat: str, question: ChatQuestion, answer: Answer) -> Outcome:
    gold = tuple(question.evidence)
    return Outcome(
        chat=chat,
        found=tuple(_by_iteration(answer)),
        gold=gold,
        cites_gold=any(citation.turn_id in gold for citation in answer.citations),
        kind=answer.kind,
        right=answer.kind == "answer" and is_right(answer.text or "", question.gold),
    )


def _by_iteration(answer: Answer) -> Iterator[tuple[str, ...]]:
    """Yield the turns found up to each iteration."""
    events = [event for event in answer.trace if isinstance(event, Found)]
    for last in sorted({event.iteration for event in events}):
        yield tuple(dict.fromkeys(turn for event in events if event.iteration <= last for turn in event.turns))


if __name__ == "__main__":
    main()
