"""Two conversations of our own writing, with questions: for the demo, the tests and calibration.

`friends` are two people over a year; `assistant` is a user with an assistant, in long messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from typing import Any

import orjson

from ..types.values import Turn

EXAMPLES = ("friends", "assistant")


@dataclass(frozen=True, slots=True)
class Question:
    """A question about an example, and what a good answer says.

    `answer` is None where the conversation does not tell: `kind` is then other_person (true of somebody else),
    false_premise or not_mentioned. `evidence` names the turns that the answer rests on, or that the trap was
    built from. `start` and `end` are the half-open days of an answer that is a time.
    """

    text: str
    answer: str | None
    evidence: tuple[str, ...]
    kind: str
    start: date | None = None
    end: date | None = None


def load_example(name: str) -> list[Turn]:
    """Return the turns of an example, in dialogue order."""
    return [Turn(**row) for row in _rows(name, "jsonl")]


def load_questions(name: str) -> list[Question]:
    """Return the questions about an example."""
    return [_question(row) for row in _rows(name, "questions.jsonl")]


def _rows(name: str, suffix: str) -> Iterator[dict[str, Any]]:
    if name not in EXAMPLES:
        raise ValueError(f"no example {name!r}; there are {', '.join(map(repr, EXAMPLES))}")
    text = (files(__name__) / f"{name}.{suffix}").read_bytes()
    return map(orjson.loads, text.splitlines())


def _question(row: dict[str, Any]) -> Question:
    days = {edge: date.fromisoformat(row[edge]) for edge in ("start", "end") if edge in row}
    return Question(row["question"], row["answer"], tuple(row["evidence"]), row["kind"], **days)
