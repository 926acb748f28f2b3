"""Labelled questions: each with whether the memory holds an answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from ..db.file_header import check_readable
from ..errors import ImportFailed, StoreError

_EXPECTED = (
    'expected a line such as {"question": "When did we move?", "answer": "May 2023"}, with null if the memory has '
    'no answer, or with "answerable": true or false instead of the answer'
)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A labelled question, for `Memory.calibrate`.

    Attributes:
        question: The text; 1 to 100,000 characters.
        answerable: Whether the memory holds what is needed to answer it.
        asked_at: "Today" for the question: a datetime or an ISO 8601 string, naive or aware like the memory's times; by
            default the time of the newest turn.
    """

    question: str
    answerable: bool
    asked_at: datetime | str | None = None


def read_labelled(path: Path) -> Iterator[Labelled]:
    """Yield the questions of a JSONL file. Raise ImportFailed at the first line that is not one, and for a database."""
    try:
        check_readable(path)
    except StoreError as error:
        raise ImportFailed(str(error)) from error
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if line.strip():
            yield _read(line, f"{path.name}, line {number}")


def _read(line: bytes, place: str) -> Labelled:
    try:
        row: Any = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ImportFailed(f"{place} is not JSON ({error}); {_EXPECTED}") from error
    question = row.get("question") if isinstance(row, dict) else None
    if not isinstance(question, str) or not question.strip():
        raise ImportFailed(f"{place} has no question; {_EXPECTED}")
    answerable = row.get("answerable", row["answer"] is not None if "answer" in row else None)
    if not isinstance(answerable, bool):
        raise ImportFailed(f"{place} has neither 'answer' nor 'answerable' with true or false; {_EXPECTED}")
    return Labelled(question, answerable, row.get("asked_at"))
