"""What a loop that explores a memory asks of a judge, what its tools return, and its moves where a reply says none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from .evidence import Verdict

Tool = Literal[
    "tags_of",
    "events",
    "event_time",
    "event_cues",
    "event_context",
    "person_aspects",
    "person_facts",
    "topic_events",
    "events_between",
]
Graph = Literal["cue-tag-content", "cue-tag-event", "cue-event"]
TOOLS: tuple[Tool, ...] = get_args(Tool)
OF_CONTENTS: frozenset[Tool] = frozenset(("person_aspects", "person_facts", "topic_events"))
PARTED: frozenset[Tool] = frozenset(("events", "person_facts", "events_between"))  # called on a part of something
MOST_CALLS = 5  # in a turn (R4)
TAGS = 2  # of a cue, whose events are looked at
TIME = "time"  # what a row of event_cues says of a cue that is one
FOLLOWED = 2  # best turns whose cues are followed


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool: of what, and of which of its parts; of results in pages, which page, from 1 on."""

    tool: Tool
    of: str
    part: str = ""
    page: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a result: the key that a later call may name, what it is, and how many turns stand behind it."""

    key: str
    text: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """What a call returned: its rows, of `total` in all, or the reason why it was refused.

    `number` is the turn of the loop in which it was performed, `pruned` the number of rows that a judge did not keep.
    """

    call: ToolCall
    rows: tuple[Row, ...] = ()
    total: int = 0
    refused: str = ""
    number: int = 0
    pruned: int = 0


@dataclass(frozen=True, slots=True)
class Explored:
    """Where a loop stands in a turn of at most `most`: the cues of the question, and all results in order.

    With `last` no call is performed any more. `tools` are those that there are.
    """

    number: int
    most: int
    last: bool
    cues: tuple[str, ...]
    results: tuple[Result, ...] = ()
    tools: tuple[Tool, ...] = TOOLS


@dataclass(frozen=True, slots=True)
class Move:
    """What a judge makes of a turn: a verdict, the tools to call next, and an answer with the ids that support it.

    Without a call the exploring ends. `kept` is what it keeps of what the last calls returned: ids of turns, cues and
    tags; None where it did not say, so that all of it stays.
    """

    verdict: Verdict
    calls: tuple[ToolCall, ...] = ()
    answer: str = ""
    supports: tuple[str, ...] = ()
    kept: tuple[str, ...] | None = None


def route(results: Iterable[Result], number: int, kept: Collection[str] | None) -> tuple[Result, ...]:
    """Return results without the rows of a turn's calls that were not kept; all of them where nobody said (f_route)."""
    return tuple(result if kept is None or result.number != number else _pruned(result, kept) for result in results)


def _pruned(result: Result, kept: Collection[str]) -> Result:
    rows = tuple(row for row in result.rows if row.key in kept)
    return replace(result, rows=rows, pruned=len(result.rows) - len(rows))


def tools_of(graph: Graph) -> tuple[Tool, ...]:
    """Return the tools by which a graph is walked: without contents no facts and topics, without tags no tags too."""
    left_out = {"cue-tag-content": (), "cue-tag-event": OF_CONTENTS, "cue-event": {*OF_CONTENTS, "tags_of"}}[graph]
    return tuple(tool for tool in TOOLS if tool not in left_out)


def next_calls(explored: Explored, best: Sequence[str], terms: Collection[str]) -> tuple[ToolCall, ...]:
    """Return the first step that has a call left: the tags of the cues, their events, the cues of those, and so on.

    In a graph without tags a cue has its events at once.
    """
    made = _made(explored)
    of_cue: Tool = "tags_of" if "tags_of" in explored.tools else "events"
    steps = (
        (ToolCall(of_cue, cue) for cue in explored.cues),
        _events(explored.results, terms),
        (ToolCall("event_cues", turn_id) for turn_id in best[:FOLLOWED]),
        _surfaced(explored.results, of_cue),
    )
    for step in steps:
        calls = tuple(dict.fromkeys(call for call in step if call not in made))
        if calls:
            return calls[:MOST_CALLS]
    return ()


def _made(explored: Explored) -> frozenset[ToolCall]:
    return frozenset(result.call for result in explored.results)


def _events(results: Iterable[Result], terms: Collection[str]) -> Iterator[ToolCall]:
    """Yield the events of the tags that the question names, else of the commonest, of each cue whose tags are known."""
    for result in results:
        if result.call.tool == "tags_of":
            rows = sorted(result.rows, key=lambda row: (row.key not in terms, -row.count))
            yield from (ToolCall("events", result.call.of, row.key) for row in rows[:TAGS])


def _surfaced(results: Iterable[Result], of_cue: Tool) -> Iterator[ToolCall]:
    """Yield calls on the cues that events brought up: times first, then names and words."""
    rows = [row for result in results if result.call.tool == "event_cues" for row in result.rows]
    yield from (ToolCall("events_between", row.key, row.key) for row in rows if row.text.startswith(TIME))
    yield from (ToolCall(of_cue, row.key) for row in rows if not row.text.startswith(TIME))
