"""Questions about a memory, each with whether the memory answers it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from ..errors import ImportFailed

_EXPECTED = (
    'expected a line such as {"question": "When did we move?", "answer": "May 2023"}, with null for an answer that '
    'nobody told, or "answerable": true or false in its place'
)


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question, and whether the memory holds what it takes to answer it. `asked_at` is today, for the question."""

    question: str
    answerable: bool
    asked_at: datetime | str | None = None


def read_labelled(path: Path) -> Iterator[Labelled]:
    """Yield the questions of a JSONL file. Raise ImportFailed for a line that is none."""
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
    told = row.get("answerable", row["answer"] is not None if "answer" in row else None)
    if not isinstance(told, bool):
        raise ImportFailed(f"{place} does not say whether its question has an answer; {_EXPECTED}")
    return Labelled(question, told, row.get("asked_at"))
