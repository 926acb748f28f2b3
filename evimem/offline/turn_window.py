"""The passage of each turn that a search found, around which a very long turn is read."""

from __future__ import annotations

from ..judging.evidence import View

Place = tuple[int, int]  # half-open, characters


def passages(view: View) -> dict[str, Place | None]:
    """Return the characters of each shown turn that a search found, by id; None where it found the whole turn."""
    return view.kept_at_check("passages", lambda: {item.turn.id: item.span for item in view.shown})
