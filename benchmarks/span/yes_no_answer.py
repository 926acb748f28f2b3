"""Yes-or-no and either-or questions: whether the evidence affirms or denies, and which option it has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evimem.lang import ENGLISH
from evimem.offline.matching import Match, Matches, strength
from evimem.text.terms import stem, words

from .word_lists import any_span_word

_any = ENGLISH.any_of_source
_NEGATION = re.compile(
    rf"\b(?:{any_span_word('denials')}|gave\s+up|fell\s+through|can['\u2019]?t\s+stand)\b|n['\u2019]t\b", re.IGNORECASE
)
_GUESS = re.compile(rf"^\W*{_any('questions.guessing')}\b|\b{_any('questions.likely')}\b", re.IGNORECASE)
_CLAUSES = re.compile(rf"[,;:\u2014]|\b{any_span_word('clause_breaks')}\b")
_OR = re.compile(r"\s+or\s+", re.IGNORECASE)
COVERED = 0.5  # share of the question's words that must occur in or around a sentence
_LONGEST_OPTION = 4  # words of the first option, which has no beginning of its own


@dataclass(frozen=True, slots=True)
class Choice:
    """Yes, no or an option, and the sentence that supports it."""

    text: str
    match: Match


def yes_or_no(matches: Matches, found: Sequence[Match]) -> Choice | None:
    """Return yes or no, hedged where a guess is asked for; None where the best sentence has too few of its words."""
    if not found:
        return None
    best = max(found, key=lambda m: strength(m) * (0.5 + m.coverage))
    if best.window < COVERED:
        return None
    question = matches.analysis.question
    denied = _denied(best, matches)
    word = "No" if denied != (_NEGATION.search(question) is not None) else "Yes"
    return Choice(f"Likely {word.lower()}" if _GUESS.search(question) else word, best)


def choice(matches: Matches, found: Sequence[Match]) -> Choice | None:
    """Return the option of an either-or question whose words the evidence has."""
    options = _options(matches.analysis.question)
    best: Choice | None = None
    most = 0.0
    for option in options:
        stems = {stem(word) for word in words(option)}
        for m in found:
            said = sum(stem(word) in stems for word in m.unit.words) / max(1, len(stems))
            if said * strength(m) > most:
                most, best = said * strength(m), Choice(option, m)
    return best


def _denied(m: Match, matches: Matches) -> bool:
    """Return whether the part of the sentence that has the question's words is negated."""
    stems = {stem(word) for word in matches.weights}
    clauses = _CLAUSES.split(m.unit.text)
    said = [clause for clause in clauses if any(stem(word) in stems for word in words(clause))]
    return any(_NEGATION.search(clause) for clause in said or [m.unit.text])


def _options(question: str) -> list[str]:
    parts = _OR.split(question.rstrip(" ?."))
    if len(parts) != 2:
        return []
    left, right = parts
    size = len(right.split())
    return [" ".join(left.split()[-min(size, _LONGEST_OPTION) :]).strip(" ,"), right.strip(" ,")]
