"""The turns of a view: the order in which they were said, and the passage of each that a search found."""

from __future__ import annotations

from itertools import pairwise

from ..judging.evidence import View
from ..types.values import Turn

Place = tuple[int, int]  # half-open, characters


def passages(view: View) -> dict[str, Place | None]:
    """Return the characters of each shown turn that a search found, by id; None where it found the whole turn."""
    return view.kept_at_check("passages", lambda: {item.turn.id: item.span for item in view.shown})


def in_order(view: View) -> tuple[Turn, ...]:
    """Return the turns found, and those around them, as they were said; a dialogue orders those of one time."""
    return view.kept_at_check("in order", lambda: _in_order(view))


def places(view: View) -> dict[str, int]:
    """Return the place of each turn in that order, by id."""
    return {turn.id: place for place, turn in enumerate(in_order(view))}


def _in_order(view: View) -> tuple[Turn, ...]:
    turns: dict[str, Turn] = {item.turn.id: item.turn for item in view.evidence}
    before: dict[str, Turn] = {}
    for around in view.context.values():
        turns.update((turn.id, turn) for turn in around)
        before.update((later.id, earlier) for earlier, later in pairwise(around) if earlier.time == later.time)

    def depth(turn: Turn) -> int:
        steps = 0
        while turn.id in before:
            turn, steps = before[turn.id], steps + 1
        return steps

    return tuple(sorted(turns.values(), key=lambda turn: (turn.time, turn.session, depth(turn))))
