"""The keyword pyramid of MGRetrieval: every group of a question's keywords, all of them first, each alone last (G2).

And, where a question reads the whole memory for them, what its groups are of: turns or exchanges with their keywords.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from ..types.values import Turn

Group: TypeAlias = tuple[str, ...]
Unit: TypeAlias = tuple[str, ...]
"""The ids of the turns that are read together."""


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


def exchanges(turns: Iterable[Turn]) -> list[Unit]:
    """Return the exchanges in order: what one says, with what another says next to it in the session."""
    made: list[list[Turn]] = []
    open_in: dict[str, list[Turn]] = {}
    for turn in turns:
        said = open_in.pop(turn.session, None)
        if said is not None and said[0].speaker != turn.speaker:
            said.append(turn)
        else:
            open_in[turn.session] = said = [turn]
            made.append(said)
    return [tuple(one.id for one in said) for said in made]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The keywords of a memory, V, each with the units that have it, its postings."""

    postings: Mapping[str, tuple[Unit, ...]]

    def held(self, group: Group) -> tuple[Unit, ...]:
        """Return the units that have all keywords of a group, in order."""
        first, *others = (self.postings.get(keyword, ()) for keyword in group)
        return tuple(unit for unit in first if all(unit in other for other in map(frozenset, others)))


def vocabulary_of(units: Iterable[Unit], keywords: Mapping[str, Iterable[str]]) -> Vocabulary:
    """Return the vocabulary of units, given the keywords of each turn: those of its unit are joined."""
    postings: dict[str, dict[Unit, None]] = {}
    for unit in units:
        for keyword in (one for turn_id in unit for one in keywords.get(turn_id, ())):
            postings.setdefault(keyword, {})[unit] = None
    return Vocabulary({keyword: tuple(found) for keyword, found in postings.items()})
