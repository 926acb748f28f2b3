"""Accuracy of reading time expressions, on LoCoMo: `python -m benchmarks.times LOCOMO.json`.

Only category 2 questions that ask for a time count. The evidence turns are given, so that nothing but the reading of
time expressions is measured. Of several expressions, the one whose sentence shares most words with the question is
taken, the first of equals; without any, the day of the session. Gold answers are parsed here, not by the grammar under
test; "the week before D" is the seven days before D. An answer is right if at least half of it lies within the gold
interval, and strictly right if the intersection is at least half of the union.
"""

from __future__ import annotations

import argparse
import json
import re
from calendar import day_abbr, month_abbr
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from evimem.times import locate_times, onset, render
from evimem.types.values import TimeSpan

from .recording import add_result, data_set, record
from .scoring.result_file import ResultTable

DAY = timedelta(days=1)
MONTHS = {name.lower(): number for number, name in enumerate(month_abbr) if name}
WEEKDAYS = {name.lower(): number for number, name in enumerate(day_abbr)}
ASKS_WHEN = re.compile(r"\bwhen\b|\b(?:what|which) (?:year|month|week|date|day)\b", re.IGNORECASE)
Ends = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class GivenTurn:
    """A turn of the evidence."""

    text: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Case:
    conversation: str
    question: str
    answer: str
    gold: Ends | None
    turns: tuple[GivenTurn, ...]


def cases(path: Path) -> Iterator[Case]:
    """Yield the category 2 questions that ask for a time, with their evidence turns."""
    for sample in json.loads(path.read_bytes()):
        turns = dict(_turns(sample["conversation"]))
        for item in sample["qa"]:
            if item["category"] != 2 or not ASKS_WHEN.search(item["question"]):
                continue
            ids = re.findall(r"D:?(\d+):0*(\d+)", " ".join(item["evidence"]))
            evidence = tuple(turns[f"D{a}:{b}"] for a, b in ids if f"D{a}:{b}" in turns)
            answer = str(item["answer"])
            said = max((turn.time for turn in evidence), default=None)
            yield Case(sample["sample_id"], item["question"], answer, said and gold(answer, said), evidence)


def _turns(conversation: dict[str, object]) -> Iterator[tuple[str, GivenTurn]]:
    for key, turns in conversation.items():
        if re.fullmatch(r"session_\d+", key) and isinstance(turns, list):
            time = datetime.strptime(str(conversation[f"{key}_date_time"]), "%I:%M %p on %d %B, %Y")
            for turn in turns:
                yield turn["dia_id"], GivenTurn(turn["text"], time)


# -- gold answers -----------------------------------------------------------------------------------------------------

_NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3}
_RELATIVE = re.compile(
    r"(?:(a|one|two|three|\d) )?(weekend|week|day|mon|tue|wed|thu|fri|sat|sun)[a-z]* (before|after|of) (.+)"
)
_PART = re.compile(r"(early|mid|late|first week|last week|first weekend|last weekend)(?: of)? (.+)")


def gold(answer: str, said: datetime) -> Ends | None:
    """Return the interval of a gold answer; None if it has none of the known forms."""
    words = re.sub(r"(?<=\d)(?=[a-z])(?!st|nd|rd|th)|[,.`]", " ", answer.lower())
    words = re.sub(r"^(?:the|in|since|around|on)\b| the ", " ", " ".join(words.split())).strip()
    if relative := _RELATIVE.fullmatch(words):
        base = _absolute(relative[4], said)
        return base and _relative(base, _NUMBERS.get(relative[1] or "one", 0), relative[2], relative[3])
    if part := _PART.fullmatch(words):
        base = _absolute(part[2], said)
        return base and _part(base, part[1])
    return _absolute(words, said)


