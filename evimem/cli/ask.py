"""The commands that ask a memory: demo, ask, block, compare, search, show, trace."""

from __future__ import annotations

import inspect
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import evimem

from ..db.atomic_files import replace_with
from ..db.connection import check_replaceable
from ..errors import InvalidQuery, MissingExtra, ModelError, StoreError, TraceMismatch, UnknownTurn
from ..loaders.examples import load_example, load_replies
from ..testing import ScriptedModel
from ..types.results import Answer
from ..types.values import Turn
from . import views
from .arguments import Exit, Misused
from .page import BLANK, Block, Heading, Piece, Screen, make_line, make_table
from .views import count_noun, format_day, trace_page

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

RECORDED = (
    "The replies were written down beforehand; the engine searches, checks and cites as with a model that is asked."
)


def demo(screen: Screen, *, keep: Path | None = None) -> Exit:
    """Try evimem on an example: a year of chat between friends.

    Quotes for eight questions the lines to read, and shows beside them a model's answers from a recording. Needs no
    model, no API key and no network.

    Args:
        keep: Keep the memory in a file of this name, to ask more with `evimem ask`.
    """
    turns, started = load_example("friends"), time.perf_counter()
    by_id = {turn.id: turn for turn in turns}
    folder = tempfile.TemporaryDirectory(prefix="evimem-")
    path = keep or Path(folder.name) / "friends.evimem"
    with folder, evimem.open(path) as memory:
        memory.extend(turns)
        found, took = memory.stats(), time.perf_counter() - started
        size = f"{count_noun(found.turns, 'turn')} in {count_noun(found.sessions, 'session')}"
        since = f"{format_day(turns[0].time)} to {format_day(turns[-1].time)}"
        what = f"{size}, {since}: ingested in {took:.1f} s, {count_noun(found.facts, 'fact')} found."
        why = "No model, no API key, no network: nothing is concluded, the lines to read are quoted, best first."
        screen.print_page(
            [Heading("Mira and Tomas, old friends, over a year"), make_line(what), make_line(Piece(why, "dim")), BLANK]
        )
        answers = [memory.ask(question) for question in QUESTIONS]
        for question, answer in zip(QUESTIONS, answers, strict=True):
            screen.print_page(views.answer_page(question, answer, by_id))
            memory.keep_trace(answer.trace)
        screen.print_page(
            [
                Heading("The same questions with a model, played from a recording"),
                make_line(Piece(RECORDED, "dim")),
                BLANK,
            ]
        )
        recorded = dict(_recorded_answers(path))
        for question, answer in recorded.items():
            screen.print_page(views.answer_page(question, answer, by_id))
    more = {"Keep this memory and ask more:  ": "evimem demo --keep friends.evimem"}
    if keep:
        more = {"Ask more:                       ": f'evimem ask {keep} "Who is having twins?"'}
    more["Ingest a chat of your own:      "] = "evimem ingest my.evimem chat.json"
    hints = [make_line(says, Piece(command, "strong")) for says, command in more.items()]
    data = {"turns": found.turns, "facts": found.facts, "seconds": took}
    told = [answer_to_json(answer, by_id) for answer in answers]
    with_a_model = [answer_to_json(answer, by_id) for answer in recorded.values()]
    shown = {**data, "answers": told, "recorded_answers_of_a_model": with_a_model}
    screen.print_page_or_json([*trace_page(answers[0].trace), *hints], shown)
    return Exit.OK


def _recorded_answers(path: Path) -> Iterator[tuple[str, Answer]]:
    """Yield questions with their answers, as the engine gives them on replies that were recorded."""
    for question, replies in load_replies("friends").items():
        with evimem.open(path, llm=ScriptedModel(then=lambda request, of=replies: of[request.role])) as memory:
            yield question, memory.ask(question)


