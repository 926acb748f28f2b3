"""Memories by user id, for a backend with many users: one file each, a bounded number of them open."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import repeat
from os import PathLike
from typing import Any, cast, get_args

from ..db.encryption import Key, optional_key
from ..db.safe_context import safe_context
from ..embedding.static_embedder import StaticEmbedder
from ..errors import (
    DimensionMismatch,
    EmbedderError,
    EmbedderMismatch,
    InvalidQuery,
    PoolFull,
    StoreBusy,
    StoreClosed,
    StoreError,
    shown,
)
from ..protocols import Embedder
from ..query.bounded_reranker import bound_reranker
from ..store.keeper import Keeper
from ..types.results import EraseReport
from .async_memory import AT_WORK, AsyncMemory
from .checked_arguments import (
    Progress,
    checked_choice,
    checked_count,
    checked_items,
    checked_part,
    checked_progress,
    checked_retention,
)
from .core import Core, OnModelError
from .leases import Lease, Leases, PooledStore, Slot
from .memory import Memory
from .observer import Lending
from .open import chat_model, key_of, make_core, place_of

# Handles that a fork brought into a child. They are never closed there: the files belong to the parent's handles, and
# closing the last handle of a file would move and delete a log that the parent is writing.
_LEFT_TO_PARENT: list[object] = []


class MemoryPool:
    """Opens memories by user id. Ids are never part of a path: files are named by a digest.

        with MemoryPool("users", capacity=256) as pool:
            with pool.open("user-42") as memory:
                memory.add("Mira", "Hello!", time="2024-03-12T18:20")

    Several blocks may use the memory of one user at the same time. At most `capacity` memories are open; those that no
    block uses are closed to make room, the longest unused first. Where all are in use, `open`, `erase` and
    their async forms wait for a place, in order of arrival. Opening and closing the file of one user holds up no other
    user.

    A block keeps its place until it ends, but lends it while it waits for a model (or a remote embedder): its file is
    closed then if somebody else needs the place, and only then. The next call that reads or writes waits for a place,
    before those who came after the block, and opens the file again; it finds turns added meanwhile. A reply that
    needs no more of the memory, as the one that words an answer, waits for nothing. Where no place is free within
    `wait_seconds`, the call raises PoolFull, also in the middle of `ask` or `enrich`, where a reply that was paid for
    is lost; the block may go on. A pool with `wait_seconds=0` lends nothing.

    Safe to share between threads and event loops. A pool is usable in the child of a fork, where it opens files of its
    own; memories that were opened before the fork are refused there with StoreClosed.

    Args:
        root: the folder of the files; it is created where it does not exist. Or the address of a PostgreSQL server,
            where users are rows that no other user's statement reaches: see `evimem.open`. A server is connected to
            when the pool is first used, and may be down until then.
        capacity: how many memories may be open at once, at least 1. Each holds the columns of a search in memory;
            three file descriptors only while it is used and for a second after, at most 64 at a time, or fewer where
            the process may have few (`ulimit -n`).
        wait_seconds: how long to wait for a place, in seconds, when a block begins and when its place was lent; 0
            refuses at once.
        llm: the model of every memory, see `evimem.open`.
        on_model_error: the reaction of `ask` where that model fails, "raise" or "offline", see `evimem.open`.
        key: of the files, where they are encrypted: one for all, as for `evimem.open`, or a function that is called
            with a user id whenever a block opens that user's memory, and returns theirs.
        retain: how long turns are kept, such as "365d", "8w" or "2y", or a timedelta. Those said longer ago are
            forgotten (`Memory.forget` with `before`) where a block opens their memory: when its file is opened, and at
            the first block of each day while it stays open. A memory that no block opens keeps its turns until then.
        options: `embedder`, `extractor`, `reranker`, `clock`, `timezone`, `date_order` and `observer` of every memory,
            see `evimem.open`.

    Raises:
        InvalidQuery: `capacity` is below 1, `wait_seconds` is no number from 0 to `threading.TIMEOUT_MAX`, or
            `on_model_error` neither "raise" nor "offline".
        OSError: the folder cannot be created.
    """

    def __init__(
        self,
        root: str | PathLike[str],
        *,
        capacity: int = 128,
        wait_seconds: float = 10.0,
        llm: Any = None,
        on_model_error: OnModelError = "raise",
        key: bytes | str | Callable[[str], bytes | str] | None = None,
        retain: str | timedelta | None = None,
        **options: Any,
    ) -> None:
        checked_count("capacity", capacity, 1)
        if not isinstance(wait_seconds, (int, float)) or not 0 <= wait_seconds <= threading.TIMEOUT_MAX:
            raise InvalidQuery(
                f"wait_seconds is {shown(wait_seconds)}; expected seconds from 0 to {threading.TIMEOUT_MAX}"
            )
        self._on_model_error = checked_choice("on_model_error", on_model_error, get_args(OnModelError))
        self._place = place_of(root, "root")
        self._wait_seconds = wait_seconds
        self._llm = chat_model(llm)
        self._retain = checked_retention(retain)
        if "reranker" in options:  # its failures are counted for all memories
            options["reranker"] = bound_reranker(options["reranker"])
        self._options = options
        self._key = key if callable(key) else optional_key(key)
        self._reembeds = False  # whether memories may have been built with another embedder than that of the options
        self._former: Embedder | None = None
        self._lock = threading.RLock()  # held for bookkeeping only, never while a file is used
        self._leases = Leases(capacity)
        self._idle_workers: list[ThreadPoolExecutor] = []  # the one used last at the end
        self._pid = os.getpid()
        self._closed = False

    @safe_context
    def open(self, user_id: str) -> Iterator[Memory]:
        """Open a user's memory for a `with` block; it is created at its first use.

        Args:
            user_id: any non-empty string; two ids are the same only if they are equal character by character.

        Raises:
            InvalidQuery: the id is no non-empty string.
            PoolFull: `capacity` memories stayed in use for `wait_seconds`.
            StoreBusy: the memory was being opened or erased by another caller for `wait_seconds`, or the process has no
                file descriptor left.
            StoreClosed: the pool is closed.
            StoreError: the file cannot be opened; see `evimem.open`.
        """
        with self._lease(key_of(user_id), secret=self._secret(user_id)) as (core, lease):
            yield Memory(core, self._llm, self._lending(lease))

    @asynccontextmanager
    async def open_async(self, user_id: str) -> AsyncIterator[AsyncMemory]:
        """Open a user's memory for an `async with` block on an event loop.

        The loop is never blocked: files are opened and used in a thread that no other block uses meanwhile; the pool
        keeps it for a later one. A caller may be cancelled at any time. A call that its thread has begun is finished
        first, and the memory is given back after it. It takes a `user_id` and raises as `open` does.
        """
        async with self._serve_lease(key_of(user_id), secret=self._secret(user_id)) as (lease, worker):
            loop = asyncio.get_running_loop()
            core = await asyncio.shield(loop.run_in_executor(worker, AT_WORK.run, partial(self._prepare, lease)))
            model = None if self._llm is None else self._llm.as_async()
            yield AsyncMemory(core, model, worker, self._lending(lease))

    def erase(self, user_id: str) -> EraseReport:
        """Forget a user: overwrite their memory, then remove its files.

        It waits until no block uses the memory. Where another process has it open, its file stays, empty; the report
        says so.

        Args:
            user_id: see `open`.

        Returns:
            The erased counts; an id without a memory is no error.

        Raises:
            StoreBusy: blocks used the memory for `wait_seconds`.
            InvalidQuery, PoolFull, StoreClosed, StoreError: as `open` does.
        """
        key = key_of(user_id)
        if not self._is_there(key):
            return _nobody(user_id)
        with self._lease(key, exclusive=True, secret=self._secret(user_id)) as (_, lease):
            return self._erase(lease)

    async def erase_async(self, user_id: str) -> EraseReport:
        """Forget a user as `erase` does, which documents `user_id` and the errors; the event loop goes on meanwhile.

        A caller may be cancelled at any time. An erasure that has begun is finished all the same.
        """
        key = key_of(user_id)
        if not self._is_there(key):
            return _nobody(user_id)
        async with self._serve_lease(key, exclusive=True, secret=self._secret(user_id)) as (lease, worker):
            erasing = asyncio.get_running_loop().run_in_executor(worker, self._erase, lease)
            return await asyncio.shield(erasing)

    def __contains__(self, user_id: object) -> bool:
        """Return whether a user has a memory, which may be empty. Raise InvalidQuery as `open` does."""
        return self._place.has_user(key_of(user_id))

    def count(self) -> int:
        """Return how many users have a memory, open or not, for metrics. It lists the folder.

        Whose they are cannot be listed: files are named by a digest of the user's id, and the id is kept nowhere.

        Raises:
            OSError: the folder cannot be read.
        """
        return self._place.count()

    def bytes(self) -> int:
        """Return the size of all memories on disk, in bytes, their logs and indexes included. It lists the folder.

        Raises:
            OSError: the folder cannot be read.
        """
        return self._place.bytes()

    def reembed(
        self, embedder: Embedder, *, users: Iterable[str] | None = None, progress: Progress | None = None
    ) -> int:
        """Switch every memory to another embedder, one after another: see `Memory.reembed`. Return how many there are.

        Repeat the call after whatever ended it, also with a new pool: memories that are done cost as much as opening
        them. Meanwhile each memory is used as ever: one that was not reached yet by the embedder of the pool, or by its
        words where the pool was made with the new one. Other processes that use the pool open a memory that is done
        with the new embedder only. Memories that come meanwhile are made with it.

        Args:
            embedder: Has `name`, `dimension` and `embed`; every later block uses it.
            users: Whose memories, by id. By default all, without their ids; a `key` that is a function needs these.
            progress: Called with 1 after each memory.

        Raises:
            InvalidQuery: `users` is missing where it is needed, or `embedder` is none.
            EmbedderError: The embedder cannot be reached; repeat the call.
            PoolFull, StoreBusy, StoreClosed, StoreError: As `open`.
        """
        new = checked_part("embedder", embedder, ("embed",), {"name": str, "dimension": int})
        tell, done = checked_progress(progress), 0
        if users is None and callable(self._key):
            raise InvalidQuery("each user has a key, which is found by the id; give users=")
        found = self._place.keys() if users is None else map(key_of, users := checked_items("users", users, "user ids"))
        secrets = repeat(self._key) if users is None else map(self._secret, users)
        with self._guard():
            former = self._options.get("embedder") or StaticEmbedder()
            self._former = former if (former.name, former.dimension) != (new.name, new.dimension) else self._former
            self._options = {**self._options, "embedder": new}
            self._reembeds = True
        for key, secret in zip(found, secrets, strict=False):
            if not self._place.has_user(key):
                continue  # erased since
            with self._lease(key, secret=cast("Key | None", secret)) as (core, lease):
                memory = Memory(core, self._llm, self._lending(lease))
                if (core.embedder.name, core.embedder.dimension) == (new.name, new.dimension):
                    memory.enrich()
                else:
                    memory.reembed(new)
            done += 1
            tell(1)
        return done

    def close(self) -> None:
        """Close every memory; a second call does nothing.

        Calls that cancelled callers of `open_async` have left are waited for, `wait_seconds` at most.

        Raises:
            StoreBusy: a block uses a memory, or waits for one.
            StoreError: a file could not be closed properly; the rest are closed.
        """
        deadline = time.monotonic() + self._wait_seconds
        while not self._refuse_new(final=time.monotonic() >= deadline):
            # seconds between two looks at leases whose blocks have ended, while the pool is closed
            time.sleep(0.005)
        with self._guard():
            idle, self._idle_workers = self._idle_workers, []
        for worker in idle:
            worker.shutdown(wait=False)
        failed: StoreError | None = None
        while (slot := next(iter(self._leases.slots.values()), None)) is not None:
            try:
                self._close(slot)
            except StoreError as error:
                failed = failed or error
            with self._guard():
                self._leases.drop(slot)
        if failed is not None:
            raise failed

    def __enter__(self) -> MemoryPool:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    @safe_context
    def _lease(
        self,
        key: str,
        *,
        exclusive: bool = False,
        ending: bool = False,
        reading: bool = False,
        secret: Key | None = None,
    ) -> Iterator[tuple[Core, Lease]]:
        """Wait for a lease, and end it in any case."""
        gate = threading.Lock()  # released by the grant of the lease: it has no Python code to be interrupted in
        gate.acquire()
        lease = Lease(key, partial(_open_gate, gate), exclusive, ending, secret, reading)
        try:
            self._ask(lease)
            if lease.slot is None:
                AT_WORK.leave()
            gate.acquire(timeout=self._wait_seconds)
            if lease.slot is None:  # else there is nothing to ask under the lock
                self._check_granted(lease)
            yield self._prepare(lease), lease
        finally:
            try:
                self._end(lease)
            except BaseException:
                self._end(lease)  # a signal handler raised, perhaps in the first bytecode of the call
                raise

    @asynccontextmanager
    async def _serve_lease(
        self, key: str, *, exclusive: bool = False, secret: Key | None = None
    ) -> AsyncIterator[tuple[Lease, ThreadPoolExecutor]]:
        """Wait for a lease on an event loop, with a thread for it; end it, in any case, after the calls of the thread.

        One who is cancelled does not wait for them.
        """
        loop = asyncio.get_running_loop()
        granted = loop.create_future()
        lease = Lease(key, partial(_wake, loop, granted), exclusive, secret=secret)
        worker, cancelled = None, False
        try:
            await self._wait_async(lease, granted)
            with self._guard():  # to start and end a thread costs more than to open a block
                worker = self._idle_workers.pop() if self._idle_workers else None
            worker = worker or ThreadPoolExecutor(1, thread_name_prefix="evimem")
            yield lease, worker
        except (asyncio.CancelledError, GeneratorExit):
            cancelled = True
            raise
        finally:
            ended = None if worker is None else self._end_after(lease, worker)
            if ended is None:
                self._end(lease)
            elif not cancelled:
                await asyncio.shield(asyncio.wrap_future(ended))

    def _erase(self, lease: Lease) -> EraseReport:
        core = self._prepare(lease)
        return core.erase()

    @safe_context
    def _held(self, key: str, *, reading: bool = False) -> Iterator[None]:
        """Keep the memory of a block open for one call, or for an iterator; wait for its place where that was lent.

        A call that belongs to no block, or no longer, has no right to a place: it finds the file open or closed.
        """
        with self._guard():
            of_block = self._leases.has_block(key)
        with self._lease(key, ending=True, reading=reading) if of_block else nullcontext():
            yield

    def _lending(self, lease: Lease) -> Lending:
        """Return the context in which a block waits for a model. A pool that waits for no place lends none."""
        return partial(self._lent, lease) if self._wait_seconds else nullcontext

    @safe_context
    def _lent(self, lease: Lease) -> Iterator[None]:
        """Lend the place of a block, where nothing else of its memory is read or written."""
        asked = object()
        try:
            with self._guard():
                self._leases.lend(lease, asked)
            yield
        finally:
            try:
                self._take_back(lease, asked)
            except BaseException:
                self._take_back(lease, asked)
                raise

    def _take_back(self, lease: Lease, asked: object) -> None:
        with self._guard():
            self._leases.take_back(lease, asked)

    def _ask(self, lease: Lease) -> None:
        with self._guard():
            if self._closed:
                raise StoreClosed("the pool is closed; make a new one")
            self._leases.ask(lease)

    async def _wait_async(self, lease: Lease, granted: asyncio.Future[None]) -> None:
        self._ask(lease)
        if lease.slot is None:
            await asyncio.wait([granted], timeout=self._wait_seconds)
        self._check_granted(lease)

    def _check_granted(self, lease: Lease) -> None:
        with self._guard():
            if lease.slot is not None:
                return
            if lease.ended:
                raise StoreClosed("the `with` block of this memory has ended; use a memory inside its block")
            if lease.exclusive and self._leases.has_block(lease.key):
                raise StoreBusy(
                    f"the memory {lease.key!r} was in use for {self._wait_seconds:g} s; erase it when its `with` "
                    "blocks have ended, or wait longer with wait_seconds="
                )
            if lease.key in self._leases.closing or lease.key in self._leases.slots:
                raise StoreBusy(
                    f"the memory {lease.key!r} was being opened, closed or erased for {self._wait_seconds:g} s; "
                    "repeat the call, or wait longer with wait_seconds="
                )
            raise PoolFull(self._leases.capacity, self._wait_seconds)

    def _prepare(self, lease: Lease) -> Core:
        """Return the memory of a granted lease; the owner of its slot opens it first, without the pool's lock."""
        slot = lease.slot
        if slot is None:
            raise StoreBusy("a lease is used before it is granted")
        opened = slot.opened
        if slot.owner is lease or opened is None:
            opened = self._make_ready(slot, lease.secret, shared=not lease.exclusive)
        lease.opened = opened
        if self._retain is not None and not (lease.exclusive or lease.ending):
            opened.forget_expired(self._retain)
        return opened

    def _make_ready(self, slot: Slot, secret: Key | None, *, shared: bool) -> Core:
        """Open the memory of a slot where it is not open, and share it."""
        self._make_room(slot)
        opened = slot.opened
        if opened is None or not opened.store.usable:  # new, or its file was erased by another process
            self._close(slot)
            opened = slot.opened = self._open_file(slot.key, secret)
        if shared:
            with self._guard():
                self._leases.ready(slot)
        return opened

    def _open_file(self, key: str, secret: Key | None) -> Core:
        """Open a file, for the blocks that have lent their place where there are such."""
        path = self._place.locate(key)
        with self._guard():
            kept = self._leases.find_open(key)
        options = {**self._options, "key": secret}
        if kept is not None:
            options |= {"embedder": kept.embedder, "key": secret or cast(PooledStore, kept.store).file.db.key}
        make = partial(make_core, path, llm=self._llm, on_model_error=self._on_model_error, owner=key)
        core = self._open_former(make, options) if self._reembeds else make(**options)
        if kept is not None:
            cast(PooledStore, kept.store).file = core.store
            return kept
        core.store = cast(Keeper, PooledStore(core.store, partial(self._held, key)))
        return core

    def _open_former(self, make: Callable[..., Core], options: dict[str, Any]) -> Core:
        """Open a memory with the new embedder, the former one, or one that has its name and cannot embed."""
        known: Any = self._former or _UnknownEmbedder("?", 1)
        for embedder in (options.get("embedder"), known):
            try:
                return make(**{**options, "embedder": embedder})
            except (EmbedderMismatch, DimensionMismatch) as error:
                mismatch = error
        name = mismatch.expected if isinstance(mismatch, EmbedderMismatch) else known.name
        try:
            return make(**{**options, "embedder": _UnknownEmbedder(name, 1)})
        except DimensionMismatch as error:
            return make(**{**options, "embedder": _UnknownEmbedder(name, error.expected)})

    def _make_room(self, slot: Slot) -> None:
        """Close the memory whose place a slot takes."""
        if slot.evicted is not None:
            self._close(slot.evicted)
            with self._guard():
                self._leases.made_room(slot)

    def _close(self, slot: Slot) -> None:
        if slot.opened is not None:
            Memory(slot.opened).close()

    def _end(self, lease: Lease) -> None:
        """End a lease; repeatable. The memory of an exclusive lease is closed: its file may be gone."""
        if lease.exclusive and lease.slot is not None and lease.slot.owner is lease:
            self._close(lease.slot)
        with self._guard():
            self._leases.end(lease)

    def _end_after(self, lease: Lease, worker: ThreadPoolExecutor) -> Future[None] | None:
        """Have a thread end a lease after the calls that it has begun; return None where there is no thread."""
        with self._guard():
            self._leases.end_soon(lease)
        try:
            return worker.submit(self._give_back, lease, worker)
        except RuntimeError:  # no thread could be started, so that none is at work
            return None

    def _give_back(self, lease: Lease, worker: ThreadPoolExecutor) -> None:
        """End a lease in the thread that served it, and keep the thread for a later block."""
        try:
            self._end(lease)
        finally:
            with self._guard():
                # Keep at most 32 threads for later blocks on an event loop.
                kept = not self._closed and len(self._idle_workers) < 32
                if kept:
                    self._idle_workers.append(worker)
            if not kept:
                worker.shutdown(wait=False)

    def _refuse_new(self, *, final: bool) -> bool:
        """Refuse new leases once every lease has ended; return whether that is so. Raise StoreBusy."""
        with self._guard():
            if busy := self._leases.in_use:
                raise StoreBusy(f"{busy} memories of the pool are in use; close it when their `with` blocks have ended")
            if not self._leases.idle and final:
                raise StoreBusy(
                    f"calls of cancelled callers went on for {self._wait_seconds:g} s; close the pool later"
                )
            self._closed = self._closed or self._leases.idle
            return self._closed

    def _secret(self, user_id: str) -> Key | None:
        """Return the key of a user's file; None where files are not encrypted."""
        if not callable(self._key):
            return self._key
        key_of(user_id)
        return Key.check_given(self._key(user_id), f"the key of {shown(user_id)}")

    def _is_there(self, key: str) -> bool:
        """Return whether a user has a memory, or a block that is about to make one."""
        with self._guard():
            if self._leases.has_block(key):
                return True
        return self._place.has_user(key)

    def _guard(self) -> threading.RLock:
        """Return the lock, for a `with` statement; in the child of a fork, one of its own, with nothing open."""
        if self._pid != os.getpid():
            _LEFT_TO_PARENT.append((self._leases, self._idle_workers))
            self._lock = threading.RLock()  # another thread of the parent may have held the old one
            self._leases = Leases(self._leases.capacity)
            self._idle_workers = []
            self._pid = os.getpid()
        return self._lock


@dataclass(frozen=True, slots=True)
class _UnknownEmbedder:
    """Stands for the embedder of a memory that is about to get another: texts are then searched for by their words."""

    name: str
    dimension: int

    def embed(self, texts: Sequence[str]) -> Any:
        raise EmbedderError(
            f"the embedder {self.name!r} of {len(texts)} text(s) is not there any more; reembed goes on"
        )


def _nobody(user_id: str) -> EraseReport:
    return EraseReport("erased", 0, 0, f"there is no memory of {shown(user_id)}")


def _open_gate(gate: threading.Lock) -> None:
    if gate.locked():
        gate.release()


def _wake(loop: asyncio.AbstractEventLoop, granted: asyncio.Future[None]) -> None:
    with suppress(RuntimeError):  # the loop is closed: its waiter is gone, and ends its lease when it is collected
        loop.call_soon_threadsafe(_set_done, granted)


def _set_done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
