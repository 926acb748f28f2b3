"""From a turn to its facts, for any sentence reader: length limits, questions, roles, captions, times, ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from ..lang import ENGLISH
from ..lang.guess import is_english, language_of
from ..times import Conventions, Located, locate_times, mentions_time
from ..types.values import Fact, TimeSpan, Turn
from .aliases import aliases
from .bounds import NOT_ITS_TIME
from .captions import read_caption
from .fact_draft import Statement
from .fact_text import Voice, voice_of
from .identity import fact_id
from .own_words import own_acts, own_sentences
from .quoted_statements import content, is_own_act, is_request, quotation
from .small_talk import is_empty, is_question, statement_end
from .tag_letters import Tag
from .tagging import Tagged, lowered, tagged

Reader: TypeAlias = Callable[[Tagged, Voice, "int | None"], "list[Statement]"]
"""Reads a sentence, or only its first tokens (the number is the third argument), as statements."""

# What lies beyond these bounds stays searchable as raw text.
MAX_FACTS = 16  # of a short turn
PER_FACT = 2000  # characters of a long turn for each fact more
MAX_AT_ONCE = 2000  # characters in which times are looked for at once; in a longer turn, sentence by sentence
MIN_CONTENT = 3  # content words of a sentence without a verb, for it to count where others state something

_ROLES = frozenset(("assistant", "system", "tool"))
_LISTENER = "you"
_SILENT = frozenset(("system", "tool"))


# "Remember that I love tea" asks for nothing but to remember what it states.
_TO_REMEMBER = re.compile(
    rf"(?:please,?\s+)?{ENGLISH.any_of('small_talk.requests_to_remember')}\s*[,:]?\s+"
    rf"(?:that\s+(?={ENGLISH.any_of('small_talk.remembered_after_that')}\b)"
    rf"|(?:that\s+)?(?={ENGLISH.any_of('small_talk.remembered')}\b))"
)


def after_request_to_remember(low: str, start: int, end: int) -> int:
    """Return where the statement of a sentence of lowered text begins: "please remember that I love tea" at "I"."""
    request = _TO_REMEMBER.match(low, start, end)
    return request.end() if request else start


class DatedStatement(NamedTuple):
    """A statement with the time of its clause."""

    statement: Statement
    event: TimeSpan | None


def facts_of(turn: Turn, conventions: Conventions, read: Reader, extractor: str) -> tuple[Fact, ...]:
    """Return the facts of a turn in the order of their spans; none for one that only asks, greets or reacts."""
    found = dated_statements(turn, conventions, read)
    reads_caption = turn.caption is not None and is_english(turn.caption)
    image = read_caption(turn.caption or "", voice_of(turn.speaker)) if reads_caption else None
    most = MAX_FACTS + len(turn.text) // PER_FACT - (image is not None)
    found = found if len(found) <= most else _own_first(found, most, voice_of(turn.speaker))
    if image is not None:
        found.append(DatedStatement(image, None))
    facts = (_fact(turn, each.statement, each.event, extractor) for each in found)
    return tuple({fact.id: fact for fact in facts}.values())


def _own_first(found: Sequence[DatedStatement], most: int, voice: Voice) -> list[DatedStatement]:
    """Return as many statements as may be kept, in order, those about the speaker before others."""
    own = [index for index, each in enumerate(found) if each.statement.subject == voice.name][:most]
    others = [index for index, each in enumerate(found) if each.statement.subject != voice.name]
    return [found[index] for index in sorted(own + others[: most - len(own)])]


def role_of(turn: Turn) -> str:
    """Return the role of a turn: its own, else its speaker when that names one, else user."""
    role = turn.role or turn.speaker.strip().lower()
    return role if role in _ROLES else "user"


def is_foreign(turn: Turn) -> bool:
    """Return whether a turn comes from an assistant, a tool or the system: its facts are stated as their sayings."""
    return role_of(turn) != "user"


def dated_statements(turn: Turn, conventions: Conventions, read: Reader) -> list[DatedStatement]:
    """Return what the sentences of a turn state, in order; very short ones only where no other states anything."""
    role = role_of(turn)
    if role in _SILENT:
        return []
    own = own_acts(turn.text) if role == "assistant" else own_sentences(turn.text)
    if not own:
        return []
    source = Source(turn, conventions)
    foreign = not is_english(turn.text)
    found: list[DatedStatement] = []
    short: list[DatedStatement] = []
    asked = is_mixed = False
    for start, end in own:
        sentence = source.tagged(start, end)
        if not sentence.words or is_empty(sentence):
            continue
        if not is_read(turn.text[start:end], foreign=foreign):
            is_mixed = True
            continue
        times = source.times_in(sentence)
        stated = _stated(sentence, start, end, source.voice, read)
        if role == "assistant":
            stated = [each for each in stated if is_own_act(each, source.voice)]
        elif found and found[-1].statement.subject != source.voice.name:
            stated = [each for each in stated if not each.elliptic]  # "They cancelled. Rang at four."
        if asked:  # "Imagine you are a guide. You live in Rome."
            stated = [each for each in stated if each.subject != _LISTENER]
        asked = asked or (not stated and is_request(sentence.tags))
        found += [DatedStatement(each, _event(times, each.scope)) for each in stated]
        if not stated and role == "user" and not is_question(sentence, start, end):
            quoted = quotation(sentence, start, end, source.voice, dated=bool(times))
            size = content(sentence.tags)
            kept = found if size >= MIN_CONTENT else short
            kept.extend(DatedStatement(each, _event(times, each.scope)) for each in quoted)
    found = found or short
    # a fragment beside another language is most often of that language
    return [each for each in found if each.statement.kind != "statement"] if is_mixed else found


def is_read(sentence: str, *, foreign: bool) -> bool:
    """Return whether the rules read a sentence: in a turn of another language it must be English beyond doubt."""
    return language_of(sentence) == "en" if foreign else is_english(sentence)


def _stated(sentence: Tagged, start: int, end: int, voice: Voice, read: Reader) -> list[Statement]:
    if is_question(sentence, start, end):
        question = statement_end(sentence)
        return read(sentence, voice, question) if question else []
    stated = read(sentence, voice, None)
    return stated + aliases(sentence, start, end, voice)


class Source:
    """The text of a turn with its times, sentence by sentence."""

    def __init__(self, turn: Turn, conventions: Conventions) -> None:
        self.voice: Voice = voice_of(turn.speaker)
        self._turn = turn
        self._conventions = conventions
        self._low = lowered(turn.text)
        self._is_short = len(turn.text) <= MAX_AT_ONCE
        self._times: Sequence[Located] = self._located(0, len(turn.text)) if self._is_short else ()

    def tagged(self, start: int, end: int) -> Tagged:
        """Return the sentence at [start, end) with its tags, without a request to remember it."""
        start = after_request_to_remember(self._low, start, end)
        if not self._is_short:
            self._times = self._located(start, min(end, start + MAX_AT_ONCE))
        ranges = [(time.start, time.end) for time in self._times if start <= time.start < end] if self._times else ()
        return tagged(self._turn.text, self._low, start, end, ranges)

    def times_in(self, sentence: Tagged) -> Sequence[Located]:
        """Return the times of a sentence, without those that are names there or bounds: "May left", "until May"."""
        if not self._times or not sentence.ranges:
            return ()
        start, end = sentence.ranges[0][0], sentence.ranges[-1][1]
        inside = [time for time in self._times if start <= time.start < end]
        if not inside or (Tag.NAME not in sentence.tags and NOT_ITS_TIME.isdisjoint(sentence.words)):
            return inside
        others = {
            first
            for index, (first, _) in enumerate(sentence.ranges)
            if sentence.tags[index] == Tag.NAME or (index and sentence.words[index - 1] in NOT_ITS_TIME)
        }
        return [time for time in inside if time.start not in others]

    def _located(self, start: int, end: int) -> Sequence[Located]:
        text = self._turn.text[start:end]
        if not mentions_time(text):
            return ()
        found = locate_times(text, self._turn.time, self._conventions)
        if not start:
            return found
        return [replace(time, start=time.start + start, end=time.end + start) for time in found]


def _event(times: Sequence[Located], scope: tuple[int, int]) -> TimeSpan | None:
    """Return the first resolved time in the clause, else its first unresolved one, else None."""
    inside = [located.time for located in times if scope[0] <= located.start < scope[1]]
    return next((time for time in inside if time.start is not None), inside[0] if inside else None)


def _fact(turn: Turn, statement: Statement, event: TimeSpan | None, extractor: str) -> Fact:
    subject, predicate, obj = statement.subject, statement.predicate, statement.object
    identity = fact_id(turn.id, extractor, statement.span, subject, predicate, obj)
    return Fact(identity, turn.id, subject, predicate, obj, event, statement.span, statement.kind, extractor)
