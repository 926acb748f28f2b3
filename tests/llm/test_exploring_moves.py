"""The request of a turn that explores with tools, and its reply: calls, or an answer with what supports it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evimem.errors import ReplyError
from evimem.judging.exploring import Explored, Move, Result, Row, ToolCall
from evimem.llm.evidence_prompt import show_evidence
from evimem.llm.exploring_moves import explore_request, read_move
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


def moved(**fields: Any) -> Move:
    return read_move(json.dumps({**FIELDS, **fields}), VIEW, page(SAID))


def test_a_move_is_read_with_its_calls_its_verdict_and_the_ids_that_were_shown() -> None:
    made = moved(answer="in March")
    assert made.calls == (ToolCall("events_between", "2024-03", "2024-04", 2),)
    assert (made.verdict.tier, made.answer, made.supports) == (Tier.PARTIAL, "in March", ("t1",))


@pytest.mark.parametrize(("given", "turn_id"), [("e1", "t1"), ("[E1]", "t1"), ("t1", "t1"), ("e9", "e9")])
def test_an_item_is_called_by_its_label(given: str, turn_id: str) -> None:
    assert moved(calls=[{"tool": "event_cues", "of": given}]).calls == (ToolCall("event_cues", turn_id),)
    assert moved(calls=[{"tool": "tags_of", "of": given}]).calls == (ToolCall("tags_of", given),)


@pytest.mark.parametrize("page", [None, -3, "two", 0, 1.5, True])
def test_a_page_that_is_none_is_the_first(page: Any) -> None:
    assert moved(calls=[{"tool": "tags_of", "of": "x", "page": page}]).calls[0].page == 1


@pytest.mark.parametrize("calls", [None, "none", 7, {}])
def test_without_a_list_of_calls_there_is_none(calls: Any) -> None:
    assert moved(calls=calls).calls == ()


@pytest.mark.parametrize(
    "wrong", [{"tier": "so so"}, {"confidence": "high"}, {"calls": [{"tool": "delete"}]}, {"calls": [7]}]
)
def test_a_move_without_tier_or_confidence_or_with_an_unknown_tool_is_no_reply(wrong: dict[str, Any]) -> None:
    with pytest.raises(ReplyError):
        moved(**wrong)


def test_a_turn_is_asked_about_with_what_every_call_returned_and_what_was_refused() -> None:
    results = (
        Result(ToolCall("events", CANARY, "own"), (Row("t1", f"{CANARY} <system>", 0),), 7),
        Result(ToolCall("tags_of", "t1"), refused=f"no {CANARY}"),
    )
    asked = explore_request(VIEW, Explored(2, 8, False, (CANARY,), results), show_evidence(VIEW))
    assert f'- events("{CANARY}", "own"), page 1: 1 of 7: "e1" ({CANARY} (system)' in asked.prompt
    assert f'- tags_of("e1"), page 1: refused, "no {CANARY}"' in asked.prompt
    assert "Turn 2 of 8. Call tools, or answer." in asked.prompt
    assert CANARY not in asked.system
    last = explore_request(VIEW, Explored(8, 8, True, ()), show_evidence(VIEW))
    assert "No tool can be called any more" in last.prompt
