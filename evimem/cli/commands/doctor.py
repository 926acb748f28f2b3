"""Check that a memory is whole: every digest, every derived row, nothing pending. Reads the whole file."""

from __future__ import annotations

import argparse

from ..data import health_data
from ..exit_codes import Exit
from ..opening import add_path, existing
from ..screen import Screen
from ..views.state import health_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `doctor`."""
    add_path(parser)
    parser.add_argument("--repair", action="store_true", help="derive again what is not as it should be")


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Print the memory's health after a check."""
    with existing(options) as memory:
        health = memory.check(repair=options.repair)
    screen.show(health_page(str(options.path), health), health_data(health))
    return Exit.STORE if health.problems or health.failed else Exit.OK
