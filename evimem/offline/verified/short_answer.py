"""A short answer that passed every check, or the reason why a looked-up thing is not stated.

A question is read (`asked_form`); the passages that are about its subject are found (`candidate_passages`); values of
the asked type in them (`stated_values`) are bound by the words of the question (`bindings`), or propositions decide
(`proposition`); the firmest value answers (`firmness`), unless another is about as firm.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from ...extract import conventions_of
from ...extract.own_words import outside, passed_on
from ...extract.updates import may_be_same
from ...judging.evidence import View
from ...lang import ENGLISH
from ...protocols import Extractor
from ...text.terms import STOP_WORDS, stem, words
from ...times import Conventions
from ...types.answer import Citation
from ...types.values import TimeSpan, Turn
from ..attributes import ADVICE, ATTRIBUTES, Item, Lookup, attribute_of, lookup
from .agreement import speaks_against
from .asked_form import AskedForm, asked_of
from .bindings import Binding, bind, is_about, is_in_time
from .candidate_passages import Passage, passages_of
from .firmness import firmness
from .own_word import Conflict, Told, conflict, facts_of, owned, reports_of_theirs
from .proposition import decision
from .stated_values import stated_values
from .typed_values import stands_alone

_FIRM = 0.5  # least probability of a value that answers; of 22 on registers left out in turn, 19 were right
_RIVAL = 0.7  # another value this much as firm speaks against it
_LOOKED_UP, _CONTRADICTED = 0.7, 0.4  # support of an attribute, and of one that others state otherwise
_EMPTY = STOP_WORDS.union(ENGLISH.words("asked_forms.empty_replies"))
_MARKUP = re.compile(r"[*_`#|<>{}\[\]]")
_CORRECTS = re.compile("|".join(ENGLISH.words("asked_forms.corrects")), re.IGNORECASE)
_SOON = timedelta(days=14)  # after which "it" is something else; chosen by no data
_WISHED = 0.8  # support of a "no" that rests on a wish or plan, against one that is stated


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """A short answer whose required checks all held.

    Attributes:
        text: The answer, without markup.
        citations: The characters that state it.
        form: The form of answer that proved it: "attribute:<name>", "yes_no", "when", "money", "duration", "count", ...
        support: How firmly it is bound to the question, 0 to 1.
        time: The interval that it states, if it states one.
        steps: What was computed, in words.
        query: What to search for once more, because it may have changed since; empty where that is not likely.
        conflict: The later reports of others that contradict it, where it rests on a person's own word.
    """

    text: str
    citations: tuple[Citation, ...]
    form: str
    support: float
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


def short_answer(view: View, extractor: Extractor) -> ShortAnswer | NotStated | None:
    """Return the short answer that the shown evidence proves; None where it proves none.

    `extractor` is the memory's own: it reads turns next to the evidence, and its `weekday` convention resolves dates.
    """
    stated = _attribute(view, extractor)
    if stated is not None:
        return stated
    asked = asked_of(view)
    if not asked.weights or asked.compares:
        return None
    if asked.form == "yes_no":
        return _yes_or_no(asked, _passages(view, asked))
    return _value(view, asked, bound_values(view, asked, extractor), conventions_of(extractor))


def bound_values(view: View, asked: AskedForm, extractor: Extractor) -> list[Binding]:
    """Return the values of the asked type that the evidence states of the subject, each with its checks."""
    conventions = conventions_of(extractor)
    passages = _passages(view, asked)
    found = [(one, *stated) for one in passages for stated in stated_values(view, asked, one, conventions)]
    return bind(view, asked, passages, found)


def _passages(view: View, asked: AskedForm) -> list[Passage]:
    """Return the sentences that may state something of the subject, oldest first."""
    times = view.analysis.times
    own = (one for one in passages_of(view, asked) if _is_own(view, one))
    may = (one for one in own if not one.asks and is_about(asked, one) and is_in_time(times, one))
    return [one for one in may if not speaks_against(asked, one)]


def _is_own(view: View, passage: Passage) -> bool:
    """Return whether a sentence is its speaker's own statement."""
    turn = passage.turn
    left_out = view.kept(("passed on", turn.id), lambda: passed_on(turn.text))
    return bool(outside([passage.unit.span], left_out))


def _value(view: View, asked: AskedForm, bound: Sequence[Binding], conventions: Conventions) -> ShortAnswer | None:
    """Return the firmest value, the first or last of those about as firm; None where one turn states two.

    None, too, where it is corrected soon after.

    Of those about as firm, what the person asked about says outranks what others say.
    """
    ranked = sorted(((firmness(asked, one), one) for one in bound), key=lambda pair: -pair[0])
    if not ranked or ranked[0][0] < _FIRM:
        return None
    support, best = ranked[0]
    rivals = [one for firm, one in ranked if firm >= _RIVAL * support and one.value.key != best.value.key]
    if any(one.passage.turn.id == best.passage.turn.id for one in rivals):
        return None
    in_order = sorted((best, *rivals), key=lambda one: one.passage.turn.time)
    own = [one for one in in_order if one.passage.turn.speaker in asked.subject]
    chosen = (own or in_order)[0 if asked.first else -1]
    if _is_corrected(view, asked, chosen, conventions):
        return None
    turn, span = chosen.passage.turn, chosen.value.span
    told = [Told(one.value.text, one.passage.turn, one.value.span) for one in in_order if own and not asked.first]
    reports = [one for one in told if _is_reported(view, asked, turn.speaker, one)]
    steps = (f"{turn.text[slice(*span)]!r}, said on {turn.time:%Y-%m-%d}",) if chosen.time is not None else ()
    return ShortAnswer(
        chosen.value.text,
        (Citation(turn.id, span, turn.text[slice(*span)]),),
        asked.form,
        support,
        chosen.time,
        steps,
        conflict=conflict(view, Told(chosen.value.text, turn, span), reports),
    )


