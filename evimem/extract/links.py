"""How the clauses of a sentence hang together: which assert for themselves, and which are part of another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from .grammar import Clause
from .tagging import Tagged
from .verb_senses import COMPLEMENT, SAY, head

# main asserts for itself; content is the object of the clause before it ("I think she moved"); part belongs to a noun
# or stays in the object before it; condition qualifies the clause after it; aside says nothing ("you know")
Link = Literal["main", "content", "part", "condition", "aside"]
EMBEDDED = frozenset(("content", "part"))

_CONDITIONS = frozenset(("if", "unless", "whenever"))
_WHENEVER = frozenset(("when", "while"))
_OPEN_ENDED = frozenset(("since", "until", "till", "as", "once"))
_PERCEIVED = frozenset("read see hear show remember forget find need want love".split())
_NOW = frozenset(("is", "are", "am", "'s", "'m", "'re", "has", "have", "does", "do"))
_CONNECTOR = re.compile(r'[,;CBQWqs"_][R~,;CBQWqs!"_]*$')
_LISTENER = re.compile(r"[Rns]*(?:o|S|M|[DS][NMUJ]{1,3})?q?[R~!]*$")
_FEELING = re.compile(r"[Rns]*[JNk]q?$")
_ADJECTIVES = re.compile(r"[JNkgRsn,]*$")


def links(sentence: Tagged, tags: str, clauses: Sequence[Clause]) -> list[Link]:
    """Return how each clause hangs on what stands before it."""
    found: list[Link] = []
    for index, clause in enumerate(clauses):
        before = clauses[index - 1] if index else None
        found.append(_link(sentence, tags, clause, before, found[-1] if found else None))
    if found[-1] == "condition" and len(found) > 1:
        found[-1] = "part"  # "I will move, if I get the job": nothing follows that it could qualify
    return found


def opening(tags: str, clauses: Sequence[Clause], index: int) -> int:
    """Return the first token that belongs to clause `index`: its connector and what leads it in."""
    if not index:
        return 0
    found = _CONNECTOR.search(tags, clauses[index - 1].end, clauses[index].subject)
    return clauses[index].subject if found is None else found.start()


class _Gap(NamedTuple):
    """What stands between two clauses; `connector` is the tag of what joins them."""

    tags: str
    connector: str
    word: str  # that word itself

    @property
    def continues(self) -> bool:
        """Whether something joins the clauses side by side: a comma, a break, "and", "so"."""
        return (self.connector != "" and self.connector in ',;C"') or "s" in self.tags[
            len(self.tags.rstrip("R~!_sn")) :
        ]


def _gap(sentence: Tagged, tags: str, start: int, end: int) -> _Gap:
    core = tags[start:end].rstrip("R~!_sn")
    return _Gap(tags[start:end], core[-1:], sentence.words[start + len(core) - 1] if core else "")


def _link(sentence: Tagged, tags: str, clause: Clause, before: Clause | None, last: Link | None) -> Link:
    gap = _gap(sentence, tags, before.end if before is not None else 0, clause.subject)
    if clause.role != "main":
        shares = before is None or (last == "main" and _shares(sentence, tags, clause, before, gap.tags))
        return "main" if shares else "part"
    if gap.connector == "B":
        return _subordinate(sentence, tags, clause, gap, leads=before is None)
    if _is_aside(sentence, tags, clause):
        return "aside"
    if gap.connector == "W" or (last == "part" and not gap.connector):
        return "part"
    if before is None or last == "aside":
        return "main"
    return _after(head(sentence, before), gap, reduced=tags[clause.verb] == "k" and clause.verb - clause.subject > 1)


def _after(verb: str, gap: _Gap, *, reduced: bool) -> Link:
    """Return how a clause hangs on the one before it, which has this verb.

    It may be `reduced` to a participle: "I read a novel called Dune", not "I know a girl called me".
    """
    if reduced and verb in _PERCEIVED and "q" not in gap.tags:
        return "part"
    if "," not in gap.tags or verb in SAY:
        told = verb in COMPLEMENT and _LISTENER.match(gap.tags.replace(",", "")) is not None
        if told or (verb in ("be", "feel") and _FEELING.match(gap.tags) is not None):
            return "content"
    if gap.connector == "Q":
        return "part" if gap.word in _OPEN_ENDED else "main"
    return "main" if gap.continues else "part"


def _is_aside(sentence: Tagged, tags: str, clause: Clause) -> bool:
    """Return whether a clause is the "you know" of "You know I love olives"."""
    return (
        tags[clause.subject] == "y"
        and tags[clause.end : clause.end + 1] in tuple("iqe")
        and head(sentence, clause) in ("know", "see")
    )


def _subordinate(sentence: Tagged, tags: str, clause: Clause, gap: _Gap, *, leads: bool) -> Link:
    present = tags[clause.end - 1] in "vwZzL" or sentence.words[clause.verb] in _NOW
    if gap.word in _CONDITIONS or (gap.word in _WHENEVER and present):
        return "condition" if leads or "," in gap.tags or "C" in gap.tags else "part"
    return "part" if gap.word == "whether" else "main"


def _shares(sentence: Tagged, tags: str, clause: Clause, before: Clause, gap: str) -> bool:
    """Return whether a verb without a subject continues the clause before it, by its form: "sold it and bought"."""
    if "W" in gap or "q" in gap:
        return False
    group = tags[before.verb : before.end].lstrip("Rns~")
    word = sentence.words[before.verb + tags[before.verb : before.end].find(group[:1])] if group else ""
    if group.endswith("b") and _ADJECTIVES.match(gap.replace("C", "")):
        return tags[clause.verb] in "bhmdf"
    kind = tags[clause.verb : clause.end].lstrip("Rns~")[:1]
    if kind in ("f", "k"):
        return (
            group[:1] in ("f", "k")
            or word in ("was", "were", "had", "did")
            or (group[:1] in ("h", "b") and "k" in group)
        )
    if kind in ("v", "w", "L") or sentence.words[clause.verb] == "be":
        shared = "T" in group or group[:1] in ("m", "d")
        return shared or (
            group[:1] in ("v", "w", "L") and tags[clause.end : clause.end + 1] not in ("N", "J", "U", ".", ",", "")
        )
    if kind in ("z", "Z"):
        return group[:1] in ("z", "Z") or word in ("is", "has", "does", "'s")
    return True
