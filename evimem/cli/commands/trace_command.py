"""Show the trace of a question, with its searches, evidence and verdicts: the newest of a memory, or a saved one."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ...doors.replay import replay
from ...errors import ImportFailed
from ...types.trace import Trace
from ..exit_codes import Exit
from ..open_memory import existing
from ..page import Piece, line
from ..screen import Screen
from ..views.trace_view import trace_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `trace`."""
    parser.add_argument("path", metavar="PATH", type=Path, help="a memory, or a file that `ask --save-trace` wrote")
    parser.add_argument(
        "--number", type=int, metavar="N", help="show trace number N of the memory (default: the newest)"
    )
    parser.add_argument(
        "--replay",
        action="store_true",
        help="run the question again with the recorded replies instead of a model, and compare",
    )


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Print the trace."""
    trace = _read(options.path) if _is_saved(options.path) else _kept(options)
    page, data = trace_page(trace), json.loads(trace.to_json())
    if options.replay:
        with existing(options) as memory:
            answer = replay(trace, memory)
        page.append(line(Piece("replayed: every event is the same; no model was called", "good"), indent=2))
        data["replayed"] = {"text": answer.text, "abstained": answer.abstained}
    screen.show(page, data)
    return Exit.OK


def misused(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options; None if nothing is."""
    if options.replay and _is_saved(options.path):
        return "--replay needs the memory that was asked as PATH, not a saved trace"
    return None


def _is_saved(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(1) == b"{"


def _read(path: Path) -> Trace:
    try:
        return Trace.from_json(path.read_bytes())
    except ValueError as error:
        raise ImportFailed(f"{str(path)!r} is {error}; expected a file that `evimem ask --save-trace` wrote") from error


def _kept(options: argparse.Namespace) -> Trace:
    with existing(options) as memory:
        return memory.trace(options.number)
