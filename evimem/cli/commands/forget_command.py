"""Erase turns from a memory, with everything that was derived from them. This cannot be undone."""

from __future__ import annotations

import argparse

from ..exit_codes import Exit
from ..filters import add_where
from ..json_output import erased_data
from ..open_memory import add_path, existing
from ..page import line
from ..screen import Screen
from ..views.wording import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `forget`."""
    add_path(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--turn", metavar="ID", action="append", help="the turn of this id; may be repeated")
    what.add_argument("--session", metavar="NAME", help="every turn of this session")
    what.add_argument("--before", metavar="TIME", help="every turn said before this time, such as 2024-01-01")
    what.add_argument("--speaker", metavar="NAME", help="every turn of this speaker, spelled as stored")
    add_where(what, "every turn")
    what.add_argument(
        "--as-in", metavar="PATH", help="every turn that another copy of this memory has erased; for a restored backup"
    )
    what.add_argument("--everything", action="store_true", help="every turn")
    parser.add_argument("--yes", action="store_true", help="confirm --everything")


def misused(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options; None if nothing is."""
    return (
        "--everything erases the whole memory; add --yes to do it" if options.everything and not options.yes else None
    )


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Erase."""
    with existing(options) as memory:
        report = memory.forget(
            options.turn,
            session=options.session,
            before=options.before,
            speaker=options.speaker,
            where=options.where,
            as_in=options.as_in,
            everything=options.everything,
        )
    text = f"{counted(report.turns, 'turn')} and {counted(report.facts, 'fact')} {report.status}"
    screen.show([line(f"{text}; {report.reason}" if report.reason else text)], erased_data(report))
    return Exit.OK
