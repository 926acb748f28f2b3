"""A short answer that passed every check, or the reason why a looked-up thing is not stated.

A question is read (`asked_form`); the passages that are about its subject are found (`passages`, `bindings`); values of
the asked type in them are bound by the words of the question (`typed_values`, `event_dates`) or propositions decide
(`proposition`); the firmest value answers, unless another is about as firm.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...judging.evidence import View
from ...lang import ENGLISH
from ...protocols import Extractor
from ...text.terms import STOP_WORDS, words
from ...times.context import Weekday
from ...types.answer import Citation
from ...types.values import TimeSpan
from ..attributes import ADVICE, ATTRIBUTES, Lookup, attribute_of, lookup
from .asked_form import AskedForm, asked_form
from .bindings import Binding, bind, is_about, is_in_time
from .candidate_passages import Passage, passages_of
from .event_dates import DATED, dates, times_of
from .firmness import firmness
from .proposition import decision
from .typed_values import Value, values

_FIRM = 0.5  # least probability of a value that answers; of 22 on registers left out in turn, 19 were right
_RIVAL = 0.7  # another value this much as firm speaks against it
_LOOKED_UP, _CONTRADICTED = 0.7, 0.4  # support of an attribute, and of one that others state otherwise
_EMPTY = STOP_WORDS.union(ENGLISH.words("asked_forms.empty_replies"))
_MARKUP = re.compile(r"[*_`#|<>{}\[\]]")
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
    """

    text: str
    citations: tuple[Citation, ...]
    form: str
    support: float
    time: TimeSpan | None = None
    steps: tuple[str, ...] = ()
    query: str = ""


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
    asked = asked_form(view.analysis)
    if not asked.weights or asked.compares:
        return None
    if asked.form == "yes_no":
        return _yes_or_no(asked, _passages(view, asked))
    return _value(asked, bound_values(view, asked, extractor))


def bound_values(view: View, asked: AskedForm, extractor: Extractor) -> list[Binding]:
    """Return the values of the asked type that the evidence states of the subject, each with its checks."""
    weekday: Weekday = getattr(extractor, "weekday", "recent")
    found: list[tuple[Passage, Value, TimeSpan | None]] = []
    passages = _passages(view, asked)
    for one in passages:
        named = [(one, value, None) for value in values(asked, one)]
        if not named and asked.form in DATED:
            found += [(one, *dated) for dated in dates(asked, one, times_of(view, one.turn, weekday))]
        found += named
    return bind(view, asked, passages, found)


def _passages(view: View, asked: AskedForm) -> list[Passage]:
    """Return the sentences that may state something of the subject, oldest first."""
    times = view.analysis.times
    return [one for one in passages_of(view, asked) if not one.asks and is_about(asked, one) and is_in_time(times, one)]


def _value(asked: AskedForm, bound: Sequence[Binding]) -> ShortAnswer | None:
    """Return the firmest value, the first or last of those about as firm; None where one turn states two."""
    ranked = sorted(((firmness(asked, one), one) for one in bound), key=lambda pair: -pair[0])
    if not ranked or ranked[0][0] < _FIRM:
        return None
    support, best = ranked[0]
    rivals = [one for firm, one in ranked if firm >= _RIVAL * support and one.value.key != best.value.key]
    if any(one.passage.turn.id == best.passage.turn.id for one in rivals):
        return None
    in_order = sorted((best, *rivals), key=lambda one: one.passage.turn.time)
    chosen = in_order[0 if asked.first else -1]
    turn, span = chosen.passage.turn, chosen.value.span
    steps = (f"{turn.text[slice(*span)]!r}, said on {turn.time:%Y-%m-%d}",) if chosen.time is not None else ()
    return ShortAnswer(
        chosen.value.text, (Citation(turn.id, span, turn.text[slice(*span)]),), asked.form, support, chosen.time, steps
    )


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
    support = _LOOKED_UP
    if found.outcome > 0 and _is_hearsay(view, found):
        found, support = lookup(_own_words(view), attribute, extractor), _CONTRADICTED
    if found.outcome <= 0 or not all(_is_value(item.text) for item in found.items):
        return None
    citations = tuple(Citation(item.turn_id, item.span, item.text) for item in found.items)
    name = f"attribute:{attribute.kind}" if attribute else "reply"
    return ShortAnswer(", ".join(item.text for item in found.items), citations, name, support, query=found.query)


def _is_hearsay(view: View, found: Lookup) -> bool:
    """Return whether others say what a participant is asked for."""
    speakers = {item.turn.id: item.turn.speaker for item in view.evidence}
    speakers |= {turn.id: turn.speaker for around in view.context.values() for turn in around}
    people = {name for name in view.analysis.asked if name.casefold() not in ("user", "assistant")}
    return bool(people) and any(speakers.get(item.turn_id) not in people for item in found.items)


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


def _is_value(text: str) -> bool:
    """Return whether a phrase names something: no interjection, no markup."""
    return not set(words(text)) <= _EMPTY and _MARKUP.search(text) is None
