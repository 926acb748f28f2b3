"""A short answer that passed every check, or the reason why a looked-up thing is not stated."""

from __future__ import annotations

from dataclasses import dataclass

from ...judging.evidence import View
from ...protocols import Extractor
from ...types.answer import Citation
from ...types.values import TimeSpan
from ..attributes import ADVICE, ATTRIBUTES, attribute_of, lookup


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """A short answer whose required checks all held.

    Attributes:
        text: The answer, without markup.
        citations: The characters that state it.
        form: The form of answer that proved it: "attribute:<name>", "yes_no", "when", "number", "duration", ...
        support: The share of the optional checks that held, 0 to 1.
        time: The interval that it states, if it states one.
        steps: What was computed, in words.
    """

    text: str
    citations: tuple[Citation, ...]
    form: str
    support: float
    time: TimeSpan | None = None
    steps: tuple[str, ...] = ()


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
    question = view.analysis.question.strip()
    if not any(pattern.match(question) for pattern in (*ADVICE, *(shape for _, shape in ATTRIBUTES))):
        return None
    attribute = attribute_of(question)
    found = lookup(view, attribute, extractor)
    if found.outcome > 0:
        citations = tuple(Citation(item.turn_id, item.span, item.text) for item in found.items)
        name = f"attribute:{attribute.kind}" if attribute else "reply"
        return ShortAnswer(", ".join(item.text for item in found.items), citations, name, 0.5)
    return NotStated(found.gap, found.query) if found.outcome < 0 and found.gap else None
