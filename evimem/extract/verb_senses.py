"""What kind of fact a verb group makes: verbs of thinking, liking, hoping, saying and knowing, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..lang import ENGLISH
from .grammar import ClauseSpan
from .tag_letters import Tag, TagSet, letters
from .tagging import Tagged
from .verbs import lemma

Kind = Literal["event", "state", "opinion", "plan", "report", "image", "statement"]

THINK = frozenset(ENGLISH.words("predicates.senses.think"))
LIKE = frozenset(ENGLISH.words("predicates.senses.like"))
HOPE = frozenset(ENGLISH.words("predicates.senses.hope"))
SAY = frozenset(ENGLISH.words("predicates.senses.say"))
KNOW = frozenset(ENGLISH.words("predicates.senses.know"))
FACTIVE = frozenset(ENGLISH.words("predicates.senses.factive"))
"""Verbs of knowing whose object is a fact: "realized that Ana moved", but not "heard that she did"."""
GERUND = frozenset(ENGLISH.words("predicates.senses.gerund"))
"""Verbs that the gerund after them completes: "started learning Greek"."""
COMPLEMENT = THINK | HOPE | SAY | KNOW | frozenset(ENGLISH.words("predicates.senses.other_complement"))
"""Verbs whose object may be a clause: "ensure that it works"."""

_OPINION = THINK - frozenset(ENGLISH.words("predicates.senses.not_opinion"))
_STATIVE = frozenset(ENGLISH.words("predicates.senses.stative"))
_PRESENT = frozenset(ENGLISH.words("grammar.present_be"))
_MODALS_OF_PLANS = frozenset(ENGLISH.words("grammar.modals_of_plans"))

_HEADS = letters("FULL_VERBS NOUN")  # a noun in a verb group is a verb that the lexicon does not have
_LASTING = letters("BE S_FORM S_FORM_OR_PLURAL BASES HAVE MODAL DO")


def head(sentence: Tagged, clause: ClauseSpan) -> str:
    """Return the lemma of the verb that carries the meaning: the last of the group, "be" for a copula."""
    tags = sentence.tags
    for index in range(clause.end - 1, clause.verb - 1, -1):
        if tags[index] in _HEADS:
            return lemma(sentence.words[index])
    for index in range(clause.end - 1, clause.verb - 1, -1):
        if tags[index] in TagSet.AUXILIARIES:
            return "be" if tags[index] == Tag.BE else lemma(sentence.words[index])
    return ""


def kind_of(sentence: Tagged, clause: ClauseSpan, verb: str) -> Kind:
    """Return the kind of fact that a verb group with this head makes."""
    group = sentence.tags[clause.verb : clause.end]
    words = sentence.words[clause.verb : clause.end]
    chained = Tag.TO in group  # "wants to learn"
    lemmas = _lemmas(words, group) if chained else {verb}
    if chained and "used" in words:
        return "state"
    modals = [word for word, tag in zip(words, group, strict=True) if tag == Tag.MODAL]
    if verb in HOPE or (chained and not lemmas.isdisjoint(HOPE | {"go"})) or not _MODALS_OF_PLANS.isdisjoint(modals):
        return "plan"
    if verb in _OPINION or not lemmas.isdisjoint(LIKE):
        return "opinion"
    is_result = group[-1] in TagSet.PARTICIPLES and not _PRESENT.isdisjoint(words)  # "is broken"
    return "state" if is_result or verb in _STATIVE or group[-1] in _LASTING else "event"


def _lemmas(words: Sequence[str], tags: str) -> set[str]:
    return {lemma(word) for word, tag in zip(words, tags, strict=True) if tag in TagSet.FULL_VERBS}
