"""Memories by user id, for a backend with many users: one file each, a bounded number of them open."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from typing import Any

from ..db.atomic_files import make_folder
from ..errors import InvalidQuery, StoreBusy, StoreClosed
from ..types.reports import EraseReport
from .async_memory import AsyncMemory
from .memory import Memory
from .open import make_core
from .operations import Core

# Handles that a fork brought into a child. They are never closed there: the files belong to the parent's handles, and
# closing the last handle of a file would move and delete a log that the parent is writing.
_LEFT_TO_PARENT: list[object] = []


_STAYS = "another process has the memory open, so that its file stays, empty; erase it again when that has ended"


@dataclass(slots=True)
class Open:
    """One open memory, and how many are using it."""

    core: Core
    memory: Memory
    users: int = 0


class MemoryPool:
    """Opens memories by user id. Ids are never part of a path: files are named by a digest.

        with MemoryPool("users", capacity=256) as pool:
            with pool.open("user-42") as memory:
                memory.add("Mira", "Hello!", time="2024-03-12T18:20")

    At most `capacity` memories are open; idle ones are closed to make room, the longest unused first. `llm`,
    `embedder` and `extractor` are those of `evimem.open`. Safe to share between threads, and usable after a fork.
    """

    def __init__(self, root: str | PathLike[str], *, capacity: int = 128, llm: Any = None, **options: Any) -> None:
        if capacity < 1:
            raise InvalidQuery(f"capacity is {capacity!r}; expected at least 1 open memory")
        self._root = Path(root)
        make_folder(self._root)
        self._capacity = capacity
        self._llm = llm
        self._options = options
        self._lock = threading.RLock()
        self._open: OrderedDict[str, Open] = OrderedDict()
        self._pid = os.getpid()
        self._closed = False

    @contextmanager
    def open(self, user_id: str) -> Iterator[Memory]:
        """Lend a user's memory for a block; it is created at its first use.

        Raise InvalidQuery for an id that is no non-empty string, StoreBusy while every open memory is in use.
        """
        key = key_of(user_id)
        lent = self._borrow(key)
        try:
            yield lent.memory
        finally:
            self._give_back(lent)

    @asynccontextmanager
    async def open_async(self, user_id: str) -> AsyncIterator[AsyncMemory]:
        """Lend a user's memory for a block on an event loop."""
        key = key_of(user_id)
        lent = await asyncio.to_thread(self._borrow, key)
        door = AsyncMemory(lent.core, None if self._llm is None else self._llm.as_async())
        try:
            yield door
        finally:
            await asyncio.shield(asyncio.to_thread(partial(self._end, lent, door)))

    def erase(self, user_id: str) -> EraseReport:
        """Forget a user: overwrite what their memory holds, then remove its files. Raise StoreBusy while in use.

        Where another process has the memory open, its file stays, empty; the report says so.
        """
        key = key_of(user_id)
        with self._guard():
            if key in self._open and self._open[key].users:
                raise StoreBusy(f"the memory of {user_id!r} is in use; erase it when its `with` blocks have ended")
            path = self._path(key)
            if not path.exists():
                return EraseReport("erased", 0, 0, f"there is no memory of {user_id!r}")
            lent = self._borrow(key)
            try:
                report = lent.memory.forget(everything=True)
                removed = lent.core.store.remove()
            finally:
                lent.users -= 1
            self._close(key)
        return report if removed else replace(report, reason=report.reason or _STAYS)

    def __contains__(self, user_id: object) -> bool:
        """Say whether a user has a memory: none, as where it was never opened, is another thing than an empty one."""
        return self._path(key_of(user_id)).exists()  # type: ignore[arg-type]

    def close(self) -> None:
        """Close every memory. Raise StoreBusy while one is in use; a second call does nothing."""
        with self._guard():
            busy = sum(1 for lent in self._open.values() if lent.users)
            if busy:
                raise StoreBusy(f"{busy} memories of the pool are in use; close it when their `with` blocks have ended")
            self._closed = True
            for key in list(self._open):
                self._close(key)

    def __enter__(self) -> MemoryPool:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def _borrow(self, key: str) -> Open:
        with self._guard():
            if self._closed:
                raise StoreClosed("the pool is closed; make a new one")
            lent = self._open.get(key)
            if lent is not None and not lent.users and not lent.core.store.usable:
                self._close(key)  # its file was erased by another process, or a borrower closed it
                lent = None
            if lent is None:
                self._make_room()
                path = self._path(key)
                make_folder(path.parent)
                core = make_core(path, llm=self._llm, owner=key, **self._options)
                lent = self._open[key] = Open(core, Memory(core, self._llm))
            self._open.move_to_end(key)
            lent.users += 1
            return lent

    def _give_back(self, lent: Open) -> None:
        with self._guard():
            lent.users -= 1

    def _end(self, lent: Open, door: AsyncMemory) -> None:
        door.end_worker()
        self._give_back(lent)

    def _make_room(self) -> None:
        if len(self._open) < self._capacity:
            return
        idle = next((key for key, lent in self._open.items() if not lent.users), None)
        if idle is None:
            raise StoreBusy(f"all {self._capacity} memories of the pool are in use; give one back, or raise capacity")
        self._close(idle)

    def _close(self, key: str) -> None:
        self._open.pop(key).memory.close()

    def _path(self, key: str) -> Path:
        return self._root / key[:2] / f"{key}.evimem"

    @contextmanager
    def _guard(self) -> Iterator[None]:
        if self._pid != os.getpid():
            self._lock = threading.RLock()  # another thread of the parent may have held the old one
            _LEFT_TO_PARENT.append(self._open)
            self._open = OrderedDict()
            self._pid = os.getpid()
        with self._lock:
            yield


def key_of(user_id: str) -> str:
    """Return the file name of a user: a digest of the id, byte for byte, so that no two ids share one."""
    if not isinstance(user_id, str) or not user_id:
        raise InvalidQuery(f"the user id is {user_id!r}; expected a non-empty string")
    return blake2b(user_id.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
