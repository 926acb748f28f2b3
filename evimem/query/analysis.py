"""What a question asks for, read from its words: names, property, form of the answer, time; never from a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from ..judging.evidence import Analysis, Wants
from ..judging.tracker import Requirement
from ..text.terms import STOP_WORDS, stem, words
from ..types.values import TimeSpan
from .hints import hints

_TIME_UNIT = r"(?:date|day|days|week|weeks|weekend|weekends|month|months|season|year|years|decade|time)"
_LENGTH = r"(?:minutes?|hours?|days?|nights?|weeks?|weekends?|months?|years?|decades?)"
_PLACE = r"(?:city|country|place|town|state|village|street|region|island|continent|venue|location|area)"
_AUXILIARY = (
    r"(?:did|do|does|is|are|was|were|am|has|have|had|can|could|will|would|should|might|may|must)(?:n['\u2019]t)?"
)
_SPOKEN: tuple[tuple[Wants, str], ...] = (
    (
        "duration",
        rf"\bhow\s+(?:long|much\s+(?:longer|time))\b|\bhow\s+many\s+(?:more\s+)?{_LENGTH}\b(?!\s+(?:a|per)\b)",
    ),
    (
        "time",
        r"^\W*(?:(?:and|so|since|until|till|by|from|around|about)\s+)*when\b"
        r"|\b(?:know|remember|recall|remind\s+me|tell\s+me|say|said|when\s+exactly)\s+when\b"
        rf"|\b(?:what|which)\s+(?:(?:exact|specific)\s+)?{_TIME_UNIT}\b(?!\s+of\s+(?!the\b)\w+)",
    ),
    ("count", r"\bhow\s+(?:many|much|often|old|far|tall|big|large|fast|high)\b|\bwhat\s+(?:number|amount|age)\b"),
    ("choice", rf"^\W*{_AUXILIARY}\b.*\bor\b"),
    ("yes_no", rf"^\W*{_AUXILIARY}\b"),
    ("person", r"\b(?:who|whom|whose)\b"),
    ("place", rf"\bwhere\b|\b(?:what|which)\s+(?:\w+\s+)?{_PLACE}\b"),
    (
        "reason",
        r"\bwhy\b|\bhow\s+come\b|\bwhat\b.*\breasons?\b|\bwhat\s+(?:made|motivated|inspired|prompted|caused)\b",
    ),
)
_FORMS = tuple((wants, re.compile(pattern, re.IGNORECASE)) for wants, pattern in _SPOKEN)
_PAST = re.compile(
    r"\b(?:used\s+to|previous(?:ly)?|former(?:ly)?|original(?:ly)?|at\s+first|back\s+then|(?:live|work|be|do)\s+before)\b",
    re.IGNORECASE,
)
_MOST = 2_000  # characters of a question that are analysed
_MEASURE = re.compile(r"\bhow\s+(?:long|many|much|often|old|far|big)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b|\bi['\u2019](?:m|ve|d|ll)\b", re.IGNORECASE)
_SECOND_PERSON = re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE)
_NAME = re.compile(r"(?:[A-Z\u00c0-\u00de][\w\u00c0-\u024f]*)(?:\s+[A-Z\u00c0-\u00de][\w\u00c0-\u024f]*)*")
_QUOTED = re.compile(r"[\"\u201c]([^\"\u201d]{2,60})[\"\u201d]")
_NOT_NAMES = frozenset(
    """
    i monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december spring summer autumn fall winter christmas easter thanksgiving halloween new
    mr mrs ms dr yes no what which who whom whose when where why how did do does is are was were am has have had can
    could will would should might may must in on at for from since until according based as by with
    """.split()
)
_EMPTY = frozenset(
    """
    tell say said know remember kind type sort thing something anything describe mention mentioned according
    conversation recently currently now did get got go make
    """.split()
)


def analyse(question: str, speakers: Sequence[str], asked_at: datetime | None) -> Analysis:
    """Return what a question asks, given who speaks in the memory and what day it is."""
    question = question[:_MOST]
    hinted = hints(question, speakers, asked_at)
    wants = form(question)
    entities = _distinct((*hinted.names, *_other_names(question, hinted.names)))
    asked = hinted.names or _asked_by_role(question, speakers)
    keywords = _keywords(question, hinted.names)
    temporal = wants in {"time", "duration"} or bool(hinted.times)
    return Analysis(
        question=question,
        entities=entities,
        asked=asked,
        wants=wants,
        keywords=keywords,
        terms=_distinct(stem(word) for word in keywords),
        times=tuple(hinted.times),
        hints=hinted,
        temporal=temporal,
        past=_PAST.search(question) is not None,
        requirements=_requirements(entities, asked, keywords, wants, tuple(hinted.times)),
    )


def form(question: str) -> Wants:
    """Return the form of answer that a question asks for."""
    return next((wants for wants, pattern in _FORMS if pattern.search(question)), "thing")


def _requirements(
    entities: Iterable[str], asked: Sequence[str], keywords: Sequence[str], wants: Wants, times: Sequence[TimeSpan]
) -> tuple[Requirement, ...]:
    needs = [Requirement(f"entity:{name}", "entity", name, f"something about {name}") for name in entities]
    for name in asked[:1]:
        needs.append(Requirement(f"attribution:{name}", "attribution", name, f"a statement about {name} and no other"))
    if keywords:
        asked_for = " ".join(keywords)
        needs.append(Requirement("attribute", "attribute", asked_for, f"what is said of: {asked_for}"))
    if wants in {"time", "duration"}:
        needs.append(Requirement("time", "time", " ".join(keywords), "a date, or words of time to read one from"))
    for span in times[:1]:
        needs.append(Requirement("when", "time", span.text, f"evidence from {span.text}"))
    return tuple(needs)


def _asked_by_role(question: str, speakers: Sequence[str]) -> tuple[str, ...]:
    """Read "I" as the user and "you" as the assistant, where the speakers are called that."""
    known = {speaker.casefold(): speaker for speaker in speakers}
    if "user" in known and _FIRST_PERSON.search(question):
        return (known["user"],)
    if "assistant" in known and _SECOND_PERSON.search(question):
        return (known["assistant"],)
    return ()


def _other_names(question: str, known: Iterable[str]) -> list[str]:
    taken = {word.casefold() for name in known for word in name.split()}
    found: list[str] = []
    for match in _NAME.finditer(question):
        parts = [part for part in match[0].split() if part.casefold() not in _NOT_NAMES]
        name = " ".join(parts)
        bare = {_bare(part) for part in parts}
        if name and not bare <= taken and not (match.start() == 0 and len(parts) < len(match[0].split()) and not parts):
            found.append(_bare_name(name))
    return found


def _bare(word: str) -> str:
    return re.sub(r"['\u2019]s$", "", word).casefold()


def _bare_name(name: str) -> str:
    return re.sub(r"['\u2019]s$", "", name)


def _keywords(question: str, names: Iterable[str]) -> tuple[str, ...]:
    taken = {word for name in names for word in words(name)}
    return _distinct(
        word
        for word in words(_MEASURE.sub(" ", question))
        if word not in STOP_WORDS and word not in _EMPTY and word not in taken
    )


T = str


def _distinct(items: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(items))
