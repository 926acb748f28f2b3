"""Questions for one attribute of a person or thing: "what is my sister's dog called", "how old is Kit"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...extract.tagging import Tagged, lowered, tagged
from ...lang import ENGLISH
from .phrases import JOINS, POSSESSIVE, Phrase, phrases
from .tag_sets import BETWEEN_PHRASES, OWNER

_BE = r"(?:\s+(?:is|are|was|were|am)|['\u2019]s|['\u2019]re)"
_DO = r"(?:do|does|did|can|could|would|will)(?:\s?n['\u2019]?t|\s+not)?|can['\u2019]?t"
_WHO = r"(?P<of>.+?)"
_POSS = rf"(?P<poss>{'|'.join(word for word in POSSESSIVE if word != 'its')})"
_END = r"(?P<tail>\s+(?:now|today|currently|these days|nowadays|before|at first|previously|originally))?\s*\?*\s*$"
_MARKS = {
    "{be}": _BE,
    "{do}": _DO,
    "{owner}": rf"(?:{_WHO}['\u2019]s?|{_POSS})",
    "{who}": _WHO,
    "{'}": r"['\u2019]",
}


def _compiled(shape: str) -> re.Pattern[str]:
    for mark, pattern in _MARKS.items():
        shape = shape.replace(mark, pattern)
    return re.compile(shape + _END, re.IGNORECASE)


PATTERNS = tuple(
    (kind, _compiled(shape)) for kind, shapes in ENGLISH.lists("attributes.question_shapes").items() for shape in shapes
)
_NAME_PREPOSITIONS = frozenset(ENGLISH.words("attributes.name_prepositions"))
_MOST_PHRASES = 2  # "the door of my shed"
_LONGEST = 200  # characters of a question that these patterns are tried on


@dataclass(frozen=True, slots=True)
class Attribute:
    """What a question asks for: the kind of attribute, the phrase for its owner, the noun or verb that narrows it."""

    kind: str
    of: Phrase
    spoken: str
    noun: str = ""
    verb: str = ""
    which: str = ""


def attribute_of(question: str) -> Attribute | None:
    """Return the attribute that a question asks for, None for a question of any other shape."""
    text = question.strip()
    if len(text) > _LONGEST:
        return None
    for kind, pattern in PATTERNS:
        found = pattern.match(text)
        if found is None:
            continue
        groups = found.groupdict()
        key = next((key for key in ("of", "of2", "poss") if groups.get(key)), None)
        if key is None:
            continue
        at, to = found.span(key)
        phrase = Phrase(pronoun=POSSESSIVE[text[at:to].lower()]) if key == "poss" else _phrase(text, at, to)
        if phrase is None:
            return None
        return Attribute(
            kind,
            phrase,
            text[at:to],
            (groups.get("noun") or "").lower().strip(),
            (groups.get("verb") or "").lower(),
            (groups.get("which") or "").strip().lower(),
        )
    return None


def _runs_on(sentence: Tagged, phrase: Phrase) -> bool:
    """Return whether words follow a name within a phrase, which is then more than one phrase: "Gina design"."""
    return bool(phrase.name and phrase.words) and sentence.ranges[phrase.last - 1][1] > phrase.name_at[1]


def _phrase(text: str, at: int, to: int) -> Phrase | None:
    """Return the one phrase of characters [at, to) of a question: "the door of my shed", "my boss at FreshBarn"."""
    sentence: Tagged = tagged(text, lowered(text), 0, len(text))
    inside = [place for place, (start, end) in enumerate(sentence.ranges) if at <= start and end <= to]
    if not inside:
        return None
    if any(sentence.tags[place] not in OWNER and sentence.words[place] not in JOINS for place in inside):
        return None  # a word that belongs to no phrase: most often a verb
    found = list(phrases(sentence, inside[0], inside[-1] + 1))
    held = {place for phrase in found for place in range(phrase.first, phrase.last)}
    if any(sentence.tags[place] not in BETWEEN_PHRASES for place in inside if place not in held):
        return None  # a verb: the text is more than a phrase for the owner
    if not 0 < len(found) <= _MOST_PHRASES or any(_runs_on(sentence, phrase) for phrase in found):
        return None
    return found[0] if len(found) == 1 else _joined(found[0], found[1], sentence.words[found[0].last : found[1].first])


def _joined(head: Phrase, other: Phrase, between: Sequence[str]) -> Phrase | None:
    """Return a phrase with one that depends on it: its owner after "of", else what distinguishes it."""
    if not head.words or not between:
        return None
    if list(between) == ["of"]:
        if head.words == ("one",):
            return other
        return Phrase(other, "", head.words, head.name)
    if between[0] in _NAME_PREPOSITIONS:
        more = (*other.words, *(word.casefold() for word in other.name.split()))
        return Phrase(head.owner, head.pronoun, (*more, *head.words), head.name)
    return None
