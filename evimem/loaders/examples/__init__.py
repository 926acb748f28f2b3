"""Two conversations written for evimem, with labelled questions: for the demo, the tests and calibration.

`friends` is a chat of two people over a year; `assistant` is a user with an assistant, in long messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from typing import Any

import orjson

from ...types.values import Turn

EXAMPLES = ("friends", "assistant")


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """A question about an example conversation, with its gold answer.

    Attributes:
        text: The question.
        answer: The gold answer; None if the conversation has none.
        evidence: Ids of the turns that state the answer, or without one, of those that the question misleads with.
        kind: The kind of question; without an answer other_person (true of another person), false_premise or
            not_mentioned.
        start: The first day of an answer that is a time.
        end: The day after its last.
    """

    text: str
    answer: str | None
    evidence: tuple[str, ...]
    kind: str
    start: date | None = None
    end: date | None = None


def load_example(name: str) -> list[Turn]:
    """Return the turns of an example, in dialogue order. Raise ValueError for a `name` that is not in `EXAMPLES`."""
    return [Turn(**row) for row in _read_json_rows(name, "jsonl")]


def load_questions(name: str) -> list[ExampleQuestion]:
    """Return the questions about an example. Raise ValueError for a `name` that is not in `EXAMPLES`."""
    return [_parse_question(row) for row in _read_json_rows(name, "questions.jsonl")]


def load_replies(name: str) -> dict[str, dict[str, str]]:
    """Return recorded replies of a model about an example: by question, then by role of the request.

    Raise ValueError for a `name` that is not in `EXAMPLES`.
    """
    return {
        row.pop("question"): {role: orjson.dumps(reply).decode() for role, reply in row.items()}
        for row in _read_json_rows(name, "replies.jsonl")
    }


def _read_json_rows(name: str, suffix: str) -> Iterator[dict[str, Any]]:
    if name not in EXAMPLES:
        raise ValueError(f"there is no example {name!r}; expected one of {', '.join(map(repr, EXAMPLES))}")
    text = (files(__name__) / f"{name}.{suffix}").read_bytes()
    return map(orjson.loads, text.splitlines())


def _parse_question(row: dict[str, Any]) -> ExampleQuestion:
    days = {edge: date.fromisoformat(row[edge]) for edge in ("start", "end") if edge in row}
    return ExampleQuestion(row["question"], row["answer"], tuple(row["evidence"]), row["kind"], **days)
