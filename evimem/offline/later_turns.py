"""What was said since, quoted beside what matches best where sentences are not read: it may be the news."""

from __future__ import annotations

from collections.abc import Sequence

from ..judging.evidence import View
from ..types.values import Turn
from .quotation import Extract, whole


def with_news(view: View, quoted: Sequence[Extract]) -> tuple[Extract, ...]:
    """Return what is quoted, with what its last speaker said since that search found best: it may be the news."""
    scores = {item.turn.id: item.score for item in view.shown}
    last = max((one.turn for one in quoted), key=lambda turn: _moment(view, turn))
    since = [item.turn for item in view.shown if item.turn.speaker == last.speaker]
    since = [turn for turn in since if _moment(view, turn) > _moment(view, last)]
    return (*quoted, *(whole(turn) for turn in sorted(since, key=lambda turn: -scores[turn.id])[:1]))


def _moment(view: View, turn: Turn) -> tuple[float, int]:
    return turn.time.timestamp(), view.order.get(turn.id, 0)
