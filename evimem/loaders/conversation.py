"""The result of a loader: conversations of turns, and the items that were refused, with reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from ..errors import ImportFailed
from ..types.values import Turn


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns of one memory. `name` identifies it among those of its file; empty if it is the only one."""

    name: str
    turns: Iterable[Turn]


@dataclass(frozen=True, slots=True)
class ImportedTurn(Turn):
    """A turn of an export whose conversations may branch: `Memory.extend` knows it again when it is read again.

    Attributes:
        former_id: The id that earlier versions gave it, which named no conversation; empty if there is none.
        abandoned: Turns of its conversation that the export holds on other branches: stored ones are erased, as by
            `forget`, in the transaction that stores this turn.
    """

    former_id: str = ""
    abandoned: tuple[ImportedTurn, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """An item of a file that is not a turn: where it is, and why it was refused."""

    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


Read = TypeVar("Read", bound=Turn)
Refuse: TypeAlias = Callable[[RefusedItem], None]


def readable(messages: Iterable[Any], where: str, read: Callable[[Any], Read | None], refuse: Refuse) -> Iterator[Read]:
    """Yield what `read` makes of each message, None left out; one that it cannot read is refused with its place."""
    for number, message in enumerate(messages, start=1):
        try:
            turn = read(message)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            why = str(error) if type(error) is ValueError else f"not in the form of a message ({error!r})"
            refuse(RefusedItem(f"{where} message {number}", why))
        else:
            if turn is not None:
                yield turn


def raise_refused(item: RefusedItem) -> None:
    """Raise ImportFailed for a refused item. To collect refused items and continue, pass `some_list.append` instead."""
    raise ImportFailed(str(item))
