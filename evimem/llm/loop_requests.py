"""The requests of the loops that read in rounds (MGRetrieval) or explore with tools (MRAgent), and their replies."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from typing import Any

from ..errors import ReplyError
from ..judging.evidence import Verdict, View
from ..judging.exploring import MOST_CALLS, PARTED, TOOLS, Explored, Move, Result, Tool, ToolCall
from ..judging.reading import Considered, Round
from ..types.model import Complete, Message, Reply, ToolSpec, ToolUse
from ..types.stored import Keyword
from ..types.values import Tier
from . import json_reply, prompts
from .evidence_prompt import ShownEvidence, evidence_request
from .json_reply import read
from .prompts import bullets, escape_attribute, load, marked, named, prompt_request, reply_form
from .read_verdict import verdict_in

MOST_ANSWER = 1_000  # characters
MOST_CANDIDATES = 40  # keywords that a request lists: those that a question matches, never a vocabulary


def choose_request(question: str, candidates: Sequence[Keyword], most: int) -> Complete:
    """Return the request to choose among the keywords that a question matches."""
    rows = [
        f'{label}: "{escape_attribute(one.term)}" for "{escape_attribute(one.word)}", in {one.turns}'
        for label, one in _labels(candidates).items()
    ]
    return prompt_request(
        "decide", "keywords", prompts.KEYWORDS, question=marked(question), candidates="\n".join(rows), most=most
    )


def read_choice(text: str, candidates: Sequence[Keyword], most: int) -> tuple[Keyword, ...]:
    """Return the keywords in a reply. Raise ReplyError where it has none of those that were listed."""
    reply = read(text, "decide", ("keywords",), form=reply_form("keywords"))
    known = _labels(candidates)
    named_ids = [json_reply.text(item, 40).lower().strip("[]() ") for item in json_reply.items(reply["keywords"])]
    chosen = dict.fromkeys(known[label] for label in named_ids if label in known)
    if not chosen:
        raise ReplyError("decide", "its keywords are none of those listed", text)
    return tuple(chosen)[:most]


def consider_request(view: View, reading: Round, shown: ShownEvidence) -> Complete:
    """Return the request for a round."""
    kept = [label for label, turn in shown.items.items() if turn.id in reading.critical]
    return evidence_request(
        "decide",
        "consider",
        prompts.CONSIDER,
        view,
        shown,
        number=reading.number,
        most=reading.most,
        critical=", ".join(kept) or "none",
        answer=bullets([reading.answer] if reading.answer else []),
    )


def read_considered(text: str, view: View, shown: ShownEvidence) -> Considered:
    """Return what a round came to. Raise ReplyError when the reply has no tier, confidence or word on acceptance."""
    reply = read(text, "decide", ("critical", "accepted", "tier"), form=reply_form("consider"))
    verdict = replace(verdict_in(reply, "decide", text, view, shown), mapped=False)
    accepted = json_reply.flag(reply.get("accepted"))
    if accepted is None:
        raise ReplyError("decide", "its accepted is neither true nor false", text)
    answer = json_reply.stated(reply.get("answer"), MOST_ANSWER)
    read_turns = frozenset(turn.id for turn in shown.turns)
    return Considered(verdict, answer, shown.ids(reply.get("critical")), accepted and bool(answer), read_turns)


def _labels(candidates: Sequence[Keyword]) -> dict[str, Keyword]:
    return {f"k{number}": one for number, one in enumerate(candidates[:MOST_CANDIDATES], 1)}


MOST_RESULTS = 24  # of the newest calls that a request lists
MOST_ROWS = 12  # of each
MOST_KEY = 300  # characters
CALLED = Verdict(Tier.PARTIAL, 0.5, reason="tools were called before anything was said of the evidence", mapped=False)
_TURNS = frozenset(("event_time", "event_cues", "event_context"))  # tools that are called on an item
_FIELDS = ("calls", "tier")  # one of which a reply has


def explore_request(view: View, explored: Explored, shown: ShownEvidence) -> Complete:
    """Return the request for a turn; the last one offers no tools."""
    directive = "No tool can be called any more: give the answer." if explored.last else "Call tools, or answer."
    request = evidence_request(
        "decide",
        "explore",
        prompts.explore_with(explored.tools),
        view,
        shown,
        cues=bullets(explored.cues),
        number=explored.number,
        most=explored.most,
        directive=directive,
    )
    earlier = tuple(_exchange(view, explored.results[-MOST_RESULTS:], shown))
    offered = () if explored.last else tool_specs(explored.tools)
    system, prompt = _of_graph(request.system, explored.tools), request.prompt.replace(*_named(explored.tools))
    return replace(request, system=system, prompt=prompt, tools=offered, earlier=earlier)


def read_move(reply: Reply, view: View, shown: ShownEvidence) -> Move:
    """Return the move in a reply. Raise ReplyError for a call of no known tool, or neither calls nor a verdict.

    A reply that only calls tools says nothing of the evidence: it is not enough.
    """
    called = tuple(
        _call({**_arguments(use), "tool": use.name}, use.name, shown) for use in reply.uses[: 2 * MOST_CALLS]
    )
    if called and not _states(reply.text):
        told = [_arguments(use)["keep"] for use in reply.uses if "keep" in _arguments(use)]
        kept = tuple(one for keep in told for one in _kept(keep, shown)) if told else None
        return Move(CALLED, tuple(dict.fromkeys(called)), kept=kept)
    fields = read(reply.text, "decide", _FIELDS, form=reply_form("explore"))
    verdict = replace(verdict_in(fields, "decide", reply.text, view, shown), mapped=False)
    listed = fields.get("calls")
    entries = listed if isinstance(listed, list) else []
    calls = (*called, *(_call(entry, reply.text, shown) for entry in entries[: 2 * MOST_CALLS]))
    answer = json_reply.stated(fields.get("answer"), MOST_ANSWER)
    kept = _kept(fields["keep"], shown) if "keep" in fields else None
    return Move(verdict, tuple(dict.fromkeys(calls)), answer, shown.ids(fields.get("supports")), kept)


def _kept(value: Any, shown: ShownEvidence) -> tuple[str, ...]:
    """Return the ids of the turns that a list names by their labels, and whatever else it names, cues and tags."""
    named_keys = (json_reply.text(one, MOST_KEY) for one in json_reply.items(value))
    turns = ((shown.turn(key), key) for key in named_keys)
    return tuple(dict.fromkeys(key if turn is None else turn.id for turn, key in turns))


def _of_graph(system: str, tools: Collection[Tool]) -> str:
    """Return the instructions without the lines about tools that there are not, and about tags where none are."""
    gone = tuple(f"- {tool}:" for tool in TOOLS if tool not in tools) + (() if "tags_of" in tools else ("A tag ",))
    return "\n".join(line for line in system.split("\n") if not line.startswith(gone))


def _named(tools: Iterable[Tool]) -> tuple[str, str]:
    """Return how the form of a reply names all tools, and how it is to name these."""
    return "|".join(TOOLS), "|".join(tools)


@cache
def tool_specs(tools: tuple[Tool, ...] = TOOLS) -> tuple[ToolSpec, ...]:
    """Return tools as a model is given them; what each does stands in the prompt, in its list of tools."""
    listed = (line.partition(": ") for line in load("explore").template.splitlines() if line.startswith("- "))
    says = {head.removeprefix("- "): text for head, _, text in listed}
    parted = PARTED if "tags_of" in tools else PARTED - {"events"}
    return tuple(ToolSpec(tool, says[tool], _schema(parted=tool in parted)) for tool in tools)


def _schema(*, parted: bool) -> Mapping[str, Any]:
    given: dict[str, Any] = {"of": {"type": "string"}} | ({"part": {"type": "string"}} if parted else {})
    given["keep"] = {"type": "array", "items": {"type": "string"}}
    return {"type": "object", "properties": {**given, "page": {"type": "integer"}}, "required": list(given)}


def _states(text: str) -> bool:
    """Whether a text beside calls is a reply too, and not just what the model thinks."""
    try:
        return "tier" in read(text, "decide", _FIELDS, form=reply_form("explore"))
    except ReplyError:
        return False


def _arguments(use: ToolUse) -> dict[str, Any]:
    """Return the arguments of a call. Raise ReplyError where they are no object."""
    return read(use.arguments, "decide", ("of",))


def _call(entry: Any, text: str, shown: ShownEvidence) -> ToolCall:
    fields = entry if isinstance(entry, dict) else {}
    wanted = json_reply.choice(fields.get("tool"), TOOLS)
    tool = next((known for known in TOOLS if known == wanted), None)
    if tool is None:
        raise ReplyError("decide", f"a call names none of the tools {TOOLS!r}", text)
    of, part = (json_reply.text(fields.get(name), MOST_KEY) for name in ("of", "part"))
    page = json_reply.text(fields.get("page"), 6)
    turn = shown.turn(of) if tool in _TURNS else None
    return ToolCall(tool, of if turn is None else turn.id, part, max(1, int(page)) if page.isdecimal() else 1)


def _exchange(view: View, results: Iterable[Result], shown: ShownEvidence) -> Iterator[Message]:
    """Yield the turns before this one: what was asked, then what each of them called and what that returned."""
    labels = {turn.id: label for label, turn in shown.items.items()}
    numbered = [(f"call{place:05}", result) for place, result in enumerate(results, 1)]  # Mistral: nine letters
    if numbered:
        yield Message("user", f"<question>\n{marked(view.analysis.question)}\n</question>")
    for _, made in groupby(numbered, key=lambda pair: pair[1].number):
        turn = list(made)
        yield Message("assistant", uses=tuple(_use(of, result.call, labels) for of, result in turn))
        for of, result in turn:
            yield Message("tool", _returned(result, labels), of=of)


def _use(of: str, call: ToolCall, labels: Mapping[str, str]) -> ToolUse:
    fields = {"of": labels.get(call.of, call.of), "part": call.part, "page": call.page}
    given = {name: value for name, value in fields.items() if name != "part" or value}
    return ToolUse(of, call.tool, json.dumps(given, ensure_ascii=False))


def _returned(result: Result, labels: Mapping[str, str]) -> str:
    """Return a result as text: names and keys escaped, as whatever people wrote."""
    call = result.call
    given = ", ".join(named(labels.get(one, one)) for one in (call.of, call.part) if one)
    head = f"{call.tool}({given}), page {call.page}"
    if result.refused:
        return f'{head}: refused, "{escape_attribute(result.refused, MOST_KEY)}"'
    rows = (f"{named(labels.get(row.key, row.key))} {_rest(row.text, row.count)}" for row in result.rows[:MOST_ROWS])
    left = f", {result.pruned} not kept" if result.pruned else ""
    return f"{head}: {len(result.rows)} of {result.total}{left}: {'; '.join(rows)}"


def _rest(text: str, count: int) -> str:
    return f"({escape_attribute(text)}, {count})" if count else f"({escape_attribute(text)})"
