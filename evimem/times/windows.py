"""Where in a long text a rule looks for matches: only around the words and figures without which it cannot match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from .cues import places

SHORT = 160  # characters of a text that is looked through as a whole
BEFORE, AFTER = 80, 80  # characters around the beginning of a cue within which an expression with it lies


@dataclass(frozen=True)
class Windows:
    """The ranges of a folded text around the cues of each group of rules."""

    folded: str

    def of(self, group: str) -> list[tuple[int, int]]:
        """Return the ranges for a group of rules, in order and disjoint; the whole of a short text."""
        if len(self.folded) <= SHORT:
            return [(0, len(self.folded))]
        if group not in self._found:
            self._found[group] = list(self._around(self._places.get(group, [])))
        return self._found[group]

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        return places(self.folded)

    @cached_property
    def _found(self) -> dict[str, list[tuple[int, int]]]:
        return {}

    def _around(self, starts: list[int]) -> Iterator[tuple[int, int]]:
        first = last = -1
        for start in starts:
            if start - BEFORE > last >= 0:
                yield first, last
                first = -1
            first = max(0, start - BEFORE) if first < 0 else first
            last = min(len(self.folded), start + AFTER)
        if last >= 0:
            yield first, last
