"""From a turn to its facts, whatever reads the sentences: bounds, questions left out, roles, captions, times, ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from ..text.sentences import sentences
from ..times import Located, locate_times, mentions_time
from ..types.values import Fact, TimeSpan, Turn
from .captions import read_caption
from .clause_facts import Statement
from .fact_text import Voice, clean, voice_of
from .identity import fact_id
from .small_talk import is_empty, is_question, statement_end
from .tagging import Tagged, lowered, tagged

Weekday: TypeAlias = Literal["recent", "previous_week"]
Reader: TypeAlias = Callable[[Tagged, Voice, "int | None"], "list[Statement]"]
"""Reads a sentence, or its first so many tokens, as statements."""

MAX_CHARACTERS = 2000  # of a turn, MAX_SENTENCES of it and MAX_FACTS from it: the rest stays searchable as raw text
MAX_SENTENCES = 24
MAX_FACTS = 16
MIN_CONTENT = 3  # words of a sentence without a verb, for it to count beside others
MAX_STATEMENT = 240  # characters of a sentence that is kept whole

_ORDER = re.compile(r"[wkh][rDSoPtqTiyeg']")
_OPENERS = 'R!,_s"'
_ROLES = frozenset(("assistant", "system", "tool"))
_PREFERENCES = frozenset(("opinion", "plan"))


def facts_of(turn: Turn, times: Sequence[Located], read: Reader, extractor: str) -> tuple[Fact, ...]:
    """Return the facts of a turn in the order of their spans, none for one that only asks, greets or reacts."""
    voice = voice_of(turn.speaker)
    found = statements_of(turn, times, read)
    role = role_of(turn)
    if role != "user":
        found = [_grounded(statement, voice, own=role == "assistant") for statement in found]
    if turn.caption:
        image = read_caption(turn.caption, voice)
        found = found[: MAX_FACTS - 1] + ([image] if image is not None else [])
    facts = {}
    for statement in found[:MAX_FACTS]:
        event = None if statement.kind == "image" else _event(times, statement.scope)
        fact = _fact(turn, statement, event, extractor)
        facts[fact.id] = fact
    return tuple(facts.values())


def times_of(turn: Turn, weekday: Weekday) -> Sequence[Located]:
    """Return the time expressions in the part of a turn that is read."""
    text = bounded(turn.text)
    return locate_times(text, turn.time, weekday) if mentions_time(text) else ()


def role_of(turn: Turn) -> str:
    """Return the role of a turn: its own, else its speaker when that names one, else user."""
    role = turn.role or turn.speaker.strip().lower()
    return role if role in _ROLES else "user"


def is_foreign(turn: Turn) -> bool:
    """Return whether a turn comes from an assistant, a tool or the system: its facts are what that one said."""
    return role_of(turn) != "user"


def bounded(text: str) -> str:
    """Return the part of a text that is read."""
    if len(text) <= MAX_CHARACTERS:
        return text
    cut = text.rfind(" ", MAX_CHARACTERS - 80, MAX_CHARACTERS)
    return text[: cut if cut > 0 else MAX_CHARACTERS]


# "Remember that I love tea" orders nothing but to keep what it states.
_TO_KEEP = re.compile(
    r"(?:please,?\s+)?(?:remember|note|know|(?:keep|bear)\s+in\s+mind|make\s+a\s+note|fyi)\s*[,:]?\s+"
    r"(?:that\s+(?=(?:he|she|they|his|her|their)\b)|(?:that\s+)?(?=(?:i|my|we|our)\b))"
)


def statements_of(turn: Turn, times: Sequence[Located], read: Reader) -> list[Statement]:
    """Return what the sentences of a text state, in order; a slight one only where nothing else does."""
    voice, text = voice_of(turn.speaker), bounded(turn.text)
    low = lowered(text)
    found: list[Statement] = []
    slight: list[Statement] = []
    for first, end in sentences(text)[:MAX_SENTENCES]:
        asked = _TO_KEEP.match(low, first, end)
        start = asked.end() if asked else first
        ranges = [(time.start, time.end) for time in times if start <= time.start < end] if times else ()
        sentence = tagged(text, low, start, end, ranges)
        if is_empty(sentence):
            continue
        if is_question(sentence, start, end):
            asking = statement_end(sentence)
            found += read(sentence, voice, asking) if asking else ()
            continue
        stated = read(sentence, voice, None)
        if stated:
            found += stated
        elif not _is_order(sentence.tags):
            (found if _content(sentence.tags) >= MIN_CONTENT else slight).extend(_whole(sentence, start, end, voice))
    return found or slight


def _content(tags: str) -> int:
    return sum(tag in "NMUDwzgkJ~" for tag in tags) if tags[-1] != ";" else 1  # a heading


def _is_order(tags: str) -> bool:
    """Return whether a sentence without a subject orders or asks: "Check it out", "If you like, call me"."""
    opening = tags.lstrip(_OPENERS)
    return opening.startswith(("v", "d", "B")) or _ORDER.match(opening) is not None


def _whole(sentence: Tagged, start: int, end: int, voice: Voice) -> list[Statement]:
    """Return a sentence without a finite verb as something that the speaker said."""
    if not _content(sentence.tags):
        return []
    end = min(end, start + MAX_STATEMENT)
    said = clean(sentence.text[start:end].replace("**", "")).strip(".!,;*_# ")
    return [Statement(voice.name, "said", said, (start, end), (start, end), "statement")] if said else []


def _grounded(statement: Statement, voice: Voice, *, own: bool) -> Statement:
    """Return what an assistant or a tool states as its saying, so that it never speaks for a user.

    An assistant's `own` doings stay facts about it, but not its likes and plans; a tool has none.
    """
    if statement.kind == "statement" or (
        own and statement.subject == voice.name and statement.kind not in _PREFERENCES
    ):
        return statement
    said = f"{statement.subject} {statement.predicate} {statement.object}".strip()
    return statement._replace(subject=voice.name, predicate="said", object=said, kind="report")


def _event(times: Sequence[Located], scope: tuple[int, int]) -> TimeSpan | None:
    """Return the first resolved time in the clause, or else its first vague one."""
    inside = [located.time for located in times if scope[0] <= located.start < scope[1]]
    return next((time for time in inside if time.start is not None), inside[0] if inside else None)


def _fact(turn: Turn, statement: Statement, event: TimeSpan | None, extractor: str) -> Fact:
    subject, predicate, obj = statement.subject, statement.predicate, statement.object
    identity = fact_id(turn.id, extractor, statement.span, subject, predicate, obj)
    return Fact(identity, turn.id, subject, predicate, obj, event, statement.span, statement.kind, extractor)
