"""When something happened: the one date in the sentence that matches the question best, if it is of what is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta

from ..extract.own_words import outside, passed_on
from ..judging.evidence import View
from ..lang import ENGLISH
from ..text.terms import stem, words
from ..times import Conventions, Located, locate_times, mentions_time
from ..times.lexicon import FULL_WEEKDAYS
from ..times.render import date, day_of_year, render
from ..types.answer import Citation
from ..types.values import TimeSpan, Turn
from .matching import Match, Matches, is_assistant, strength
from .own_details import ShortAnswer
from .signals import contrasted

_WEEKDAY_NAMES = [name.capitalize() for name in FULL_WEEKDAYS]
_FINE = ("minute", "hour", "day")
# The forms of a question for a time, and how fine a date must be for each; the first pattern found decides.
_GRANULAR = {
    "weekday": _FINE,
    "month": (*_FINE, "month"),
    "year": (*_FINE, "month", "year"),
    "day": _FINE,
    "when": (*_FINE, "weekend", "week", "month", "year", "season"),
}
_ABOUT = 0.5  # how far the sentence must be about the one who is asked about
_RIVAL = 0.6  # share of its strength from which another sentence with another date speaks against it
_SOON = timedelta(days=14)  # after which "it" is something else
_FORM_WORDS = frozenset(ENGLISH.words("asked_dates.form_words"))
_DID = re.compile(r"\bdid\b", re.IGNORECASE)
_YEAR = re.compile(r"\d{4}")
_MEASURED = re.compile(r"[-\u2212]?\d[\d.,]*\s?\w*")  # a number of the question with its unit


def _compiled(lists: Mapping[str, Sequence[str]]) -> dict[str, re.Pattern[str]]:
    return {name: re.compile("|".join(patterns), re.IGNORECASE) for name, patterns in lists.items()}


_FORMS, _PATTERNS = _compiled(ENGLISH.lists("asked_dates.forms")), _compiled(ENGLISH.lists("asked_dates.patterns"))
_YEARLY, _BORN, _NOT_STATED, _ANCHORED, _CORRECTS = (
    _PATTERNS[name] for name in ("yearly", "born", "not_stated", "anchored", "corrects")
)


def date_of_event(view: View, matches: Matches, conventions: Conventions) -> ShortAnswer | None:
    """Return the date that is asked for; None unless the best sentence, and the dialogue around it, say what is asked.

    It must have one date, and nothing like "after" or "because" that may tie the date to something else, and no other
    sentence that is nearly as good may have another.
    """
    question = view.analysis.question
    form = next((form for form, pattern in _FORMS.items() if pattern.search(question)), None)
    stating = [m for m in matches.ranked if m.shown and not m.unit.asks and not m.unit.caption]
    if form is None or _NOT_STATED.search(question) or not stating:
        return None

    def dates_in(m: Match) -> list[Located]:
        turn, (start, end) = m.unit.turn, m.unit.span
        times = view.kept(("times", turn.id), lambda: locate_times(turn.text, turn.time, conventions))
        return [one for one in times if start <= one.start < end and one.time.start is not None]

    def is_asked_for(one: Located, m: Match) -> bool:
        past = one.time.start is not None and one.time.start.date() <= m.unit.turn.time.date()
        return (one.time.granularity in _GRANULAR[form] or _is_short(one.time)) and (past or not _DID.search(question))

    best = max(stating, key=strength)
    dates, yearly = dates_in(best), _is_yearly(view)
    if (
        len(dates) != 1
        or not is_asked_for(dates[0], best)
        or not _is_of(view, best, matches)
        or _ANCHORED.search(best.unit.text)
    ):
        return None
    time, turn = dates[0].time, best.unit.turn
    rivals = (m for m in stating if m is not best and strength(m) >= _RIVAL * strength(best))
    others = (one.time for m in rivals for one in dates_in(m) if is_asked_for(one, m))
    if any(_day(one, yearly) != _day(time, yearly) for one in others) or _is_corrected(best, matches):
        return None
    span = dates[0].start, dates[0].end
    citation = Citation(turn.id, span, turn.text[slice(*span)])
    text = _worded(form, time, turn, yearly=yearly)
    return ShortAnswer(text, (citation,), time, (f"{citation.quote!r}, said on {turn.time:%Y-%m-%d}",))


def _day(time: TimeSpan, yearly: bool) -> tuple[int, ...]:  # noqa: FBT001
    """Return the first day of a time, without its year where it comes every year."""
    return () if time.start is None else (time.start.year * (not yearly), time.start.month, time.start.day)


def _is_of(view: View, best: Match, matches: Matches) -> bool:
    """Return whether a sentence is a person's own, about the one asked about, and leaves nothing asked unsaid."""
    turn = best.unit.turn
    others = view.kept(("passed on", turn.id), lambda: passed_on(turn.text))
    own = not is_assistant(turn) and best.own >= _ABOUT and bool(outside([best.unit.span], others))
    measured = all(
        re.search(rf"(?<![\d\-\u2212]){re.escape(found[0])}\b", best.unit.text, re.IGNORECASE)
        for found in _MEASURED.finditer(matches.analysis.question)
    )
    if not own or not measured or best.outdated or best.unsaid - _FORM_WORDS:
        return False
    return not contrasted(map(stem, matches.weights), set(map(stem, best.unit.words)))


def _is_corrected(best: Match, matches: Matches) -> bool:
    """Return whether a sentence soon after gives another time for what it calls "it"."""
    said = best.unit.turn.time
    later = (m.unit for m in matches.ranked if timedelta() <= m.unit.turn.time - said <= _SOON and not m.unit.asks)
    return any(unit is not best.unit and _CORRECTS.search(unit.text) and mentions_time(unit.text) for unit in later)


def _is_yearly(view: View) -> bool:
    """Return whether a day is asked for that comes every year."""
    question, people = view.analysis.question, {word for name in view.analysis.asked for word in words(name)}
    born = _BORN.search(question)
    return _YEARLY.search(question) is not None or (born is not None and {*words(born["who"])} <= people | {"i"})


def _is_short(time: TimeSpan) -> bool:
    """Return whether a span lies in one day or night: "last night"."""
    return time.start is not None and time.end is not None and time.end - time.start < timedelta(hours=24)


def _worded(form: str, time: TimeSpan, turn: Turn, *, yearly: bool) -> str:
    """Return a time as coarsely as the question asks for it."""
    assert time.start is not None
    if form == "weekday":
        return _WEEKDAY_NAMES[time.start.weekday()]
    if form == "year":
        return f"{time.start.year}"
    if form == "month":
        return f"{time.start:%B %Y}"
    if yearly and time.granularity in _FINE and not _YEAR.search(time.text):
        return day_of_year(time.start)
    return date(time.start) if _is_short(time) else render(time, turn.time, "day")
