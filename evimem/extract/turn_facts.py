"""From a turn to its facts, for any sentence reader: length limits, questions, roles, captions, times, ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from ..lang import ENGLISH
from ..lang.guess import is_english, language_of
from ..text.sentences import sentences
from ..times import Located, locate_times, mentions_time
from ..times.context import Weekday
from ..types.values import Fact, TimeSpan, Turn
from .captions import read_caption
from .clause_facts import Statement
from .fact_text import Voice, clean, voice_of
from .identity import fact_id
from .small_talk import is_empty, is_question, statement_end
from .tag_letters import Tag, letters, tag_pattern
from .tagging import Tagged, lowered, tagged

Reader: TypeAlias = Callable[[Tagged, Voice, "int | None"], "list[Statement]"]
"""Reads a sentence, or only its first tokens (the number is the third argument), as statements."""

# What lies beyond these bounds stays searchable as raw text.
MAX_CHARACTERS = 2000  # of a turn
MAX_SENTENCES = 24
MAX_FACTS = 16
MIN_CONTENT = 3  # content words of a sentence without a verb, for it to count where others state something
MAX_STATEMENT = 240  # characters of a sentence that is kept whole

# verbs of unclear form that open a request: "walk the dog"
_REQUEST = re.compile(
    tag_pattern(
        """
        [BASE_OR_NOUN PAST_OR_PARTICIPLE HAVE]
        [PARTICLE DETERMINERS OBJECT PREPOSITION IT THAT TO PERSONS GERUND APOSTROPHE]
        """
    )
)
_OPENS_REQUEST = (Tag.BASE, Tag.DO, Tag.SUBORDINATOR)
_BEFORE_VERB = letters("ADVERB INTERJECTION COMMA SYMBOL SO QUOTE")
_CONTENT = letters("NOUNS DETERMINER BASE_OR_NOUN S_FORM_OR_PLURAL GERUND PAST_OR_PARTICIPLE ADJECTIVE TIME")
_ROLES = frozenset(("assistant", "system", "tool"))
_PREFERENCES = frozenset(("opinion", "plan"))


def _alternatives(phrases: Iterable[str]) -> str:
    return "|".join(phrase.replace(" ", r"\s+") for phrase in phrases)


# "Remember that I love tea" asks for nothing but to remember what it states.
_TO_REMEMBER = re.compile(
    rf"(?:please,?\s+)?(?:{_alternatives(ENGLISH.words('small_talk.requests_to_remember'))})\s*[,:]?\s+"
    rf"(?:that\s+(?=(?:{_alternatives(ENGLISH.words('small_talk.remembered_after_that'))})\b)"
    rf"|(?:that\s+)?(?=(?:{_alternatives(ENGLISH.words('small_talk.remembered'))})\b))"
)


def facts_of(turn: Turn, times: Sequence[Located], read: Reader, extractor: str) -> tuple[Fact, ...]:
    """Return the facts of a turn in the order of their spans; none for one that only asks, greets or reacts."""
    voice = voice_of(turn.speaker)
    found = statements_of(turn, times, read)
    role = role_of(turn)
    if role != "user":
        found = [_attributed(statement, voice, assistant=role == "assistant") for statement in found]
    if turn.caption and is_english(turn.caption):
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
    return locate_times(text, turn.time, weekday) if mentions_time(text) and is_english(text) else ()


def role_of(turn: Turn) -> str:
    """Return the role of a turn: its own, else its speaker when that names one, else user."""
    role = turn.role or turn.speaker.strip().lower()
    return role if role in _ROLES else "user"


def is_foreign(turn: Turn) -> bool:
    """Return whether a turn comes from an assistant, a tool or the system: its facts are stated as their sayings."""
    return role_of(turn) != "user"


def bounded(text: str) -> str:
    """Return the part of a text that is read."""
    if len(text) <= MAX_CHARACTERS:
        return text
    cut = text.rfind(" ", MAX_CHARACTERS - 80, MAX_CHARACTERS)
    return text[: cut if cut > 0 else MAX_CHARACTERS]


def statements_of(turn: Turn, times: Sequence[Located], read: Reader) -> list[Statement]:
    """Return what the sentences of a turn state, in order; very short ones only where no other states anything.

    Of a turn in another language than English only the sentences that are surely English are read.
    """
    voice, text = voice_of(turn.speaker), bounded(turn.text)
    foreign = not is_english(text)
    low = lowered(text)
    found: list[Statement] = []
    short: list[Statement] = []
    for first, end in sentences(text)[:MAX_SENTENCES]:
        if foreign and language_of(text[first:end]) != "en":
            continue
        request = _TO_REMEMBER.match(low, first, end)
        start = request.end() if request else first
        ranges = [(time.start, time.end) for time in times if start <= time.start < end] if times else ()
        sentence = tagged(text, low, start, end, ranges)
        if is_empty(sentence):
            continue
        if is_question(sentence, start, end):
            question = statement_end(sentence)
            found += read(sentence, voice, question) if question else ()
            continue
        stated = read(sentence, voice, None)
        if stated:
            found += stated
        elif not _is_request(sentence.tags):
            (found if _content(sentence.tags) >= MIN_CONTENT else short).extend(_whole(sentence, start, end, voice))
    return found or short


def _content(tags: str) -> int:
    """Return how many content words a sentence has, 1 for a heading."""
    return sum(tag in _CONTENT for tag in tags) if tags[-1] != Tag.BREAK else 1


def _is_request(tags: str) -> bool:
    """Return whether a sentence without a subject is a request: "Check it out", "If you like, call me"."""
    opening = tags.lstrip(_BEFORE_VERB)
    return opening.startswith(_OPENS_REQUEST) or _REQUEST.match(opening) is not None


def _whole(sentence: Tagged, start: int, end: int, voice: Voice) -> list[Statement]:
    """Return a sentence without a finite verb as a saying of the speaker."""
    if not _content(sentence.tags):
        return []
    end = min(end, start + MAX_STATEMENT)
    said = clean(sentence.text[start:end].replace("**", "")).strip(".!,;*_# ")
    return [Statement(voice.name, "said", said, (start, end), (start, end), "statement")] if said else []


def _attributed(statement: Statement, voice: Voice, *, assistant: bool) -> Statement:
    """Return a statement of an assistant, a tool or the system as its saying, so that it never speaks for a user.

    What an assistant did stays a fact about it; its opinions and plans do not, and a tool does nothing.
    """
    own_act = assistant and statement.subject == voice.name and statement.kind not in _PREFERENCES
    if statement.kind == "statement" or own_act:
        return statement
    said = f"{statement.subject} {statement.predicate} {statement.object}".strip()
    return statement._replace(subject=voice.name, predicate="said", object=said, kind="report")


def _event(times: Sequence[Located], scope: tuple[int, int]) -> TimeSpan | None:
    """Return the first resolved time in the clause, else its first unresolved one, else None."""
    inside = [located.time for located in times if scope[0] <= located.start < scope[1]]
    return next((time for time in inside if time.start is not None), inside[0] if inside else None)


def _fact(turn: Turn, statement: Statement, event: TimeSpan | None, extractor: str) -> Fact:
    subject, predicate, obj = statement.subject, statement.predicate, statement.object
    identity = fact_id(turn.id, extractor, statement.span, subject, predicate, obj)
    return Fact(identity, turn.id, subject, predicate, obj, event, statement.span, statement.kind, extractor)
