"""Define the judge and its replies to each loop: verdicts, decisions, keywords, rounds of reading, exploring moves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args

from ..flow import Flow
from ..types.stored import Keyword
from ..types.trace import Called
from .evidence import Draft, Manner, Verdict, View

Action = Literal["retrieve", "reflect", "answer"]
UNSEARCHABLE_GAP_KINDS = frozenset(("attribution", "contradicted", "granularity"))


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a loop stands when it asks for a decision.

    `number` counts the decisions, from 1 on, of which there are at most `most`. With `last` the loop answers next,
    whatever is decided, so that a draft is wanted. `empty` is whether the last search brought nothing new, `tired`
    whether a reflection would be turned into a search, `guarded` whether an answer would while a requirement is open
    that a search may close. `refused` is the action that was decided on last, the one that was done in its place, and
    the rule that says so; None where it was done. `tried` are the earlier queries besides the question, and
    `thoughts` the results of earlier reflections, both in order.
    """

    number: int
    most: int
    last: bool
    empty: bool
    tired: bool = False
    refused: tuple[Action, Action, str] | None = None
    guarded: bool = False
    tried: tuple[str, ...] = ()
    thoughts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decided:
    """A verdict on the evidence, and the next action.

    The verdict's `query` is the next search besides the question. `draft` is an answer from the evidence so far,
    which only the last decision is asked for.
    """

    action: Action
    verdict: Verdict
    draft: str = ""


MAX_LISTED_KEYWORDS = 500  # keywords to choose among at once


@dataclass(frozen=True, slots=True)
class Chosen:
    """The keywords to read by, and the model requests that it took to choose them."""

    keywords: tuple[Keyword, ...]
    calls: tuple[Called, ...] = ()


@dataclass(frozen=True, slots=True)
class Round:
    """Where a loop stands in a round of reading (G4).

    `number` counts the rounds, from 1 on, of which there are at most `most`. `answer` is that of the round before,
    `critical` are the ids of the turns that it rests on, `new` those of the turns that no earlier round has read.
    """

    number: int
    most: int
    answer: str
    critical: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Considered:
    """The result of a round: a verdict, an answer so far, the ids it rests on, and whether it is accepted as final.

    `read` are the ids of the turns that were read for it, at last: a page may turn out to be too long for a model.
    """

    verdict: Verdict
    answer: str
    critical: tuple[str, ...]
    accepted: bool
    read: frozenset[str]


