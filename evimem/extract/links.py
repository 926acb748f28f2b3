"""How the clauses of a sentence hang together: which assert for themselves, and which are part of another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from .grammar import Clause
from .senses import COMPLEMENT, SAY, head
from .tags import Tagged

# main asserts for itself; content is the object of the clause before it ("I think she moved"); part belongs to a noun or
# stays in the object of the clause before it; condition qualifies the clause after it; aside ("you know") says nothing
Link = Literal["main", "content", "part", "condition", "aside"]
EMBEDDED = frozenset(("content", "part"))

_CONDITIONS = frozenset(("if", "unless", "whenever"))
_WHENEVER = frozenset(("when", "while"))
_OPEN_ENDED = frozenset(("since", "until", "till", "as", "once"))
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
        gap = tags[before.end if before is not None else 0 : clause.subject]
        found.append(_link(sentence, tags, clause, before, gap, found[-1] if found else None))
    if found[-1] == "condition" and len(found) > 1:
        found[-1] = "part"  # "I will move, if I get the job": nothing follows that it could qualify
    return found


def opening(tags: str, clauses: Sequence[Clause], index: int) -> int:
    """Return the first token that belongs to clause `index`: its connector and what leads it in."""
    if not index:
        return 0
    found = _CONNECTOR.search(tags, clauses[index - 1].end, clauses[index].subject)
    return clauses[index].subject if found is None else found.start()


def _link(  # noqa: PLR0911
    sentence: Tagged, tags: str, clause: Clause, before: Clause | None, gap: str, last: Link | None
) -> Link:
    if clause.role != "main":
        shares = before is None or (last == "main" and _shares(sentence, tags, clause, before, gap))
        return "main" if shares else "part"
    core = gap.rstrip("R~!_sn")
    connector = core[-1:]
    if connector == "B":
        return _subordinate(sentence, tags, clause, before, gap, len(core))
    if (
        tags[clause.subject] == "y"
        and head(sentence, clause) in ("know", "see")
        and tags[clause.end : clause.end + 1] in tuple("iqe")
    ):
        return "aside"
    if connector == "W":
        return "part"
    if before is None or last == "aside":
        return "main"
    if last == "part" and not connector:
        return "part"
    verb = head(sentence, before)
    if "," not in gap or verb in SAY:
        if verb in COMPLEMENT and _LISTENER.match(gap.replace(",", "")):
            return "content"
        if verb in ("be", "feel") and _FEELING.match(gap):
            return "content"
    if connector == "Q":
        return "part" if sentence.words[before.end + len(core) - 1] in _OPEN_ENDED else "main"
    return "main" if (connector and connector in ',;C"') or "s" in gap[len(core) :] else "part"


def _subordinate(sentence: Tagged, tags: str, clause: Clause, before: Clause | None, gap: str, size: int) -> Link:
    word = sentence.words[clause.subject - len(gap) + size - 1]
    group = tags[clause.verb : clause.end]
    present = group[-1:] in "vwZzL" or sentence.words[clause.verb] in _NOW
    if word in _CONDITIONS or (word in _WHENEVER and present):
        return "part" if before is not None and "," not in gap and "C" not in gap else "condition"
    return "part" if word == "whether" else "main"


def _shares(sentence: Tagged, tags: str, clause: Clause, before: Clause, gap: str) -> bool:
    """Return whether a verb without a subject continues the clause before it, by its form: "sold the car and bought"."""
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
