"""Who uses which memory of a pool, and who waits for one. Bookkeeping only: no file is touched here."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from ..store.keeper import Keeper
from .core import Core

Held: TypeAlias = Callable[[], AbstractContextManager[None]]
ITERATED = frozenset({"turns", "pairs", "unread", "index_vectors", "rebuild"})  # what iterates over the open file
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


@dataclass(frozen=True, slots=True)
class OpenMemory:
    """What the doors of a user's blocks are made of. `core` calls `store`, whose file the pool closes and reopens."""

    core: Core
    store: PooledStore


@dataclass(slots=True, eq=False)
class Slot:
    """A memory that is open, or that the request that owns the slot is opening, closing or erasing now.

    `users` counts the leases that hold it, `ending` those among them that are `ending`.
    """

    key: str
    owner: Lease | None
    opened: OpenMemory | None = None
    evicted: Slot | None = None  # an idle memory whose place this one takes; the owner closes it first
    users: int = 0
    ending: int = 0


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
    slot: Slot | None = None
    opened: OpenMemory | None = None  # what its block uses, also while it is lent
    reading: bool = False  # that of an iterator, which ends with the last block that uses the memory
    asked: set[object] = field(default_factory=set)  # one for each reply of a model that its block waits for
    ended: bool = False


class Leases:
    """Leases of at most `capacity` slots, granted in order of arrival. Not locked: the pool holds its lock.

    The calls of a block that was granted a slot before and lent it go first: its block arrived earlier.

    What belongs together is changed by statements without a call in between, where no signal handler can run; whatever
    a signal handler interrupts is made good by repeating `end`.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.slots: OrderedDict[str, Slot] = OrderedDict()  # the longest unused first
        self.closing: dict[str, Slot] = {}  # evicted, not closed yet: other slots have taken their places
        self.waiting: OrderedDict[int, Lease] = OrderedDict()
        self.lent: dict[int, Lease] = {}
        self.reading: dict[int, Lease] = {}

    @property
    def in_use(self) -> int:
        """How many memories are used by a block that has not ended, or waited for by one."""
        used = {slot.key for slot in self.slots.values() if slot.users > slot.ending}
        used |= {lease.key for lease in self.lent.values() if not lease.ending}
        return len(used) + sum(not lease.ending for lease in self.waiting.values())

    @property
    def idle(self) -> bool:
        """Whether no lease is out."""
        return not (self.lent or self.waiting or any(slot.users for slot in self.slots.values()))

    def has_block(self, key: str) -> bool:
        """Return whether a block that has not ended uses a memory, with or without a place at the moment."""
        slot = self.slots.get(key)
        if slot is not None and slot.users > slot.ending:
            return slot.owner is None or not slot.owner.exclusive
        return any(lease.key == key and not lease.ending for lease in self.lent.values())

    def opened(self, key: str) -> OpenMemory | None:
        """Return what the blocks use that have lent their place of a memory; None where there are none."""
        return next((lease.opened for lease in self.lent.values() if lease.key == key), None)

    def ask(self, lease: Lease) -> None:
        """Put a lease at the end of the queue, and grant what can be granted."""
        self.waiting[id(lease)] = lease
        if lease.reading:
            self.reading[id(lease)] = lease
        self.grant()

    def grant(self) -> None:
        """Give slots to waiting leases, the longest waiting first.

        A lease that shares an open memory, or waits until another lease has opened or closed that memory, blocks no
        other. A lease that needs a place while none is free blocks all later ones that need a place too.
        """
        full, lent = False, {lease.key for lease in self.lent.values()}
        for number, lease in self.in_order():
            barred = lease.key in self.closing or (lease.exclusive and lease.key in lent)
            if lease.slot is None and not lease.ended and not barred:
                slot = self.slots.get(lease.key)
                if slot is not None:
                    _share(lease, slot)
                elif not full:
                    full = not self._open(lease)
            if lease.slot is not None:
                self.slots.move_to_end(lease.key)
                lease.wake()
                self.waiting.pop(number, None)

    def in_order(self) -> list[tuple[int, Lease]]:
        """Return the waiting leases in the order in which they are granted."""
        return sorted(self.waiting.items(), key=_is_new)

    def ready(self, slot: Slot) -> None:
        """Let others share a slot that its owner has opened."""
        slot.owner = None
        self._rejoin(slot.key)
        self.grant()

    def lend(self, lease: Lease, asked: object) -> None:
        """Let others have the place of a block that waits for a reply of a model, until `take_back`.

        The memory stays open until the place is needed.
        """
        lease.asked.add(asked)
        slot, number = lease.slot, id(lease)
        if slot is not None and not lease.ending and not lease.ended:
            slot.users -= 1
            lease.slot = None
            self.lent[number] = lease
            self.grant()

    def take_back(self, lease: Lease, asked: object) -> None:
        """Give a block its place again where its memory is still open, else as soon as a call opens it. Repeatable."""
        lease.asked.discard(asked)
        self._rejoin(lease.key)

    def made_room(self, slot: Slot) -> None:
        """Let others open what was evicted for a slot, now that it is closed."""
        evicted = slot.evicted
        if evicted is not None and self.closing.get(evicted.key) is evicted:
            del self.closing[evicted.key]
        slot.evicted = None
        self.grant()

    def drop(self, slot: Slot) -> None:
        """Drop an idle slot whose memory is closed."""
        if self.slots.get(slot.key) is slot:
            del self.slots[slot.key]

    def end_soon(self, lease: Lease) -> None:
        """Note that the block of a lease has ended; `end` follows when its worker thread has nothing left to do."""
        if not lease.ending and not lease.ended:
            if lease.slot is not None:
                lease.slot.ending += 1
            lease.ending = True
            self._end_calls(lease.key)

    def end(self, lease: Lease) -> None:
        """End a lease, whatever it has come to; a slot that it has not finished opening is dropped. Repeatable."""
        slot = lease.slot
        if slot is not None and not lease.ended:
            slot.users -= 1
            slot.ending -= lease.ending
        lease.ended = True
        for held in (self.waiting, self.lent, self.reading):
            held.pop(id(lease), None)
        if slot is not None and slot.owner is lease:
            self._undo(slot, keep=slot.opened is not None and not lease.exclusive)
        self._end_calls(lease.key)
        self.grant()

    def _open(self, lease: Lease) -> bool:
        """Give a lease a new slot; return False where there is no place for one."""
        evicted = None
        if len(self.slots) >= self.capacity:
            evicted = self._longest_unused()
            if evicted is None:
                return False
        slot = Slot(lease.key, lease, evicted=evicted, users=1, ending=int(lease.ending))
        lease.slot = slot
        self.slots[slot.key] = slot
        if evicted is not None:
            self.closing[evicted.key] = evicted
            del self.slots[evicted.key]
        return True

    def _end_calls(self, key: str) -> None:
        """Where the last block has ended, end what belonged to one: iterators, and calls that wait for its place."""
        if not self.has_block(key):
            for lease in (*self.reading.values(), *self.waiting.values()):
                if lease.key == key and lease.ending and not lease.ended:
                    self.end(lease)
                    lease.wake()

    def _longest_unused(self) -> Slot | None:
        """Return the memory to close for another: rather one that no block will come back to."""
        lent = {lease.key for lease in self.lent.values()}
        idle = [slot for slot in self.slots.values() if not slot.users and slot.owner is None]
        return min(idle, key=lambda slot: slot.key in lent, default=None)

    def _rejoin(self, key: str) -> None:
        """Give the blocks of an open memory their places again, apart from those that wait for models."""
        slot = self.slots.get(key)
        if slot is None or slot.owner is not None:
            return
        for number, lease in tuple(self.lent.items()):
            if lease.opened is slot.opened and not lease.asked:
                del self.lent[number]
                lease.slot = slot
                slot.users += 1
                slot.ending += lease.ending

    def _undo(self, slot: Slot, *, keep: bool) -> None:
        """Take a slot from its owner, who has not finished; a memory that was to be closed for it stays open instead.

        `keep` it where its memory is open: the next lease checks whether it is usable.
        """
        if not keep and self.slots.get(slot.key) is slot:
            del self.slots[slot.key]
        evicted = slot.evicted
        if evicted is not None:
            self.slots.setdefault(evicted.key, evicted)
            self.slots.move_to_end(evicted.key, last=False)
            if self.closing.get(evicted.key) is evicted:
                del self.closing[evicted.key]
        slot.evicted = slot.owner = None


def _share(lease: Lease, slot: Slot) -> None:
    if slot.owner is None and not (lease.exclusive and slot.users):
        if lease.exclusive or not slot.users:
            slot.owner = lease  # after a time without use, the lease checks that the file is still there
        lease.slot = slot
        slot.users += 1
        slot.ending += lease.ending


def _is_new(waiting: tuple[int, Lease]) -> bool:
    return not waiting[1].ending
