"""Who uses which memory of a pool, and who waits for one. Bookkeeping only: no file is touched here."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from .memory import Memory
from .operations import Core


@dataclass(frozen=True, slots=True)
class OpenMemory:
    """An open file: what an `AsyncMemory` is made of, and the `Memory` for ordinary code."""

    core: Core
    memory: Memory


@dataclass(slots=True, eq=False)
class Slot:
    """A memory that is open, or that the request that owns the slot is opening, closing or erasing now.

    `users` counts the leases that are not given back. `ending` counts those among them whose block has ended while
    their worker thread still finishes a call.
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

    `wake` is called when it holds one, and may be called again. An `exclusive` lease does not share its slot.
    """

    key: str
    wake: Callable[[], object]
    exclusive: bool = False
    slot: Slot | None = None
    ending: bool = False
    ended: bool = False


class Leases:
    """Leases of at most `capacity` slots, granted in order of arrival. Not locked: the pool holds its lock.

    What belongs together is changed by statements without a call in between, where no signal handler can run; whatever
    a signal handler interrupts is made good by repeating `end`.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.slots: OrderedDict[str, Slot] = OrderedDict()  # the longest unused first
        self.closing: dict[str, Slot] = {}  # evicted, not closed yet: other slots have taken their places
        self.waiting: OrderedDict[int, Lease] = OrderedDict()

    @property
    def in_use(self) -> int:
        """How many memories are used by a block that has not ended, or waited for."""
        return len(self.waiting) + sum(1 for slot in self.slots.values() if slot.users > slot.ending)

    @property
    def idle(self) -> bool:
        """Whether no lease is out."""
        return not any(slot.users for slot in self.slots.values())

    def ask(self, lease: Lease) -> None:
        """Put a lease at the end of the queue, and grant what can be granted."""
        self.waiting[id(lease)] = lease
        self.grant()

    def grant(self) -> None:
        """Give slots to waiting leases, the longest waiting first.

        A lease that shares an open memory, or waits until another lease has opened or closed that memory, blocks no
        other. A lease that needs a place while none is free blocks all later ones that need a place too.
        """
        full = False
        for number, lease in tuple(self.waiting.items()):
            if lease.slot is None and not lease.ended and lease.key not in self.closing:
                slot = self.slots.get(lease.key)
                if slot is not None:
                    _share(lease, slot)
                elif not full:
                    full = not self._open(lease)
            if lease.slot is not None:
                self.slots.move_to_end(lease.key)
                lease.wake()
                self.waiting.pop(number, None)

    def ready(self, slot: Slot) -> None:
        """Let others share a slot that its owner has opened."""
        slot.owner = None
        self.grant()

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
        if lease.slot is not None and not lease.ending and not lease.ended:
            lease.slot.ending += 1
            lease.ending = True

    def end(self, lease: Lease) -> None:
        """End a lease, whatever it has come to; a slot that it has not finished opening is dropped. Repeatable."""
        slot = lease.slot
        if slot is not None and not lease.ended:
            slot.users -= 1
            slot.ending -= lease.ending
        lease.ended = True
        self.waiting.pop(id(lease), None)
        if slot is not None and slot.owner is lease:
            self._undo(slot, keep=slot.opened is not None and not lease.exclusive)
        self.grant()

    def _open(self, lease: Lease) -> bool:
        """Give a lease a new slot; return False where there is no place for one."""
        evicted = None
        if len(self.slots) >= self.capacity:
            evicted = next((slot for slot in self.slots.values() if not slot.users and slot.owner is None), None)
            if evicted is None:
                return False
        slot = Slot(lease.key, lease, evicted=evicted, users=1)
        lease.slot = slot
        self.slots[slot.key] = slot
        if evicted is not None:
            self.closing[evicted.key] = evicted
            del self.slots[evicted.key]
        return True

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
