"""Find the turns that match a query, best first."""

from __future__ import annotations

import argparse

from ..exit_codes import Exit
from ..filters import add_filters, chosen
from ..json_output import hit_data
from ..open_memory import add_path, existing
from ..screen import Screen
from ..views.turns_view import hits_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `search`."""
    add_path(parser)
    parser.add_argument("query", metavar="QUERY", help="the words to look for, in quotes")
    parser.add_argument("-k", type=int, default=10, metavar="N", help="how many turns to return (default: 10)")
    parser.add_argument("--before", metavar="TIME", help="only what happened before this time, such as 2024-06-01")
    parser.add_argument("--after", metavar="TIME", help="only what happened at or after this time")
    add_filters(parser)
    parser.add_argument(
        "--exclude", metavar="ID", action="append", default=[], help="leave out the turn of this id; may be repeated"
    )
    parser.add_argument("--explain", action="store_true", help="show the parts of each score")


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Print the hits."""
    with existing(options) as memory:
        hits = memory.search(
            options.query,
            options.k,
            before=options.before,
            after=options.after,
            exclude=options.exclude,
            **chosen(options),
        )
    screen.show(hits_page(options.query, hits, explain=options.explain), [hit_data(hit) for hit in hits])
    return Exit.OK
