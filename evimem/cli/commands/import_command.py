"""Add the turns and facts of an evimem export to a memory. For other files use `evimem ingest`."""

from __future__ import annotations

import argparse
from pathlib import Path

import evimem

from ..exit_codes import Exit
from ..json_output import added_data
from ..open_memory import add_path, add_timezone
from ..screen import Screen
from ..views.added_view import added_page, code_of_refused


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `import`."""
    add_path(parser)
    parser.add_argument("file", metavar="FILE", type=Path, help="a file that `evimem export` wrote")
    add_timezone(parser)


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Add the export; turns that are stored already stay unchanged."""
    with (
        evimem.open(options.path, timezone=options.timezone, date_order=options.date_order) as memory,
        screen.progress("importing", "turns") as progress,
    ):
        report = memory.import_(options.file, progress=progress)
    screen.show(added_page(str(options.path), report, (), progress.seconds), added_data(report))
    return code_of_refused(report, (), screen)
