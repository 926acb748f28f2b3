"""Answer a question from a memory, with the turns that the answer rests on; or say what is missing.

Exits with 3 where the memory does not tell. The trace of the question is kept in the memory: `evimem trace PATH`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import evimem

from ...db.atomic_files import replace_with
from ...errors import StoreError
from ..exit_codes import Exit
from ..json_output import answer_data
from ..open_memory import add_model, add_path, existing
from ..page import Piece, line
from ..screen import Screen
from ..views.answer_view import answer_page, spoken_page
from ..views.trace_view import trace_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ask`."""
    add_path(parser)
    parser.add_argument("question", metavar="QUESTION")
    parser.add_argument("--loop", default="iris", metavar="NAME", help="how to look for evidence (iris)")
    parser.add_argument("--asked-at", metavar="TIME", help="today, for the question; else when the last turn was said")
    parser.add_argument("--trace", action="store_true", help="also show what was looked for, found and judged")
    parser.add_argument("--save-trace", metavar="FILE", type=Path, help="write the trace to a file as JSON")
    parser.add_argument("--stream", action="store_true", help="print the words of the answer as they come")
    parser.add_argument("--no-keep", action="store_true", help="do not keep the trace in the memory")
    add_model(parser)


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Print the answer."""
    with existing(options) as memory:
        answer = _streamed(memory, options, screen) if options.stream else _asked(memory, options)
        turns = {citation.turn_id: memory.turn(citation.turn_id) for citation in answer.citations}
        if not options.no_keep:
            _keep(memory, answer, screen)
    if options.save_trace:
        with replace_with(options.save_trace) as file:
            file.write(answer.trace.to_json().encode())
    page = spoken_page(answer, turns) if options.stream else answer_page(options.question, answer, turns)
    data: dict[str, Any] = answer_data(options.question, answer, turns)
    if options.trace:
        page += trace_page(answer.trace)
        data["trace"] = json.loads(answer.trace.to_json())
    screen.show(page, data)
    return exit_of(answer)


def misused(options: argparse.Namespace) -> str | None:
    """Say what is wrong with the options."""
    return "--stream is for people: without --json" if options.stream and options.json else None


def _asked(memory: evimem.Memory, options: argparse.Namespace) -> evimem.Answer:
    return memory.ask(options.question, options.loop, asked_at=options.asked_at)


def _streamed(memory: evimem.Memory, options: argparse.Namespace, screen: Screen) -> evimem.Answer:
    """Print the words of the answer as they come; return the answer."""
    screen.page([line(Piece("? ", "dim"), Piece(options.question, "strong"))])
    spoken = False
    for piece in memory.ask(options.question, options.loop, asked_at=options.asked_at, stream=True):
        if isinstance(piece, str):
            screen.say(piece if spoken else f"  {piece}")
            spoken = True
        elif isinstance(piece, evimem.Answer):
            answer = piece
    if spoken:
        screen.say("\n")
    return answer


def exit_of(answer: evimem.Answer) -> Exit:
    """Return the exit code for an answer: abstaining is not failing."""
    if answer.abstained:
        return Exit.ABSTAINED
    return Exit.OK if answer.text is not None else Exit.MODEL


def _keep(memory: evimem.Memory, answer: evimem.Answer, screen: Screen) -> None:
    try:
        memory.keep_trace(answer.trace)
    except StoreError as error:  # the answer is good also where the file cannot be written
        screen.note(f"evimem: the trace is not kept: {error}")