def _is_corrected(view: View, asked: AskedForm, chosen: Binding, conventions: Conventions) -> bool:
    """Return whether a sentence soon after gives another value for what it calls "it": nothing is proved then."""
    turn, (_, end) = chosen.passage.turn, chosen.value.span
    order = turn.time, turn.id, end
    later = (one for one in passages_of(view, asked) if (one.turn.time, one.turn.id, one.unit.span[0]) >= order)
    cues = (one for one in later if one.turn.time - turn.time <= _SOON and _CORRECTS.search(one.text) and not one.asks)
    return any(
        value.text != chosen.value.text for one in cues for value, _ in stated_values(view, asked, one, conventions)
    )


def _is_reported(view: View, asked: AskedForm, person: str, told: Told) -> bool:
    """Return whether another tells a value of a person, or of what the question asks about of theirs."""
    of = [owned(view, fact.subject, person) for fact in facts_of(view, told)]
    asked_about = all(one is not None and all(stem(word) in asked.weights for word in words(one)) for one in of)
    return told.turn.speaker not in asked.subject and asked_about


def _yes_or_no(asked: AskedForm, passages: Sequence[Passage]) -> ShortAnswer | None:
    found = decision(asked, passages)
    if found is None:
        return None
    span = found.passage.unit.span
    cited = Citation(found.passage.turn.id, span, found.passage.turn.text[slice(*span)])
    support = found.near * (_WISHED if found.polarity == "wished" else 1.0)
    return ShortAnswer("Yes" if found.polarity == "yes" else "No", (cited,), "yes_no", support, steps=(found.why,))


def _attribute(view: View, extractor: Extractor) -> ShortAnswer | NotStated | None:
    """Return a looked-up attribute, or that it is not stated; None where the question asks for none.

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
    support, reports, against = _LOOKED_UP, found.reports, None
    if found.outcome > 0 and _is_hearsay(view, found, turns):
        stated, found = found, lookup(_own_words(view), attribute, extractor)
        against = _conflict(view, found, reports, turns)
        support = _LOOKED_UP if against is not None or _agree(stated, found) else _CONTRADICTED
    if found.outcome > 0 and against is None and len(found.items) == 1:
        item = found.items[0]
        own = Told(item.text, turns[item.turn_id], item.span)
        against = conflict(view, own, reports_of_theirs(view, own))
    if (
        found.outcome <= 0
        or found.former
        or not all(_is_value(item.text) and _is_whole(item, turns) for item in found.items)
    ):
        return None
    citations = tuple(Citation(item.turn_id, item.span, item.text) for item in found.items)
    name = f"attribute:{attribute.kind}" if attribute else "reply"
    text = ", ".join(item.text for item in found.items)
    return ShortAnswer(text, citations, name, support, query=found.query, conflict=against)


def _is_hearsay(view: View, found: Lookup, turns: Mapping[str, Turn]) -> bool:
    """Return whether others say what a participant is asked for."""
    people = {name for name in view.analysis.asked if name.casefold() not in ("user", "assistant")}
    said = [turns.get(item.turn_id) for item in found.items]
    return bool(people) and any(turn is None or turn.speaker not in people for turn in said)


def _agree(stated: Lookup, own: Lookup) -> bool:
    """Return whether all that is stated of a participant is also their own word."""
    return all(any(may_be_same(item.text, other.text) for other in own.items) for item in stated.items)


def _conflict(view: View, own: Lookup, reports: Sequence[Item], turns: Mapping[str, Turn]) -> Conflict | None:
    """Return how reports contradict the one value that a participant states."""
    told = [Told(item.text, turns[item.turn_id], item.span) for item in (*own.items, *reports)]
    return conflict(view, told[0], told[1:]) if len(own.items) == 1 else None


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


def _is_whole(item: Item, turns: Mapping[str, Turn]) -> bool:
    """Return whether an item is no part of an amount: "120 k" of "120 k\u20ac", "least" of "at least 30 kg"."""
    turn = turns.get(item.turn_id)
    if turn is None:
        return True
    return stands_alone(turn.text, *item.span)


def _is_value(text: str) -> bool:
    """Return whether a phrase names something and is whole: no interjection, no markup, no end in the middle."""
    last = text.split()[-1:]
    whole = not last or last[0] not in STOP_WORDS
    return whole and not set(words(text)) <= _EMPTY and _MARKUP.search(text) is None
