"""The terms of a question, weighed by what they tell in this corpus."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from ..terms import terms
from .corpus import Corpus
from .postings import Posting
from .question import Question


@dataclass(frozen=True, slots=True)
class AskedTerm:
    """A term to look for; `weight` holds its idf, `part` says whether the question has it or only means it."""

    name: str
    weight: float
    part: Literal["words", "related"]
    posting: Posting


@dataclass(frozen=True, slots=True)
class Asked:
    """The terms that some turn has, and the weight of all that the question has, found or not."""

    terms: tuple[AskedTerm, ...]
    total: float


def asked_terms(question: Question, corpus: Corpus) -> Asked:
    """Return the terms of a question with their postings, in alphabetical order."""
    found = []
    total = 0.0
    for name, count in sorted(Counter(terms(question.text)).items()):
        posting = corpus.posting(name)
        weight = count * corpus.idf(len(posting))
        total += weight
        if len(posting):
            found.append(AskedTerm(name, weight, "words", posting))
    return Asked(tuple(found), total)
