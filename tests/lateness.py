"""Bounds on time that hold on a slow or busy machine: in pieces of fixed work, measured in the same process."""

from __future__ import annotations

import re
import threading
import time
from statistics import median

NAP = 0.01  # seconds between two pieces of work
PIECES = 100  # of work that a call may take besides its deadline: it encodes, parses and wakes threads
STALLS = 5.0  # times that a call may wait for its turn: on the loop, on the server, on the interpreter's lock
_WORD = re.compile(r"\w+")
_TEXT = "We adopted a puppy last Friday, his name is Biscuit; two days ago he was 12 weeks old. " * 200


def piece_of_work() -> int:
    """Do fixed work of the library's kind, about a millisecond of it on a machine of 2024."""
    counts: dict[str, int] = {}
    for word in _WORD.findall(_TEXT):
        counts[word.lower()] = counts.get(word.lower(), 0) + 1
    return len(counts)


def piece_seconds() -> float:
    """Return the processor time of a piece of work, over many: some systems count it in steps of ten milliseconds."""
    before, pieces = time.process_time(), 0
    while (taken := time.process_time() - before) < 0.1:
        piece_of_work()
        pieces += 1
    return taken / pieces


class Lateness:
    """Measures a block, and meanwhile, in a thread of its own, how long naps and pieces of work take."""

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
    piece_of_work()
    return time.monotonic() - before - NAP
