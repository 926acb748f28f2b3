"""What kind of fact a verb group makes: verbs of thinking, liking, hoping, saying and knowing, and the rest."""

from __future__ import annotations

from typing import Literal

from .grammar import Clause
from .tagging import Tagged
from .verbs import lemma

Kind = Literal["event", "state", "opinion", "plan", "report", "image", "statement"]

THINK = frozenset(
    "think believe guess suppose feel reckon doubt bet imagine assume consider find agree suspect figure".split()
)
LIKE = frozenset("like love hate prefer enjoy adore dislike appreciate admire miss recommend favor despise".split())
HOPE = frozenset("hope wish want plan intend aim dream need expect aspire hop".split())
SAY = frozenset(
    """
    say tell claim mention report announce admit explain add promise reply swear insist warn suggest complain
    confess text write
    """.split()
)
KNOW = frozenset(
    "know realize realise learn hear see notice remember forget discover show mean understand read".split()
)
COMPLEMENT = THINK | HOPE | SAY | KNOW | {"ensure", "convince", "prove", "decide", "love", "worry"}
GERUND = frozenset("start begin keep stop quit finish go continue resume try consider avoid give spend".split())
_JUDGE = THINK - {"find", "consider", "agree", "imagine"}
_STATIVE = frozenset(
    """
    be have live know own belong work study need cost seem mean contain include depend weigh sound look speak play
    stay wear remain
    """.split()
)
_PRESENT = frozenset(("is", "are", "am", "'re", "'m"))
_MODAL_PLANS = frozenset("will 'll wo may might shall would 'd should".split())


def head(sentence: Tagged, clause: Clause) -> str:
    """Return the lemma of the verb that carries the meaning: the last of the group, "be" for a copula."""
    tags = sentence.tags
    for index in range(clause.end - 1, clause.verb - 1, -1):
        if tags[index] in "vwfkpgzZLN":
            return lemma(sentence.words[index])
    for index in range(clause.end - 1, clause.verb - 1, -1):
        if tags[index] in "bhdm":
            return "be" if tags[index] == "b" else lemma(sentence.words[index])
    return ""


def kind_of(sentence: Tagged, clause: Clause, verb: str) -> Kind:
    """Return the kind of fact that a verb group with this head makes."""
    group = sentence.tags[clause.verb : clause.end]
    words = sentence.words[clause.verb : clause.end]
    chained = "T" in group
    lemmas = {lemma(word) for word, tag in zip(words, group, strict=True) if tag in "vwfkpgzZL"} if chained else {verb}
    if chained and "used" in words:
        return "state"
    if verb in HOPE or (chained and not lemmas.isdisjoint(HOPE | {"go"})) or not _MODAL_PLANS.isdisjoint(words):
        return "plan"
    if verb in _JUDGE or not lemmas.isdisjoint(LIKE):
        return "opinion"
    lasting = group[-1] in "kp" and not _PRESENT.isdisjoint(words)  # "is broken"
    return "state" if lasting or verb in _STATIVE or group[-1] in "bZzvwLhmd" else "event"
