"""The keyword pyramid of MGRetrieval: every group of a question's keywords, all of them first, each alone last (G2).

And what its groups are of: turns, or exchanges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from ..types.values import Turn

Group: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pyramid:
    """What is left of a pyramid: the groups of the level that is read, in order, and the levels below it."""

    groups: tuple[Group, ...]
    below: tuple[tuple[Group, ...], ...]

    @property
    def exhausted(self) -> bool:
        """Whether every group was read."""
        return not self.groups and not self.below

    def without_first(self) -> Pyramid:
        """Return what is left after the first group of the level."""
        return Pyramid(self.groups[1:], self.below)

    def descended(self, sizes: Mapping[Group, int], *, largest_first: bool = False) -> Pyramid:
        """Return what is left a level down; its groups are those with turns, of which `sizes` has the number.

        The fewest turns first, where the paper has the most (`largest_first`): a small group of so many words is about
        all of them, and a large one, such as all that one speaker said, about none.
        """
        held = [group for group in self.below[0] if sizes[group]]
        return Pyramid(tuple(sorted(held, key=lambda group: sizes[group], reverse=largest_first)), self.below[1:])


def pyramid_of(terms: Sequence[str]) -> Pyramid:
    """Return the pyramid of some terms; of none it is the one group that every turn belongs to."""
    top = dict.fromkeys(terms)
    levels = tuple(tuple(combinations(top, size)) for size in range(len(top), 0, -1))
    return Pyramid((), levels or (((),),))


def exchanges(turns: Iterable[Turn]) -> dict[str, tuple[str, ...]]:
    """Return the exchange of each turn, in order: what one says, with what another says next to it in the session."""
    made: list[list[Turn]] = []
    open_in: dict[str, list[Turn]] = {}
    for turn in turns:
        said = open_in.pop(turn.session, None)
        if said is not None and said[0].speaker != turn.speaker:
            said.append(turn)
        else:
            open_in[turn.session] = said = [turn]
            made.append(said)
    return {turn.id: tuple(one.id for one in said) for said in made for turn in said}
