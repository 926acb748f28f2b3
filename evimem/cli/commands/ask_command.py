"""Answer a question from a memory and cite the turns, quote what was said, or say what is missing.

Without a model a short answer is given only where it is proven; otherwise the sentences to read are quoted.

Exits with code 3 if the memory has no answer. The trace is stored in the memory; show it with `evimem trace PATH`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, get_args

import evimem

from ...db.atomic_files import replace_with
from ...db.file_header import check_replaceable
from ...doors.operations import OnModelError
from ...errors import ModelError, StoreError, TraceMismatch, UnknownTurn
from ...loops import LOOPS
from ..exit_codes import Exit
from ..filters import add_filters, chosen
from ..json_output import answer_data
from ..open_memory import add_model, add_path, existing
from ..page import Piece, line
from ..screen import Screen
from ..views.answer_view import answer_page, streamed_page
from ..views.trace_view import trace_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ask`."""
    add_path(parser)
    parser.add_argument("question", metavar="QUESTION", help="the question, in quotes")
    parser.add_argument(
        "--loop", default="iris", metavar="NAME", help=f"the retrieval loop: {', '.join(sorted(LOOPS))} (default: iris)"
    )
    parser.add_argument(
        "--asked-at",
        metavar="TIME",
        help="the date that counts as today for the question, or now (default: that of the newest turn)",
    )
    add_filters(parser)
    parser.add_argument("--trace", action="store_true", help="also show searches, evidence and verdicts")
    parser.add_argument("--save-trace", metavar="FILE", type=Path, help="also write the trace to FILE as JSON")
    parser.add_argument("--stream", action="store_true", help="print the answer while it is generated")
    parser.add_argument("--no-keep", action="store_true", help="do not store the trace in the memory")
    parser.add_argument(
        "--on-model-error",
        choices=get_args(OnModelError),
        help="where the model of --llm fails: exit with an error (raise, the default), or answer without it (offline)",
    )
    add_model(parser)


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Print the answer."""
    with existing(options) as memory:
        try:
            answer = _streamed(memory, options, screen) if options.stream else _asked(memory, options)
        except ModelError as error:
            _keep_failure(memory, error, options, screen)
            raise
        turns = {citation.turn_id: memory.turn(citation.turn_id) for citation in answer.citations}
        if not options.no_keep:
            _keep(memory, answer, screen)
    if options.save_trace:
        _save(options.save_trace, answer)
    page = streamed_page(answer, turns) if options.stream else answer_page(options.question, answer, turns)
    data: dict[str, Any] = answer_data(options.question, answer, turns)
    if options.trace:
        page += trace_page(answer.trace)
        data["trace"] = json.loads(answer.trace.to_json())
    screen.show(page, data)
    return exit_of(answer)


def misused(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options; None if nothing is."""
    return "--stream and --json exclude each other; give one of them" if options.stream and options.json else None


def _asked(memory: evimem.Memory, options: argparse.Namespace) -> evimem.Answer:
    answer: evimem.Answer = memory.ask(options.question, options.loop, asked_at=options.asked_at, **chosen(options))
    return answer


def _streamed(memory: evimem.Memory, options: argparse.Namespace, screen: Screen) -> evimem.Answer:
    """Print the text of the answer as it comes; return the answer."""
    screen.page([line(Piece("? ", "dim"), Piece(options.question, "strong"))])
    printed = False
    asking = memory.ask(options.question, options.loop, asked_at=options.asked_at, stream=True, **chosen(options))
    for piece in asking:
        if isinstance(piece, str):
            screen.stream(piece if printed else f"  {piece}")
            printed = True
        elif isinstance(piece, evimem.Restarted):
            screen.stream("\n  (void: that reply could not be used)\n" if printed else "")
            printed = False
        elif isinstance(piece, evimem.Answer):
            answer = piece
    if printed:
        screen.stream("\n")
    return answer


def exit_of(answer: evimem.Answer) -> Exit:
    """Return the exit code for an answer: abstaining is not failing."""
    if answer.abstained:
        return Exit.ABSTAINED
    return Exit.OK if answer.text is not None else Exit.MODEL


def _keep_failure(memory: evimem.Memory, error: ModelError, options: argparse.Namespace, screen: Screen) -> None:
    """Print and keep the trace of a question that a failure of the model ended: it says what was found and asked."""
    if error.partial is None:
        return
    if not options.no_keep:
        _keep(memory, error.partial, screen)
    if options.save_trace:
        _save(options.save_trace, error.partial)
    if options.trace and not options.json:
        screen.page(trace_page(error.partial.trace))


def _save(path: Path, answer: evimem.Answer) -> None:
    check_replaceable(path)
    with replace_with(path) as file:
        file.write(answer.trace.to_json().encode())


def _keep(memory: evimem.Memory, answer: evimem.Answer, screen: Screen) -> None:
    try:
        memory.keep_trace(answer.trace)
    except (StoreError, UnknownTurn, TraceMismatch) as error:
        # The answer is valid even if its trace cannot or must not be kept.
        screen.note(f"evimem: the trace was not stored: {error}")
