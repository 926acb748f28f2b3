"""A short answer from the evidence: an attribute, a date, a length of time, a number, yes or no, or quoted words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evimem.extract.rule_extractor import extractor_conventions
from evimem.judging.evidence import Analysis, Draft, View
from evimem.offline.matching import Match, Matches, match_sentences, strength
from evimem.offline.quotation import MONEY
from evimem.offline.signals import Linear
from evimem.protocols import Extractor
from evimem.text.terms import stem, words
from evimem.times import Conventions
from evimem.times.lexicon import FULL_WEEKDAYS
from evimem.times.render import render
from evimem.types.results import Citation
from evimem.types.values import Fact

from . import quantities
from .answer_span import SENTENCES, answers, head
from .quantities import COUNT, DURATION, Dated, dated
from .yes_no_answer import Choice, choice, yes_or_no

_SEVERAL = re.compile(
    r"\b(?:what|which)\s+(?:other|some|all|(?:kinds?|types?|sorts?)\s+of)\b|\b(?:what|which|who)\s+(?:are|were)\b"
    r"|\b(?:where|what|who)\s+(?:has|have)\b",
    re.IGNORECASE,
)
_PLURAL = re.compile(r"(?<![su])(?<!i)s$", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:called|named|name)\b", re.IGNORECASE)
_ITEMS = 3  # of an answer that lists several
_ABOUT = 0.5  # how far a sentence must be about the person whose age or size it states
_MEASURE_WITHIN = 0.35  # least strength of a sentence with a measure, as a share of the strongest one's
WEEKDAY_NAMES = [name.capitalize() for name in FULL_WEEKDAYS]
_WEEKDAY = re.compile(r"\b(?:what|which)\s+(?:day\s+of\s+the\s+week|weekday)\b", re.IGNORECASE)
_COARSE = (
    (re.compile(r"\b(?:what|which)\s+year\b", re.IGNORECASE), "%Y"),
    (re.compile(r"\b(?:what|which)\s+month\b", re.IGNORECASE), "%B %Y"),
)
_AGO = re.compile(r"\bhow\s+long\s+ago\b", re.IGNORECASE)
_SO_FAR = re.compile(r"\bhow\s+(?:long|many\s+\w+)\s+(?:has|have)\b", re.IGNORECASE)


def read(view: View, word: Linear, extractor: Extractor) -> Draft:
    """Answer from the shown evidence, or give the reason why none of it answers the question.

    `extractor` is the memory's: its `weekday` convention, "recent" where it has none, is that of the answered dates.
    """
    matches = match_sentences(view)
    found = candidates(matches)
    if not found:
        return Draft(None, reason="no sentence of the evidence bears on the question")
    conventions = extractor_conventions(extractor)
    return _by_form(view, matches, found, conventions) or _words(view, matches, found, word)


def candidates(matches: Matches) -> list[Match]:
    """Return the shown sentences that may hold the answer, best first."""
    return sorted((m for m in matches.ranked if m.shown), key=lambda m: -strength(m))[:SENTENCES]


def _by_form(view: View, matches: Matches, found: list[Match], conventions: Conventions) -> Draft | None:
    """Return an answer of the form asked for; None where the form is free or nothing has it."""
    wants = matches.analysis.wants
    if wants == "time":
        return _time(matches, found, conventions)
    if wants == "duration":
        return _duration(view, matches, found, conventions) or _sentence(
            found, "no length is stated; this is the closest"
        )
    if wants == "count" or quantities.PRICED.search(matches.analysis.question):
        return _count(matches, found) or _sentence(found, "no number is stated; this is the closest")
    if wants == "choice":
        return _chosen(choice(matches, found) or yes_or_no(matches, found))
    if wants == "yes_no":
        return _chosen(yes_or_no(matches, found))
    return None


def _time(matches: Matches, found: list[Match], conventions: Conventions) -> Draft:
    best = dated(matches, found, conventions)[0]
    return Draft(
        _date_text(best, matches.analysis.question),
        (cite(best.match, best.span),),
        steps=(f"{best.time.text!r}, said on {best.match.unit.turn.time:%Y-%m-%d}",) if not best.mentioned else (),
        time=best.time,
        reason="no date is stated; this is the day it was told on" if best.mentioned else None,
    )


def _date_text(best: Dated, question: str) -> str:
    """Return a date as coarsely as the question asks for it."""
    start = best.time.start
    if start is None:
        return best.time.text
    if _WEEKDAY.search(question):
        return WEEKDAY_NAMES[start.weekday()]
    for asked, form in _COARSE:
        if asked.search(question):
            return f"{start:{form}}"
    return render(best.time, best.match.unit.turn.time, "day")


def _duration(view: View, matches: Matches, found: list[Match], conventions: Conventions) -> Draft | None:
    question = matches.analysis.question
    if (events := quantities.two_events(question)) and (draft := _between(view, events, conventions)):
        return draft
    if phrases := quantities.stated(matches, found, DURATION):
        best = phrases[0]
        text = f"{best.text} ago" if _AGO.search(question) else best.text
        return Draft(text, (cite(best.match, best.span),))
    times = [d for d in dated(matches, found, conventions) if not d.mentioned and d.time.start is not None]
    if times and view.asked_at is not None and (_SO_FAR.search(question) or _AGO.search(question)):
        start = times[0].time.start
        passed = quantities.since(start, view.asked_at) if start else None
        if passed:
            return Draft(passed, (cite(times[0].match, times[0].span),), steps=(f"since {start:%Y-%m-%d}",))
    return None


def narrowed(analysis: Analysis, part: str) -> Analysis:
    """Return the analysis of a question with the keywords of one part of it only."""
    said = {stem(word) for word in words(part)}
    keywords = tuple(word for word in analysis.keywords if stem(word) in said)
    return replace(analysis, question=part, keywords=keywords, terms=tuple(stem(word) for word in keywords))


def _between(view: View, events: tuple[str, str], conventions: Conventions) -> Draft | None:
    """Resolve the date of each event by a search of its own, then subtract."""
    found: list[Dated] = []
    for event in events:
        matches = match_sentences(replace(view, analysis=narrowed(view.analysis, event)))
        found += dated(matches, candidates(matches), conventions)[:1]
    if len(found) < 2:
        return None
    text = quantities.between(found[0].time, found[1].time, view.analysis.question)
    if text is None:
        return None
    steps = tuple(f"{render(d.time, d.match.unit.turn.time, 'day')}" for d in found)
    return Draft(text, tuple(cite(d.match, d.span) for d in found), steps=steps)


def _count(matches: Matches, found: list[Match]) -> Draft | None:
    question = matches.analysis.question.lower()
    if "how often" in question:
        return _phrase(matches, found, quantities.OFTEN)
    if quantities.PRICED.search(question):
        return _phrase(matches, found, MONEY)
    if form := quantities.measure(question):
        about = [m for m in matches.ranked if m.shown and m.own >= _ABOUT]
        about.sort(key=lambda m: -strength(m))
        return _phrase(matches, about, form) or Draft(None, reason="no number of that kind is stated")
    said = quantities.stated(matches, found, COUNT)
    ranks = quantities.stated(matches, found, quantities.ORDINAL) if "how many" in question else []
    if ranks and (not said or ranks[0].strength > said[0].strength):
        last = max(ranks, key=lambda phrase: quantities.ordinal(phrase.text))
        return Draft(quantities.in_words(quantities.ordinal(last.text)), (cite(last.match, last.span),))
    return Draft(said[0].text, (cite(said[0].match, said[0].span),)) if said else None


def _phrase(matches: Matches, found: list[Match], form: re.Pattern[str]) -> Draft | None:
    said = quantities.stated(matches, found, form, within=_MEASURE_WITHIN)
    return Draft(said[0].text, (cite(said[0].match, said[0].span),)) if said else None


def _sentence(found: list[Match], reason: str) -> Draft:
    """Quote the best sentence, where no short answer has the form that was asked for."""
    return Draft(found[0].unit.text, (cite(found[0], found[0].unit.span),), reason=reason)


def _chosen(found: Choice | None) -> Draft | None:
    return None if found is None else Draft(found.text, (cite(found.match, found.match.unit.span),))


def _words(view: View, matches: Matches, found: list[Match], word: Linear) -> Draft:
    facts: Mapping[str, Sequence[Fact]] = {item.turn.id: item.facts for item in view.shown}
    spans = answers(matches, found, facts, word, _ITEMS if several(view.analysis) else 1)
    if not spans:
        return _sentence(found, "no part of it stands out; this is the closest")
    text = ", ".join(span.text for span in spans)
    return Draft(text, tuple(cite(span.match, (span.start, span.end)) for span in spans))


def several(analysis: Analysis) -> bool:
    """Return whether a question asks for more than one thing: by a plural noun, or by its tense ("has been")."""
    noun = head(analysis) if analysis.wants == "thing" else ()
    if noun and _PLURAL.search(noun[-1]):
        return True
    return _SEVERAL.search(analysis.question) is not None and not _NAMED.search(analysis.question)


def cite(m: Match, span: tuple[int, int]) -> Citation:
    """Cite characters of a sentence's turn, or of its caption."""
    return Citation(m.unit.turn.id, span, m.unit.source[slice(*span)])
