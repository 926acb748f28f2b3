"""Phrases that several pages share."""

from __future__ import annotations

from datetime import datetime

from ...types.values import Turn


def day(moment: datetime) -> str:
    """Return a date in words.

    >>> day(datetime(2024, 3, 8, 18, 20))
    '8 March 2024'
    """
    return f"{moment.day} {moment:%B %Y}"


def minute(moment: datetime) -> str:
    """Return a date with the time of day."""
    return f"{day(moment)}, {moment:%H:%M}"


def said(turn: Turn) -> str:
    """Return the text of a turn, followed by its caption in brackets."""
    return f"{turn.text} [{turn.caption}]".lstrip() if turn.caption else turn.text


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> counted(1, "turn"), counted(1200, "turn")
    ('1 turn', '1,200 turns')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def size(count: int) -> str:
    """Return a number of bytes in the unit that suits it.

    >>> size(512), size(1_500_000)
    ('512 B', '1.4 MiB')
    """
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024  # type: ignore[assignment]
    return f"{count:.1f} GiB"
