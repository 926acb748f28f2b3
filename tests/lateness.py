"""A bound on elapsed time that holds on a slow or busy machine: a deadline plus the time that fixed work takes here."""

from __future__ import annotations

import threading
import time
from statistics import median

NAP = 0.01  # seconds between two pieces of work
STEPS = 40_000  # of one piece: about a millisecond on a machine of 2024
PIECES = 300  # of work that a call may take besides its deadline: it encodes, parses and wakes threads
STALLS = 5.0  # times that a call may wait for its turn: on the loop, on the server, on the interpreter's lock


class Lateness:
    """Measures a block, and meanwhile, in a thread of its own, how long naps and a fixed piece of work take."""

    def __enter__(self) -> Lateness:
        self._samples = [_sample()]
        self._end = threading.Event()
        self._started = time.monotonic()
        self._thread = threading.Thread(target=self._measure, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = time.monotonic() - self._started
        self._end.set()
        self._thread.join()

    def check(self, deadline: float) -> None:
        """Raise where the block took more than a tenth longer than its deadline, the machine's slowness apart."""
        piece, worst = median(self._samples), max(self._samples)
        allowed = 1.1 * deadline + PIECES * piece + STALLS * worst
        assert self.seconds <= allowed, (
            f"{self.seconds:.2f} s, {allowed:.2f} s allowed for a deadline of {deadline:g} s: "
            f"a piece of work took {1e3 * piece:.1f} ms, {1e3 * worst:.1f} at worst"
        )

    def _measure(self) -> None:
        while not self._end.is_set():
            self._samples.append(_sample())


def _sample() -> float:
    """Return the seconds of a piece of work and by how much a nap overran."""
    before = time.monotonic()
    time.sleep(NAP)
    sum(range(STEPS))
    return time.monotonic() - before - NAP
