"""MemR3's statements of its state, its settings and its ablations (M3, M7, M9 to M12), with a model."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.reference.replayed_tracker import replay_trace

from .conftest import Chat, decision, draft, events
from .test_memr3 import DONE, LOOKING, QUERIES, WHAT, WHEN, ask, routed


def knows(number: int, **fields: Any) -> str:
    claims = [{"text": f"Mira saw heron {number}.", "evidence": ["e1"]}]
    return decision("retrieve", f"{QUERIES[number % 5]} {number}", claims=claims, **fields)


def test_m9_each_request_has_what_is_known_and_the_newest_turns_alone(chat: Chat) -> None:
    ask(chat, WHAT, *[knows(number) for number in range(1, 6)], draft("a heron"), neighbours=False)
    asked = [request.prompt for request in chat.requests[:5]]
    pages = [prompt.partition("<evidence>")[2].partition("</evidence>")[0] for prompt in asked]
    assert [prompt.count('"Mira saw heron ') for prompt in asked] == [0, 1, 2, 3, 4]
    assert 'c2 (e1): "Mira saw heron 2."' in asked[4]
    labels = [set(re.findall(r"(?m)^\[(e\d+)\]", page)) for page in pages]
    assert [len(one & labels[0]) for one in labels] == [5, 0, 0, 0, 0]
    assert len(pages[4]) < 1.5 * len(pages[0])
    assert "Mira saw heron 1." in chat.requests[-1].prompt


def test_m10_a_claim_stays_until_it_is_withdrawn_with_a_reason(chat: Chat) -> None:
    silent, why = {"id": "c1", "why": ""}, {"id": "c1", "why": "that was a stork"}
    replies = [knows(1), knows(2, withdrawn=[silent]), knows(3, withdrawn=[why]), DONE]
    trace = ask(chat, WHEN, *replies, draft()).trace
    asked = [request.prompt for request in chat.requests]
    assert ['"Mira saw heron 1."' in prompt for prompt in asked[:4]] == [False, True, True, False]
    first, *later = replay_trace(trace).claims
    assert (first.text, first.withdrawn) == ("Mira saw heron 1.", "that was a stork")
    assert [claim.withdrawn for claim in later] == ["", ""]
    assert all(set(claim.sources) <= replay_trace(trace).shown for claim in (first, *later))


def test_m7_what_a_lost_reply_was_shown_is_shown_again(chat: Chat) -> None:
    ask(chat, WHAT, "hm", "hm", LOOKING[0], DONE, draft("a heron"))
    first, _, again, *_ = (set(re.findall(r"(?m)^\[(e\d+)\]", request.prompt)) for request in chat.requests)
    assert first <= again


@pytest.mark.parametrize("neighbours", [True, False])
def test_m3_what_stands_beside_a_turn_is_shown_on_demand_and_never_returned(chat: Chat, neighbours: bool) -> None:
    trace = ask(chat, WHAT, *LOOKING, draft("a heron"), neighbours=neighbours).trace
    beside: set[str] = set()
    for event in trace:
        if event.kind == "evidence":
            assert not beside & set(event.turns)
        elif event.kind == "action" and event.action == "show":
            beside.update(event.detail["around"])
    assert bool(beside) == neighbours


def test_m11_its_numbers_are_settings(chat: Chat) -> None:
    thoughts = [decision("reflect", reason=f"thought {number}") for number in range(3)]
    trace = ask(chat, WHEN, *thoughts, DONE, draft(), iterations=4, k=2, reflections=3).trace
    assert [len(event.turns) for event in events(trace, "evidence")] == [2]
    assert [action for _, action, _ in routed(trace)] == ["reflect"] * 3 + ["answer"]


@pytest.mark.parametrize("part", ["mask", "delta", "reflection", "tracker"])
def test_m12_each_part_can_be_left_out(chat: Chat, part: str) -> None:
    replies = [knows(1), decision("reflect", "walk", reason="so"), knows(3), knows(4), knows(5), draft("a heron")]
    whole, without = (ask(chat, WHAT, *replies, router="paper", without=left_out).trace for left_out in (set(), {part}))
    queries = [event.query for event in events(without, "query")]
    assert (set(queries) == {WHAT}) == (part == "delta")
    assert ("reflect" in [event.action for event in events(without, "action")]) is False
    assert len(queries) == len(events(whole, "query")) + (part == "reflection")
    assert bool(replay_trace(without).claims) == (part != "tracker")
    shown = [set(event.detail["turns"]) for event in events(without, "action") if event.action == "show"]
    assert (shown[0] <= shown[3]) == (part == "tracker")
