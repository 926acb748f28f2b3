"""Do the work that turns are still owed: vectors, links, and with --llm facts. Safe to interrupt and to repeat."""

from __future__ import annotations

import argparse

from ..exit_codes import Exit
from ..opening import add_model, add_path, existing
from ..page import line
from ..screen import Screen
from ..views.words import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `enrich`."""
    add_path(parser)
    add_model(parser)


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Work the queue off."""
    with existing(options) as memory:
        pending = None if options.llm else sum(memory.health().pending.values())  # a model may have more to do
        with screen.progress("enriching", "jobs", pending) as progress:
            done = memory.enrich(progress=progress)
        left = memory.health()
    data = {"done": done, "pending": dict(left.pending), "failed": dict(left.failed)}
    screen.show([line(f"{counted(done, 'job')} done, {sum(left.pending.values()):,} left")], data)
    return Exit.OK
