"""Show a turn verbatim, with its facts, its context and the turns linked to it; or what is known about somebody."""

from __future__ import annotations

import argparse

from ..exit_codes import Exit
from ..json_output import fact_data, hit_data, turn_data
from ..open_memory import add_path, existing
from ..screen import Screen
from ..views.turns_view import profile_page, turn_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `show`."""
    add_path(parser)
    parser.add_argument("turn", metavar="TURN_ID", nargs="?", help="the turn's id, as search and ask print it")
    parser.add_argument("--about", metavar="NAME", help="instead of a turn: the facts about a person or thing")
    parser.add_argument("--current", action="store_true", help="with --about: leave out what later facts replaced")
    parser.add_argument(
        "--around", type=int, default=2, metavar="N", help="how many turns of context before and after it (default: 2)"
    )


def misused(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options; None if nothing is."""
    return "give either TURN_ID or --about NAME" if (options.turn is None) == (options.about is None) else None


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Print the turn, or what is known."""
    if options.about is not None:
        with existing(options) as memory:
            facts = memory.facts(about=options.about, current=options.current)
        screen.show(profile_page(options.about, facts), [fact_data(fact) for fact in facts])
        return Exit.OK
    with existing(options) as memory:
        turn = memory.turn(options.turn)
        facts = memory.facts([turn.id])
        around = memory.context(turn.id, options.around, options.around)
        linked = memory.neighbours(turn.id)
    data = {
        "turn": turn_data(turn),
        "facts": [fact_data(fact) for fact in facts],
        "around": [turn_data(other) for other in around],
        "linked": [hit_data(hit) for hit in linked],
    }
    screen.show(turn_page(turn, facts, around, linked), data)
    return Exit.OK
