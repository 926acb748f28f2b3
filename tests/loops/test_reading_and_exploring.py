"""Loops whose judge maps no requirements, and a memory read in rounds: what is believed, and what is seen."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.loaders.examples import load_example
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete, Trace
from tests.ways import way

QUESTION = "What is the number of the crate in the ledger?"
READ = {"critical": ["e1"], "accepted": True}
EXPLORED = {"calls": [], "supports": ["e1"]}
BOTH = pytest.mark.parametrize(("loop", "more"), [("mgretrieval", READ), ("mragent", EXPLORED)])
WORDED = json.dumps({"steps": [], "answerable": True, "answer": "K0", "citations": [{"id": "e1", "quote": ""}]})
FILLER = "Then we talked about the weather, the ferry and what the neighbours had said of it. "


def said(tier: str, confidence: float, **more: Any) -> str:
    told = {"gaps": [], "reason": "", "tier": tier, "confidence": confidence, "answer": "K0"}
    return json.dumps({**told, **more})


def crate(number: int) -> str:
    return f"The number of the crate in the ledger is K{number}."


def memory_of(path: Path, texts: Sequence[str]) -> Path:
    start = datetime(2024, 3, 1, 9)
    with evimem.open(path / "m.evimem") as memory:
        memory.extend(
            evimem.Turn(f"t{number}", "s", "Mira", text, start + timedelta(minutes=number))
            for number, text in enumerate(texts)
        )
    return path / "m.evimem"


@dataclass
class Asked:
    """An answer, and the requests that it took."""

    answer: evimem.Answer
    requests: list[Complete]

    @property
    def last(self) -> str:
        return self.requests[-1].prompt


def ask(path: Path, loop: str, *replies: str, then: Any = None, **given: Any) -> Asked:
    model = ScriptedModel(replies, then=then)
    with evimem.open(path, llm=model) as memory:
        return Asked(memory.ask(QUESTION, **way(loop, **given)), model.requests)


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return memory_of(tmp_path_factory.mktemp("one"), [crate(0), "The bread was too salty."])


@BOTH
@pytest.mark.parametrize("calls", ["joint", "separate"])
def test_exact_stands_where_the_judge_was_not_asked_what_supports_it(
    one: Path, loop: str, more: dict[str, Any], calls: Any
) -> None:
    asked = ask(one, loop, said("exact", 0.95, **more), WORDED, calls=calls, abstain_below=0.65)
    answer = asked.answer
    assert (answer.text, answer.tier, answer.confidence, answer.gaps) == ("K0", evimem.Tier.EXACT, 0.95, ())
    assert "Say it directly" in asked.last
    assert len(asked.requests) == 2, "no chain of reasoning is asked for"


@BOTH
@pytest.mark.parametrize("confidence", [0.4, 0.75])
def test_what_the_judge_said_is_missing_is_all_that_the_answer_is_told_is_missing(
    one: Path, loop: str, more: dict[str, Any], confidence: float
) -> None:
    named = [{"kind": "time", "about": "", "text": "the day of it", "evidence": []}]
    for gaps in ([], named):
        reply = said("partial", confidence, **{**more, "accepted": False}, gaps=gaps)
        answer = ask(one, loop, then=lambda request, r=reply: r if request.role == "decide" else WORDED).answer
        assert [gap.text for gap in answer.gaps] == [gap["text"] for gap in gaps]


@pytest.fixture(scope="module")
def long_turns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = [FILLER * 20 + crate(number) + " " + FILLER * 20 for number in range(40)]
    return memory_of(tmp_path_factory.mktemp("long"), texts)


@pytest.fixture(scope="module")
def short_turns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return memory_of(tmp_path_factory.mktemp("short"), [crate(number) for number in range(300)])


def shown(trace: Trace) -> list[set[str]]:
    return [
        {*event.detail["turns"], *event.detail["around"]}
        for event in trace
        if event.kind == "action" and event.action == "show"
    ]


def unsatisfied(request: Complete) -> str:
    return WORDED if request.role == "answer" else said("partial", 0.4, critical=[], accepted=False)


LITERALLY = pytest.mark.parametrize("whole_groups", [False, True], ids=["default", "literal"])


@LITERALLY
def test_what_a_round_has_no_room_for_comes_in_the_next(long_turns: Path, whole_groups: bool) -> None:
    asked = ask(long_turns, "mgretrieval", then=unsatisfied, iterations=20, k=20, whole_groups=whole_groups)
    read = [prompt for prompt in (one.prompt for one in asked.requests) if "\nRound " in prompt]
    assert {number for number in range(40) if not any(f"is K{number}." in prompt for prompt in read)} == set()


@LITERALLY
@pytest.mark.parametrize("tokens", [4_000, 100_000])
def test_what_the_trace_says_was_shown_stood_in_the_prompt(short_turns: Path, whole_groups: bool, tokens: int) -> None:
    asked = ask(
        short_turns, "mgretrieval", then=unsatisfied, iterations=9, k=200, whole_groups=whole_groups, tokens=tokens
    )
    rounds = [request.prompt for request in asked.requests if request.role == "decide"]
    read = [{f"t{number}" for number in re.findall(r"is K(\d+)\.", prompt)} for prompt in rounds]
    assert read == shown(asked.answer.trace)
    assert set().union(*read) == {f"t{number}" for number in range(300)}


def test_a_turn_that_was_kept_and_had_no_room_is_kept(long_turns: Path) -> None:
    def keeps(request: Complete) -> str:
        labels = re.findall(r"(?m)^\[(e\d+)\]", request.prompt)
        return said("partial", 0.4, critical=labels, accepted=False) if request.role == "decide" else WORDED

    trace = ask(long_turns, "mgretrieval", then=keeps, iterations=20).answer.trace
    kept = [set(event.detail["critical"]) for event in trace if event.kind == "action" and event.action == "consider"]
    assert all(before <= after for before, after in pairwise(kept))
    assert len(kept[-1]) == 40


@pytest.mark.parametrize("loop", ["iris", "memr3", "mgretrieval", "mragent"])
@pytest.mark.parametrize("most", [1_200, 2_400])
def test_a_model_that_reads_too_little_is_asked_a_few_times_and_no_more(tmp_path: Path, loop: str, most: int) -> None:
    """A turn that was shown stands in a page as it was shown, so that less room makes some pages no shorter."""
    words = [[f"heron{number}word{place}" for place in range(340)] for number in range(12)]
    path = memory_of(tmp_path, [f"{' '.join(said)} {crate(n)} {' '.join(said)}" for n, said in enumerate(words)])
    read: list[Complete] = []

    def reply(request: Complete) -> str:
        read.append(request)
        assert len(read) < 60, "it is asked again and again"
        if len(request.prompt) > most:
            raise evimem.PromptTooLong("too long", retryable=False)
        return unsatisfied(request)

    with suppress(evimem.PromptTooLong):
        ask(path, loop, then=reply, iterations=12, k=2)
    assert any(len(request.prompt) > most for request in read)


def test_requests_are_what_was_sent_with_those_that_failed_beside_them(one: Path) -> None:
    garbage = ask(one, "mgretrieval", *["hm"] * 2, WORDED).answer.usage
    assert (garbage.requests, garbage.failed, garbage.repairs) == (3, 2, 1)
    fine = ask(one, "mgretrieval", said("exact", 0.95, **READ), WORDED).answer.usage
    assert (fine.requests, fine.failed) == (2, 0)


@BOTH
@pytest.mark.parametrize("left_out", [(), ("rewriting",)])
def test_what_was_answered_while_reading_is_the_answer_with_its_turns(
    one: Path, loop: str, more: dict[str, Any], left_out: tuple[str, ...]
) -> None:
    asked = ask(one, loop, said("exact", 0.95, **more), WORDED, without=left_out)
    assert (asked.answer.text, asked.answer.confidence) == ("K0", 0.95)
    assert [citation.turn_id for citation in asked.answer.citations] == ["t0"]
    assert len(asked.requests) == 2 - len(left_out)


@BOTH
def test_where_no_answer_was_given_while_reading_none_is_made_up(one: Path, loop: str, more: dict[str, Any]) -> None:
    reply = said("inferrable", 0.8, **{**more, "accepted": False}, answer="")
    answer = ask(one, loop, then=lambda _: reply, without={"rewriting"}).answer
    assert (answer.text, answer.abstained) == (None, True)
    with evimem.open(one) as memory:
        assert memory.ask(QUESTION, **way(loop, without={"rewriting"})).text == memory.ask(QUESTION, loop).text


SHARED = [
    ("iris", {}),
    ("memr3", {"action": "answer"}),
    ("mgretrieval", {**READ, "critical": []}),
    ("mragent", {"calls": []}),
]
CITING = {"nothing": [], "an invented item": [{"id": "e99", "quote": ""}]}


@pytest.mark.parametrize(("loop", "more"), SHARED)
@pytest.mark.parametrize("cited", CITING.values(), ids=CITING)
def test_no_answer_without_a_source_is_above_partial(
    one: Path, loop: str, more: dict[str, Any], cited: list[dict[str, str]]
) -> None:
    worded = json.dumps({"steps": [], "answerable": True, "answer": "K0", "citations": cited})
    waived = [{"id": f"r{number}", "status": "waived", "evidence": [], "why": "told"} for number in range(1, 9)]
    exact = said("exact", 0.99, requirements=waived, **more)
    answer = ask(one, loop, then=lambda request: worded if request.role == "answer" else exact).answer
    assert (answer.text, answer.citations, answer.tier) == ("K0", (), evimem.Tier.PARTIAL)
    assert answer.confidence <= 0.6
    assert answer.reason == "the answer cites nothing that was shown"


@BOTH
def test_an_answer_whose_wording_cites_nothing_rests_on_the_turns_that_were_kept(
    one: Path, loop: str, more: dict[str, Any]
) -> None:
    worded = json.dumps({"steps": [], "answerable": True, "answer": "K0", "citations": []})
    answer = ask(one, loop, said("exact", 0.95, **more), worded).answer
    assert [citation.turn_id for citation in answer.citations] == ["t0"]
    assert answer.tier is evimem.Tier.EXACT


@pytest.mark.parametrize(("loop", "requests"), [("memr3", 6), ("mgretrieval", 6), ("mragent", 6)])
def test_a_model_that_never_replies_legibly_is_asked_for_two_moves_and_an_answer(
    long_turns: Path, loop: str, requests: int
) -> None:
    asked: list[Complete] = []

    def garbled(request: Complete) -> str:
        asked.append(request)
        return "hm"

    with pytest.raises(evimem.ReplyError) as raised:
        ask(long_turns, loop, then=garbled)
    assert len(asked) == requests
    assert "the model's replies cannot be read" in [
        event.reason for event in raised.value.partial.trace if event.kind == "stop"
    ]


FOUND_NO_ANSWER = {
    "requirements": [],
    "gaps": [],
    "reason": "no line says so",
    "tier": "partial",
    "confidence": 0.45,
    "next_query": "",
    "query": "",
    "answer": "",
    "answerable": False,
    "citations": [],
    "steps": [],
    "action": "retrieve",
    "draft": "",
    "claims": [],
    "withdrawn": [],
    "keywords": ["k1"],
    "critical": [],
    "accepted": False,
    "keep": [],
    "calls": [],
    "supports": [],
}


@pytest.mark.parametrize(
    ("loop", "kind"), [("iris", "quote"), ("memr3", "quote"), ("mragent", "quote"), ("mgretrieval", "abstained")]
)
def test_only_a_loop_that_searched_for_the_question_quotes_where_a_model_finds_no_answer(
    tmp_path: Path, loop: str, kind: str
) -> None:
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=lambda _: json.dumps(FOUND_NO_ANSWER))) as memory:
        memory.extend(load_example("friends"))
        assert memory.ask("When did Mira adopt her puppy?", loop).kind == kind


def test_an_abstention_without_evidence_is_certain_of_an_empty_memory_alone(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=lambda _: json.dumps(FOUND_NO_ANSWER))) as memory:
        nothing_there = memory.ask("When did Mira adopt her puppy?", "mragent-as-published")
        memory.extend(load_example("friends"))
        nothing_found = memory.ask("When did Mira adopt her puppy?", "mragent-as-published")
    assert (nothing_there.confidence, nothing_found.confidence) == (1.0, 0.7)
    assert "holds nothing" in (nothing_there.reason or "")
    assert nothing_found.reason == "no turn was found to answer from"


def test_a_model_whose_replies_cannot_be_read_is_a_failure_and_no_abstention(tmp_path: Path) -> None:
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=lambda _: "no reply")) as memory:
        memory.extend(load_example("friends"))
        with pytest.raises(evimem.ModelError) as failed:
            memory.ask("When did Mira adopt her puppy?", "mragent-as-published")
    assert failed.value.partial is not None
    assert failed.value.partial.kind == "failed"
