"""Yes or no: whether the evidence affirms what a question supposes, denies it, or says nothing of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..text.terms import stem, words
from .match_sentences import Match, Matches, strength

_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nobody|nothing|neither|nor|without|hardly|barely|stopped|quit|gave\s+up|cancelled|canceled|"
    r"unfortunately|instead|fell\s+through|hates?|dislikes?|can['\u2019]?t\s+stand|allergic)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_GUESS = re.compile(r"^\W*(?:would|could|might|may|should)\b|\blikely\b|\bprobably\b", re.IGNORECASE)
_OR = re.compile(r"\s+or\s+", re.IGNORECASE)
COVERED = 0.5  # the share of the question's words that the evidence must say


@dataclass(frozen=True, slots=True)
class Stand:
    """What the evidence says to a yes-or-no question, and the sentence that says it."""

    text: str
    match: Match


def stand(matches: Matches, found: Sequence[Match]) -> Stand | None:
    """Return yes or no, hedged where the question asks for a guess; None where the evidence does not bear on it."""
    if not found:
        return None
    best = max(found, key=lambda m: strength(m) * (0.5 + m.coverage))
    if best.window < COVERED:
        return None
    question = matches.analysis.question
    denied = _denied(best, matches)
    word = "No" if denied != (_NEGATION.search(question) is not None) else "Yes"
    return Stand(f"Likely {word.lower()}" if _GUESS.search(question) else word, best)


def choice(matches: Matches, found: Sequence[Match]) -> Stand | None:
    """Return the option of an either-or question that the evidence says."""
    options = _options(matches.analysis.question)
    best: Stand | None = None
    most = 0.0
    for option in options:
        stems = {stem(word) for word in words(option)}
        for m in found:
            said = sum(stem(word) in stems for word in m.unit.words) / max(1, len(stems))
            if said * strength(m) > most:
                most, best = said * strength(m), Stand(option, m)
    return best


def _denied(m: Match, matches: Matches) -> bool:
    """Whether the part of the sentence that says the question's words is negated."""
    stems = {stem(word) for word in matches.weights}
    clauses = re.split(r"[,;:\u2014]|\b(?:but|and|so|because|though|although)\b", m.unit.text)
    said = [clause for clause in clauses if any(stem(word) in stems for word in words(clause))]
    return any(_NEGATION.search(clause) for clause in said or [m.unit.text])


def _options(question: str) -> list[str]:
    parts = _OR.split(question.rstrip(" ?."))
    if len(parts) != 2:
        return []
    left, right = parts
    size = len(right.split())
    return [" ".join(left.split()[-min(size, 4) :]).strip(" ,"), right.strip(" ,")]
