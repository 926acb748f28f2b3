"""What every loader gives: conversations of turns, and the pieces that were left out, with their reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from ..errors import ImportFailed
from ..types.values import Turn


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns that belong into one memory. `name` tells it from the others of its file; empty if there are none."""

    name: str
    turns: Iterable[Turn]


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """A piece of a file that is not a turn: where it stands, and what was expected there."""

    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


Refuse: TypeAlias = Callable[[RefusedItem], None]


def raise_refused(refusal: RefusedItem) -> None:
    """Raise ImportFailed at the first refusal; pass `some_list.append` instead to collect them and read on."""
    raise ImportFailed(str(refusal))
