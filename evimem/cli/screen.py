"""The output of a command: pages or one JSON value on stdout, notes and progress on stderr."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, TextIO

from .page import Block, text_of, visible

_QUIET = 1.0  # seconds without a bar: short work needs none
_REDRAW = 0.1  # seconds between updates on a terminal
_REPORT = 15.0  # seconds between lines where stderr is not a terminal
_BAR = 24  # characters


class Screen:
    """Prints results. `as_json` prints the data instead of the page; `coloured` uses rich on a terminal."""

    def __init__(self, *, as_json: bool = False, coloured: bool = True) -> None:
        self.as_json = as_json
        self._rich = _rich() if coloured and not as_json and sys.stdout.isatty() else None

    def show(self, page: Sequence[Block], data: Any) -> None:
        """Print a page, or with `as_json` the data that it was made from."""
        if self.as_json:
            sys.stdout.write(f"{json.dumps(data, allow_nan=False)}\n")
        else:
            self.page(page)

    def page(self, page: Sequence[Block]) -> None:
        """Print a page; nothing with `as_json`."""
        if self.as_json:
            return
        if self._rich:
            self._rich.print_page(page)
        else:
            sys.stdout.write(text_of(page, _width()))

    def stream(self, text: str) -> None:
        """Print a piece of text at once, without a line end."""
        sys.stdout.write(visible(text))
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """Print a note to stderr."""
        sys.stderr.write(f"{visible(text)}\n")

    def progress(self, label: str, unit: str, total: int | None = None) -> Progress:
        """Return a progress line; `total` is the number of units, None if unknown."""
        return Progress(sys.stderr, visible(label), unit, total)


def _rich() -> Any:
    try:
        return importlib.import_module("evimem.cli.rich_view")
    except ImportError:
        return None  # rich is an extra: print plain text without it


def _width() -> int:
    return min(shutil.get_terminal_size((100, 24)).columns, 120)


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
