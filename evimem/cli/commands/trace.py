"""Show what was looked for, found and judged for a question: the last one asked of a memory, or a saved trace."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ...errors import ImportFailed
from ...trace import Trace
from ..exit_codes import Exit
from ..opening import existing
from ..screen import Screen
from ..views.trace import trace_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `trace`."""
    parser.add_argument("path", metavar="PATH", type=Path, help="a memory, or what `ask --save-trace` wrote")
    parser.add_argument("--number", type=int, metavar="N", help="an earlier trace of the memory, by its number")


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Print the trace."""
    trace = _read(options.path) if _is_saved(options.path) else _kept(options)
    screen.show(trace_page(trace), json.loads(trace.to_json()))
    return Exit.OK


def _is_saved(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(1) == b"{"


def _read(path: Path) -> Trace:
    try:
        return Trace.from_json(path.read_bytes())
    except ValueError as error:
        raise ImportFailed(f"{str(path)!r} is {error}; expected what `evimem ask --save-trace` writes") from error


def _kept(options: argparse.Namespace) -> Trace:
    with existing(options) as memory:
        return memory.trace(options.number)
