"""Evidence recall by loop on labelled chats, without a model: `python -m benchmarks.loops benchmarks/chats [LOOP ...]`.

Of the questions that the chat answers: the share of gold turns that a loop found after each of its iterations, how many
turns it looked at, what it cites, and how often it abstains. Nothing is random: two runs print the same.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import evimem
from evimem.bench.retrieval_metrics import recall
from evimem.bench.right_answer import is_right
from evimem.loaders.labelled_chats import ChatQuestion, LabelledChat, read_chats
from evimem.loops import LOOPS
from evimem.types.answer import Answer
from evimem.types.trace import Found

STEPS = 4  # iterations after which recall is printed, before that at the end


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a loop came to for one question: turns found up to each iteration, and what the answer is."""

    found: tuple[tuple[str, ...], ...]
    gold: tuple[str, ...]
    cites_gold: bool
    kind: str
    right: bool

    def recall_after(self, step: int) -> float:
        """Return the share of gold turns found up to an iteration, counted from 1; later ones add nothing."""
        turns = self.found[min(step, len(self.found)) - 1] if self.found else ()
        return recall(turns, self.gold, max(1, len(turns)))


def main(folder: Path, loops: Sequence[str]) -> None:
    """Ask every question through every loop and print a row for each loop."""
    outcomes: dict[str, list[Outcome]] = {name: [] for name in loops}
    with tempfile.TemporaryDirectory() as scratch:
        for number, chat in enumerate(read_chats(folder, None)):
            with evimem.open(Path(scratch) / f"{number}.evimem") as memory:
                memory.extend(chat.turns, strict=True)
                for name in loops:
                    outcomes[name] += _asked(memory, chat, name)
    steps = "".join(f"{f'after {n}':>9}" for n in range(1, STEPS + 1))
    print(f"{'loop':12}{'n':>5}{steps}{'at end':>9}{'turns':>7}{'cites':>7}{'short':>7}{'right':>7}{'abst.':>7}")
    for name, found in outcomes.items():
        after = "".join(f"{fmean(one.recall_after(n) for one in found):9.3f}" for n in (*range(1, STEPS + 1), 99))
        short = [one for one in found if one.kind == "answer"]
        print(
            f"{name:12}{len(found):5}{after}"
            f"{fmean(len(one.found[-1]) if one.found else 0 for one in found):7.1f}"
            f"{fmean(one.cites_gold for one in found):7.3f}"
            f"{len(short) / len(found):7.3f}{fmean(one.right for one in short) if short else 0:7.3f}"
            f"{fmean(one.kind == 'abstained' for one in found):7.3f}"
        )


def _asked(memory: evimem.Memory, chat: LabelledChat, loop: str) -> Iterator[Outcome]:
    for question in chat.questions:
        if question.answer is not None and question.evidence:
            yield _outcome(question, memory.ask(question.text, loop, asked_at=question.asked_at))


def _outcome(question: ChatQuestion, answer: Answer) -> Outcome:
    gold = tuple(question.evidence)
    return Outcome(
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
    main(Path(sys.argv[1]), sys.argv[2:] or sorted(LOOPS))
