"""The store under a memory of a pool, whose file may be closed for another user while a block waits for a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, TypeAlias

from ..store.keeper import Keeper

Held: TypeAlias = Callable[[], AbstractContextManager[None]]
ITERATED = frozenset({"turns", "pairs", "unread", "index_vectors"})  # what returns an iterator over the open file
_AS_IT_IS = frozenset({"close"})  # also of a file that is closed already


class PooledStore:
    """A `Keeper` whose file is open while it is called: each call holds a place of the pool for as long.

    Where the block has its place, or nobody took it meanwhile, that costs no more than the bookkeeping. Else the call
    waits for a place, and the file is opened again. An iterator holds a place until it is exhausted or closed.
    """

    def __init__(self, file: Keeper, called: Held, iterated: Held) -> None:
        """Take an open file, and contexts in which the pool keeps it open: for a call, and for an iterator."""
        self.file = file
        self._called = called
        self._iterated = iterated

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.file, name)
        if not callable(value) or name.startswith("_") or name in _AS_IT_IS:
            return value
        return partial(self._each if name in ITERATED else self._call, name)

    def _call(self, name: str, *args: Any, **options: Any) -> Any:
        with self._called():
            return getattr(self.file, name)(*args, **options)

    def _each(self, name: str, *args: Any, **options: Any) -> Iterator[Any]:
        with self._iterated():
            yield from getattr(self.file, name)(*args, **options)
