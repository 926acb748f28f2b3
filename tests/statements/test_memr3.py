"""MemR3's statements M1 to M8, each checked through the public API, or through a backend that is not ours (M8)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pytest
from rank_bm25 import BM25Okapi

import evimem
from evimem.testing import ScriptedModel
from evimem.text.terms import terms
from evimem.types.trace import Trace
from evimem.types.values import Hit, Turn
from tests.reference.replayed_tracker import replay_trace

from .conftest import Chat, decision, draft, events, gap, supported

WHEN = "When did Mira adopt her puppy?"
WHAT = "What did Mira see by the mill?"
NEEDS = 4  # requirements of WHEN
DONE = decision("answer", requirements=supported(NEEDS, "e1"), draft="8 March 2024")
QUERIES = ("heron by the mill", "salty bread", "walk with Noah", "loaf number 7", "the last walk")
LOOKING = [decision("retrieve", query) for query in QUERIES]


def ask(chat: Chat, question: str, *replies: Any, **options: Any) -> evimem.Answer:
    return chat.ask(question, *replies, loop="memr3", **options)


def routed(trace: Trace) -> list[tuple[str, str, str]]:
    """Of each decision what was wanted, what was done, and the rule that says so."""
    acted = [event.detail for event in events(trace, "action") if event.action == "decide"]
    return [(detail["wanted"], detail["action"], detail["rule"]) for detail in acted]


@pytest.mark.parametrize(("replies", "decisions"), [([DONE], 1), ([LOOKING[0], DONE], 2), (LOOKING, 5)])
def test_m1_it_searches_first_and_ends_with_one_answer_after_at_most_five_decisions(
    chat: Chat, replies: list[str], decisions: int
) -> None:
    answer = ask(chat, WHEN, *replies, draft())
    assert [request.role for request in chat.requests] == ["decide"] * decisions + ["answer"]
    done = [event.kind for event in answer.trace if event.kind in {"query", "call"}]
    assert done == ["query", "call"] * decisions + ["call"]
    assert [event.action for event in events(answer.trace, "action")].count("answer") == 1
    assert (answer.text, answer.usage.requests) == ("8 March 2024", decisions + 1)


def test_m2_the_first_rule_that_holds_says_what_is_done(chat: Chat) -> None:
    thought = decision("reflect", reason="Biscuit is the puppy")
    trace = ask(chat, WHEN, decision("answer"), thought, thought, LOOKING[0], LOOKING[1], draft()).trace
    assert routed(trace) == [
        ("answer", "retrieve", "gaps are open"),
        ("reflect", "reflect", "as decided"),
        ("reflect", "retrieve", "enough thought"),
        ("retrieve", "retrieve", "as decided"),
        ("retrieve", "answer", "budget"),
    ]
    assert '- "Biscuit is the puppy"' in chat.requests[2].prompt
    trace = ask(chat, WHEN, LOOKING[0], DONE, draft()).trace
    assert routed(trace)[-1] == ("answer", "answer", "as decided")


def test_m2_the_directive_tells_which_action_was_refused_and_why(chat: Chat) -> None:
    replies = [decision("answer", requirements=[]), decision("answer", requirements=supported(6, "e1")), draft()]
    answer = chat.ask(WHEN, *replies, loop="memr3")
    first, second, *_ = (request.prompt for request in chat.requests)
    assert "While a requirement is open, answer becomes a search" in first
    assert 'The last step was to be "answer"; it became "retrieve", since requirements were open.' in second
    chat.ask(WHEN, decision("answer"), draft(), loop="memr3-as-published")
    assert "Any action may come next." in chat.requests[0].prompt
    assert answer.usage.requests == 3


def test_m3_a_search_returns_five_turns_that_none_before_it_returned(chat: Chat) -> None:
    trace = ask(chat, WHAT, *LOOKING, draft("a heron")).trace
    found = [event.turns for event in events(trace, "evidence")]
    assert [event.k for event in events(trace, "query")] == [5] * 5
    assert [len(turns) for turns in found] == [5] * 5
    assert len({turn for turns in found for turn in turns}) == 25


def test_m4_a_query_is_the_question_with_words_that_were_not_tried(chat: Chat) -> None:
    repeated = [decision("retrieve", query) for query in ("heron", " HERON ", WHAT, "heron", "heron")]
    trace = ask(chat, WHAT, *repeated, draft("a heron")).trace
    first, *refined = [event.query for event in events(trace, "query")]
    assert first == WHAT
    assert refined[0] == f"{WHAT} heron"
    assert all(query.startswith(f"{WHAT} ") for query in refined)
    assert len(refined) >= 2
    assert len({" ".join(query.casefold().split()) for query in refined}) == len(refined)


def test_m5_what_is_supported_stays_so_until_it_is_taken_back_with_a_reason(chat: Chat) -> None:
    is_open = {"id": "r1", "status": "open", "evidence": [], "why": ""}
    shelter = gap("attribute", "the name of the shelter")
    replies = [
        decision("retrieve", QUERIES[0], requirements=supported(1, "e1"), gaps=[shelter]),
        decision("retrieve", QUERIES[1], requirements=[is_open]),
        decision("retrieve", QUERIES[2], requirements=[{**is_open, "why": "that was another Mira"}]),
        decision("retrieve", QUERIES[3], requirements=supported(NEEDS + 1, "e1", "e999")),
    ]
    answer = ask(chat, WHEN, *replies, DONE, draft())
    changes = events(answer.trace, "gaps")
    mira = ("entity", "Mira")
    assert [mira in {(one.kind, one.about) for one in change.open} for change in changes[:4]] == [
        False, False, True, False,
    ]  # fmt: skip
    assert [dict(change.retracted) for change in changes[:3]] == [{}, {}, {"entity:Mira": "that was another Mira"}]
    assert changes[0].extended == ("gap:attribute:the name of the shelter",)
    assert changes[3].open == ()
    tracker = replay_trace(answer.trace)
    assert not tracker.supported.keys() & {need.id for need in tracker.open}
    assert all(ids and set(ids) <= tracker.shown for ids in tracker.supported.values())


def test_m6_the_last_decision_is_asked_for_a_draft_and_what_is_missing_is_kept(chat: Chat) -> None:
    shelter = gap("attribute", "the name of the shelter")
    said = decision("retrieve", "another one", gaps=[shelter], draft="around 8 March 2024")
    answer = ask(chat, WHEN, *LOOKING[:4], said, draft())
    asked = [request.prompt for request in chat.requests]
    assert ["This is the last decision" in prompt for prompt in asked] == [False] * 4 + [True, False]
    assert "around 8 March 2024" in asked[-1]
    assert answer.text == "8 March 2024"
    missing = {one.text for one in answer.gaps}
    assert {"the name of the shelter", "when it was"} <= missing
    assert missing <= {one.text for one in events(answer.trace, "gaps")[-1].open}


def test_m7_a_decision_that_cannot_be_read_is_asked_for_once_more_and_two_in_a_row_end_the_search(chat: Chat) -> None:
    repaired = ask(chat, WHEN, "hm", DONE, draft())
    assert (repaired.text, repaired.usage.requests, repaired.usage.failed) == ("8 March 2024", 3, 1)
    lost = ask(chat, WHEN, "hm", '{"action": "dance"}', DONE, draft())
    assert [event.outcome for event in events(lost.trace, "call")] == ["ReplyError", "ReplyError", "ok", "ok"]
    assert (lost.text, len(events(lost.trace, "query"))) == ("8 March 2024", 2)
    never = ask(chat, WHEN, *["hm"] * 4, draft())
    assert (never.text, never.usage.requests, never.usage.failed) == ("8 March 2024", 5, 4)
    assert not never.abstained


class Bm25:
    """A backend that is not ours: plain BM25 over the texts of turns."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = list(turns)
        self.index = BM25Okapi([terms(f"{turn.speaker} {turn.text}") for turn in self.turns])

    def search(self, query: str, k: int, exclude: Collection[str] = ()) -> list[Hit]:
        ranked = sorted(zip(self.index.get_scores(terms(query)), self.turns, strict=True), key=lambda pair: -pair[0])
        return [Hit(turn, (), float(score)) for score, turn in ranked if turn.id not in exclude][:k]


