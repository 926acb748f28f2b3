"""The commands that ask a memory: demo, ask, block, compare, search, show, trace."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import evimem

from ..errors import ModelError, StoreError, TraceMismatch, UnknownTurn
from ..loaders.examples import load_example
from ..loops import LOOPS, VARIANTS
from ..types.answer import Answer
from ..types.values import Turn
from . import views
from .arguments import Exit, Misused
from .page import BLANK, Block, Heading, Piece, Screen, line
from .views import trace_page

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


def demo(screen: Screen, *, keep: Path | None = None) -> Exit:
    """Try evimem on an example: ingest a year of chat between friends and ask eight questions, one without an answer.

    Needs no model, no API key and no network. With --keep the memory is kept, for more questions with `evimem ask`.

    Args:
        keep: Create the memory at this path and keep it.
    """
    if keep:
        return _demo(keep, screen, [line("Ask more:  ", Piece(f'evimem ask {keep} "Who is having twins?"', "strong"))])
    with tempfile.TemporaryDirectory(prefix="evimem-") as folder:
        more = [
            line("Keep this memory and ask more:  ", Piece("evimem demo --keep friends.evimem", "strong")),
            line("Ingest a chat of your own:      ", Piece("evimem ingest my.evimem chat.json", "strong")),
        ]
        return _demo(Path(folder) / "friends.evimem", screen, more)


def _demo(path: Path, screen: Screen, more: Sequence[Block]) -> Exit:
    turns = load_example("friends")
    by_id = {turn.id: turn for turn in turns}
    with evimem.open(path) as memory:
        started = time.perf_counter()
        memory.extend(turns)
        facts = memory.stats().facts
        took = time.perf_counter() - started
        screen.page(_opening(turns, facts, took))
        answers = [memory.ask(question) for question in QUESTIONS]
        for question, answer in zip(QUESTIONS, answers, strict=True):
            screen.page(views.answer_page(question, answer, by_id))
            memory.keep_trace(answer.trace)
    data = [answer_data(answer, by_id) for answer in answers]
    screen.show(
        [*trace_page(answers[0].trace), *more],
        {"turns": len(turns), "facts": facts, "seconds": took, "answers": data},
    )
    return Exit.OK


def _opening(turns: list[Turn], facts: int, seconds: float) -> list[Block]:
    sessions = len({turn.session for turn in turns})
    size = f"{views.counted(len(turns), 'turn')} in {views.counted(sessions, 'session')}"
    since = f"{views.day(turns[0].time)} to {views.day(turns[-1].time)}"
    return [
        Heading("Mira and Tomas, old friends, over a year"),
        line(f"{size}, {since}: ingested in {seconds:.1f} s, {views.counted(facts, 'fact')} found."),
        line(Piece("No model, no API key, no network. What is not proven is quoted, or refused.", "dim")),
        BLANK,
    ]


def ask(
    memory: evimem.Memory,
    screen: Screen,
    question: str,
    *,
    stream: bool = False,
    trace: bool = False,
    keep: bool = True,
    **given: Any,
) -> Exit:
    """Answer a question from a memory and cite the turns, quote what was said, or say what is missing.

    Without a model a short answer is given only where it is proven; otherwise the sentences to read are quoted.

    Exits with code 3 if the memory has no answer. The trace is stored in the memory; show it with `evimem trace PATH`.

    Args:
        question: The question, in quotes.
        stream: Print the answer while it is generated.
        trace: Also show searches, evidence and verdicts.
        keep: Do not store the trace in the memory.
    """
    if stream and screen.as_json:
        raise Misused("--stream and --json exclude each other; give one of them")
    try:
        answer = _streamed(memory, screen, question, given) if stream else memory.ask(question, **given)
    except ModelError as error:
        if error.partial is not None:  # its trace says what was found and asked
            _keep(memory, error.partial, screen, keep=keep)
            screen.page(trace_page(error.partial.trace) if trace else [])
        raise
    turns = _cited(memory, [answer])
    _keep(memory, answer, screen, keep=keep)
    page = views.answer_page(question, answer, turns, streamed=stream)
    data = answer_data(answer, turns) | ({"trace": answer.trace.to_dict()} if trace else {})
    screen.show([*page, *(trace_page(answer.trace) if trace else [])], data)
    return exit_of(answer)


def _streamed(memory: evimem.Memory, screen: Screen, question: str, given: Mapping[str, Any]) -> Answer:
    """Print the text of the answer as it comes; return the answer."""
    screen.page([line(Piece("? ", "dim"), Piece(question, "strong"))])
    printed = False
    for piece in memory.ask(question, stream=True, **given):
        if isinstance(piece, str):
            screen.stream(piece if printed else f"  {piece}")
            printed = True
        elif isinstance(piece, evimem.Restarted):
            screen.stream("\n  (void: that reply could not be used)\n" if printed else "")
            printed = False
        elif isinstance(piece, Answer):
            answer = piece
    if printed:
        screen.stream("\n")
    return answer


def _keep(memory: evimem.Memory, answer: Answer, screen: Screen, *, keep: bool) -> None:
    try:
        if keep:
            memory.keep_trace(answer.trace)
    except (StoreError, UnknownTurn, TraceMismatch) as error:
        # The answer is valid even if its trace cannot or must not be kept.
        screen.note(f"evimem: the trace was not stored: {error}")


def _cited(memory: evimem.Memory, answers: list[Answer]) -> dict[str, Turn]:
    cited = {citation.turn_id for answer in answers for citation in answer.citations}
    return {turn_id: memory.turn(turn_id) for turn_id in sorted(cited)}


def answer_data(answer: Answer, turns: Mapping[str, Turn]) -> dict[str, Any]:
    """Return an answer for programs, each citation with who said it and when. The trace is left out."""
    data = {"question": answer.trace.question, **answer.to_dict()}
    del data["trace"]
    for citation in data["citations"]:
        turn = turns[citation["turn_id"]]
        citation |= {"speaker": turn.speaker, "time": turn.time.isoformat(), "session": turn.session}
    return data


def exit_of(answer: Answer) -> Exit:
    """Return the exit code for an answer: abstaining is not failing."""
    if answer.abstained:
        return Exit.ABSTAINED
    return Exit.OK if answer.text is not None else Exit.MODEL


def block(memory: evimem.Memory, screen: Screen, message: str, **given: Any) -> Exit:
    """Print what a prompt of your own model needs from a memory to reply to a message, within a budget of tokens.

    The text belongs into a user message of the prompt, and is empty where there is nothing to recall.

    Args:
        message: The message that is to be replied to, in quotes.
    """
    found = memory.block(message, **given)
    if screen.as_json:
        screen.show([], found.to_dict())
    elif found.text:
        screen.stream(f"{found.text}\n")  # in no page, whose lines are wrapped: the text goes into a prompt as it is
    else:
        screen.note("evimem: nothing to recall")
    return Exit.OK


def compare(memory: evimem.Memory, screen: Screen, question: str, *, as_published: bool = False, **given: Any) -> Exit:
    """Ask a question through every loop, side by side: what each found, cited, cost and answered.

    A loop that a failure of the model ended is a row of its own, with what it had found. Nothing is stored. Exits with
    code 0 where any of them answers.

    Args:
        question: The question, in quotes.
        as_published: Also through MemR3, MGRetrieval and MRAgent to the letter of their papers.
    """
    loops: dict[str, Any] = {name: name for name in sorted(LOOPS)}
    if as_published:
        loops |= {name: VARIANTS[name] for name in sorted(VARIANTS) if name.endswith("-as-published")}
    answers = {name: _asked(memory, question, loop, given) for name, loop in loops.items()}
    turns = _cited(memory, [*answers.values()])
    data = {
        name: {**answer_data(answer, turns), "found": list(views.found_by(answer))} for name, answer in answers.items()
    }
    screen.show(views.comparison_page(question, answers), data)
    codes = [exit_of(answer) for answer in answers.values()]
    return Exit.OK if Exit.OK in codes else codes[0]


def _asked(memory: evimem.Memory, question: str, loop: Any, given: Mapping[str, Any]) -> Answer:
    """Return the answer of a loop, or what a failure of the model left of it."""
    try:
        answer: Answer = memory.ask(question, loop, **given)
    except ModelError as error:
        if error.partial is None:
            raise
        answer = error.partial
    return answer


def search(memory: evimem.Memory, screen: Screen, query: str, *, explain: bool = False, **given: Any) -> Exit:
    """Find the turns that match a query, best first.

    Args:
        query: The words to look for, in quotes.
        explain: Show the parts of each score.
    """
    hits = memory.search(query, **given)
    screen.show(views.hits_page(query, hits, explain=explain), [hit.to_dict() for hit in hits])
    return Exit.OK


def show(
    memory: evimem.Memory,
    screen: Screen,
    turn_id: str | None = None,
    *,
    about: str | None = None,
    current: bool = False,
    around: int = 2,
) -> Exit:
    """Show a turn verbatim, with its facts, its context and the turns linked to it; or what is known about somebody.

    Args:
        turn_id: The turn's id, as search and ask print it.
        about: The name of a person or thing instead of a turn: the facts about it.
        current: With --about: leave out what later facts replaced.
        around: How many turns of context before and after it.
    """
    if (turn_id is None) == (about is None):
        raise Misused("give either TURN_ID or --about NAME")
    if turn_id is None:
        known = memory.facts(about=about, current=current)
        screen.show(views.profile_page(str(about), known), [fact.to_dict() for fact in known])
        return Exit.OK
    turn, facts = memory.turn(turn_id), memory.facts([turn_id])
    context, linked = memory.context(turn_id, around, around), memory.neighbours(turn_id)
    shown = {"facts": facts, "around": context, "linked": linked}
    data = {"turn": turn.to_dict(), **{name: [one.to_dict() for one in found] for name, found in shown.items()}}
    screen.show(views.turn_page(turn, facts, context, linked), data)
    return Exit.OK


def trace(memory: evimem.Memory, screen: Screen, *, number: int | None = None, replay: bool = False) -> Exit:
    """Show the trace of a question, with its searches, evidence and verdicts: the newest of a memory.

    Args:
        number: Show the trace of this number; by default the newest.
        replay: Run the question again with the recorded replies instead of a model, and compare.
    """
    found = memory.trace(number)
    page, data = trace_page(found), found.to_dict()
    if replay:
        again = evimem.replay(found, memory)
        page.append(line(Piece("replayed: every event is the same; no model was called", "good"), indent=2))
        data["replayed"] = {"kind": again.kind, "text": again.text, "abstained": again.abstained}
    screen.show(page, data)
    return Exit.OK
