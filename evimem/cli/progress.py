"""A progress line on stderr: count, rate and, if the total is known, a bar and the time left."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

_QUIET = 1.0  # seconds without a bar: short work needs none
_REDRAW = 0.1  # seconds between updates on a terminal
_REPORT = 15.0  # seconds between lines where stderr is not a terminal
_BAR = 24  # characters


class Progress:
    """Counts finished units; draws once the work has taken a second. Call it with the number of units just done."""

    def __init__(
        self,
        stream: TextIO,
        label: str,
        unit: str,
        total: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._label = label
        self._unit = unit
        self._total = total
        self._clock = clock
        self._started = self._drawn = clock()
        self._terminal = stream.isatty()
        self._shown = False
        self.done: int = 0

    def __call__(self, count: int) -> None:
        self.done += count
        now = self._clock()
        pause = _REDRAW if self._terminal else _REPORT
        if now - self._started >= _QUIET and now - self._drawn >= pause:
            self._draw(now)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown or (self._clock() - self._started >= _QUIET and self.done):
            self._draw(self._clock())
            if self._terminal:
                print(file=self._stream)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._started

    def _draw(self, now: float) -> None:
        start, end = ("\r", "\x1b[K") if self._terminal else ("", "\n")
        print(f"{start}{self.text(now)}", end=end, file=self._stream, flush=True)
        self._drawn, self._shown = now, True

    def text(self, now: float) -> str:
        """Return the progress line at a time of the clock."""
        rate = self.done / max(now - self._started, 1e-9)
        count = f"{self.done:,} {self._unit}, {rate:,.0f}/s"
        if not self._total:
            return f"{self._label}  {count}"
        share = min(self.done / self._total, 1.0)
        bar = ("#" * round(share * _BAR)).ljust(_BAR, ".")
        left = (self._total - self.done) / rate if rate else 0.0
        return f"{self._label} [{bar}] {share:4.0%}  {count}, {max(left, 0):,.0f} s left"
