"""A lock for many readers or one writer that starves neither."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class ReadWriteLock:
    """After a write the readers that were waiting go first, all of them; after them a waiting writer does."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._reading = 0
        self._writing = False
        self._readers_waiting = 0
        self._writers_waiting = 0
        self._passes = 0  # readers that may still go before the next writer

    @contextmanager
    def read(self) -> Iterator[None]:
        """Hold the lock with other readers; writers wait."""
        with self._changed:
            self._readers_waiting += 1
            try:
                self._changed.wait_for(lambda: not self._writing and (self._passes or not self._writers_waiting))
                self._reading += 1
            finally:
                self._readers_waiting -= 1
                self._passes = min(max(self._passes - 1, 0), self._readers_waiting)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._reading -= 1
                self._changed.notify_all()

    @contextmanager
    def write(self) -> Iterator[None]:
        """Hold the lock alone."""
        with self._changed:
            self._writers_waiting += 1
            try:
                self._changed.wait_for(lambda: not (self._writing or self._reading or self._passes))
                self._writing = True
            finally:
                self._writers_waiting -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._writing = False
                self._passes = self._readers_waiting
                self._changed.notify_all()