def _absolute(words: str, said: datetime) -> Ends | None:
    months = [MONTHS[word[:3]] for word in re.findall(r"[a-z]+", words) if word[:3] in MONTHS]
    years = re.findall(r"\b(?:19|20)\d\d\b", words)
    days = re.findall(r"\b(\d\d?)(?:st|nd|rd|th)?\b", words)
    year = int(years[0]) if years else said.year
    if "summer" in words:
        return datetime(year, 6, 1), datetime(year, 9, 1)
    if months and days:
        return _days(datetime(year, months[0], int(days[0])), 1)
    if months:
        return datetime(year, months[0], 1), datetime(year + months[0] // 12, months[0] % 12 + 1, 1)
    return (datetime(year, 1, 1), datetime(year + 1, 1, 1)) if years else None


def _days(start: datetime, count: int) -> Ends:
    return start, start + count * DAY


def _relative(base: Ends, count: int, unit: str, side: str) -> Ends:
    start, end = base
    if unit == "week" and side == "of":
        return _days(start - start.weekday() * DAY, 7)
    if unit == "week":
        return _days(start - 7 * count * DAY if side == "before" else end + 7 * (count - 1) * DAY, 7)
    if unit == "day":
        return _days(start - count * DAY if side == "before" else end + (count - 1) * DAY, 1)
    weekday, size = (5, 2) if unit == "weekend" else (WEEKDAYS[unit], 1)
    if side == "of":
        return _days(start + (weekday - start.weekday()) * DAY, size)
    if side == "before":
        return _days(start - ((start.weekday() - weekday - 1) % 7 + 1 + 7 * (count - 1)) * DAY, size)
    return _days(start + ((weekday - start.weekday() - 1) % 7 + 1 + 7 * (count - 1)) * DAY, size)


def _part(base: Ends, part: str) -> Ends:
    start, end = base
    third = (end - start) / 3
    if part.endswith("weekend"):
        saturday = start + (5 - start.weekday()) % 7 * DAY
        last = end - ((end.weekday() - 6) % 7 + 1) * DAY
        return _days(saturday if part.startswith("first") else last, 2)
    if part.endswith("week"):
        return _days(start if part.startswith("first") else end - 7 * DAY, 7)
    index = ("early", "mid", "late").index(part)
    return start + index * third, start + (index + 1) * third


# -- answers ----------------------------------------------------------------------------------------------------------


def answer(case: Case) -> TimeSpan:
    """Return the time read from the evidence turns, chosen by the rule in the module's docstring."""
    asked = _words(case.question)
    best, found = -1, None
    for turn in case.turns:
        for located in locate_times(turn.text, turn.time):
            if located.time.start is None:
                continue
            shared = len(asked & _words(_sentence(turn.text, located.start, located.end)))
            if shared > best:
                best, found = shared, onset(located.time) or located.time
    if found is not None:
        return found
    day = case.turns[0].time.replace(hour=0, minute=0)
    return TimeSpan(day, day + DAY, "day", "")


def _words(text: str) -> set[str]:
    return {word[:5] for word in re.findall(r"[a-z]{3,}", text.lower())}


def _sentence(text: str, start: int, end: int) -> str:
    first = max(text.rfind(stop, 0, start) for stop in ".!?\n")
    stops = [at for stop in ".!?\n" if (at := text.find(stop, end)) >= 0]
    return text[first + 1 : min(stops, default=len(text))]


def shares(span: TimeSpan, ends: Ends) -> tuple[float, float]:
    """Return the share of the answer within the gold interval, and intersection over union of the two."""
    assert span.start is not None
    assert span.end is not None
    common = (min(span.end, ends[1]) - max(span.start, ends[0])).total_seconds()
    length, whole = (span.end - span.start).total_seconds(), (ends[1] - ends[0]).total_seconds()
    return max(0.0, common) / length, max(0.0, common) / (length + whole - max(0.0, common))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=data_set("locomo"), help="a LoCoMo file")
    parser.add_argument("--errors", action="store_true", help="print the questions that are answered wrongly")
    add_result(parser)
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for case in cases(options.path):
        if not case.turns:
            continue
        span = answer(case)
        within, shared = shares(span, case.gold) if case.gold else (0.0, 0.0)
        for group in (case.conversation, "all"):
            counts[group].update(
                questions=1,
                right=within >= 0.5,
                strictly=shared >= 0.5,
                no_expression=not span.text,
                no_interval=case.gold is None,
            )
        if options.errors and within < 0.5:
            print(f"{case.question} | gold {case.answer} | {render(span, case.turns[0].time)} ({span.text!r})")
    rows = tuple(
        (
            group,
            of["questions"],
            of["right"] / of["questions"],
            of["strictly"] / of["questions"],
            of["no_expression"],
            of["no_interval"],
        )
        for group, of in sorted(counts.items())
    )
    columns = ("conversation", "questions", "right", "strictly", "no expression", "no interval in gold")
    record("times", options, [ResultTable("times", "Times of given turns", columns, rows)], [options.path])


if __name__ == "__main__":
    main()
