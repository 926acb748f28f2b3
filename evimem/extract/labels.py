"""A model's labels of a turn, beside its facts: a topic, a tag and keywords (MRAgent, MGRetrieval).

They are kept as one fact of a kind of its own, so that they come and go with the facts of their turn; it states
nothing, and readers of facts leave it out. A name is one for all forms of its words, and never merged by an
embedding.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..text.terms import terms
from ..types.stored import LABEL, OF_A_MODEL
from ..types.values import Fact, Turn

_BETWEEN = "; "


@dataclass(frozen=True, slots=True)
class Label:
    """The labels of a turn.

    `topic` is its subject over many sessions; `tag` is the kind of thing that it tells; `keywords` are the
    names and things that it speaks of. Each may be empty.
    """

    topic: str = ""
    tag: str = ""
    keywords: tuple[str, ...] = ()


def label_fact(turn: Turn, label: Label) -> Fact:
    """Return the fact that keeps a label of a turn with a text."""
    from .statements import fact_id  # noqa: PLC0415 - the grammar, which leaving labels out does without

    span, keywords = (0, len(turn.text)), _BETWEEN.join(label.keywords)
    identity = fact_id(turn.id, OF_A_MODEL, span, label.topic, label.tag, keywords)
    return Fact(identity, turn.id, label.topic, label.tag, keywords, None, span, LABEL, OF_A_MODEL)


def read_label(facts: Iterable[Fact]) -> Label:
    """Return the label among the facts of a turn; an empty one where no model has labelled it."""
    kept = next((fact for fact in facts if fact.kind == LABEL), None)
    if kept is None:
        return Label()
    return Label(kept.subject, kept.predicate, tuple(filter(None, kept.object.split(_BETWEEN))))


class LabelNames:
    """The names that the labels of one run have, so that turns that are read side by side are filed under the same."""

    def __init__(self) -> None:
        self._topics: list[str] = []
        self._tags: list[str] = []
        self._keywords: list[str] = []

    def unify_label(self, turn: Turn, facts: Iterable[Fact]) -> tuple[Fact, ...]:
        """Return the facts of a turn, its label in the names that the labels before it have."""
        found = tuple(facts)
        label = read_label(found)
        if label == Label():
            return found
        keywords = tuple(dict.fromkeys(_reuse_known_name(one, self._keywords) for one in label.keywords))
        joined = Label(_reuse_known_name(label.topic, self._topics), _reuse_known_name(label.tag, self._tags), keywords)
        return (*(fact for fact in found if fact.kind != LABEL), label_fact(turn, joined))


def _reuse_known_name(name: str, known: list[str]) -> str:
    """Return the known name of the same words, else the name itself, which is known from now on."""
    found = find_known_name(name, known)
    if found and found not in known:
        known.append(found)
    return found


def find_known_name(name: str, known: Iterable[str]) -> str:
    """Return the known name that has the same words, whatever their form; the name itself where none has.

    >>> canonical("tournament victories", ["family visit", "Tournament victory"])
    'Tournament victory'
    """
    same = frozenset(terms(name))
    return next((other for other in known if same and frozenset(terms(other)) == same), name)
