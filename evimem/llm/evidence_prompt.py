"""The evidence in a prompt: items with labels that stay the same through all checks of a question.

Each turn is one line of the page (`evimem.page.loop_page`): its label, who said it and when, and its words. A further
line of what people wrote begins with ">", and a line worked out from it with "=".
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..judging.evidence import Evidence, View
from ..page.compose import in_dialogue_order
from ..page.loop_page import NO_LINE, extend_page, fitting, lines_of_view, page_text
from ..text.prompt_text import caption_line, escape_attribute, format_time, mark_lines, quote_name
from ..times import render
from ..types.trace import Complete
from ..types.values import Turn
from .request import ReplyForm

MAX_FACT_CHARACTERS = 300  # of one, where facts stand for turns


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """The text of the evidence in a prompt, and its turns by their labels e1, e2, ..."""

    text: str
    items: Mapping[str, Turn] = field(hash=False)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns, in the order of the text."""
        return tuple(self.items.values())

    def ids(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Return the ids of the turns that labels name, each once; unknown labels are left out."""
        named_turns = map(self.turn, labels)
        return tuple(dict.fromkeys(turn.id for turn in named_turns if turn is not None))

    def turn(self, label: str) -> Turn | None:
        """Return the turn of a label ("e3", "[E3]", or the turn's own id); None where it is not shown."""
        for turn in self.turns:
            if turn.id == label:
                return turn
        match = re.fullmatch(r"[\s\[\](){}\"'#]*e?0*([1-9]\d{0,5})[\s\[\](){}\"']*", label, flags=re.IGNORECASE)
        return self.items.get(f"e{match[1]}") if match else None


def evidence_request(form: ReplyForm, view: View, shown: ShownEvidence, **values: object) -> Complete:
    """Return the request for a reply of a form, about the question of a view and a page of evidence."""
    return form.request(
        question=mark_lines(view.analysis.question),
        asked_at=format_time(view.asked_at),
        speakers=", ".join(quote_name(speaker) for speaker in view.speakers[:20]) or "none",
        evidence=shown.text,
        **values,
    )


def show_evidence(
    view: View, *, by_time: bool = False, only: Collection[str] = (), room: float = math.inf
) -> ShownEvidence:
    """Return the page of a view within `room` characters, in the order in which it was first shown, or `by_time`.

    With `only`, the turns of these ids.
    """
    items = [one for one in lines_of_view(view, extend_page(view)) if not only or one.line.turn.id in only]
    items = fitting(items, view.decisive, room)
    if by_time:
        place = {line.turn.id: at for at, line in enumerate(in_dialogue_order(view.store, [one.line for one in items]))}
        items = sorted(
            (replace(one, check=1) for one in items if one.line.turn.id in place),
            key=lambda one: place[one.line.turn.id],
        )
    return ShownEvidence(page_text(items), {one.label: one.line.turn for one in items})


def shown_so_far(view: View) -> ShownEvidence:
    """Return the turns of all pages of a question, without their text: a reply may still name them."""
    return ShownEvidence("", {one.label: one.line.turn for one in extend_page(view)})


def claim_lines(view: View) -> str:
    """Return the claims so far, each with the labels of the items that state it."""
    labels = {one.line.turn.id: one.label for one in extend_page(view)}
    lines = []
    for place, claim in enumerate(view.tracker.claims, 1):
        if not claim.withdrawn:
            said_by = ", ".join(labels[one] for one in claim.sources if one in labels)
            lines.append(f'c{place} ({said_by}): "{escape_attribute(claim.text, 400)}"')
    return "\n".join(lines)


def fit_page(view: View, room: float = math.inf) -> View:
    """Return a view with its page, and without the turns that this has no room for within `room` characters."""
    page = extend_page(view)
    there = fitting(lines_of_view(view, page), view.decisive, room)
    return replace(view, page=page).show_only({one.line.turn.id for one in there})


def show_facts(view: View, *, with_turns: bool, room: float) -> ShownEvidence:
    """Return the facts of the shown turns, within about `room` characters, under labels that stay; at least one."""
    numbers = {item.turn.id: place for place, item in enumerate(view.evidence, 1)}
    lines: list[str] = []
    shown: list[Evidence] = []
    for item in view.shown:
        new = [*_item_lines(item, f"e{numbers[item.turn.id]}", with_turns=with_turns)]
        size = sum(map(len, new))
        if shown and size > room:
            break
        room -= size
        lines += new
        shown.append(item)
    items = {f"e{numbers[item.turn.id]}": item.turn for item in shown}
    if left := sum(len(item.facts) for item in view.evidence) - sum(len(item.facts) for item in shown):
        lines.append(f"({left} further facts were found, for which there is no room)")
    return ShownEvidence("\n".join(lines) or NO_LINE, items)


def _item_lines(item: Evidence, label: str, *, with_turns: bool) -> Iterator[str]:
    turn = item.turn
    when = f", {quote_name(turn.speaker)}, {format_time(turn.time)}" if with_turns else ""
    yield f"<item {label}{when}>"
    if with_turns:
        yield mark_lines(turn.text) + caption_line(turn.caption or "")
    for fact in item.facts:
        dated = ""
        if fact.event is not None:
            time = render(fact.event) if fact.event.start else escape_attribute(fact.event.text, MAX_FACT_CHARACTERS)
            dated = f" (time: {time})"
        yield f'= "{escape_attribute(fact.text, MAX_FACT_CHARACTERS)}"{dated}'
