"""Values bound to what is asked, and the named checks that say how firmly."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from ...judging.evidence import View
from ...text.terms import stem
from ...types.values import TimeSpan
from ..match_sentences import Array, match, mentions
from ..sentence_units import is_assistant
from ..signals import contrasted
from .asked_form import SETTLED, AskedForm, asked_kind
from .candidate_passages import Passage
from .typed_values import Value

_ABOUT = 0.5  # least weight with which a passage must be about the asked speaker
_SAID = 0.9  # from which a word counts as said itself, and not one near it in meaning
# Share of the question's words, by weight, that are said. Chosen on our chats (all registers but other languages), cut
# into memories of 15 turns that do not hold the evidence: of 1,300 questions 15 got a short answer without it, 5 with
# it; of 20 right answers on the whole chats 18 stay.
_TOLD = 0.58
_REACH = 30.0  # characters over which nearness falls to 1/e
_PLANNED_FOR, _TOLD_AFTER = timedelta(days=60), timedelta(days=60)
_SHORT = 8.0  # words of a sentence that is half as short as one can be
_WORD = re.compile(r"\w+")
_OWNED = r"(?P<owner>\b(?:my|our|your|his|her|their|its)|\b\w+['\u2019]s|\b\w+s['\u2019])\s+(?:[\w-]+\s+){0,2}?"
_MINE = frozenset(("my", "our"))


@dataclass(frozen=True, slots=True)
class Binding:
    """A value in a passage, and how firmly it is bound to the question: named checks, each from 0 to 1."""

    value: Value
    passage: Passage
    checks: Mapping[str, float]
    time: TimeSpan | None = None


def is_about(asked: AskedForm, passage: Passage) -> bool:
    """Return whether a passage may state something of the subject: the user's own words, or words about the person.

    What an assistant says supports only questions of what it said.
    """
    if is_assistant(passage.turn) != asked.of_assistant:
        return False
    people = [name for name in asked.subject if name.casefold() not in ("user", "assistant")]
    if people and not any(_weighs(passage, name) for name in people):
        return False
    return not any(_is_of_another(asked, passage, noun) for noun in asked.owned)


def is_in_time(times: Sequence[TimeSpan], passage: Passage) -> bool:
    """Return whether a passage was said when it may tell of the times that a question names."""
    said = passage.turn.time
    spans = [(span.start, span.end) for span in times if span.start is not None and span.end is not None]
    return all(start - said <= _PLANNED_FOR and said - end <= _TOLD_AFTER for start, end in spans)


def _weighs(passage: Passage, name: str) -> bool:
    return passage.unit.about.get(name, 0.0) >= _ABOUT or mentions(passage.text, name)


def _is_of_another(asked: AskedForm, passage: Passage, noun: str) -> bool:
    """Return whether the asked noun is somebody else's in a passage: "his loft" where "my loft" is asked for."""
    owners = [found["owner"].casefold() for found in re.finditer(_OWNED + re.escape(noun), passage.text, re.IGNORECASE)]
    own = passage.turn.speaker in asked.subject
    people = {name.casefold() for name in asked.subject}
    theirs = [
        owner in _MINE if own else re.split(r"['\u2019]", owner)[0] in people | set(asked.weights) for owner in owners
    ]
    return bool(owners) and not any(theirs)


def share(asked: AskedForm, bound: Array) -> float:
    """Return the share of the question's words that are bound, by weight."""
    weights = np.array(list(asked.weights.values()), np.float32)
    return float(weights @ bound / weights.sum())


def bind(
    view: View,
    asked: AskedForm,
    passages: Sequence[Passage],
    found: Sequence[tuple[Passage, Value, TimeSpan | None]],
) -> list[Binding]:
    """Check how firmly each value is bound."""
    matches = {(m.unit.turn.id, m.unit.span): m.score for m in match(view).ranked if not m.unit.caption}
    top = max(matches.values(), default=1.0) or 1.0
    scores = {item.turn.id: item.score for item in view.evidence}
    best = max(scores.values(), default=1.0) or 1.0
    found = [one for one in found if not _is_other_event(asked, one[0], passages)]
    values = len({value.key for _, value, _ in found})
    bound = []
    for passage, value, time in found:
        if not (_names_near(asked, passage) and _is_told(asked, passage)):
            continue
        if asked.settling and not SETTLED.search(passage.text):
            continue
        here = sum(other is passage for other, _, _ in found)
        checks = {
            "sentence": matches.get((passage.turn.id, passage.unit.span), 0.0) / top,
            "turn": scores.get(passage.turn.id, 0.0) / best,
            "wide": share(asked, passage.wide),
            "least": float(passage.wide.min()),
            "verb": _verb(asked, passage),
            "beside": _beside(asked, passage, value),
            "sole": 1 / here,
            "few": 1 / values,
            "reply": float(passage.question is not None and asked_kind(passage.question.text) == asked.form),
            "speaker": float(passage.turn.speaker in asked.subject),
            "short": 1 / (1 + len(passage.text.split()) / _SHORT),
        }
        bound.append(Binding(value, passage, checks, time))
    return bound


def _is_other_event(asked: AskedForm, passage: Passage, passages: Sequence[Passage]) -> bool:
    """Return whether the asked event is told beside a passage, as in "He died on Saturday. We buried him later.".

    The date or amount of the passage is then that of another event.
    """
    if _verb(asked, passage) >= _SAID or stem(asked.verb) not in asked.weights:
        return False
    row = list(asked.weights).index(stem(asked.verb))
    return any(other.turn.id == passage.turn.id and other.own[row] >= _SAID for other in passages)


def _verb(asked: AskedForm, passage: Passage) -> float:
    """Return how far the asked verb is bound with the question that a passage answers; 0 where it says nothing."""
    term = stem(asked.verb)
    return float(passage.near[list(asked.weights).index(term)]) if term in asked.weights else 0.0


def _names_near(asked: AskedForm, passage: Passage) -> bool:
    """Return whether the names of the question are said in a passage or just before it."""
    return all(passage.wide[row] > 0 for row, term in enumerate(asked.weights) if term in asked.names)


def _is_told(asked: AskedForm, passage: Passage) -> bool:
    """Return whether a passage and the dialogue around it say most of what is asked for, and the opposite of none.

    "We adopted a puppy" tells of no parrot, nor "I started" of an end, however well they match besides: in a small
    memory nothing else does.
    """
    if share(asked, (passage.wide > 0).astype(np.float32)) < _TOLD:
        return False
    unsaid = [term for term, bound in zip(asked.weights, passage.wide, strict=True) if bound == 0]
    return not contrasted(unsaid, {stem(word) for word in passage.unit.words})


def _beside(asked: AskedForm, passage: Passage, value: Value) -> float:
    """Return how close a value stands to a word of the question in its sentence: 1 next to it, down to 0."""
    begins, ends = value.span
    near = 0.0
    for found in _WORD.finditer(passage.turn.text, *passage.unit.span):
        if stem(found[0].casefold()) in asked.weights and not begins <= found.start() < ends:
            near = max(near, math.exp(-max(begins - found.end(), found.start() - ends, 0) / _REACH))
    return near
