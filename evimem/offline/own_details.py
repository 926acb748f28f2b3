"""Short answers about people's own details, as they state them: with the reports of others that contradict them.

A person's own word answers before what others say of them. What is looked up and not stated is said to be missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ..extract.predicates import sense
from ..extract.topics import is_named, words_of
from ..extract.updates import may_be_same
from ..judging.evidence import View
from ..lang import ENGLISH
from ..protocols import Extractor
from ..text.terms import STOP_WORDS, words
from ..types.answer import Citation
from ..types.values import Fact, Gap, TimeSpan, Turn
from .attributes import ADVICE, ATTRIBUTES, Item, Lookup, attribute_of, in_order, lookup
from .dates_and_numbers import CURRENCY
from .sentence_units import is_assistant

_PLAIN = frozenset(("state", "event"))  # kinds of facts that are neither hedged, heard, wished nor thought
_PRONOUNS = frozenset(ENGLISH.words("predicates.topics.unnamed_subjects"))
_POSSESSIVE = re.compile(r"['\u2019]s?\s+")
_EMPTY = STOP_WORDS.union(ENGLISH.words("questions.empty_replies"))
_MARKUP = re.compile(r"[*_`#|<>{}\[\]]")
# What belongs to an amount, so that a value beside it is only a part: "120 k" of "120 k\u20ac".
_AMOUNT_BEFORE = re.compile(
    rf"(?:[{CURRENCY}]\s?|(?:^|\s)[\-\u2212\u2013]|\b{ENGLISH.any_of('questions.bounds')}\s+)$", re.IGNORECASE
)
_AMOUNT_AFTER = re.compile(rf"\s?[\d%{CURRENCY}\u00a2]")
_LOOK_BACK = 30  # characters before a value that may belong to it


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """A short answer that the evidence states.

    Attributes:
        text: The answer, without markup.
        citations: The characters that state it.
        form: What it states: "attribute:<name>", "reply" of the assistant, or "when".
        time: The interval that it states, if it states one.
        steps: What was computed, in words.
        query: What to search for once more, because it may have changed since; empty where that is not likely.
        conflict: The later reports of others that contradict it, where it rests on a person's own word.
    """

    text: str
    citations: tuple[Citation, ...]
    form: str
    time: TimeSpan | None = None
    steps: tuple[str, ...] = ()
    query: str = ""
    conflict: Conflict | None = None


@dataclass(frozen=True, slots=True)
class NotStated:
    """An asked thing of a kind that is looked up, and that the evidence does not state.

    Attributes:
        gap: What is not stated, as a phrase for people.
        query: The next one to search for; may be empty.
    """

    gap: str
    query: str = ""


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


def own_detail(view: View, extractor: Extractor) -> ShortAnswer | NotStated | None:
    """Return a looked-up detail, or that it is not stated; None where the question asks for none.

    What a participant says of themselves outranks what others say of them.
    """
    question = view.analysis.question.strip()
    if not any(pattern.match(question) for pattern in (*ADVICE, *(shape for _, shape in ATTRIBUTES))):
        return None
    attribute = attribute_of(question)
    found = lookup(view, attribute, extractor)
    if found.outcome < 0 and found.gap:
        return NotStated(found.gap, found.query)
    turns = {item.turn.id: item.turn for item in view.evidence} | view.around
    reports, against = found.reports, None
    if found.outcome > 0 and _is_hearsay(view, found, turns):
        found = lookup(_own_words(view), attribute, extractor)
        told = [Told(item.text, turns[item.turn_id], item.span) for item in (*found.items, *reports)]
        against = conflict(view, told[0], told[1:]) if len(found.items) == 1 else None
    if found.outcome > 0 and against is None and len(found.items) == 1:
        item = found.items[0]
        own = Told(item.text, turns[item.turn_id], item.span)
        against = conflict(view, own, _reports_of_theirs(view, own))
    if found.outcome <= 0 or found.former or not all(_is_value(item, turns) for item in found.items):
        return None
    citations = tuple(Citation(item.turn_id, item.span, item.text) for item in found.items)
    name = f"attribute:{attribute.kind}" if attribute else "reply"
    return ShortAnswer(
        ", ".join(item.text for item in found.items), citations, name, query=found.query, conflict=against
    )


def _is_hearsay(view: View, found: Lookup, turns: Mapping[str, Turn]) -> bool:
    """Return whether others say what a participant is asked for."""
    people = {name for name in view.analysis.asked if name.casefold() not in ("user", "assistant")}
    said = [turns.get(item.turn_id) for item in found.items]
    return bool(people) and any(turn is None or turn.speaker not in people for turn in said)


def _own_words(view: View) -> View:
    """Return a view with only what the asked people say themselves."""
    people = view.analysis.asked
    return replace(
        view,
        evidence=tuple(item for item in view.evidence if item.turn.speaker in people),
        shown=tuple(item for item in view.shown if item.turn.speaker in people),
        context={turn_id: tuple(t for t in around if t.speaker in people) for turn_id, around in view.context.items()},
        memo={},
    )


def _is_value(item: Item, turns: Mapping[str, Turn]) -> bool:
    """Return whether an item names something and is whole: no interjection, markup, part of a phrase or amount."""
    last = item.text.split()[-1:]
    if (last and last[0] in STOP_WORDS) or set(words(item.text)) <= _EMPTY or _MARKUP.search(item.text):
        return False
    turn, (start, end) = turns.get(item.turn_id), item.span
    if turn is None:
        return True
    cut = turn.text[start:end][:1].isdigit() and _AMOUNT_BEFORE.search(turn.text, max(0, start - _LOOK_BACK), start)
    return not cut and _AMOUNT_AFTER.match(turn.text, end) is None


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


def _facts_of(view: View, told: Told) -> list[Fact]:
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


def _reports_of_theirs(view: View, own: Told) -> list[Told]:
    """Return what others state of a thing of a person's in the words in which the person does: "her cat is called".

    What is stated of the person themselves is looked up (`attributes`).
    """
    person = own.turn.speaker
    stated = {(owned(view, one.subject, person), one.predicate) for one in _facts_of(view, own)}
    theirs = {(thing, predicate) for thing, predicate in stated if thing}
    found = []
    for turn, fact in ((item.turn, fact) for item in view.shown for fact in item.facts):
        if turn.speaker != person and (owned(view, fact.subject, person), fact.predicate) in theirs:
            at = turn.text.find(fact.object, *fact.span)
            found += [Told(fact.object, turn, (at, at + len(fact.object)))] if at >= 0 else []
    return found


def _is_plain(view: View, person: str, report: Told) -> bool:
    """Return whether facts state a report about a person plainly: no hedge, hearsay, wish, denial or former state."""
    stating = _facts_of(view, report)
    about = all(one.subject.casefold() in _PRONOUNS or owned(view, one.subject, person) is not None for one in stating)
    return bool(stating) and about and all(map(_states, stating))


def _states(fact: Fact) -> bool:
    parsed = sense(fact.predicate)
    over = parsed.used or (parsed.past and fact.kind == "state")
    return fact.kind in _PLAIN and not (parsed.modal or parsed.negative or over)
