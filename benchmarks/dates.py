"""Dates in sentences: `python -m benchmarks.dates FILE.jsonl [--wrong] [--missed]`.

A line of FILE is one message: {"id", "language", "said_at", "before": [{"text", "said_at"}], "text", "expressions"}.
An expression is {"words", "start", "end", "accept": [[start, end], ...]}: the interval, end exclusive, and others that
are as right; or {"words", "none": true, "why"} where the words are no date (a habit, a figure of speech). What is given
an interval is asserted. It is right where the interval is one of an expression that shares characters with it;
everything else is wrong, silence never is; days are judged, and an hour that no expression tells of is not. An
expression with an interval is real, and found where a right one shares characters with it.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from evimem.times import Located, locate_times

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Expression:
    """Words that mean a time, where they begin, and the intervals that are right."""

    words: str
    place: int
    intervals: list[tuple[datetime, datetime]]

    def is_beside(self, located: Located) -> bool:
        """Return whether a time that was read shares characters with the words."""
        return located.start < self.place + len(self.words) and self.place < located.end

    def accepts(self, located: Located, said: datetime) -> bool:
        """Return whether a time that was read is these words and has one of the intervals.

        Of an open span ("since May") the beginning is judged; in a day, what holds the interval or lies in it is right.
        """
        start, end = ends_of(located)
        return self.is_beside(located) and any(
            (start, end) == (first, last)
            or (
                max(end - start, last - first) <= DAY and (start <= first < last <= end or first <= start < end <= last)
            )
            or (end == said and start == first)
            for first, last in self.intervals
        )


def ends_of(located: Located) -> tuple[datetime, datetime]:
    start, end = located.time.start, located.time.end
    assert start is not None
    assert end is not None
    return start.replace(tzinfo=None), end.replace(tzinfo=None)


@dataclass
class Score:
    """Counts of one group of messages."""

    asserted: int = 0
    right: int = 0
    real: int = 0
    found: int = 0

    def row(self, name: str) -> str:
        shares = f"{self.right / max(1, self.asserted):.3f} | {self.found / max(1, self.real):.3f}"
        wrong = self.asserted - self.right
        return f"| {name} | {self.asserted} | {self.right} | {wrong} | {self.found} of {self.real} | {shares} |"


@dataclass
class Report:
    scores: dict[str, Score] = field(default_factory=lambda: defaultdict(Score))
    wrong: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


def messages(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip())


def score(rows: Iterator[dict[str, Any]]) -> Report:
    """Read the times of each message and compare them with its expressions."""
    report = Report()
    for row in rows:
        said = datetime.fromisoformat(row["said_at"])
        before = [(each["text"], datetime.fromisoformat(each["said_at"])) for each in row["before"]]
        located = locate_times(row["text"], said, before=before)
        annotated = list(_annotated(row))
        asserted = [each for each in located if each.time.start and each.time.end and _is_judged(each, annotated)]
        real = [each for each in annotated if each.intervals]
        groups = ("all", row["language"])
        for each in asserted:
            right = any(gold.accepts(each, said) for gold in real)
            for group in (*groups, f"kind: {each.time.granularity}"):
                report.scores[group].asserted += 1
                report.scores[group].right += right
            if not right:
                ends = f"{each.time.start:%Y-%m-%dT%H:%M}..{each.time.end:%Y-%m-%dT%H:%M}"
                report.wrong.append(_line(row, f"{each.time.text!r} {ends}"))
        for gold in real:
            found = any(gold.accepts(each, said) for each in asserted)
            for group in groups:
                report.scores[group].real += 1
                report.scores[group].found += found
            if not found:
                report.missed.append(_line(row, f"{gold.words!r} {gold.intervals[0][0]}..{gold.intervals[0][1]}"))
    return report


def _annotated(row: dict[str, Any]) -> Iterator[Expression]:
    at = 0
    for each in row["expressions"]:
        place = row["text"].find(each["words"], at)
        place = place if place >= 0 else row["text"].index(each["words"])
        ends = [] if each.get("none") else [(each["start"], each["end"]), *each.get("accept", ())]
        intervals = [(datetime.fromisoformat(start), datetime.fromisoformat(end)) for start, end in ends]
        yield Expression(each["words"], place, intervals)
        at = place + len(each["words"])


def _is_judged(located: Located, annotated: list[Expression]) -> bool:
    """Return whether a time is judged: an hour of a day that no expression tells of ("an hour ago") is not."""
    start, end = ends_of(located)
    return end - start >= DAY or any(each.is_beside(located) for each in annotated)


def _line(row: dict[str, Any], what: str) -> str:
    return f"{row['id']} {row['language']} [{row['said_at']}] {row['text']!r}: {what}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--wrong", action="store_true", help="print what was asserted wrongly")
    parser.add_argument("--missed", action="store_true", help="print the real expressions that were not found")
    options = parser.parse_args()
    report = score(messages(options.sentences))
    print("| | asserted | right | wrong | found | right share | found share |\n|---|--:|--:|--:|--:|--:|--:|")
    for name in sorted(report.scores):
        print(report.scores[name].row(name))
    for title, lines in (("wrong", report.wrong * options.wrong), ("missed", report.missed * options.missed)):
        print(*(f"{title}: {line}" for line in lines), sep="\n", end="\n" if lines else "")


if __name__ == "__main__":
    main()
