"""The tables of expressions in this folder, as rows of text, time of saying and expected intervals."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

HERE = Path(__file__).parent
DAYS = {"day": 1, "weekend": 2, "week": 7}
MONTHS = {"month": 1, "season": 3, "year": 12, "decade": 120}
Meaning = tuple[datetime | None, datetime | None, str]


@dataclass(frozen=True, slots=True)
class Row:
    text: str
    said_at: datetime
    meanings: tuple[Meaning, ...]


def _instant(words: str) -> datetime:
    return datetime.fromisoformat(words if "T" in words else f"{words}-01-01"[:10])


def _end(granularity: str, start: datetime) -> datetime:
    if granularity in MONTHS:
        months = start.month - 1 + MONTHS[granularity]
        return start.replace(year=start.year + months // 12, month=months % 12 + 1)
    return (
        start + timedelta(**{f"{granularity}s": 1}) if granularity not in DAYS else start + timedelta(DAYS[granularity])
    )


def _meaning(words: str) -> Meaning:
    if words == "vague":
        return None, None, words
    granularity, ends = words.split()
    start, _, end = ends.partition("..")
    return _instant(start), _instant(end) if end else _end(granularity, _instant(start)), granularity


def _rows(name: str) -> Iterator[Row]:
    said_at = datetime.min
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("@"):
            said_at = datetime.fromisoformat(line.split()[1])
        elif line and not line.startswith("#"):
            text, _, wanted = line.partition(" => ")
            if name == "messages.txt":
                said, _, text = text.partition(" | ")
                said_at = datetime.fromisoformat(said)
            meanings = () if wanted in ("", "none") else tuple(_meaning(words) for words in wanted.split(" ; "))
            yield Row(text, said_at, meanings)


@pytest.fixture
def table() -> Callable[[str], list[Row]]:
    return lambda name: list(_rows(name))
