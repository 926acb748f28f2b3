"""Who uses which memory of a pool, and who waits for one. Bookkeeping only: no file is touched here."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..store.keeper import Keeper
from .core import Core

# Calls that iterate over the file.
ITERATED = frozenset(
    {"turns", "turns_with_facts", "export_rows", "turns_to_extract", "index_vectors", "rebuild", "find_damage"}
)


class PooledStore:
    """A `Keeper` whose file is open while it is called: each call holds a place of the pool for as long.

    Where the block has its place, or it was not taken meanwhile, that costs no more than the bookkeeping. Else the call
    waits for a place, and the file is opened again. An iterator holds a place until it is exhausted or closed.
    """

    def __init__(self, file: Keeper, held: Callable[..., AbstractContextManager[None]]) -> None:
        """Take an open file, and the hold that keeps it open: for a call, or with `reading` for an iterator."""
        self.file = file
        self._held = held

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.file, name)
        # This may be called on a closed file, too.
        if not callable(value) or name.startswith("_") or name == "close":
            return value
        return partial(self._each if name in ITERATED else self._call, name)

    def _call(self, name: str, *args: Any, **options: Any) -> Any:
        with self._held():
            return getattr(self.file, name)(*args, **options)

    def _each(self, name: str, *args: Any, **options: Any) -> Iterator[Any]:
        with self._held(reading=True):
            yield from getattr(self.file, name)(*args, **options)


@dataclass(slots=True, eq=False)
class Slot:
    """A memory that is open, or that the request that owns the slot is opening, closing or erasing now."""

    key: str
    owner: Lease | None
    opened: Core | None = None  # with a `PooledStore`, whose file the pool closes and opens again
    evicted: Slot | None = None  # an idle memory whose place this one takes; the owner closes it first


@dataclass(slots=True, eq=False)
class Lease:
    """One request for a memory: waiting, then holding a slot, then ended.

    `wake` is called when it holds one, and may be called again. An `exclusive` lease does not share its slot. One that
    is `ending` belongs to no block, or no longer: it is that of one call, or its block has ended while its worker
    thread still finishes a call. The lease of a block that waits for models is lent: it holds no slot meanwhile, and
    until the memory is open again.
    """

    key: str
    wake: Callable[[], object]
    exclusive: bool = False
    ending: bool = False
    secret: Any = None  # the key of the user's file, where it is encrypted
    reading: bool = False  # that of an iterator, which ends with the last block that uses the memory
    waiting: bool = True
    slot: Slot | None = None
    opened: Core | None = None  # the memory that its block uses, also while it is lent
    asked: set[object] = field(default_factory=set)  # one for each reply of a model that its block waits for
    ended: bool = False

    @property
    def lent(self) -> bool:
        """Whether its place, which it was given before, is lent."""
        return self.slot is None and not self.waiting

    @property
    def of_block(self) -> bool:
        """Whether it is that of a block that uses the memory, with or without a place at the moment."""
        return (self.slot is not None or not self.waiting) and not self.ending


class Leases:
    """Leases of at most `capacity` slots, granted in order of arrival. Not locked: the pool holds its lock.

    The calls of a block that was granted a slot before and lent it go first: its block arrived earlier.

    State that belongs together is changed by statements without a call in between, where no signal handler can run; any
    other call that a signal handler interrupts is made good by repeating `end`.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.slots: OrderedDict[str, Slot] = OrderedDict()  # the longest unused first
        self.closing: dict[str, Slot] = {}  # evicted, not closed yet: other slots have taken their places
        self.out: dict[int, Lease] = {}  # those that have not ended, as they came

    @property
    def in_use(self) -> int:
        """How many memories are used by a block that has not ended, or waited for by one."""
        used = {lease.key for lease in self.out.values() if lease.of_block}
        return len(used) + sum(not lease.ending for lease in self.waiting())

    @property
    def idle(self) -> bool:
        """Whether no lease is out."""
        return not self.out

    def has_block(self, key: str) -> bool:
        """Return whether a block uses a memory; erasing it is none."""
        return any(lease.of_block and not lease.exclusive for lease in self.of(key))

    def find_open(self, key: str) -> Core | None:
        """Return the open memory of the blocks that have lent their place; None where there are none."""
        return next((lease.opened for lease in self.of(key) if lease.lent), None)

    def of(self, key: str) -> list[Lease]:
        """Return the leases of a memory that have not ended."""
        return [lease for lease in self.out.values() if lease.key == key]

    def ask(self, lease: Lease) -> None:
        """Put a lease at the end of the queue, and grant as many as possible."""
        self.out[id(lease)] = lease
        self.grant()

    def grant(self) -> None:
        """Give slots to waiting leases, the longest waiting first.

        A lease that shares an open memory, or waits until another lease has opened or closed that memory, blocks no
        other. A lease that needs a place while none is free blocks all later ones that need a place too.
        """
        full = False
        for lease in self.waiting():
            barred = lease.key in self.closing or (lease.exclusive and any(one.lent for one in self.of(lease.key)))
            if lease.slot is None and not lease.ended and not barred:
                slot = self.slots.get(lease.key)
                if slot is not None:
                    self._share(lease, slot)
                elif not full:
                    full = not self._open(lease)
            if lease.slot is not None:
                self.slots.move_to_end(lease.key)
                lease.wake()
                lease.waiting = False

    def waiting(self) -> list[Lease]:
        """Return the leases that wait, in the order in which they are granted."""
        return sorted((lease for lease in self.out.values() if lease.waiting), key=_is_new)

    def ready(self, slot: Slot) -> None:
        """Share a slot that its owner has opened."""
        slot.owner = None
        self._rejoin(slot.key)
        self.grant()

    def lend(self, lease: Lease, asked: object) -> None:
        """Lend the place of a block that waits for a reply of a model, until `take_back`.

        The memory stays open until the place is needed.
        """
        lease.asked.add(asked)
        if lease.slot is not None and not lease.ending and not lease.ended:
            lease.slot = None
            self.grant()

    def take_back(self, lease: Lease, asked: object) -> None:
        """Give a block its place again where its memory is still open, else as soon as a call opens it. Repeatable."""
        lease.asked.discard(asked)
        self._rejoin(lease.key)

    def made_room(self, slot: Slot) -> None:
        """Allow an evicted memory to be opened again, now that it is closed."""
        self._unmark(slot.evicted)
        slot.evicted = None
        self.grant()

    def drop(self, slot: Slot) -> None:
        """Drop an idle slot whose memory is closed."""
        if self.slots.get(slot.key) is slot:
            del self.slots[slot.key]

    def end_soon(self, lease: Lease) -> None:
        """Note that the block of a lease has ended; `end` follows when its worker thread has nothing left to do."""
        lease.ending = True
        self._end_calls(lease.key)

    def end(self, lease: Lease) -> None:
        """End a lease, whatever it has come to; a slot that it has not finished opening is dropped. Repeatable."""
        slot = lease.slot
        lease.ended = True
        self.out.pop(id(lease), None)
        if slot is not None and slot.owner is lease:
            self._undo(slot, keep=slot.opened is not None and not lease.exclusive)
        self._end_calls(lease.key)
        self.grant()

    def _share(self, lease: Lease, slot: Slot) -> None:
        """Give a lease a slot that is there, where it may have it."""
        if slot.owner is None:
            unused = all(one.slot is not slot for one in self.of(slot.key))
            if unused:
                slot.owner = lease  # after a time without use, the lease checks that the file is still there
            if unused or not lease.exclusive:
                lease.slot = slot

    def _open(self, lease: Lease) -> bool:
        """Give a lease a new slot; return False where there is no place for one."""
        evicted = None
        if len(self.slots) >= self.capacity:
            evicted = self._longest_unused()
            if evicted is None:
                return False
        slot = Slot(lease.key, lease, evicted=evicted)
        lease.slot = slot
        self.slots[slot.key] = slot
        if evicted is not None:
            self.closing[evicted.key] = evicted
            del self.slots[evicted.key]
        return True

    def _end_calls(self, key: str) -> None:
        """Where the last block has ended, end its remains: iterators, and calls that wait for its place."""
        if not self.has_block(key):
            for lease in self.of(key):
                if lease.ending and (lease.reading or lease.waiting) and not lease.ended:
                    self.end(lease)
                    lease.wake()

    def _longest_unused(self) -> Slot | None:
        """Return the memory to close for another: rather one that no block will come back to."""
        used = {id(lease.slot) for lease in self.out.values()}
        lent = {lease.key for lease in self.out.values() if lease.lent}
        idle = [slot for slot in self.slots.values() if slot.owner is None and id(slot) not in used]
        return min(idle, key=lambda slot: slot.key in lent, default=None)

    def _rejoin(self, key: str) -> None:
        """Give the blocks of an open memory their places again, apart from those that wait for models."""
        slot = self.slots.get(key)
        if slot is not None and slot.owner is None:
            for lease in self.of(key):
                if lease.lent and lease.opened is slot.opened and not lease.asked:
                    lease.slot = slot

    def _undo(self, slot: Slot, *, keep: bool) -> None:
        """Take a slot from its owner, who has not finished; a memory that was to be closed for it stays open instead.

        `keep` it where its memory is open: the next lease checks whether it is usable.
        """
        if not keep:
            self.drop(slot)
        evicted = slot.evicted
        if evicted is not None:
            self.slots.setdefault(evicted.key, evicted)
            self.slots.move_to_end(evicted.key, last=False)
            self._unmark(evicted)
        slot.evicted = slot.owner = None

    def _unmark(self, evicted: Slot | None) -> None:
        if evicted is not None and self.closing.get(evicted.key) is evicted:
            del self.closing[evicted.key]


def _is_new(lease: Lease) -> bool:
    return not lease.ending