def ask(
    memory: evimem.Memory,
    screen: Screen,
    question: str,
    *,
    loop: str = "iris",
    stream: bool = False,
    trace: bool = False,
    keep: bool = True,
    **given: Any,
) -> Exit:
    """Answer a question from a memory, with the turns that say so.

    Without a model nothing is concluded: the lines to read are quoted, best first. Exits with code 3 where nothing was
    found about it. How the answer was found is stored, too: see `evimem trace`.

    Args:
        question: The question, in quotes.
        loop: How to search: iris, memr3, mgretrieval, mragent, single_pass, or a variant such as full; `evimem compare`
            shows them side by side.
        stream: Print the answer while it is generated.
        trace: Also show how the answer was found: searches, evidence and verdicts.
        keep: Do not store how the answer was found.
    """
    if stream and screen.as_json:
        raise Misused("--stream and --json exclude each other; give one of them")

    def found(answer: Answer) -> list[Block]:
        try:
            if keep:
                memory.keep_trace(answer.trace)
        except (StoreError, UnknownTurn, TraceMismatch) as error:
            # The answer is valid even if its trace cannot or must not be kept.
            screen.print_note(f"evimem: the trace was not stored: {error}")
        return trace_page(answer.trace) if trace else []

    given["loop"] = loop
    try:
        answer = _print_stream(memory, screen, question, given) if stream else memory.ask(question, **given)
    except ModelError as error:
        if error.partial is not None:  # its trace names the evidence and the requests
            screen.print_page(found(error.partial))
        raise
    turns = _read_cited_turns(memory, [answer])
    page = [*views.answer_page(question, answer, turns, streamed=stream), *found(answer)]
    screen.print_page_or_json(
        page, answer_to_json(answer, turns) | ({"trace": answer.trace.to_dict()} if trace else {})
    )
    return exit_code_of_answer(answer)


def _print_stream(memory: evimem.Memory, screen: Screen, question: str, given: Mapping[str, Any]) -> Answer:
    """Print the text of the answer as it comes; return the answer."""
    screen.print_page([make_line(Piece("? ", "dim"), Piece(question, "strong"))])
    printed = False
    for piece in memory.ask(question, stream=True, **given):
        if isinstance(piece, str):
            screen.print_piece(piece if printed else f"  {piece}")
            printed = True
        elif isinstance(piece, evimem.Restarted):
            screen.print_piece("\n  (void: that reply could not be used)\n" if printed else "")
            printed = False
        elif isinstance(piece, Answer):
            answer = piece
    if printed:
        screen.print_piece("\n")
    return answer


def _read_cited_turns(memory: evimem.Memory, answers: Sequence[Answer]) -> dict[str, Turn]:
    cited = {citation.turn_id for answer in answers for citation in answer.citations}
    return {turn_id: memory.turn(turn_id) for turn_id in sorted(cited)}


def answer_to_json(answer: Answer, turns: Mapping[str, Turn]) -> dict[str, Any]:
    """Return an answer for programs, each citation with who said it and when. The trace is left out."""
    data = {"question": answer.trace.question, **answer.to_dict()}
    del data["trace"]
    for citation in data["citations"]:
        turn = turns[citation["turn_id"]]
        citation |= {"speaker": turn.speaker, "time": turn.time.isoformat(), "session": turn.session}
    return data


def exit_code_of_answer(answer: Answer) -> Exit:
    """Return the exit code for an answer: abstaining is not failing."""
    if answer.abstained:
        return Exit.ABSTAINED
    return Exit.OK if answer.text is not None else Exit.MODEL


def block(memory: evimem.Memory, screen: Screen, message: str, **given: Any) -> Exit:
    """Print what a memory has for the prompt of your own model.

    The text belongs into a user message of the prompt, and is empty where there is nothing to recall.

    Args:
        message: The message that your model is to reply to, in quotes.
        tokens: At most so many tokens of text.
        gate: Look for something to recall whatever the message is.
        check: Judge the evidence, as `ask` does, and say how far it suffices.
        profile: no leaves out the turns that `profile` quotes, where a system prompt holds them.
    """
    found = memory.block(message, **given)
    if screen.as_json:
        screen.print_page_or_json([], found.to_dict())
    elif found.text:
        screen.print_piece(
            f"{found.text}\n"
        )  # in no page, whose lines are wrapped: the text goes into a prompt as it is
    else:
        tokens = inspect.signature(evimem.Memory.block).parameters["tokens"].default
        is_too_small = (
            given.get("tokens", tokens) < tokens and memory.block(message, **{**given, "tokens": tokens}).text
        )
        short = f"nothing fits into {given.get('tokens')} tokens; {tokens} have room for some"
        screen.print_note(f"evimem: {short if is_too_small else 'nothing to recall'}")
    if found.tier is not None and not screen.as_json:
        missing = "".join(f"; missing: {gap.text}" for gap in found.missing or ())
        screen.print_note(f"evimem: the evidence is {found.tier.value}, {found.confidence or 0:.0%} sure{missing}")
    return Exit.OK


