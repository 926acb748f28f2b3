"""Where a command's output goes: pages for people, one JSON value for programs, notes to stderr."""

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
    """Prints what a command found. `as_json` prints its data instead of its page; `coloured` uses rich where it can."""

    def __init__(self, *, as_json: bool = False, coloured: bool = True) -> None:
        self.as_json = as_json
        self._rich = _rich() if coloured and not as_json and sys.stdout.isatty() else None

    def show(self, page: Sequence[Block], data: Any) -> None:
        """Print a page, or for a program the data that it was made from."""
        if self.as_json:
            sys.stdout.write(f"{json.dumps(data, allow_nan=False)}\n")
        else:
            self.page(page)

    def page(self, page: Sequence[Block]) -> None:
        """Print a page to people; programs do not see it."""
        if self.as_json:
            return
        if self._rich:
            self._rich.print_page(page)
        else:
            sys.stdout.write(plain_view.text_of(page, _width()))

    def say(self, words: str) -> None:
        """Print words as they come, where people read them."""
        sys.stdout.write(visible(words))
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """Say something beside the result."""
        sys.stderr.write(f"{visible(text)}\n")

    def progress(self, label: str, unit: str, total: int | None = None) -> Progress:
        """Return a progress line for work of this many units, if their number is known."""
        return Progress(sys.stderr, visible(label), unit, total)


def _rich() -> Any:
    try:
        return importlib.import_module("evimem.cli.rich_view")
    except ImportError:
        return None  # plain text then: rich is an extra


def _width() -> int:
    return min(shutil.get_terminal_size((100, 24)).columns, 120)
