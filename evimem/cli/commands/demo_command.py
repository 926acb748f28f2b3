"""Try evimem on an example: ingest a year of chat between two friends and ask eight questions, one without an answer.

Needs no model, no API key and no network. With --keep the memory is kept, for more questions with `evimem ask`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import evimem

from ...loaders.examples import load_example
from ...types.values import Turn
from ..exit_codes import Exit
from ..json_output import answer_data
from ..page import BLANK, Block, Heading, Piece, line
from ..screen import Screen
from ..views.answer_view import answer_page
from ..views.trace_view import trace_page
from ..views.wording import counted, day

QUESTIONS = (
    "When did Mira adopt her puppy?",
    "What is Mira allergic to?",
    "When did Tomas and Katrin break up?",
    "Where did Tomas go on holiday in August 2024?",
    "What is Tomas's boat called?",
    "When is the wedding?",
    "How many pieces did Tomas sell at the craft fair?",
    "What instrument is Tomas learning?",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `demo`."""
    parser.add_argument("--keep", metavar="PATH", type=Path, help="create the memory at PATH and keep it")


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Run the demo."""
    if options.keep:
        return _demo(options.keep, screen, kept=True)
    with tempfile.TemporaryDirectory(prefix="evimem-") as folder:
        return _demo(Path(folder) / "friends.evimem", screen, kept=False)


def _demo(path: Path, screen: Screen, *, kept: bool) -> Exit:
    turns = load_example("friends")
    by_id = {turn.id: turn for turn in turns}
    with evimem.open(path) as memory:
        started = time.perf_counter()
        report = memory.extend(turns)
        took = time.perf_counter() - started
        screen.page(_opening(turns, report.facts, took))
        answers = [memory.ask(question) for question in QUESTIONS]
        for question, answer in zip(QUESTIONS, answers, strict=True):
            screen.page(answer_page(question, answer, by_id))
            memory.keep_trace(answer.trace)
        screen.page(trace_page(answers[0].trace))
    screen.page(_closing(path, kept=kept))
    data = [answer_data(question, answer, by_id) for question, answer in zip(QUESTIONS, answers, strict=True)]
    screen.show([], {"turns": len(turns), "facts": report.facts, "seconds": took, "answers": data})
    return Exit.OK


def _opening(turns: list[Turn], facts: int, seconds: float) -> list[Block]:
    sessions = len({turn.session for turn in turns})
    size = f"{counted(len(turns), 'turn')} in {counted(sessions, 'session')}"
    since = f"{day(turns[0].time)} to {day(turns[-1].time)}"
    return [
        Heading("Mira and Tomas, old friends, over a year"),
        line(f"{size}, {since}: ingested in {seconds:.1f} s, {counted(facts, 'fact')} found."),
        line(Piece("No model, no API key, no network. What is not proven is quoted, or refused.", "dim")),
        BLANK,
    ]


def _closing(path: Path, *, kept: bool) -> list[Block]:
    if kept:
        return [line("Ask more:  ", Piece(f'evimem ask {path} "Who is having twins?"', "strong"))]
    return [
        line("Keep this memory and ask more:  ", Piece("evimem demo --keep friends.evimem", "strong")),
        line("Ingest a chat of your own:      ", Piece("evimem ingest my.evimem chat.json", "strong")),
    ]
