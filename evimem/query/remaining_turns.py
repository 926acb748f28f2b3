"""Readings of turns that were found, of which another caller may have forgotten some since."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..errors import UnknownTurn
from ..protocols import Store
from ..types.type_variables import T


def remaining(store: Store, turn_ids: Sequence[str]) -> tuple[str, ...]:
    """Return those of these ids whose turns are stored."""
    return tuple(id for id, turn in zip(turn_ids, store.find(turn_ids), strict=True) if turn is not None)


def read_remaining(store: Store, read: Callable[[Sequence[str]], T], turn_ids: Sequence[str]) -> T:
    """Return the result of a reading of the turns of these ids; those are left out that were forgotten since.

    A reading that finds all of them costs nothing more.
    """
    try:
        return read(turn_ids)
    except UnknownTurn:
        return read_remaining(store, read, remaining(store, turn_ids))
