"""A trace, stored and read back, leads to the same answer again: without a model, offline, through every loop."""

import json
from dataclasses import replace
from typing import Any

import pytest

import evimem
from evimem import Answer, Budget, ModelTimeout, ModelUnavailable, Trace, TraceMismatch
from evimem.loops import LOOPS, VARIANTS, Iris
from evimem.testing import ScriptedModel
from evimem.types.trace import Acted
from tests.replies import SUPPORTED

QUESTION = "When did Mira adopt her puppy?"
OF_REASON = "Why did Mira start the cello?"  # which no rule proves an answer to, so that it is quoted
REFINED = ("Juno the lurcher", "the shelter in Leeds")


def verdict(tier: str = "partial", confidence: float = 0.4, query: str = "") -> str:
    gaps = [{"kind": "time", "about": "Mira", "text": f"no date, {query}"}] if tier == "partial" else []
    fields = {"tier": tier, "confidence": confidence, "requirements": SUPPORTED, "gaps": gaps, "next_query": query}
    return json.dumps({**fields, "reason": "so it is"})


DRAFT = json.dumps({"steps": ["e1 says it"], "answer": "8 March 2024", "citations": [{"id": "e1", "quote": ""}]})
CHECKS = [verdict(query=REFINED[0]), verdict(query=REFINED[1]), verdict("exact", 0.9)]
QUERY = json.dumps({"query": "the day of the adoption"})
CHAIN = json.dumps({"type": "multi_hop", "steps": ["first", "then"], "used": ["e1"]})
DECISION = {"requirements": [], "gaps": [], "reason": "so it is", "tier": "partial", "confidence": 0.4, "draft": ""}
SEARCH = [json.dumps({**DECISION, "action": "retrieve", "query": query}) for query in REFINED]
THINK = json.dumps({**DECISION, "action": "reflect", "query": ""})
READ: dict[str, Any] = {"critical": ["e1"], "gaps": [], "reason": "so it is", "tier": "partial", "confidence": 0.4}
KEPT = json.dumps({**READ, "answer": "in March", "accepted": False})
FINAL = json.dumps({**READ, "tier": "exact", "confidence": 0.9, "answer": "8 March 2024", "accepted": True})
MOVE: dict[str, Any] = {"gaps": [], "reason": "so it is", "tier": "exact", "confidence": 0.9, "supports": ["e1"]}
TAGS = [{"tool": "tags_of", "of": "puppy", "part": "", "page": 1}, {"tool": "events", "of": "Mira", "part": "own"}]
CALLS = json.dumps({**MOVE, "tier": "partial", "confidence": 0.4, "calls": TAGS, "answer": ""})
FOUND = json.dumps({**MOVE, "calls": [], "answer": "8 March 2024"})
SCRIPTS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "one check": ([CHECKS[2], DRAFT], {}),
    "three checks": ([*CHECKS, DRAFT], {}),
    "repaired replies": (["hm", CHECKS[2], "no", DRAFT], {}),
    "an abstention": ([verdict("none", 0.1)] * 3, {}),
    "a single pass": ([CHECKS[0], DRAFT], {"loop": "single_pass"}),
    "separate calls": ([CHECKS[0], QUERY, CHECKS[2], DRAFT], {"loop": Iris(calls="separate")}),
    "a named ablation": ([DRAFT], {"loop": VARIANTS["single-pass"]}),
    "decisions": ([SEARCH[0], THINK, SEARCH[1], THINK, SEARCH[0], DRAFT], {"loop": "memr3"}),
    "decisions that cannot be read": (
        ["hm", SEARCH[0], "no", "{}", SEARCH[1], "?", "", THINK, DRAFT],
        {"loop": "memr3"},
    ),
    "rounds": ([KEPT, "hm", KEPT, FINAL, DRAFT], {"loop": "mgretrieval"}),
    "rounds that cannot be read": (["hm"] * 4 + [DRAFT, DRAFT], {"loop": "mgretrieval"}),
    "calls": ([CALLS, "hm", CALLS, FOUND, DRAFT], {"loop": "mragent"}),
    "calls that cannot be read": (["hm"] * 4 + [DRAFT, DRAFT], {"loop": "mragent", "budget": Budget(iterations=3)}),
    "a chain": ([verdict("inferrable", 0.72), CHAIN, DRAFT], {"loop": Iris(calls="separate", delta=1)}),
}


@pytest.fixture
def path(friends_path):
    return friends_path


def told(trace: Trace) -> Trace:
    return Trace.from_json(trace.to_json())


def same(again: Answer, first: Answer) -> None:
    assert again == first
    assert again.trace == first.trace
    assert again.usage.requests == first.usage.requests


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_a_model_said_leads_to_the_same_answer_again(path, name):
    replies, options = SCRIPTS[name]
    with evimem.open(path, llm=ScriptedModel(replies)) as memory:
        first = memory.ask(QUESTION, **options)
        memory.keep_trace(first.trace)
    with evimem.open(path) as offline:
        same(evimem.replay(offline.trace(), offline), first)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("question", [QUESTION, "When did Tomas adopt a puppy?", "What does Tomas do for a living?"])
