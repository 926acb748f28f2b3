"""Offline answers about users: `python -m benchmarks.chats` asks invented user-and-assistant chats.

The chats are invented, one text file each, in tests/offline/chats: `develop` was used to build the reader, `held` was
held out and looked at twice, before and after. A line is a session's time ("== 2024-02-05 19:40"), a turn ("user:
..."), or a question with its accepted answers ("? Where do I live? = York | in York"), "-" if the chat has no answer.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import evimem

from .recording import add_result, record
from .scoring.answer_f1 import normalized
from .scoring.estimates import estimate
from .scoring.result_file import Cell, ResultTable

FOLDER = Path(__file__).parent.parent / "tests" / "offline" / "chats"
PARTS = "develop", "held"
_SPARE = 6  # words that a right answer may have besides the accepted one


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a chat; without accepted answers if the chat has none."""

    text: str
    accepted: tuple[str, ...]

    def is_right(self, answer: str | None) -> bool:
        """Whether an answer contains an accepted one and few other words; or is None if there is none."""
        if answer is None or not self.accepted:
            return answer is None and not self.accepted
        said = normalized(answer)
        return any(_within(normalized(gold), said) for gold in self.accepted)


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat and the questions about it."""

    name: str
    turns: tuple[evimem.Turn, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to a question."""

    chat: str
    question: Question
    answer: evimem.Answer

    @property
    def answerable(self) -> bool:
        return bool(self.question.accepted)

    @property
    def right(self) -> bool:
        return self.question.is_right(self.answer.text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, help="only this part")
    parser.add_argument("--wrong", action="store_true", help="also print the questions that were answered wrongly")
    add_result(parser)
    options = parser.parse_args()
    rows = []
    for part in [options.part] if options.part else PARTS:
        started = time.process_time()
        outcomes = [outcome for chat in chats(part) for outcome in ask(chat)]
        rows.append((*row(part, outcomes), 1000 * (time.process_time() - started) / len(outcomes)))
        for outcome in outcomes if options.wrong else []:
            if not outcome.right:
                wanted = " | ".join(outcome.question.accepted) or "-"
                said = outcome.answer.text or f"({outcome.answer.reason})"
                print(f"{outcome.chat}: {outcome.question.text} [{wanted}] {said} {outcome.answer.confidence:.2f}")
    notes = ("ms: processor time of a question, ingest included.",)
    record(
        "chats",
        options,
        [ResultTable("users", "What a chatbot's user asks about himself", COLUMNS, tuple(rows), notes, SHARES)],
    )


SHARES = ("told: right", "told: refused", "never told: refused")
COLUMNS = ("", "told: right", "told: refused", "told", "never told: refused", "never told", "ms")


def row(part: str, outcomes: Sequence[Outcome]) -> tuple[Cell, ...]:
    """Return the figures of a part."""
    told = [o for o in outcomes if o.answerable]
    untold = [o for o in outcomes if not o.answerable]

    def rate(some: Sequence[Outcome], measure: Callable[[Outcome], bool]) -> Cell:
        return estimate(some, measure, lambda one: one.chat)

    return (
        part,
        rate(told, lambda one: one.right),
        rate(told, lambda one: one.answer.abstained),
        len(told),
        rate(untold, lambda one: one.right),
        len(untold),
    )


def chats(part: str) -> list[Chat]:
    """Return the chats of a part, by name."""
    return [read(path.stem, path.read_text(encoding="utf-8")) for path in sorted((FOLDER / part).glob("*.txt"))]


def read(name: str, text: str) -> Chat:
    """Return a chat from its text."""
    turns: list[evimem.Turn] = []
    questions = []
    moment = datetime.min  # replaced by the first session's time
    for line in filter(None, text.splitlines()):
        mark, _, rest = line.partition(" ")
        if mark == "==":
            moment = datetime.fromisoformat(rest)
        elif mark == "?":
            asked, _, accepted = rest.rpartition(" = ")
            questions.append(Question(asked, () if accepted == "-" else tuple(accepted.split(" | "))))
        else:
            turns.append(evimem.Turn(f"{name}:{len(turns)}", f"{moment:%Y-%m-%d}", mark[:-1], rest, moment))
            moment += timedelta(minutes=1)
    return Chat(name, tuple(turns), tuple(questions))


def ask(chat: Chat) -> Iterator[Outcome]:
    """Yield the answer to every question from a memory that holds only this chat."""
    with tempfile.TemporaryDirectory(prefix="evimem-chats-") as folder, evimem.open(Path(folder) / "m") as memory:
        memory.extend(chat.turns, strict=True)
        for question in chat.questions:
            yield Outcome(chat.name, question, memory.ask(question.text))


def _within(gold: Sequence[str], said: Sequence[str]) -> bool:
    places = range(len(said) - len(gold) + 1)
    return len(said) <= len(gold) + _SPARE and any(list(said[p : p + len(gold)]) == list(gold) for p in places)


if __name__ == "__main__":
    main()
