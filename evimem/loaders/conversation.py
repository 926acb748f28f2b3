"""The result of a loader: conversations of turns, and the items that were refused, with reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from ..errors import ImportFailed
from ..types.values import Turn


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns of one memory. `name` identifies it among those of its file; empty if it is the only one."""

    name: str
    turns: Iterable[Turn]


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """An item of a file that is not a turn: where it is, and why it was refused."""

    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


Refuse: TypeAlias = Callable[[RefusedItem], None]


def raise_refused(item: RefusedItem) -> None:
    """Raise ImportFailed for a refused item. To collect refused items and continue, pass `some_list.append` instead."""
    raise ImportFailed(str(item))