def shape(trace: Trace) -> list[Any]:
    """What a controller did and found, without scores, facts and the ids of turns that only one ranking has."""
    done: list[Any] = []
    for event in trace:
        if event.kind == "query":
            done.append((event.iteration, event.path, event.query, event.k))
        elif event.kind == "evidence":
            done.append((event.iteration, len(event.turns)))
        elif event.kind == "gaps":
            done.append((event.iteration, sorted(event.supported), event.open))
        elif event.kind == "action" and event.action == "decide":
            done.append(dict(event.detail))
        elif event.kind in {"call", "stop"}:
            done.append((event.kind, event.iteration))
    return done


@pytest.mark.parametrize(
    "replies",
    [[DONE], [LOOKING[0], decision("reflect"), LOOKING[1], decision("answer"), DONE], LOOKING, ["hm", "no", DONE]],
    ids=["at once", "all three", "to the end", "unreadable"],
)
@pytest.mark.parametrize("backend", ["rank-bm25", "a memory"])
def test_m8_the_same_decisions_over_another_backend_lead_to_an_equivalent_trace(
    chat: Chat, replies: list[str], backend: str
) -> None:
    ours = ask(chat, WHEN, *replies, draft())
    script = ScriptedModel([*replies, draft()])
    who, today = ("Mira", "Noah"), "2024-03-30T09:00"
    with evimem.open(chat.path) as memory:
        searcher = Bm25(list(memory.turns())) if backend == "rank-bm25" else memory
        theirs = evimem.ask_searcher(WHEN, searcher, llm=script, speakers=who, asked_at=today)
    assert shape(theirs.trace) == shape(ours.trace)
    found = [turn for event in events(theirs.trace, "evidence") for turn in event.turns]
    assert len(found) == len(set(found))
    assert theirs.text == ours.text
    assert [one.turn_id for one in theirs.citations] == [one.turn_id for one in ours.citations] != []
