"""The short answer inside a sentence: a probability for each word, and the run of words with the best expected F1.

A word's probability comes from a linear model over named features. The expected F1 is taken against an answer of
average length, which keeps the run short.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from evimem.judging.evidence import Analysis, Wants
from evimem.lang import ENGLISH
from evimem.offline.matching import Array, Match, Matches, rarity, word_vector
from evimem.offline.signals import Linear
from evimem.text.terms import STOP_WORDS, stem, words
from evimem.times.lexicon import SIMPLE_NUMBERS
from evimem.types.values import Fact

from .word_lists import STANDS_FOR, span_words

_TOKEN = re.compile(r"\w+(?:['\u2019\-]\w+)*")
_HEAD = re.compile(
    r"\b(?:what|which)\s+(?:(?:kinds?|types?|sorts?)\s+of\s+)?((?:[\w'\u2019-]+\s+){0,3}?[\w'\u2019-]+)\s+"
    rf"(?:{'|'.join(ENGLISH.words('word_classes.auxiliaries.common'))})\b",
    re.IGNORECASE,
)
# The number words with which the weights of the features were fitted.
_NUMBER_WORDS = (
    *(word for word, number in SIMPLE_NUMBERS.items() if number <= 15 or number in (20, 30, 40, 50)),
    *ENGLISH.words("questions.large_numbers"),
    *span_words("quantity_words"),
)
_NUMBER = re.compile(rf"\d|\b(?:{'|'.join(_NUMBER_WORDS)})\b", re.IGNORECASE)
_NAMED = re.compile(r"\b(?:names?|called|named|title)\b", re.IGNORECASE)
_BEFORE_PLACE = frozenset(span_words("before_place"))
_BEFORE_REASON = frozenset(span_words("before_reason"))
_NOT_FIRST = STOP_WORDS.difference(span_words("may_lead"))
_NOT_LAST = STOP_WORDS.difference(span_words("may_close"))
_EMBEDDING = 256  # dimension of a word's vector
_FAR = 20  # words away, for a sentence without a word of the question
_DECAY = 4  # words, or ranks, over which nearness falls to 1/e
_NEXT_TURN = 0.3  # how much more the dialogue must cover than the sentence for the sentence to be an answer to it
SENTENCES = 12  # that are searched for an answer
LONGEST = 12  # words of an answer
AVERAGE = 2.5  # words of an answer, measured on the development conversations


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a sentence, with its half-open range of characters in the turn's text (or caption)."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Span:
    """A run of words of one sentence, and its expected F1 with the answer."""

    match: Match
    start: int
    end: int
    text: str
    f1: float


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """What every word is compared with: the stems and names of the question, and vectors of its words."""

    stems: frozenset[str]
    names: frozenset[str]
    meaning: Array
    head: Array
    wants: Wants
    named: bool


def answers(
    matches: Matches, found: Sequence[Match], facts: Mapping[str, Sequence[Fact]], word: Linear, items: int
) -> list[Span]:
    """Return the best runs of words, best first; no two have the same words, and no two are from one sentence."""
    top = max((m.score for m in found), default=0.0)
    asked = asked_of(matches.analysis)
    spans = []
    for m in found[:SENTENCES]:
        if m.unit.asks or not (said := tokens(m)):
            continue
        columns = describe(said, m, asked, facts.get(m.unit.turn.id, ()), top)
        start, end, f1 = best_span(word.probabilities(columns), AVERAGE, columns["asked"])
        start, end = trimmed(said, start, end)
        if end > start:
            spans.append(_span(m, said[start].start, said[end - 1].end, f1))
    return _distinct(sorted(spans, key=lambda span: -span.f1))[:items]


def tokens(match: Match) -> list[Word]:
    """Return the words of a sentence with their places in the turn."""
    offset = match.unit.span[0]
    return [Word(m[0], m.start() + offset, m.end() + offset) for m in _TOKEN.finditer(match.unit.text)]


def describe(
    found: Sequence[Word], m: Match, asked: QuestionWords, facts: Sequence[Fact], top: float
) -> dict[str, Array]:
    """Return the named features of a sentence's words: float32 columns with one value per word."""
    plain = [_plain(token.text) for token in found]
    stems = [stem(word) for word in plain]
    stop = np.array([word in STOP_WORDS for word in plain])
    named = np.array([word in asked.names for word in plain])
    said = np.array([s in asked.stems for s in stems]) & ~stop
    places = np.flatnonzero(said & ~named)
    index = np.arange(len(found))
    apart = np.abs(index[:, None] - places[None, :]).min(axis=1) if len(places) else np.full(len(found), _FAR)
    vectors = np.array([word_vector(word) for word in plain], np.float32)
    objects, of_verb = _objects(found, m, facts, asked.stems)
    capital = np.array([token.text[:1].isupper() for token in found]) & (index > 0) & ~stop
    columns: dict[str, Any] = {
        "asked": said | named,
        "rarity": [0.0 if gone else rarity(s) for gone, s in zip(stop, stems, strict=True)],
        "stop": stop,
        "name": capital,
        "number": [numeric(token.text) for token in found],
        "near": np.exp(-apart / _DECAY),
        "after": index > places[-1] if len(places) else np.zeros(len(found)),
        "like_head": vectors @ asked.head,
        "like_question": vectors @ asked.meaning,
        "sentence": m.score / (top + 1e-6),
        "own": m.own,
        "rank": math.exp(-m.rank / _DECAY),
        "object": objects,
        "of_verb": of_verb,
        "typed": _typed(asked.wants, plain, found, capital, named=asked.named),
        "heard": float(m.window > m.coverage + _NEXT_TURN),
        "caption": float(m.unit.caption),
        "first": index == 0,
    }
    return {name: np.broadcast_to(np.asarray(column, np.float32), len(found)) for name, column in columns.items()}


