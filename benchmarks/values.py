"""What is answered of people's own details, and what of a value that changed: `python -m benchmarks.values FILE.jsonl`.

A line of FILE is a chat: {"id", "language", "turns": [{"speaker", "role", "time", "text"}], "questions": [{"question",
"asked_at", "kind", "right": [...], "must_not": [...], "quote": [indexes of turns]}]}; the role "person" is one of
several who talk. Each is asked without a model, of a memory that holds only its chat. An assertion is an answer of kind
"answer": right where it agrees with one of `right` and has none of `must_not`, wrong otherwise. A quotation shows its
evidence where it cites every turn of `quote`. A refusal is right where there is nothing in `right` and `quote`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import evimem

from .recording import add_result, record
from .scoring.result_file import ResultTable
from .scoring.right_answer import holds, is_right

Outcome = Literal["asserted right", "asserted wrong", "quoted all", "quoted less", "refused right", "refused wrong"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
GOOD = frozenset(("asserted right", "quoted all"))


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a chat with what was answered."""

    chat: str
    language: str
    kind: str
    question: str
    right: tuple[str, ...]
    must_not: tuple[str, ...]
    quote: frozenset[str]
    answer: evimem.Answer

    @property
    def outcome(self) -> Outcome:
        """What became of it."""
        answer = self.answer
        if answer.kind == "answer":
            said = answer.text or ""
            forbidden = any(holds(said, one) for one in self.must_not)
            return "asserted wrong" if forbidden or not is_right(said, self.right) else "asserted right"
        if answer.kind == "quote":
            return "quoted all" if self.quote <= {one.turn_id for one in answer.citations} else "quoted less"
        return "refused wrong" if self.right or self.quote else "refused right"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument(
        "--wrong", action="store_true", help="also print what was refused, and what was asserted or quoted wrongly"
    )
    add_result(parser)
    options = parser.parse_args()
    asked = [one for line in options.texts.read_text("utf-8").splitlines() if line.strip() for one in ask(line)]
    for one in asked if options.wrong else ():
        if one.outcome not in GOOD:
            wanted = " | ".join(one.right) or "-"
            said = (one.answer.text or f"({one.answer.reason})").replace("\n", " // ")
            print(f"{one.outcome}: {one.chat} {one.kind}: {one.question} [{wanted}; {sorted(one.quote)}] {said}")
    kinds = [*dict.fromkeys(one.kind for one in asked)]
    rows = [_row(kind, [one for one in asked if one.kind == kind]) for kind in kinds]
    rows += [_row(code, [one for one in asked if one.language == code]) for code in sorted({a.language for a in asked})]
    columns = ("", "n", *OUTCOMES)
    tables = [ResultTable("values", "Own details and changed values", columns, (*rows, _row("all", asked)))]
    record("values", options, tables, (options.texts,))


def ask(line: str) -> Iterator[Asked]:
    """Yield each question of a chat with its answer."""
    chat = json.loads(line)
    with tempfile.TemporaryDirectory(prefix="evimem-values-") as folder, evimem.open(Path(folder) / "m") as memory:
        for number, turn in enumerate(chat["turns"]):
            day = turn["time"][:10]
            memory.add(
                turn["speaker"],
                turn["text"],
                time=turn["time"],
                role=None if turn.get("role") == "person" else turn.get("role"),
                session=turn.get("session", day),
                id=str(number),
                metadata=turn.get("metadata"),
            )
        for one in chat["questions"]:
            yield Asked(
                chat["id"],
                chat.get("language", "en"),
                one["kind"],
                one["question"],
                tuple(one.get("right") or ()),
                tuple(one.get("must_not") or ()),
                frozenset(map(str, one.get("quote") or ())),
                memory.ask(one["question"], asked_at=one.get("asked_at")),
            )


def _row(name: str, asked: Sequence[Asked]) -> tuple[str | int, ...]:
    found = [one.outcome for one in asked]
    return (name, len(asked), *(found.count(outcome) for outcome in OUTCOMES))


if __name__ == "__main__":
    main()
