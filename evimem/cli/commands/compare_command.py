"""Ask a question through every loop, side by side: what each found, cited, cost and answered.

A loop that a failure of the model ended is a row of its own, with what it had found. Nothing is stored.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

import evimem

from ...errors import ModelError
from ...loops import LOOPS
from ...types.answer import Answer
from ..exit_codes import Exit
from ..json_output import answer_data
from ..open_memory import add_model, add_path, existing
from ..screen import Screen
from ..views.compare_view import comparison_page, found_by
from .ask_command import exit_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `compare`."""
    add_path(parser)
    parser.add_argument("question", metavar="QUESTION", help="the question, in quotes")
    parser.add_argument(
        "--asked-at",
        metavar="TIME",
        help="the date that counts as today for the question (default: that of the newest turn)",
    )
    add_model(parser)


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Print a row for each loop. The exit code is 0 where any of them answers, else that of the first."""
    with existing(options) as memory:
        answers: Mapping[str, Answer] = {name: _asked(memory, name, options) for name in sorted(LOOPS)}
        cited = {citation.turn_id for answer in answers.values() for citation in answer.citations}
        turns = {turn_id: memory.turn(turn_id) for turn_id in sorted(cited)}
    data = {
        name: {**answer_data(options.question, answer, turns), "found": list(found_by(answer))}
        for name, answer in answers.items()
    }
    screen.show(comparison_page(options.question, answers), data)
    codes = [exit_of(answer) for answer in answers.values()]
    return Exit.OK if Exit.OK in codes else codes[0]


def _asked(memory: evimem.Memory, loop: str, options: argparse.Namespace) -> Answer:
    """Return the answer of a loop, or what a failure of the model left of it."""
    try:
        return memory.ask(options.question, loop, asked_at=options.asked_at)
    except ModelError as error:
        if error.partial is None:
            raise
        failed: Answer = error.partial
        return failed