def compare(memory: evimem.Memory, screen: Screen, question: str, *, as_published: bool = False, **given: Any) -> Exit:
    """Ask one question in every way of searching, side by side.

    Shows what each loop found, cited, cost and answered; one that a failure of the model ended has a row, too. Nothing
    is stored. Exits with code 0 where any of them answers.

    Args:
        question: The question, in quotes.
        as_published: Also through EviMem, MemR3, MGRetrieval and MRAgent as published.
    """
    from ..loops import AS_PUBLISHED, LOOPS  # noqa: PLC0415 - most of the package, which a call for help does without

    answers: dict[str, Answer] = {}
    for name in (*sorted(LOOPS), *(AS_PUBLISHED if as_published else ())):
        try:
            answers[name] = memory.ask(question, name, **given)
        except InvalidQuery as error:
            if name in LOOPS:
                raise
            screen.print_note(f"evimem: {name}: {error}")  # it reads facts, and there are none
        except ModelError as error:
            if error.partial is None:
                raise
            answers[name] = error.partial
    turns = _read_cited_turns(memory, [*answers.values()])
    data = {
        name: answer_to_json(one, turns) | {"found": list(views.found_turn_ids(one))} for name, one in answers.items()
    }
    screen.print_page_or_json(views.comparison_page(question, answers), data)
    codes = [exit_code_of_answer(answer) for answer in answers.values()]
    return Exit.OK if Exit.OK in codes else codes[0]


def search(memory: evimem.Memory, screen: Screen, query: str, *, explain: bool = False, **given: Any) -> Exit:
    """Find the turns that match a query, best first.

    Args:
        query: The words to look for, in quotes.
        explain: Show the parts of each score.
        k: How many turns to show.
        over: Whether to compare the query with turns, facts or both.
    """
    hits = memory.search(query, **given)
    screen.print_page_or_json(views.hits_page(query, hits, explain=explain), [hit.to_dict() for hit in hits])
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
    """Show a turn and its facts, or what is known about somebody.

    Args:
        turn_id: The turn's id, as search and ask print it.
        about: The name of a person or thing, instead of a turn: the facts about it.
        current: With --about: only facts that are known to hold still, which takes facts of a model.
        around: How many turns to show before and after it.
    """
    if (turn_id is None) == (about is None):
        raise Misused("give either TURN_ID or --about NAME")
    if turn_id is None:
        known = memory.facts(about=about, current=current)
        screen.print_page_or_json(views.profile_page(str(about), known), [fact.to_dict() for fact in known])
        return Exit.OK
    turn, facts = memory.turn(turn_id), memory.facts([turn_id])
    context, linked = memory.context(turn_id, around, around), memory.neighbours(turn_id)
    shown = {"facts": facts, "around": context, "linked": linked}
    data = {"turn": turn.to_dict(), **{name: [one.to_dict() for one in found] for name, found in shown.items()}}
    screen.print_page_or_json(views.turn_page(turn, facts, context, linked), data)
    return Exit.OK


def trace(
    memory: evimem.Memory,
    screen: Screen,
    *,
    number: int | None = None,
    list: bool = False,
    replay: bool = False,
    html: Path | None = None,
) -> Exit:
    """Show how the last question was answered, step by step.

    With --html the trace becomes one file for a browser, with the words of the turns that it read: it needs nothing
    else and loads nothing. That needs the extra: pip install 'evimem[server]'

    Args:
        number: Show the stored trace of this number; by default the newest.
        list: List the newest stored traces with their numbers, and show none.
        replay: Ask again with the recorded replies in the place of the model's, and compare.
        html: Write it to this file as a page, readable by its owner only.
    """
    if list:
        columns, kept = ("number", "question", "loop"), memory._core.store.list_traces(50)
        rows = [(one.number, one.trace.question, one.trace.loop) for one in kept]
        screen.print_page_or_json(
            [make_table(columns, rows, right=("number",))], [dict(zip(columns, row, strict=True)) for row in rows]
        )
        return Exit.OK
    found = memory.trace(number)
    if html is not None:
        return _write_html(memory, screen, found, html)
    page, data = trace_page(found), found.to_dict()
    if replay:
        again = evimem.replay(found, memory)
        page.append(make_line(Piece("replayed: every event is the same; no model was called", "good"), indent=2))
        data["replayed"] = {"kind": again.kind, "text": again.text, "abstained": again.abstained}
    screen.print_page_or_json(page, data)
    return Exit.OK


def _write_html(memory: evimem.Memory, screen: Screen, found: evimem.Trace, file: Path) -> Exit:
    """Write a trace as one page."""
    try:
        from ..pages.answer_pages import trace_turn_ids  # noqa: PLC0415 - an extra
        from ..pages.render_html import render_trace_file  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("evimem trace --html", "server") from error
    check_replaceable(file)
    page = render_trace_file(found, list(memory._core.store.find(trace_turn_ids(found)))).encode()
    with replace_with(file) as out:
        out.write(page)
    screen.print_page_or_json([make_line(f"written to {file}")], {"file": str(file), "bytes": len(page)})
    return Exit.OK
