"""Transcripts of people: lines "Name: text", and Markdown with names in bold or as headings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..errors import ImportFailed
from ..types.values import Turn
from .chat_messages import is_role_name, role_of_name
from .conversation import MESSAGE_STEP, ExportFile, ImportLog, open_export_files
from .json_values import parse_time

MAX_LINE = 8 << 20  # bytes of a line, and characters of a message
_DAY = r"\d{4}-\d\d-\d\d"
_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?"
_TIME = rf"(?:{_DAY}[T ,]*{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?|{_CLOCK}|{_DAY})"
_NAME = r"[^\W\d_][^:*#\[\]<>(){}|\n\t\"`=/\\]{0,39}?"
_BEFORE = rf"(?:[\[(](?P<before>{_TIME})[\])]|(?P<bare_before>{_TIME}))"
_AFTER = rf"(?:[\[(](?P<after>{_TIME})[\])]|(?P<bare_after>{_TIME}))"
_LINE = re.compile(rf"(?:{_BEFORE}\s*[-\u2013]?\s*)?(?P<name>{_NAME})(?:\s*{_AFTER})?:(?:\s+(?P<text>.*)|$)")
_BOLD = re.compile(
    rf"(?:[-*]\s+)?(?:{_BEFORE}\s*[-\u2013]?\s*)?(?P<mark>\*\*|__)(?P<name>{_NAME})(?P<colon>:?)(?P=mark)"
    rf"(?:\s*{_AFTER})?(?P<late>:?)(?:\s+(?P<text>.*)|$)"
)
_HEADING = re.compile(rf"(?P<level>#{{1,6}})\s+(?P<name>{_NAME})(?:\s*[-\u2013,]?\s*{_AFTER})?:?\s*$")
_DAY_LINE = re.compile(rf"(?:#{{1,6}}\s+|-+\s*)?(?P<day>{_DAY})(?:\s*-+)?\s*$")
_RULE = re.compile(r"[-*_](?:\s*[-*_]){2,}\s*$")


class _Head(NamedTuple):
    """The beginning of a message: who speaks, when, and the first words."""

    name: str
    stamp: str
    text: str


def looks_like_transcript(start: bytes) -> bool:
    """Return whether the names of few people stand before most paragraphs of a text, each several times."""
    return _detect_head_style(start.decode("utf-8", "replace")) is not None


def _detect_head_style(text: str) -> str | None:
    """Return how messages begin: "bold", "heading" or "line"; None where they do in no known way."""
    lines = text.splitlines()[:400]
    blocks = max(1, sum(1 for at, line in enumerate(lines) if line.strip() and (not at or not lines[at - 1].strip())))
    for style in ("bold", "heading", "line"):
        heads = [head for line in lines if (head := _match_head(line, style)) is not None]
        names = Counter(head.name for head in heads)
        roles = [name for name in names if is_role_name(name)]
        few = len(names) <= max(2, len(heads) // 2)
        is_dense = len(heads) >= 2 and (few or len(roles) == len(names)) and len(heads) >= blocks * 0.4
        if is_dense and (style != "heading" or any(count > 1 for count in names.values()) or len(roles) >= 2):
            return style
    return None


def read_transcript(
    path: Path, log: ImportLog | None = None, *, start: datetime | None = None, session: str | None = None
) -> Iterator[Turn]:
    """Yield the messages of a text; the session is the file's name. Lines without a name continue the one above.

    A time may stand beside a name, in ISO form or of the day that a line above names. Messages without one are a minute
    apart, from `start` on; raise ImportFailed where there is none.
    """
    path, log = Path(path), log or ImportLog()
    with open_export_files(path) as parts:
        for part in parts:
            style = _detect_head_style(part.read_beginning(1 << 16).decode("utf-8", "replace"))
            if style is None and len(parts) > 1:
                log.skip("other file", part.name)
                continue
            yield from _make_turns(part, style or "line", session or part.stem, start, log)


def _make_turns(part: ExportFile, style: str, session: str, start: datetime | None, log: ImportLog) -> Iterator[Turn]:
    latest = None if start is None else start - MESSAGE_STEP
    day = None if start is None else start.date()
    for number, (line, head, day_line, text) in enumerate(_read_messages(part, style, log), start=1):
        place = f"{part.name} line {line}"
        day = day_line or day
        if not text.strip():
            log.skip("empty message", place)
            continue
        try:
            at, day = _parse_time(head.stamp, day, latest)
        except (ValueError, OverflowError) as error:
            log.refuse(place, str(error))
            continue
        if at is None:
            raise ImportFailed(
                f"{part.name!r} has no times, but every turn needs one: give that of the first (--start "
                "2024-03-12T18:20, or start= in Python)"
            )
        latest = at
        yield Turn(f"{session}:{number}", session, head.name, text.strip("\n"), at, role=role_of_name(head.name))


def _parse_time(stamp: str, day: date | None, latest: datetime | None) -> tuple[datetime | None, date | None]:
    """Return when a message was sent, and the day that clock times after it are of."""
    if not stamp:
        return latest and latest + MESSAGE_STEP, day
    if re.match(_DAY, stamp):
        plain = re.sub(r"(?<=\d\d)[ ,]+(?=\d)", "T", stamp.strip())
        at = parse_time(plain)
        return at, at.date()
    hour, minute, *rest = stamp.split(":")
    clock = time(int(hour), int(minute), int(float(rest[0])) if rest else 0)
    if day is None:
        raise ValueError("its time has no day; give the day of the first with --start")
    at = datetime.combine(day, clock, latest.tzinfo if latest else None)
    if latest is not None and at < latest - timedelta(hours=6):
        at += timedelta(days=1)  # past midnight
    return at, at.date()


def _read_messages(part: ExportFile, style: str, log: ImportLog) -> Iterator[tuple[int, _Head, date | None, str]]:
    """Yield the line, the head and the whole text of each message, and the day that was named before it."""
    current: tuple[int, _Head] | None = None
    day: date | None = None
    next_day: date | None = None
    below: list[str] = []
    size = 0
    with part.open() as file:
        for at, line in enumerate(iter(partial(file.readline, MAX_LINE), b""), start=1):
            text = line.decode("utf-8-sig" if at == 1 else "utf-8", "replace").rstrip("\r\n")
            if named := _DAY_LINE.fullmatch(text.strip()):
                try:
                    next_day = date.fromisoformat(named["day"])
                except ValueError:
                    log.refuse(f"{part.name} line {at}", "no day of the calendar")
                continue
            head = _match_head(text, style)
            if head is not None:
                if current is not None:
                    yield (*current, day, "\n".join((current[1].text, *below)))
                current, day, below, size = (at, head), next_day, [], 0
            elif current is None or (style == "heading" and text.startswith("# ")) or _RULE.fullmatch(text):
                if text.strip():
                    log.skip("heading", f"{part.name} line {at}")
            elif size < MAX_LINE:
                below.append(text)
                size += len(text) + 1
    if current is not None:
        yield (*current, day, "\n".join((current[1].text, *below)))


def _match_head(line: str, style: str) -> _Head | None:
    """Return the beginning of a message in a style, if a line is one."""
    if len(line) > MAX_LINE or not line.strip():
        return None
    pattern = {"bold": _BOLD, "heading": _HEADING, "line": _LINE}[style]
    found = pattern.fullmatch(line.strip() if style != "line" else line.rstrip())
    if found is None:
        return None
    groups = found.groupdict()
    if style == "bold" and not (groups["colon"] or groups["late"] or groups.get("after") or groups.get("bare_after")):
        return None
    if style == "heading" and len(groups["level"]) < 2:
        return None
    stamp = next((groups[key] for key in ("before", "bare_before", "after", "bare_after") if groups.get(key)), "")
    return _Head(groups["name"].strip(), stamp, groups.get("text") or "")
