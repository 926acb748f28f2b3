"""What the assistant recommended: the sentence in which it did, on the subject asked about, and the thing in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...extract.tag_letters import Tag, TagSet
from ...extract.tagging import lowered, tagged
from ...judging.evidence import View
from ...lang import ENGLISH
from ...text.sentences import sentences
from ...text.terms import STOP_WORDS, stem, words
from ...types.values import Turn
from ..sentence_units import is_assistant
from .phrases import Phrase, phrases
from .tag_sets import ADVISED
from .word_classes import akin

_RECOMMEND = f"(?:{'|'.join(ENGLISH.words('attributes.recommends'))})"
_VERB = rf"(?:{_RECOMMEND}|tell\s+me\s+about)(?:ed)?"
ASKED = (
    re.compile(
        rf"^(?:what|which)\s+(?P<noun>.*?)\s*(?:did|do|have)\s+(?:you|the\s+assistant)\s+{_VERB}(?P<topic>.*?)\?*\s*$",
        re.IGNORECASE,
    ),
    re.compile(
        rf"^(?:what|which)(?:\s+(?:is|was|were)|['\u2019]s)\s+the\s+(?:name\s+of\s+the\s+)?(?P<noun>.+?)\s+(?:that\s+)?"
        rf"(?:you|the\s+assistant)\s+{_VERB}(?P<topic>.*?)\?*\s*$",
        re.IGNORECASE,
    ),
)
_ADVISES = re.compile(rf"\b{ENGLISH.any_of('attributes.advises')}(?:s|ed|ing)?\b", re.IGNORECASE)
_RECOMMENDS = re.compile(rf"\b{_RECOMMEND}(?:s|ed|ing)?\b", re.IGNORECASE)
_AROUND = 2  # sentences to each side that are on the same subject in a long message
_ENDS = 3  # last sentences of the turns before, which ask for the advice
_SOON = 5  # tokens after the verb within which a name is what was recommended
_FILLERS = frozenset(ENGLISH.words("attributes.advice_fillers"))


@dataclass(frozen=True, slots=True)
class Advice:
    """What was recommended, with its characters in the assistant's turn; `text` is empty where nothing was."""

    text: str
    turn: Turn | None = None
    span: tuple[int, int] = (0, 0)


def advice(view: View) -> Advice | None:
    """Return what the assistant recommended, None for a question that does not ask for it."""
    question = view.analysis.question.strip()
    asked = next((found for pattern in ASKED if (found := pattern.match(question))), None)
    if asked is None or not any(is_assistant(item.turn) for item in view.evidence):
        return None
    noun = _content(asked["noun"])
    topic = _content(asked["topic"])
    advised = sorted(_advised(view, noun, topic), key=lambda pair: pair[0], reverse=True)
    if advised:
        return advised[0][1]
    return None if any(_covers(view, item.turn, (*noun, *topic)) for item in view.shown) else Advice("")


def _covers(view: View, turn: Turn, asked: Sequence[str]) -> bool:
    """Return whether an assistant's turn, with the turns before it, has all the words asked about."""
    said = _content(f"{_before(view, turn)} {turn.text}")
    return is_assistant(turn) and all(any(akin(word, other) for other in said) for word in asked)


def _content(text: str) -> tuple[str, ...]:
    return tuple(word for word in words(text) if word not in STOP_WORDS and word not in _FILLERS)


def _advised(view: View, noun: Sequence[str], topic: Sequence[str]) -> Iterator[tuple[tuple[float, ...], Advice]]:
    for item in view.shown:
        if not is_assistant(item.turn):
            continue
        asked_for = _before(view, item.turn)
        places = sentences(item.turn.text)
        for place, (start, end) in enumerate(places):
            text = item.turn.text[start:end]
            if not _ADVISES.search(text) or (text.rstrip().endswith("?") and not _RECOMMENDS.search(text)):
                continue
            around = places[max(0, place - _AROUND) : place + _AROUND + 1]
            near = _content(f"{asked_for} {item.turn.text[around[0][0] : around[-1][1]]}")
            here = _content(text)
            if not all(any(akin(word, said) for said in near) for word in noun):
                continue
            if not all(any(stem(word) == stem(said) or akin(word, said) for said in near) for word in topic):
                continue
            thing = _thing(item.turn, start, end, noun)
            if thing is None:
                continue
            close = sum(any(akin(word, said) for said in here) for word in (*noun, *topic))
            yield (close, bool(_RECOMMENDS.search(text)), item.turn.time.timestamp()), thing


def _before(view: View, turn: Turn) -> str:
    """Return the ends of the turns just before a turn of the assistant."""
    around = view.context.get(turn.id, ())
    place = next((index for index, other in enumerate(around) if other.id == turn.id), 0)
    said = [other.text for other in around[:place] if other.session == turn.session]
    return " ".join(text[start:end] for text in said for start, end in sentences(text)[-_ENDS:])


def _thing(turn: Turn, start: int, end: int, noun: Sequence[str], *, named_only: bool = False) -> Advice | None:
    """Return a title or name in a sentence, else the words after the verb that recommends."""
    text = turn.text
    verb = _RECOMMENDS.search(text, start, end) or _ADVISES.search(text, start, end)
    spoken = verb.end() if verb is not None and not named_only else start
    low = lowered(text)
    sentence = tagged(text, low, start, end)
    first = next((i for i, (at, _) in enumerate(sentence.ranges) if at >= spoken), len(sentence.ranges))
    found = list(phrases(sentence, first, len(sentence.tags)))
    if (
        found and found[0].pronoun in ("it", "they") and start > 0
    ):  # "It was the Moonlander. I suggested it because ..."
        before = [place for place in sentences(text) if place[1] <= start]
        return _thing(turn, *before[-1], noun, named_only=True) if before else None
    named = next((phrase for phrase in found if phrase.name and phrase.first < first + _SOON), None)
    if named is not None:
        return Advice(named.name, turn, named.name_at)
    if named_only:
        return None
    whole = next((phrase for phrase in found if not phrase.pronoun and phrase.words), None)
    if whole is None:
        return None
    at = _extent(sentence.tags, whole)
    span = sentence.ranges[at[0]][0], sentence.ranges[at[1] - 1][1]
    return Advice(text[slice(*span)], turn, span)


def _extent(tags: str, phrase: Phrase) -> tuple[int, int]:
    first = phrase.first + (tags[phrase.first] in TagSet.DETERMINERS and phrase.last - phrase.first > 1)
    last = phrase.last
    if tags[last : last + 1] == Tag.PREPOSITION:
        last += 1
        while last < len(tags) and tags[last] in ADVISED:
            last += 1
    return first, last
