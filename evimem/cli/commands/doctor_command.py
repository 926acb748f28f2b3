"""Verify a memory: every page, digest and derived row. Reads the whole file.

Each problem is reported with a remedy. --repair rebuilds derived rows from the turns; turns are never changed.
"""

from __future__ import annotations

import argparse

from ...doors.memory import Memory
from ...errors import StoreCorrupt
from ...store.open_file import notes
from ...types.reports import Health
from ..exit_codes import Exit
from ..json_output import health_data
from ..open_memory import add_path, existing
from ..screen import Screen
from ..views.state_view import health_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `doctor`."""
    add_path(parser)
    parser.add_argument("--repair", action="store_true", help="rebuild derived rows that are wrong")


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Print the memory's health after a check."""
    for note in notes(options.path):
        screen.note(note)
    try:
        with existing(options) as memory:
            health = _checked(memory, screen, repair=options.repair)
    except StoreCorrupt as error:
        why = error.__cause__ or error
        what = f"{str(options.path)!r} is too damaged to be checked ({why}); restore a backup"
        raise StoreCorrupt(what) from error
    screen.show(health_page(str(options.path), health), health_data(health))
    return Exit.STORE if health.problems or health.failed else Exit.OK


def _checked(memory: Memory, screen: Screen, *, repair: bool) -> Health:
    total = 2 * memory.health().turns  # each turn is read twice
    with screen.progress("checking", "turns read", total) as progress:
        health = memory.check(progress=progress)
    if not (repair and health.problems):
        return health
    try:
        with screen.progress("repairing", "turns read", total // 2) as progress:
            memory.rebuild(progress=progress)
    except StoreCorrupt as error:
        screen.note(f"nothing was repaired: {error}")
        return health
    with screen.progress("checking again", "turns read", total) as progress:
        return memory.check(progress=progress)
