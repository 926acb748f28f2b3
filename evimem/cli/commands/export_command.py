"""Write every turn of a memory with its facts to a file, one JSON object per line."""

from __future__ import annotations

import argparse
from pathlib import Path

from ...errors import InvalidQuery
from ..exit_codes import Exit
from ..open_memory import add_path, existing
from ..page import line
from ..screen import Screen
from ..views.wording import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `export`."""
    add_path(parser)
    parser.add_argument("file", metavar="FILE", type=Path, help="the file to write")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Write the export."""
    if options.file.exists() and not options.force:
        raise InvalidQuery(f"{str(options.file)!r} exists already; give another name, or --force to replace it")
    with existing(options) as memory:
        turns = memory.stats().turns
        with screen.progress("exporting", "turns", turns) as progress:
            memory.export(options.file, progress=progress)
    data = {"file": str(options.file), "turns": turns}
    screen.show([line(f"{counted(turns, 'turn')} written to {options.file}")], data)
    return Exit.OK
