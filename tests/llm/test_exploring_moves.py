"""The request of a turn that explores with tools, and its reply: calls, or an answer with what supports it."""

import json
from typing import Any

import pytest

from evimem.errors import ReplyError
from evimem.judging.judge import TOOLS, Explored, Move, Result, Row, ToolCall
from evimem.llm.evidence_prompt import show_evidence
from evimem.llm.read_verdict import CALLED, explore_request, read_move, tool_specs
from evimem.llm.request import load
from evimem.types.trace import Reply, ToolUse
from evimem.types.values import Tier
from tests.llm.views import page, turn, view_of

CANARY = "Zanzibarquince"
SAID = turn(1, "We adopted a puppy.")
VIEW = view_of([SAID], question=f"What of {CANARY}?")
FIELDS: dict[str, Any] = {
    "reason": "the month is known",
    "calls": [{"tool": "Events-Between", "of": "2024-03", "part": "2024-04", "page": 2}],
    "gaps": [],
    "tier": "partial",
    "confidence": 0.4,
    "answer": "",
    "supports": ["e1", "e9", "t1"],
}


RESULTS = (
    Result(ToolCall("events", CANARY, "own"), (Row("t1", f"{CANARY} <system>", 0),), 7, number=2),
    Result(ToolCall("tags_of", "t1"), refused=f"no {CANARY}", number=2),
    Result(ToolCall("event_context", "t1"), number=3),
)


def moved(**fields: Any) -> Move:
    return read_move(Reply(json.dumps({**FIELDS, **fields})), VIEW, page(SAID))


def used(name: str, arguments: str, text: str = "") -> Move:
    return read_move(Reply(text, uses=(ToolUse("x", name, arguments),)), VIEW, page(SAID))


def test_a_move_is_read_with_its_calls_its_verdict_and_the_ids_that_were_shown():
    made = moved(answer="in March")
    assert made.calls == (ToolCall("events_between", "2024-03", "2024-04", 2),)
    assert (made.verdict.tier, made.answer, made.supports) == (Tier.PARTIAL, "in March", ("t1",))


@pytest.mark.parametrize(
    "wrong", [{"tier": "so so"}, {"confidence": "high"}, {"calls": [{"tool": "delete"}]}, {"calls": [7]}]
)
def test_a_move_without_tier_or_confidence_or_with_an_unknown_tool_is_no_reply(wrong):
    with pytest.raises(ReplyError):
        moved(**wrong)


def test_a_turn_is_asked_about_with_what_every_call_returned_and_what_was_refused():
    asked = explore_request(VIEW, Explored(4, 8, False, (CANARY,), RESULTS), show_evidence(VIEW))
    first, events, nothing, then, back = asked.earlier[1:]
    assert (first.role, events.role, nothing.role, then.role, back.role) == (
        "assistant", "tool", "tool", "assistant", "tool",
    )  # fmt: skip
    assert events.text == f'events("{CANARY}", "own"), page 1: 1 of 7: "e1" ({CANARY} (system)'
    assert nothing.text == f'tags_of("e1"), page 1: refused, "no {CANARY}"'
    assert [json.loads(use.arguments) for use in first.uses] == [
        {"of": CANARY, "part": "own", "page": 1}, {"of": "e1", "page": 1},
    ]  # fmt: skip
    assert [use.id for use in (*first.uses, *then.uses)] == [events.of, nothing.of, back.of]
    assert "Turn 4 of 8. Call tools, or answer." in asked.prompt
    assert CANARY not in asked.system
    last = explore_request(VIEW, Explored(8, 8, True, ()), show_evidence(VIEW))
    assert "No tool can be called any more" in last.prompt
    assert (last.tools, last.earlier) == ((), ())


def test_every_tool_is_offered_with_what_the_prompt_says_of_it():
    offered = explore_request(VIEW, Explored(1, 8, False, ()), show_evidence(VIEW)).tools
    assert tuple(tool.name for tool in offered) == TOOLS
    assert all(tool.says in load("explore").system for tool in tool_specs())
    assert [tool.name for tool in offered if "part" in tool.arguments["required"]] == [
        "events", "person_facts", "events_between",
    ]  # fmt: skip


@pytest.mark.parametrize("arguments", ['{"of": "e1"}', "{'of': 'E1',}", '```json\n{"of": "[e1]", "page": 1}\n```'])
def test_tools_are_called_without_a_word_on_the_evidence(arguments):
    assert used("event_cues", arguments) == Move(CALLED, (ToolCall("event_cues", "t1"),))
    assert used("event_cues", arguments, "I look for what else happened.").verdict == CALLED


@pytest.mark.parametrize(("name", "arguments"), [("delete", '{"of": "x"}'), ("tags_of", "puppy"), ("tags_of", "[1]")])
def test_a_tool_that_there_is_not_or_arguments_that_are_none_are_no_reply(name, arguments):
    with pytest.raises(ReplyError):
        used(name, arguments)
