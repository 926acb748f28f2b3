"""Evidence in a prompt as EviMem gives it: facts found, one a line, and for the answer the turns that state them."""

from __future__ import annotations

from collections.abc import Iterator

from ..judging.evidence import Evidence, View
from ..times import render
from ..types.values import Fact
from .evidence_prompt import ShownEvidence
from .prompts import format_time, marked, named
from .shown_words import caption_line, escape_attribute

MOST_FACT = 300  # characters shown of one


def show_facts(view: View, *, with_turns: bool, room: int) -> ShownEvidence:
    """Return the facts of what is shown, within about `room` characters, under labels that stay; at least one."""
    numbers = {item.turn.id: place for place, item in enumerate(view.evidence, 1)}
    lines: list[str] = []
    shown: list[Evidence] = []
    for item in view.shown:
        new = [*_lines(item, f"e{numbers[item.turn.id]}", with_turns=with_turns)]
        size = sum(map(len, new))
        if shown and size > room:
            break
        room -= size
        lines += new
        shown.append(item)
    items = {f"e{numbers[item.turn.id]}": item.turn for item in shown}
    return ShownEvidence("\n".join(lines) or "(nothing was found)", items)


def _lines(item: Evidence, label: str, *, with_turns: bool) -> Iterator[str]:
    turn = item.turn
    when = f", {named(turn.speaker)}, {format_time(turn.time)}" if with_turns else ""
    yield f"<item {label}{when}>"
    if with_turns:
        yield marked(turn.text) + caption_line(turn.caption or "")
    yield from (f'= "{escape_attribute(fact.text, MOST_FACT)}"{_dated(fact)}' for fact in item.facts)


def _dated(fact: Fact) -> str:
    if fact.event is None:
        return ""
    return f" (time: {render(fact.event) if fact.event.start else escape_attribute(fact.event.text, MOST_FACT)})"
