"""A short answer from the evidence: a date, a length of time, a number, yes or no, or the words that say it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..judging.evidence import Analysis, Draft, View
from ..times.render import render
from ..types.answer import Citation
from ..types.values import Fact
from . import number_answer, yes_no_answer
from .answer_span import SENTENCES, answers, head
from .attributes import lookup
from .constants import SHIPPED, Constants
from .date_answer import Dated, dated
from .match_sentences import Match, Matches, match, strength

_SEVERAL = re.compile(
    r"\b(?:what|which)\s+(?:other|some|all|(?:kinds?|types?|sorts?)\s+of)\b|\b(?:what|which|who)\s+(?:are|were)\b"
    r"|\b(?:where|what|who)\s+(?:has|have)\b",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"(?<![su])(?<!i)s$", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:called|named|name)\b", re.IGNORECASE)
_ITEMS = 3
_ABOUT = 0.5  # how far a sentence must be about the one whose age or size it gives
WEEKDAY_NAMES = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_WEEKDAY = re.compile(r"\b(?:what|which)\s+(?:day\s+of\s+the\s+week|weekday)\b", re.IGNORECASE)
_COARSE = (
    (re.compile(r"\b(?:what|which)\s+year\b", re.IGNORECASE), "%Y"),
    (re.compile(r"\b(?:what|which)\s+month\b", re.IGNORECASE), "%B %Y"),
)
_AGO = re.compile(r"\bhow\s+long\s+ago\b", re.IGNORECASE)
_SO_FAR = re.compile(r"\bhow\s+(?:long|many\s+\w+)\s+(?:has|have)\b", re.IGNORECASE)


def read(view: View, constants: Constants = SHIPPED) -> Draft:
    """Answer from the shown evidence, or say that no sentence of it bears on the question."""
    slot = lookup(view)
    if slot.outcome > 0:
        return Draft(
            ", ".join(item.text for item in slot.items), tuple(Citation(i.turn_id, i.span, i.text) for i in slot.items)
        )
    if slot.outcome < 0:
        return Draft(None, reason=slot.gap)
    matches = match(view)
    found = candidates(matches)
    if not found:
        return Draft(None, reason="no sentence of the evidence bears on the question")
    draft = _by_form(view, matches, found)
    return draft or _words(view, matches, found, constants)


def candidates(matches: Matches) -> list[Match]:
    """Return the shown sentences that may hold the answer, best first: what is in force, where anything is."""
    found = sorted((m for m in matches.ranked if m.shown), key=lambda m: -strength(m))
    return ([m for m in found if not m.outdated] or found)[:SENTENCES]


def _by_form(view: View, matches: Matches, found: list[Match]) -> Draft | None:
    wants = matches.analysis.wants
    if wants == "time":
        return _time(matches, found)
    if wants == "duration":
        return _duration(view, matches, found) or _sentence(found, "no length is stated; this is the closest")
    if wants == "count" or number_answer.PRICED.search(matches.analysis.question):
        return _count(matches, found) or _sentence(found, "no number is stated; this is the closest")
    if wants == "choice":
        return _stand(yes_no_answer.choice(matches, found) or yes_no_answer.stand(matches, found))
    if wants == "yes_no":
        return _stand(yes_no_answer.stand(matches, found))
    return None


def _time(matches: Matches, found: list[Match]) -> Draft:
    best = dated(matches, found)[0]
    return Draft(
        _told(best, matches.analysis.question),
        (cite(best.match, best.span),),
        steps=(f"{best.time.text!r}, said on {best.match.unit.turn.time:%Y-%m-%d}",) if not best.told else (),
        time=best.time,
        reason="no date is stated; this is the day it was told on" if best.told else None,
    )


def _told(best: Dated, question: str) -> str:
    start = best.time.start
    if start is None:
        return best.time.text
    if _WEEKDAY.search(question):
        return WEEKDAY_NAMES[start.weekday()]
    for asked, form in _COARSE:
        if asked.search(question):
            return f"{start:{form}}"
    return render(best.time, best.match.unit.turn.time, "day")


def _duration(view: View, matches: Matches, found: list[Match]) -> Draft | None:
    question = matches.analysis.question
    if (events := number_answer.two_events(question)) and (draft := _between(view, events)):
        return draft
    if phrases := number_answer.stated(matches, found, number_answer.DURATION):
        best = phrases[0]
        text = f"{best.text} ago" if _AGO.search(question) else best.text
        return Draft(text, (cite(best.match, best.span),))
    times = [d for d in dated(matches, found) if not d.told and d.time.start is not None]
    if times and view.asked_at is not None and (_SO_FAR.search(question) or _AGO.search(question)):
        start = times[0].time.start
        passed = number_answer.since(start, view.asked_at) if start else None
        if passed:
            return Draft(passed, (cite(times[0].match, times[0].span),), steps=(f"since {start:%Y-%m-%d}",))
    return None


def _between(view: View, events: tuple[str, str]) -> Draft | None:
    """Resolve the date of each event on its own, then subtract."""
    found: list[Dated] = []
    for event in events:
        matches = match(view, event)
        found += dated(matches, candidates(matches))[:1]
    if len(found) < 2:
        return None
    text = number_answer.between(found[0].time, found[1].time, view.analysis.question)
    if text is None:
        return None
    steps = tuple(f"{render(d.time, d.match.unit.turn.time, 'day')}" for d in found)
    return Draft(text, tuple(cite(d.match, d.span) for d in found), steps=steps)


def _count(matches: Matches, found: list[Match]) -> Draft | None:
    question = matches.analysis.question.lower()
    if "how often" in question:
        return _phrase(matches, found, number_answer.OFTEN)
    if number_answer.PRICED.search(question):
        return _phrase(matches, found, number_answer.MONEY)
    if form := number_answer.measure(question):
        about = [m for m in matches.ranked if m.shown and m.own >= _ABOUT and not m.outdated]
        about.sort(key=lambda m: -strength(m))
        return _phrase(matches, about, form) or Draft(None, reason="no number of that kind is stated")
    said = number_answer.stated(matches, found, number_answer.COUNT)
    ranks = number_answer.stated(matches, found, number_answer.ORDINAL) if "how many" in question else []
    if ranks and (not said or ranks[0].strength > said[0].strength):
        last = max(ranks, key=lambda phrase: number_answer.ordinal(phrase.text))
        return Draft(number_answer.in_words(number_answer.ordinal(last.text)), (cite(last.match, last.span),))
    return Draft(said[0].text, (cite(said[0].match, said[0].span),)) if said else None


def _phrase(matches: Matches, found: list[Match], form: re.Pattern[str]) -> Draft | None:
    said = number_answer.stated(matches, found, form, within=0.35)
    return Draft(said[0].text, (cite(said[0].match, said[0].span),)) if said else None


def _sentence(found: list[Match], reason: str) -> Draft:
    """Quote the best sentence where no short answer has the form that was asked for."""
    return Draft(found[0].unit.text, (cite(found[0], found[0].unit.span),), reason=reason)


def _stand(found: yes_no_answer.Stand | None) -> Draft | None:
    return None if found is None else Draft(found.text, (cite(found.match, found.match.unit.span),))


def _words(view: View, matches: Matches, found: list[Match], constants: Constants) -> Draft:
    facts: Mapping[str, Sequence[Fact]] = {item.turn.id: item.facts for item in view.shown}
    spans = answers(matches, found, facts, constants.word, _ITEMS if several(view.analysis) else 1)
    if not spans:
        return _sentence(found, "no part of it stands out; this is the closest")
    text = ", ".join(span.text for span in spans)
    return Draft(text, tuple(cite(span.match, (span.start, span.end)) for span in spans))


def several(analysis: Analysis) -> bool:
    """Whether a question asks for more than one thing: a plural noun, or whatever there has been so far."""
    noun = head(analysis) if analysis.wants == "thing" else ()
    if noun and _PLURAL.search(noun[-1]):
        return True
    return _SEVERAL.search(analysis.question) is not None and not _NAMED.search(analysis.question)


def cite(m: Match, span: tuple[int, int]) -> Citation:
    """Cite characters of a sentence's turn, or of its caption."""
    said = (m.unit.turn.caption or "") if m.unit.caption else m.unit.turn.text
    return Citation(m.unit.turn.id, span, said[span[0] : span[1]])