def head(analysis: Analysis) -> tuple[str, ...]:
    """Return the noun that names what is asked for ("what instrument"), else nouns for the form of answer."""
    found = _HEAD.search(analysis.question)
    if found is None:
        return STANDS_FOR.get(analysis.wants, ())
    return tuple(word for word in words(found[1]) if word not in STOP_WORDS)[-2:]


def trimmed(said: Sequence[Word], start: int, end: int) -> tuple[int, int]:
    """Return a run without the function words at its ends; a determiner may begin it."""
    while start < end and _plain(said[start].text) in _NOT_FIRST:
        start += 1
    while end > start and _plain(said[end - 1].text) in _NOT_LAST:
        end -= 1
    return start, end


def best_span(
    probabilities: Sequence[float] | Array, average: float, barred: Sequence[float] | Array = ()
) -> tuple[int, int, float]:
    """Return the half-open run with the best expected F1 against an answer of `average` words, and that F1.

    With p the probabilities, n the words of the run and a the average, the expected F1 is 2 * sum(p) / (n + a). A
    barred word, one of the question itself, is in no run.
    """
    sums = [0.0, *accumulate(float(p) for p in probabilities)]
    best = (0, 0, 0.0)
    for start in range(len(sums) - 1):
        for end in range(start + 1, min(len(sums) - 1, start + LONGEST) + 1):
            if len(barred) and barred[end - 1]:
                break
            f1 = 2 * (sums[end] - sums[start]) / (end - start + average)
            if f1 > best[2]:
                best = (start, end, f1)
    return best


def asked_of(analysis: Analysis) -> QuestionWords:
    """Return what the words of an answer are compared with."""
    return QuestionWords(
        frozenset(stem(word) for word in words(analysis.question)),
        frozenset(word for name in analysis.entities for word in words(name)),
        _mean(analysis.keywords),
        _mean(head(analysis)),
        analysis.wants,
        _NAMED.search(analysis.question) is not None,
    )


def _span(m: Match, start: int, end: int, f1: float) -> Span:
    return Span(m, start, end, m.unit.source[start:end], f1)


def _distinct(spans: Sequence[Span]) -> list[Span]:
    kept: dict[frozenset[str], Span] = {}
    for span in spans:
        kept.setdefault(frozenset(stem(word) for word in words(span.text)), span)
    return list(kept.values())


@lru_cache(maxsize=1 << 14)
def _plain(token: str) -> str:
    found = words(token)
    return found[0] if found else ""


def numeric(text: str) -> bool:
    """Return whether a word is a number, in digits or spelled out."""
    return _NUMBER.search(text) is not None


def _objects(
    found: Sequence[Word], m: Match, facts: Sequence[Fact], asked: frozenset[str]
) -> tuple[list[bool], list[bool]]:
    """Return which words are in the object of a fact, and which in that of a fact whose verb is in the question."""
    objects, of_verb = [False] * len(found), [False] * len(found)
    for fact in facts:
        if (fact.kind == "image") != m.unit.caption:
            continue
        inside = set(words(fact.object))
        verb = any(stem(word) in asked for word in words(fact.predicate) if word not in STOP_WORDS)
        for index, token in enumerate(found):
            if fact.span[0] <= token.start < fact.span[1] and _plain(token.text) in inside:
                objects[index] = True
                of_verb[index] = of_verb[index] or verb
    return objects, of_verb


def _typed(wants: Wants, plain: Sequence[str], found: Sequence[Word], capital: Any, *, named: bool) -> Any:
    """Return how far each word has the form of answer that is asked for, from 0 to 2."""
    if wants == "person":
        led = np.array([bool(_BEFORE_PLACE & set(plain[max(0, i - 2) : i])) for i in range(len(plain))])
        return capital & ~led
    if named:
        return capital
    if wants in {"count", "duration"}:
        return [numeric(token.text) for token in found]
    if wants == "place":
        led = np.array([bool(_BEFORE_PLACE & set(plain[max(0, i - 3) : i])) for i in range(len(plain))])
        return 0.5 * led + (led & capital)
    if wants == "reason":
        return [bool(_BEFORE_REASON & set(plain[:i])) for i in range(len(plain))]
    return np.zeros(len(plain))


def _mean(terms: Sequence[str]) -> Array:
    if not terms:
        return np.zeros(_EMBEDDING, np.float32)
    total: Array = np.sum([word_vector(word) for word in terms], axis=0)
    return total / (float(np.linalg.norm(total)) + 1e-6)