def test_an_offline_answer_is_found_again(path, loop, question):
    with evimem.open(path) as memory:
        first = memory.ask(question, loop)
        same(evimem.replay(told(first.trace), memory), first)


@pytest.mark.parametrize(
    "error", [ModelTimeout("no answer within 60 s"), ModelUnavailable("503 from host", retryable=True, status=503)]
)
def test_a_question_that_a_failure_ended_ends_there_again(path, error):
    with evimem.open(path, llm=ScriptedModel([CHECKS[0], error])) as memory:
        with pytest.raises(type(error)) as caught:
            memory.ask(QUESTION, budget=Budget(seconds=None))
        first = caught.value.partial
    with evimem.open(path) as offline:
        again = evimem.replay(told(first.trace), offline)
    same(again, first)
    assert not again.abstained


@pytest.mark.parametrize(
    ("replies", "budget"),
    [
        ([ModelTimeout("no answer within 60 s")], Budget()),
        ([CHECKS[0], CHECKS[2], ModelUnavailable("503 from host", retryable=True, status=503)], Budget()),
        (["hm", CHECKS[2], "no", "no"], Budget(k=7)),
        ([ModelTimeout("no answer within 60 s")], Budget(seconds=0.0)),
    ],
)
@pytest.mark.parametrize("loop", LOOPS)
def test_an_answer_without_the_model_that_failed_is_found_again(path, loop, replies, budget):
    question = QUESTION if len(replies) > 1 else "When did Tomas adopt a puppy?"
    with evimem.open(path, llm=ScriptedModel(replies, then=replies[-1]), on_model_error="offline") as memory:
        first = memory.ask(question, loop, budget=budget)
        memory.keep_trace(first.trace)
    with evimem.open(path) as offline:
        again = evimem.replay(offline.trace(), offline)
    same(again, first)
    assert again.fell_back


def test_the_probability_of_an_answer_without_the_model_is_the_recorded_one(path):
    replies = [CHECKS[0], ModelTimeout("no answer within 60 s")]
    with evimem.open(path, llm=ScriptedModel(replies), on_model_error="offline") as memory:
        answer = memory.ask(OF_REASON, budget=Budget(seconds=None))
    assert answer.kind == "quote"
    trace = answer.trace
    last = max(place for place, event in enumerate(trace.events) if event.kind == "judgement")
    events = list(trace.events)
    events[last] = replace(events[last], probability=0.875)
    with evimem.open(path) as offline, pytest.raises(TraceMismatch, match="Acted"):  # the answer's, not the judgement's
        evimem.replay(replace(trace, events=tuple(events)), offline)


def test_a_memory_that_changed_is_named_and_what_differs_with_it(path):
    with evimem.open(path, llm=ScriptedModel([CHECKS[2], DRAFT])) as memory:
        trace = memory.ask(QUESTION).trace
    with evimem.open(path) as offline:
        offline.add("Mira", "When did I adopt my puppy? When Mira adopted her puppy!", time="2024-12-24T10:00")
        with pytest.raises(TraceMismatch, match=r"event \d+ of the trace \(Found"):
            evimem.replay(trace, offline)


def test_a_trace_without_its_beginning_or_its_replies_is_refused(path):
    with evimem.open(path, llm=ScriptedModel([CHECKS[2], DRAFT])) as memory:
        trace = memory.ask(QUESTION).trace
    with evimem.open(path) as offline:
        with pytest.raises(TraceMismatch, match="analysis"):
            evimem.replay(Trace(trace.question, trace.loop, trace.events[1:]), offline)
        early = replace(trace.events[0], detail={"budget": {}})
        with pytest.raises(TraceMismatch, match="analysis"):
            evimem.replay(Trace(trace.question, trace.loop, (early, *trace.events[1:])), offline)
        without = tuple(event for event in trace if event.kind != "call")
        with pytest.raises(TraceMismatch, match="more model requests"):
            evimem.replay(Trace(trace.question, trace.loop, without), offline)


def test_the_part_of_a_trace_without_the_model_is_checked_like_the_rest(path):
    with evimem.open(path, llm=ScriptedModel([ModelTimeout("late")]), on_model_error="offline") as memory:
        trace = memory.ask(QUESTION).trace
    (place,) = [at for at, event in enumerate(trace.events) if isinstance(event, Acted) and event.action == "fall back"]
    begun = trace.events[place + 1]
    assert isinstance(begun, Acted)
    wrong = replace(begun, detail={**begun.detail, "budget": {**begun.detail["budget"], "k": "many"}})
    with evimem.open(path) as offline:
        with pytest.raises(TraceMismatch, match="analysis"):
            evimem.replay(replace(trace, events=trace.events[: place + 1]), offline)
        with pytest.raises(TraceMismatch, match="events, the replay"):
            evimem.replay(replace(trace, events=trace.events[:-1]), offline)
        spoilt = replace(trace, events=(*trace.events[: place + 1], wrong, *trace.events[place + 2 :]))
        with pytest.raises(evimem.InvalidQuery, match=r"budget\.k"):
            evimem.replay(spoilt, offline)
