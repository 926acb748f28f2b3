"""The SQLite handles that this process has open: those without use give their descriptors up.

An open handle holds three descriptors: of its file, of the log, and of the index of that. A thread closes those that
no call has used for a second; nothing of a memory is lost with its handle, which the next call opens again.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from contextlib import suppress
from functools import partial
from operator import attrgetter
from typing import Protocol

from ..errors import StoreBusy
from .atomic_files import has_free_descriptors, max_descriptors, no_descriptor_message

IDLE_SECONDS = 1.0  # without a call, after which a handle is closed; to open one takes a millisecond
MAX_HANDLES = 64  # that stay open; the rest of a process open theirs for each use
MIN_HANDLES = 4
_DESCRIPTORS_TO_OPEN = 6  # with the mark, a temporary file and the folder


class Handle(Protocol):
    """A handle that can be closed until it is used again."""

    @property
    def holds_descriptors(self) -> bool: ...

    @property
    def last_used(self) -> float: ...

    def park(self) -> None: ...


# Every handle of this process that was not collected, by its address.
_HANDLES: dict[int, weakref.ref[Handle]] = {}
_is_watched = False  # whether a thread of this process closes idle handles
# Held while that thread closes one: a child of a fork would else inherit a lock of SQLite that nothing opens.
_closing_lock = threading.RLock()


def register_handle(handle: Handle) -> None:
    """Note a handle that was opened, and have it closed when it is idle."""
    global _is_watched  # noqa: PLW0603 - one thread a process
    _HANDLES[id(handle)] = weakref.ref(handle, partial(_forget_handle, id(handle)))
    if not _is_watched:
        _is_watched = True
        try:
            threading.Thread(target=_close_idle, name="evimem-idle-handles", daemon=True).start()
        except BaseException as error:
            _is_watched = False
            if not isinstance(error, RuntimeError):  # no thread can be started: handles stay open
                raise


def close_surplus_handles(opening: Handle) -> None:
    """Close the handles unused for longest where the process has as many as it may, not counting the one given."""
    _park_unused(opening, _max_handles() - 1)


def require_free_descriptors(name: str, opening: Handle | None = None) -> None:
    """Have unused handles give their descriptors up where the process has none for another memory.

    Raise StoreBusy where it has none then.
    """
    if not has_free_descriptors(_DESCRIPTORS_TO_OPEN):
        _park_unused(opening, 0)
        if not has_free_descriptors(_DESCRIPTORS_TO_OPEN):
            raise StoreBusy(no_descriptor_message(repr(name)))


def _forget_handle(address: int, handle: weakref.ref[Handle]) -> None:
    if _HANDLES.get(address) is handle:
        del _HANDLES[address]


def _open_handles() -> list[Handle]:
    """Return the handles that hold descriptors, the longest unused first."""
    found = [handle() for handle in list(_HANDLES.values())]
    return sorted((one for one in found if one is not None and one.holds_descriptors), key=attrgetter("last_used"))


def _park_unused(opening: Handle | None, most: int) -> None:
    """Close handles, the longest unused first, until at most so many are open beside the one given."""
    others = [one for one in _open_handles() if one is not opening]
    for one in others[: max(0, len(others) - most)]:
        one.park()


def _max_handles() -> int:
    """Return how many SQLite handles to keep open: a quarter of the descriptors is left to the program."""
    # A handle takes 4 descriptors: the file, its log, the index of that, and the file again to look at its lock.
    return max(MIN_HANDLES, min(MAX_HANDLES, max_descriptors() * 3 // 4 // 4))


def _close_idle() -> None:
    """Close the handles that no call uses, until none is open; one thread does it."""
    global _is_watched  # noqa: PLW0603 - as above
    while _park_idle():
        time.sleep(IDLE_SECONDS / 4)
    _is_watched = False
    if _open_handles():  # opened after the last look, by a thread that saw this one at work
        _is_watched = True
        _close_idle()


def _park_idle() -> bool:
    """Close the handles that are idle; return whether any is open."""
    for handle in _open_handles():
        if time.monotonic() - handle.last_used > IDLE_SECONDS:
            with _closing_lock:
                handle.park()
    return bool(_open_handles())


def _after_fork() -> None:
    """Begin anew in the child of a fork, which has neither the thread nor a use for the handles of its parent."""
    global _closing_lock, _is_watched
    _closing_lock, _is_watched = threading.RLock(), False
    _HANDLES.clear()


def _before_fork() -> None:
    _closing_lock.acquire()


def _after_fork_in_parent() -> None:
    with suppress(RuntimeError):  # it was not had: a signal handler raised meanwhile
        _closing_lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork)
