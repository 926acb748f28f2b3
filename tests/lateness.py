"""How late this machine is, so that a deadline can be held to the letter where other work runs beside the tests."""

from __future__ import annotations

import threading
import time

NAP = 0.01
FACTOR = 5.0  # a call waits several times over for its turn: on the loop, on the server, on the lock of the interpreter


class Lateness:
    """Naps all the while in a thread of its own, and notes by how much it overslept at worst."""

    def __enter__(self) -> Lateness:
        self.worst, self._end = 0.0, threading.Event()
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._nap, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = time.monotonic() - self._began
        self._end.set()
        self._thread.join()

    def check(self, deadline: float) -> None:
        """Raise where the block took more than a tenth longer than its deadline, the machine's lateness apart."""
        allowed = 1.1 * deadline + FACTOR * self.worst
        assert self.seconds <= allowed, f"{self.seconds:.2f} s, {deadline:g} allowed; overslept by {self.worst:.3f} s"

    def _nap(self) -> None:
        while not self._end.is_set():
            before = time.monotonic()
            time.sleep(NAP)
            self.worst = max(self.worst, time.monotonic() - before - NAP)
