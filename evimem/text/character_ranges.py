"""Half-open ranges of characters."""

from __future__ import annotations

from collections.abc import Iterable

Range = tuple[int, int]


def merged(ranges: Iterable[Range], gap: int = 0) -> list[Range]:
    """Return ranges in order, those that overlap or lie at most `gap` characters apart as one.

    >>> merged([(8, 9), (0, 3), (2, 6)], gap=1), merged([(8, 9), (0, 3), (2, 6)], gap=2)
    ([(0, 6), (8, 9)], [(0, 9)])
    """
    found: list[Range] = []
    for start, end in sorted(ranges):
        if found and start - found[-1][1] <= gap:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
