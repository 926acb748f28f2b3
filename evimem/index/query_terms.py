"""The terms of a question, weighed by what they tell in this corpus, each with the words that mean it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from ..text.terms import stem, terms, words
from .corpus import Corpus
from .hypernyms import instances
from .postings import NOWHERE, Posting
from .related_words import related
from .resolved_query import Question
from .weights import Weights

FEW = 64  # a term of fewer turns is never too common to tell anything
UNIT = 1024  # shares of related words are whole numbers of this, so that they sum exactly in any order
_NAMED = re.compile(r"(?<=[\w,;'\u2019] )[A-Z][\w'\u2019]*")


@dataclass(frozen=True, slots=True)
class Related:
    """A word that means what a term asks for: its posting, and how much it counts, in units of 1 / UNIT."""

    posting: Posting
    share: int


@dataclass(frozen=True, slots=True)
class AskedTerm:
    """A term to look for: what it tells (its idf times its count), who has it, and who has what it means."""

    name: str
    weight: float
    posting: Posting
    related: tuple[Related, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """The terms that a question asks by, and what all of them tell together, whether any turn has them or not."""

    terms: tuple[AskedTerm, ...]
    total: float


def asked_terms(question: Question, corpus: Corpus, weights: Weights) -> Asked:
    """Return the terms of a question with their postings, in alphabetical order.

    A term that every fourth turn has tells nothing worth its price, so it counts only where there is no other: in
    a conversation of two, that is their names, which the speaker part reads better.
    """
    counts = Counter(terms(question.text))
    postings = {name: corpus.posting(name) for name in sorted(counts)}
    rare = {name: found for name, found in postings.items() if not is_common(len(found), corpus)}
    surfaces = _surfaces(question.text)
    found = []
    total = 0.0
    for name, posting in (rare or postings).items():
        idf = corpus.idf(len(posting))
        total += counts[name] * idf
        others = _related(surfaces.get(name, ()), idf, frozenset(counts), corpus, weights)
        if len(posting) or others:
            found.append(AskedTerm(name, counts[name] * idf, posting, others))
    return Asked(tuple(found), total)


def is_common(frequency: int, corpus: Corpus) -> bool:
    """Return whether so many turns have a term that it tells nothing."""
    return frequency > max(FEW, corpus.turns // 4)


def _surfaces(text: str) -> dict[str, list[str]]:
    """Return the words of a text by their stem; names, which mean nothing but themselves, are left out."""
    names = {word for name in _NAMED.findall(text) for word in words(name)}
    found: dict[str, list[str]] = {}
    for word in dict.fromkeys(words(text)):
        if word not in names:
            found.setdefault(stem(word), []).append(word)
    return found


def _related(
    surfaces: list[str] | tuple[str, ...], idf: float, asked: frozenset[str], corpus: Corpus, weights: Weights
) -> tuple[Related, ...]:
    """Return what means one of these words, less so the less it tells than they do."""
    near: dict[str, float] = {}
    for word in surfaces:
        for term, closeness in (*related(word), *((term, 1.0) for term in instances(stem(word)))):
            near[term] = max(near.get(term, 0.0), closeness)
    found = []
    for term, closeness in sorted(near.items()):
        posting = NOWHERE if term in asked or closeness <= weights.floor else corpus.posting(term)
        if not len(posting) or is_common(len(posting), corpus):
            continue
        share = weights.related * (closeness - weights.floor) / (1 - weights.floor)
        share *= min(1.0, corpus.idf(len(posting)) / idf)
        found.append(Related(posting, round(UNIT * share)))
    return tuple(found)
