"""The request of a turn that explores the memory with tools (MRAgent) and its reply: calls, or an answer."""

from __future__ import annotations

from typing import Any

from ..errors import ReplyError
from ..judging.evidence import View
from ..judging.exploring import MOST_CALLS, TOOLS, Explored, Move, Result, ToolCall
from ..types.model import Complete
from . import prompt_fields, reply_schemas
from .evidence_prompt import ShownEvidence, evidence_request
from .json_reply import read
from .prompts import reply_form
from .quoting import bullets, escape_attribute, named
from .read_verdict import verdict_in

MOST_ANSWER = 1_000  # characters
MOST_RESULTS = 24  # of the newest calls that a request lists
MOST_ROWS = 12  # of each
MOST_KEY = 300  # characters
_TURNS = frozenset(("event_time", "event_cues", "event_context"))  # tools that are called on an item


def explore_request(view: View, explored: Explored, shown: ShownEvidence) -> Complete:
    """Return the request for a turn."""
    directive = "No tool can be called any more: give the answer." if explored.last else "Call tools, or answer."
    labels = {turn.id: label for label, turn in shown.items.items()}
    results = [_result(result, labels) for result in explored.results[-MOST_RESULTS:]]
    return evidence_request(
        "decide",
        "explore",
        reply_schemas.EXPLORE,
        view,
        shown,
        cues=bullets(explored.cues),
        results="\n".join(results) or "- none",
        number=explored.number,
        most=explored.most,
        directive=directive,
    )


def read_move(text: str, view: View, shown: ShownEvidence) -> Move:
    """Return the move in a reply. Raise ReplyError when it has no tier or confidence, or a call of no known tool."""
    reply = read(text, "decide", ("calls", "tier"), form=reply_form("explore"))
    verdict = verdict_in(reply, "decide", text, view, shown)
    named_calls = reply.get("calls")
    entries = named_calls if isinstance(named_calls, list) else []
    calls = tuple(dict.fromkeys(_call(entry, text, shown) for entry in entries[: 2 * MOST_CALLS]))
    answer = prompt_fields.stated(reply.get("answer"), MOST_ANSWER)
    return Move(verdict, calls, answer, shown.ids(reply.get("supports")))


def _call(entry: Any, text: str, shown: ShownEvidence) -> ToolCall:
    fields = entry if isinstance(entry, dict) else {}
    wanted = prompt_fields.choice(fields.get("tool"), TOOLS)
    tool = next((known for known in TOOLS if known == wanted), None)
    if tool is None:
        raise ReplyError("decide", f"a call names none of the tools {TOOLS!r}", text)
    of, part = (prompt_fields.text(fields.get(name), MOST_KEY) for name in ("of", "part"))
    page = prompt_fields.text(fields.get("page"), 6)
    turn = shown.turn(of) if tool in _TURNS else None
    return ToolCall(tool, of if turn is None else turn.id, part, max(1, int(page)) if page.isdecimal() else 1)


def _result(result: Result, labels: dict[str, str]) -> str:
    call = result.call
    given = ", ".join(named(labels.get(one, one)) for one in (call.of, call.part) if one)
    head = f"- {call.tool}({given}), page {call.page}"
    if result.refused:
        return f'{head}: refused, "{escape_attribute(result.refused, MOST_KEY)}"'
    rows = (f"{named(labels.get(row.key, row.key))} {_rest(row.text, row.count)}" for row in result.rows[:MOST_ROWS])
    return f"{head}: {len(result.rows)} of {result.total}: {'; '.join(rows)}"


def _rest(text: str, count: int) -> str:
    return f"({escape_attribute(text)}, {count})" if count else f"({escape_attribute(text)})"