def question_words_first(candidates: Sequence[Keyword], most: int) -> tuple[Keyword, ...]:
    """Return the first keywords, the question's own words before words that only mean nearly the same."""
    return tuple(sorted(candidates, key=lambda one: -one.closeness)[:most])


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
CONTENT_TOOLS: frozenset[Tool] = frozenset(("person_aspects", "person_facts", "topic_events"))
TOOLS_WITH_PARTS: frozenset[Tool] = frozenset(("events", "person_facts", "events_between"))
MAX_TURN_CALLS = 5  # in a turn, where a loop names no number (R4)
TIME_CUE = "time"  # the kind of a row of event_cues whose cue is a time


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool: its key, the part of it, and the page of results, from 1 on."""

    tool: Tool
    of: str
    part: str = ""
    page: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a result: the key that a later call may name, its kind, and the number of its turns."""

    key: str
    text: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call: its rows, of `total` in all, or the reason why it was refused.

    `number` is the turn of the loop in which it was performed, `pruned` the number of rows that a judge did not keep.
    `turns` is the number of turns behind all rows of keys, 0 where rows are turns.
    """

    call: ToolCall
    rows: tuple[Row, ...] = ()
    total: int = 0
    refused: str = ""
    number: int = 0
    pruned: int = 0
    turns: int = 0


@dataclass(frozen=True, slots=True)
class Explored:
    """Where a loop stands in a turn of at most `most`: the cues of the question, and all results in order.

    With `last` no call is performed any more. `tools` are those that there are, of which `calls` are made at most.
    """

    number: int
    most: int
    last: bool
    cues: tuple[str, ...]
    results: tuple[Result, ...] = ()
    tools: tuple[Tool, ...] = TOOLS
    calls: int = MAX_TURN_CALLS


@dataclass(frozen=True, slots=True)
class Move:
    """A judge's move in a turn: a verdict, the tools to call next, and an answer with the ids that support it.

    Without a call the exploring ends. `kept` is its selection from the results of the last calls: ids of turns, cues
    and tags; None where it did not say, so that all of it stays.
    """

    verdict: Verdict
    calls: tuple[ToolCall, ...] = ()
    answer: str = ""
    supports: tuple[str, ...] = ()
    kept: tuple[str, ...] | None = None


def route(results: Iterable[Result], number: int, kept: Collection[str] | None) -> tuple[Result, ...]:
    """Return results without the rows of a turn's calls that were not kept; all where no reply named any (f_route).

    Keys are compared without case and quotation marks. Whoever or whatever is kept keeps its tags and aspects.
    """
    return tuple(result if kept is None or result.number != number else _drop_rows(result, kept) for result in results)


def _drop_rows(result: Result, kept: Collection[str]) -> Result:
    keys = {key.strip(" \"'").casefold() for key in kept}
    if result.call.tool in ("tags_of", "person_aspects") and result.call.of.casefold() in keys:
        return result
    rows = tuple(row for row in result.rows if row.key.casefold() in keys)
    return replace(result, rows=rows, pruned=len(result.rows) - len(rows))


def tools_of(graph: Graph) -> tuple[Tool, ...]:
    """Return the tools by which a graph is walked: without contents no facts and topics, without tags no tags too."""
    left_out = {"cue-tag-content": (), "cue-tag-event": CONTENT_TOOLS, "cue-event": {*CONTENT_TOOLS, "tags_of"}}[graph]
    return tuple(tool for tool in TOOLS if tool not in left_out)


class Judge(Protocol):
    """Judges a view, decides by it and answers from it: flows, of which only those of a model yield `Complete`.

    The loop owns everything else: retrieval, accumulation, the tracker, calibration, stopping, the next query
    when the judge has none, abstention, and the check that every citation was shown. A `ModelError` that a judge
    raises ends the question with that error; it never becomes an abstention.
    """

    @property
    def name(self) -> str:
        """The judge's name in the trace."""
        ...

    @property
    def abstain_below(self) -> float:
        """The probability below which this judge's answers are not given, unless the budget names one."""
        ...

    @property
    def uses_model(self) -> bool:
        """Whether it reads what it is shown as people do, and keeps it in its own words: what takes a model.

        Only then may `explore` be asked, is what was found before shown to `decide` as its claims, and does what the
        question's search finds next take the place of most turns that edges lead to (IRIS): the numbers of a judge
        without a model were fitted on views of the other kind.
        """
        ...

    def fit_page(self, view: View) -> View:
        """Return a view with the page that this judge reads, and without the turns that there is no room for on it."""
        ...

    def judge(self, view: View) -> Flow[Verdict]:
        """Judge how far the shown evidence answers the question, with the gaps and the next query."""
        ...

    def decide(self, view: View, stage: Stage) -> Flow[Decided]:
        """Judge the shown evidence and say whether to search on, to think or to answer (MemR3)."""
        ...

    def choose(self, question: str, candidates: Sequence[Keyword], most: int) -> Flow[Chosen]:
        """Choose at most so many of the keywords that a question matches, of which there are more (MGRetrieval)."""
        ...

    def consider(self, view: View, reading: Round) -> Flow[Considered]:
        """Judge the critical and the new turns of a round, keep the turns that an answer rests on, accept it or not."""
        ...

    def explore(self, view: View, explored: Explored) -> Flow[Move]:
        """Judge the evidence, and choose the next tools to call, or give the answer (MRAgent)."""
        ...

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """Word the answer in a manner, from shown evidence only; `verdict` is the calibrated one."""
        ...
