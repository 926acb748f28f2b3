"""From a text in one of the languages to the times it mentions: all forms, the longest matches, neighbours joined."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from itertools import islice

from ...lang.guess import OTHER
from ...types.values import DateOrder
from .. import calendar
from ..calendar import TimeInterval
from ..context import Context
from ..date_order import FIGURES, date_in_figures
from ..rule_types import possible
from ..rules import foreign
from .date_grammar import grammar
from .date_pieces import Match, Said, TimePiece
from .piece_joins import joined
from .piece_readers import NO_TIMES_ALONE, READERS

_FIGURES = re.compile(
    rf"(?<!\w){FIGURES}|(?<![\w.:/-])(?P<year>[12]\d{{3}})(?:[-/.]|\. |\ub144 ?)(?P<month>\d\d?)(?:[-/.]|\. |\uc6d4 ?)"
    "(?P<day>\\d\\d?)(?![\\d/-]|\\.\\d)\uc77c?"
)
_MOST = 200  # matches of a form that are read in one text
_NEAR = 24  # characters before a time, and after it, that are looked at for a habit or for "since"


def locate_dates(
    language: str, folded: str, now: datetime, order: DateOrder | None
) -> Iterator[tuple[int, int, TimeInterval]]:
    """Yield the times that a folded text mentions, with their half-open character ranges, in text order.

    `language` is a code of LANGUAGES but "en", or OTHER: then only full dates are read. `now` is the naive wall-clock
    time of saying; `order` is that of dates in figures.
    """
    if language == OTHER:
        yield from _full_dates(folded, now, order)
        return
    said = Said(folded, now, grammar(language), order)
    for piece in joined(_pieces(said), said):
        if piece.interval is not None and not _is_habit(piece, said):
            yield _since(piece, piece.interval, said)


def may_mention_dates(language: str, folded: str) -> bool:
    """Return whether a folded text has a form that can be a time; without one, none is found in it."""
    if language == OTHER:
        return next(_full_dates(folded, datetime.min, "dmy"), None) is not None
    return _surely_a_time(language).search(folded) is not None


@cache
def _surely_a_time(language: str) -> re.Pattern[str]:
    return grammar(language).any_form(sorted(READERS.keys() - NO_TIMES_ALONE))


def _full_dates(folded: str, now: datetime, order: DateOrder | None) -> Iterator[tuple[int, int, TimeInterval]]:
    ctx = Context(folded, folded, now, "recent", order)
    found = [
        (match, foreign.foreign_date)
        for rule in foreign.RULES
        for match in islice(rule.pattern.regex.finditer(folded), rule.most)
    ]
    found += [(match, _in_figures) for match in islice(_FIGURES.finditer(folded), _MOST)]
    for match, read in sorted(found, key=lambda each: each[0].start()):
        date = possible(read, match, ctx)
        if date is not None:
            yield *match.span(), date


def _in_figures(match: Match, ctx: Context) -> TimeInterval | None:
    if match["year"]:
        found: datetime | None = datetime(int(match["year"]), int(match["month"]), int(match["day"]))
    else:
        found = date_in_figures(match[0], ctx.date_order)
    return None if found is None else calendar.day(found)


def _pieces(said: Said) -> list[TimePiece]:
    """Return, of the matches of all forms, the longest that have a meaning, in text order."""
    matches = [
        (match, name)
        for name in READERS
        for pattern in said.grammar.forms.get(name, ())
        for match in islice(pattern.finditer(said.text), _MOST)
    ]
    taken, kept = bytearray(len(said.text)), []
    for match, name in sorted(matches, key=lambda found: _start(found[0]) - _end(found[0])):
        if any(taken[_start(match) : _end(match)]):
            continue
        piece = possible(READERS[name], match, said)
        if piece is not None:
            taken[piece.start : piece.end] = b"\1" * (piece.end - piece.start)
            kept.append(piece)
    return sorted(kept, key=lambda piece: piece.start)


def _start(match: Match) -> int:
    return match.start("x") if "x" in match.re.groupindex else match.start()


def _end(match: Match) -> int:
    return match.end("x") if "x" in match.re.groupindex else match.end()


def _is_habit(piece: TimePiece, said: Said) -> bool:
    before = said.text[max(0, piece.start - _NEAR) : piece.start]
    if piece.weekday is not None and said.grammar.habit_of_a_weekday.search(before):
        return True
    return said.grammar.habit.search(before) is not None


def _since(piece: TimePiece, interval: TimeInterval, said: Said) -> tuple[int, int, TimeInterval]:
    """Return a piece, from its beginning until now where the text says "since"."""
    start, end = piece.start, piece.end
    if said.words.since_follows:
        since = said.grammar.since.match(said.text, end)
        end = since.end() if since else end
    else:
        near = max(0, start - _NEAR)
        since = said.grammar.since.search(said.text[near:start])
        start = near + since.start() if since else start
    lasting = calendar.span(interval.start, said.now) if since else None
    return (start, end, lasting) if lasting is not None else (piece.start, piece.end, interval)
