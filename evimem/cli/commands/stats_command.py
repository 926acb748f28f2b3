"""Show the counts of a memory: turns, sessions, speakers, facts, edges."""

from __future__ import annotations

import argparse

from ..exit_codes import Exit
from ..json_output import stats_data
from ..open_memory import add_path, existing
from ..screen import Screen
from ..views.state_view import stats_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `stats`."""
    add_path(parser)


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Print the counts."""
    with existing(options) as memory:
        stats = memory.stats()
    screen.show(stats_page(stats), stats_data(stats))
    return Exit.OK
