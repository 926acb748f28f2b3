"""Check that a memory is whole: every page, every digest, every derived row. Reads the whole file.

Each problem is named with what can be done about it. --repair derives again what is derived; turns are never guessed.
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
    parser.add_argument("--repair", action="store_true", help="derive again what is not as it should be")


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Print the memory's health after a check."""
    for note in notes(options.path):
        screen.note(note)
    try:
        with existing(options) as memory:
            health = _looked_after(memory, screen, repair=options.repair)
    except StoreCorrupt as error:
        why = error.__cause__ or error
        what = f"{str(options.path)!r} is damaged so badly that it cannot be looked through ({why}); restore a backup"
        raise StoreCorrupt(what) from error
    screen.show(health_page(str(options.path), health), health_data(health))
    return Exit.STORE if health.problems or health.failed else Exit.OK


def _looked_after(memory: Memory, screen: Screen, *, repair: bool) -> Health:
    total = 2 * memory.health().turns  # each is read twice
    with screen.progress("checking", "steps", total) as progress:
        health = memory.check(progress=progress)
    if not (repair and health.problems):
        return health
    try:
        memory.rebuild()
    except StoreCorrupt as error:
        screen.note(f"nothing was repaired: {error}")
        return health
    with screen.progress("checking again", "steps", total) as progress:
        return memory.check(progress=progress)
