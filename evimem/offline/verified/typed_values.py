"""Values of a type that stand in a passage: amounts, lengths of time, counts, names, places, colours."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial

from ...lang import ENGLISH
from ...text.terms import STOP_WORDS, stem, words
from ...times.lexicon import SIMPLE_NUMBERS, TENS
from ..dates_and_numbers import COUNT, DURATION, SIZE
from ..match_sentences import word_vector
from ..attributes.word_classes import is_person
from .asked_form import AskedForm
from .noun_phrases import NounPhrase, noun_phrases
from .passages import Passage


def _any(*names: str) -> str:
    return "|".join(re.escape(word) for name in names for word in ENGLISH.words(name))


_AMOUNT = r"[+-]?\d{1,3}(?:[,. ]\d{3})+(?:[.,]\d{1,2})?|[+-]?\d+(?:[.,]\d+)?"
_SCALE = r"(?:\s?(?:k|grand|m|mil|million|thousand)\b)?"
MONEY = re.compile(
    rf"[+-]?[$\u00a3\u20ac\u20a6\u20b9\u00a5]\s?(?:{_AMOUNT}){_SCALE}"
    rf"|(?<![\w.,])(?:{_AMOUNT}){_SCALE}\s?(?:(?:{'|'.join(ENGLISH.words('asked_forms.money_units'))})\b|[$\u00a3\u20ac\u20a6\u20b9\u00a5])"
    rf"|(?<![\w.,])(?:{_AMOUNT})\s?(?:k|grand)\b",
    re.IGNORECASE,
)
_SPELLED = rf"(?:{'|'.join((*TENS, *SIMPLE_NUMBERS))})"
_SPELLED_MONEY = re.compile(
    rf"\b(?:about |around )?{_SPELLED}(?:[- ]{_SPELLED}){{0,2}}(?: hundred| thousand| grand){{1,2}}(?:(?: and)? {_SPELLED}(?:[- ]{_SPELLED})?(?: hundred)?(?: and {_SPELLED}(?:[- ]{_SPELLED})?)?)?",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"(?<![\w.,$\u00a3\u20ac:/-])(?:\d{1,3}(?:[,.]\d{3})+|\d+(?:[.,]\d+)?) ?(?=(?:gross|net|per|a|an|each|/) ?(?:hour|day|night|week|month|year|yr|mo|h|hr|piece|head|person|p/?w|gross|annum)?\b)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"(?<![\w.,$\u00a3\u20ac:/-])(?:{_AMOUNT})(?![\w:%/-]|[.,]\d)")
PERCENT = re.compile(r"(?<![\w.,])[+-]?\d+(?:[.,]\d+)?\s?(?:%|percent\b|per cent\b)|\b\w+ (?:percent|per cent)\b", re.IGNORECASE)
_AGE = re.compile(
    r"\b\d{1,3}(?= ?(?:years? old|yrs? old|yo\b|y/o))|(?<=turned )\d{1,3}\b|(?<=turns )\d{1,3}\b|(?<=turning )\d{1,3}\b"
    r"|(?<=aged )\d{1,3}\b",
    re.IGNORECASE,
)
_COLOUR = re.compile(
    rf"\b(?:(?:{_any('word_classes.colours.shades')})[ -])?"
    rf"(?:(?:[a-z]+) (?={_any('word_classes.colours.basic')}))?(?:{_any('word_classes.colours.basic', 'word_classes.colours.other')})\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"\b(?:[01]?\d|2[0-3])(?::|\.)[0-5]\d(?: ?[ap]\.?m\b)?|\b(?:1[0-2]|[1-9]) ?[ap]\.?m\b|\bnoon\b|\bmidnight\b"
    r"|\bhalf (?:past )?\w+\b",
    re.IGNORECASE,
)
_BEFORE_PLACE = frozenset(ENGLISH.words('questions.before_place'))
_NAME = re.compile(r"(?<![\w'])[A-Z\u00c0-\u00de][\w\u00c0-\u024f'-]*(?: (?:of|de|van|der|al|el|la|the)? ?[A-Z\u00c0-\u00de][\w\u00c0-\u024f'-]*)*")
_IN_PLACE = re.compile(
    r"\b(?:in|at|to|from|near|into|onto|on|by|under|behind|outside|inside)\s+((?:(?:the|my|our|his|her|their|a|an)\s+)?"
    r"(?:[\w'-]+)(?:\s+[A-Z][\w'-]*)*)"
)


@dataclass(frozen=True, slots=True)
class Value:
    """Characters of a turn that state a value; `key` is equal for equal values.

    `fits` is how far it is of the asked type, `role` whether it stands where an answer stands in the asked relation.
    """

    text: str
    span: tuple[int, int]
    key: str
    fits: float = 1.0
    role: float = 0.0


def values(asked: AskedForm, passage: Passage) -> Iterator[Value]:
    """Yield the values of the asked type in a passage."""
    find = _FINDERS.get(asked.form)
    if find is not None:
        yield from find(asked, passage)


def _matches(pattern: re.Pattern[str], passage: Passage) -> Iterator[Value]:
    for found in pattern.finditer(passage.turn.text, *passage.unit.span):
        text = found[0].strip()
        if text:
            yield Value(text, found.span(), _key(text))


def _key(text: str) -> str:
    return re.sub(r"[\s,]", "", text.casefold())


def _of(pattern: re.Pattern[str], _asked: AskedForm, passage: Passage) -> Iterator[Value]:
    yield from _matches(pattern, passage)


def _money(_asked: AskedForm, passage: Passage) -> Iterator[Value]:
    found = [*_matches(MONEY, passage), *_matches(_SPELLED_MONEY, passage)] or list(_matches(_RATE, passage))
    yield from found
    if not found and passage.question is not None and len(passage.text.split()) <= 6:
        yield from _matches(_BARE, passage)


_LENGTH = re.compile(
    rf"\b\d+ ?(?:h|hrs?|hours?|min|mins|minutes?)(?: (?:and )?\d+(?: ?(?:m|min|mins|minutes?|s|sec|seconds?))?)?\b|{DURATION.pattern}", re.IGNORECASE
)


def _duration(_asked: AskedForm, passage: Passage) -> Iterator[Value]:
    for value in _matches(_LENGTH, passage):
        after = passage.turn.text[value.span[1] : value.span[1] + 8].casefold()
        if not re.match(r"\s*(?:ago|old|later)\b", after):
            yield value


def _count(asked: AskedForm, passage: Passage) -> Iterator[Value]:
    """Yield numbers that count the asked noun, or that are all there is to a reply."""
    for value in _matches(COUNT, passage):
        after = passage.turn.text[value.span[1] : passage.unit.span[1]]
        nouns = [stem(word) for word in re.findall(r"\w+", after.casefold())[:3]]
        short = passage.question is not None and len(passage.text.split()) <= 4
        if (asked.noun and asked.noun[-1] in nouns) or short:
            yield value


def _phrases(asked: AskedForm, passage: Passage) -> Iterator[Value]:
    """Yield the noun phrases of a passage that add something to the question."""
    verb = stem(asked.verb) if asked.verb else ""
    place = asked.form == "place"
    for phrase in noun_phrases(passage.turn.text, *passage.unit.span):
        spoken = words(phrase.text)
        fresh = [word for word in spoken if stem(word) not in asked.weights and word not in STOP_WORDS]
        if not fresh or any(word in asked.people for word in spoken):
            continue
        fits = _fits(asked, phrase)
        role = float(bool(verb) and stem(phrase.verb) == verb) or float(place and phrase.before in _BEFORE_PLACE)
        yield Value(phrase.text, phrase.span, _key(phrase.text), fits, role)


@cache
def _instances(noun: str) -> frozenset[str]:
    return frozenset(stem(member) for names, members in ENGLISH.lists("kinds.instances").items() if noun in map(stem, names.split()) for member in members)


def _fits(asked: AskedForm, phrase: NounPhrase) -> float:
    """Return how far a noun phrase is of the asked kind."""
    if asked.form == "person":
        return float(phrase.named) or 0.5 * float(is_person(phrase.head))
    if asked.form == "place":
        return float(phrase.named)
    if not asked.noun:
        return 0.0
    head = asked.noun_words[-1]
    if stem(phrase.head) == asked.noun[-1]:
        return 1.0 if len(words(phrase.text)) > 1 else 0.0
    if stem(phrase.head) in _instances(asked.noun[-1]):
        return 1.0
    return max(0.0, max(float(word_vector(head) @ word_vector(word)) for word in words(phrase.text)))


_FINDERS: Mapping[str, Callable[[AskedForm, Passage], Iterator[Value]]] = {
    "money": _money,
    "percent": partial(_of, PERCENT),
    "duration": _duration,
    "count": _count,
    "age": partial(_of, _AGE),
    "size": partial(_of, SIZE),
    "colour": partial(_of, _COLOUR),
    "clock": partial(_of, _CLOCK),
    "person": _phrases,
    "place": _phrases,
    "noun": _phrases,
    "thing": _phrases,
}
