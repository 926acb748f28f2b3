"""A person's own word, and the later reports of others that contradict it: the own word answers, and both are told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ...extract.predicates import sense
from ...extract.topics import is_named, words_of
from ...extract.updates import may_be_same
from ...judging.evidence import View
from ...lang import ENGLISH
from ...types.answer import Citation
from ...types.values import Fact, Gap, Turn
from ..attributes import in_order
from ..sentence_units import is_assistant

_PLAIN = frozenset(("state", "event"))  # kinds of facts that are neither hedged, heard, wished nor thought

_PRONOUNS = frozenset(ENGLISH.words("predicates.topics.unnamed_subjects"))
_POSSESSIVE = re.compile(r"['\u2019]s?\s+")


@dataclass(frozen=True, slots=True)
class Told:
    """A value as somebody told it: characters of a turn."""

    text: str
    turn: Turn
    span: tuple[int, int]

    @property
    def phrase(self) -> str:
        """Who told what, and when."""
        said = self.turn.time
        return f"{self.turn.speaker} said {self.text} on {said.day} {said:%B} {said.year}"


@dataclass(frozen=True, slots=True)
class Conflict:
    """What a gap says of values that exclude each other, and the characters that state the other ones."""

    gap: Gap
    citations: tuple[Citation, ...]


def conflict(view: View, own: Told, others: Iterable[Told]) -> Conflict | None:
    """Return how reports contradict a person's own word; None where none does.

    A report contradicts it that was told after it, plainly, and gives another value. Of one speaker the last counts.
    """
    others = tuple(others)
    if not others or is_assistant(own.turn):
        return None
    places = {turn.id: place for place, turn in enumerate(in_order(view))}
    later = [one for one in others if places.get(one.turn.id, -1) > places.get(own.turn.id, len(places))]
    last = {one.turn.speaker: one for one in sorted(later, key=lambda one: (places[one.turn.id], one.span))}
    differing = [one for one in last.values() if _is_other_value(own.text, one.text)]
    against = [one for one in differing if _is_plain(view, own.turn.speaker, one)]
    if not against:
        return None
    text = "; ".join(one.phrase for one in (own, *against))
    cited = tuple(Citation(one.turn.id, one.span, one.turn.text[slice(*one.span)]) for one in against)
    return Conflict(Gap("conflict", own.turn.speaker, text), cited)


def _is_other_value(own: str, reported: str) -> bool:
    """Return whether two values exclude each other: neither "Leeds" and "a flat in Leeds" nor "Leeds" and "a flat"."""
    return is_named(own) == is_named(reported) and not may_be_same(own, reported)


def facts_of(view: View, told: Told) -> list[Fact]:
    """Return the facts that have the characters of a value; none where its turn is not shown."""
    facts = (fact for item in view.shown if item.turn.id == told.turn.id for fact in item.facts)
    return [one for one in facts if one.span[0] <= told.span[0] and told.span[1] <= one.span[1]]


def owned(view: View, subject: str, person: str) -> str | None:
    """Return what of a person's the subject of a fact is: "rent" of "Mira's rent", nothing where it is the person.

    None where it is another's, and where several speakers go by the name.
    """
    name, *rest = _POSSESSIVE.split(subject, maxsplit=1)
    called = words_of(name)
    meant = [one for one in view.speakers if called and called <= words_of(one)]
    return "".join(rest) if meant == [person] else None


def reports_of_theirs(view: View, own: Told) -> list[Told]:
    """Return what others state of a thing of a person's in the words in which the person does: "her cat is called".

    What is stated of the person themselves is looked up (`attributes`).
    """
    person = own.turn.speaker
    stated = {(owned(view, one.subject, person), one.predicate) for one in facts_of(view, own)}
    theirs = {(thing, predicate) for thing, predicate in stated if thing}
    found = []
    for turn, fact in ((item.turn, fact) for item in view.shown for fact in item.facts):
        if turn.speaker != person and (owned(view, fact.subject, person), fact.predicate) in theirs:
            at = turn.text.find(fact.object, *fact.span)
            found += [Told(fact.object, turn, (at, at + len(fact.object)))] if at >= 0 else []
    return found


def _is_plain(view: View, person: str, report: Told) -> bool:
    """Return whether facts state a report about a person plainly: no hedge, hearsay, wish, denial or former state."""
    stating = facts_of(view, report)
    about = all(one.subject.casefold() in _PRONOUNS or owned(view, one.subject, person) is not None for one in stating)
    return bool(stating) and about and all(map(_states, stating))


def _states(fact: Fact) -> bool:
    parsed = sense(fact.predicate)
    over = parsed.used or (parsed.past and fact.kind == "state")
    return fact.kind in _PLAIN and not (parsed.modal or parsed.negative or over)
