"""The output of a command: pages or one JSON value on stdout, notes and progress on stderr."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from collections.abc import Sequence
from typing import Any

from . import plain_view
from .page import Block, visible
from .progress import Progress


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
            sys.stdout.write(plain_view.text_of(page, _width()))

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
