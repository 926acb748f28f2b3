"""MRAgent's loop in detail: what it asks of the store, its tools, and what it does where nothing can be called."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.judging.judge import TOOLS, Result, Row, ToolCall, route
from evimem.loops import MRAgent
from evimem.loops.mragent import MENTIONED_TAG, interval, tags, time_cues
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete
from evimem.types.values import Fact, Hit, TimeSpan, Turn
from tests.model_server import Fault, ModelServer

QUESTION = "Why did Juno eat the shoe of Mira?"
SAID = Turn("t", "s", "Mira", "We adopted a puppy.", datetime(2024, 3, 12))


def fact(predicate: str, thing: str, event: TimeSpan | None = None) -> Fact:
    return Fact(thing, "t", "Mira", predicate, thing, event, (0, 1), "event", "rules")


def span(start: datetime, end: datetime, granularity: Any) -> TimeSpan:
    return TimeSpan(start, end, granularity, "then")


@pytest.mark.parametrize("loop", ["mgretrieval", "mragent"])
@pytest.mark.parametrize("within", [{"speaker": "Tomas"}, {"session": "s3"}])
def test_no_turn_outside_the_scope_of_a_question_is_found(
    friends_path: Path, loop: str, within: dict[str, str]
) -> None:
    with evimem.open(friends_path) as memory:
        trace = memory.ask("When did Mira adopt her puppy?", loop, **within).trace
        found = {turn for event in trace if event.kind == "evidence" for turn in event.turns}
        assert found
        assert all(within.items() <= vars_of(memory.turn(turn)).items() for turn in found)


def vars_of(turn: Turn) -> dict[str, str]:
    return {"speaker": turn.speaker, "session": turn.session}


def native(*calls: dict[str, Any]) -> dict[str, Any]:
    made = [
        {"id": f"x{place}", "type": "function", "function": {"name": one["tool"], "arguments": json.dumps(one)}}
        for place, one in enumerate(calls)
    ]
    return {"message": {"role": "assistant", "content": None, "tool_calls": made}, "finish_reason": "tool_calls"}


def moves(*calls: dict[str, Any], **fields: Any) -> str:
    told = {"reason": "", "gaps": [], "tier": "partial", "confidence": 0.4, "answer": "", "supports": []}
    return json.dumps({**told, "calls": list(calls), **fields})


STEPS = [
    ({"tool": "tags_of", "of": "Juno"}, {"tool": "tags_of", "of": "zebra"}),
    ({"tool": "event_cues", "of": "e1"}, {"tool": "event_context", "of": "e1"}),
]
DONE = [
    moves(tier="exact", confidence=0.9, answer="twins", supports=["e1"]),
    json.dumps({"steps": [], "answer": "twins", "citations": [{"id": "e1", "quote": ""}]}),
]
TOOLLESS = Fault("400", error={"message": "this model does not support tools"})


@pytest.mark.parametrize(
    "script",
    [[*(native(*calls) for calls in STEPS), *DONE], [TOOLLESS, *(moves(*calls) for calls in STEPS), *DONE]],
    ids=["native", "named in the reply"],
)
def test_tools_are_called_over_http_whether_the_server_knows_them_or_not(friends_path: Path, script: list[Any]) -> None:
    with (
        ModelServer(*script) as server,
        evimem.open(friends_path, llm=evimem.OpenAI("small", base_url=server.url)) as memory,
    ):
        answer = memory.ask("Who is expecting twins?", "mragent")
        assert evimem.replay(evimem.Trace.from_json(answer.trace.to_json()), memory).trace == answer.trace
    called = [event.detail for event in answer.trace if event.kind == "action" and event.action == "call"]
    turn = called[2]["of"]
    assert [(one["tool"], one["of"]) for one in called] == [
        ("tags_of", "Juno"), ("tags_of", "zebra"), ("event_cues", turn), ("event_context", turn),
    ]  # fmt: skip
    assert [citation.turn_id for citation in answer.citations] == [turn]
    assert (answer.text, answer.usage.requests) == ("twins", 4)
    third = server.received[-2].body["messages"]
    assert "no turn has the cue" in json.dumps(third)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2023", datetime(2023, 1, 1), datetime(2024, 1, 1)),
        ("2023-12", datetime(2023, 12, 1), datetime(2024, 1, 1)),
        (" 2024-02-29 ", datetime(2024, 2, 29), datetime(2024, 3, 1)),
    ],
)
def test_a_year_a_month_and_a_day_are_intervals(text: str, start: datetime, end: datetime) -> None:
    assert interval(text) == (start, end)


@pytest.mark.parametrize("text", ["", "May 2023", "2023-13", "2023-02-30", "0000", "9999", "23", "2023-XX"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert interval(text) is None


def test_a_tag_is_one_for_all_forms_of_a_predicate_and_is_about_its_cue() -> None:
    hit = Hit(SAID, (fact("adopted", "a puppy"), fact("is adopting", "a cat"), fact("likes", "tea")), 1.0)
    assert tags(hit, "puppy") == tags(hit, "cat") != tags(hit, "tea")
    assert set(tags(hit, "Mira")) == set(tags(hit, "2024-03")) == {*tags(hit, "puppy"), *tags(hit, "tea")}
    assert tags(hit, "harbour") == (MENTIONED_TAG,)


def test_a_time_cue_is_as_coarse_as_the_event_and_has_no_middle() -> None:
    day = span(datetime(2024, 7, 5), datetime(2024, 7, 6), "day")
    year = span(datetime(2020, 1, 1), datetime(2021, 1, 1), "year")
    years = span(datetime(1914, 7, 1), datetime(1918, 12, 1), "span")
    assert time_cues((day, year, years, replace(day, start=None, end=None))) == (
        "2024-07", "2020", "1914-07", "1918-11",
    )  # fmt: skip


BAKES = {"subject": "Leo", "predicate": "bakes", "object": "rye bread", "when": "", "quote": "bakes rye bread"}


@pytest.fixture
def leo(tmp_path: Path) -> Path:
    """A memory in which a model has read who "he" is: somebody whom an earlier turn names."""
    lines = ["Leo came by.", "It was late.", "He bakes rye bread.", "The oven is old.", "Anna, too."]

    def read(request: Complete) -> str:
        here = "He bakes rye bread." in request.prompt.partition("<turn")[2]
        return json.dumps({"facts": [{**BAKES, "kind": "state"}] if here else []})

    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=read)) as memory:
        for place, text in enumerate(lines):
            memory.add("Mira", text, time=f"2024-03-12T18:0{place}", id=f"t{place}")
        memory.enrich()
    return tmp_path / "m.evimem"


def test_a_fact_is_found_by_whom_it_is_about_where_only_an_earlier_turn_names_them(leo: Path) -> None:
    with evimem.open(leo) as memory:
        found = [(fact.turn_id, fact.text) for fact in memory.facts(about="Leo") if fact.extractor == "llm"]
        assert memory.facts(about="Anna") == ()
    assert found == [("t2", "Leo bakes rye bread")]


def test_so_are_its_tag_and_its_aspect(leo: Path) -> None:
    first = moves({"tool": "tags_of", "of": "Leo"}, {"tool": "person_aspects", "of": "Leo"})
    then = moves({"tool": "events", "of": "Leo", "part": "bake"}, {"tool": "person_facts", "of": "Leo", "part": "bake"})
    with evimem.open(leo, llm=ScriptedModel([first, then, *DONE])) as memory:
        trace = memory.ask("What of Leo?", "mragent").trace
    made = [event for event in trace if event.kind == "action" and event.action == "call"]
    assert [event.why for event in made] == ["", "", "", ""]
    assert [event.detail["rows"] for event in made[2:]] == [["t2"], ["t2"]]


LISTS = [("tags_of", "puppy"), ("person_aspects", "Mira"), ("topic_events", "s1")]
CALLS = [
    [{"tool": tool, "of": of} for tool, of in LISTS],
    [{"tool": "events", "of": "puppy", "part": "adopt"}, {"tool": "events_between", "of": "2024"}],
]


@pytest.mark.parametrize(
    ("graph", "refused"),
    [
        ("cue-tag-content", []),
        ("cue-tag-event", ["person_aspects", "topic_events"]),
        ("cue-event", ["tags_of", "person_aspects", "topic_events"]),
    ],
)
def test_a_graph_without_tags_or_contents_has_no_tools_for_them(
    friends_path: Path, graph: Any, refused: list[str]
) -> None:
    model = ScriptedModel([*(moves(*calls) for calls in CALLS), *DONE])
    with evimem.open(friends_path, llm=model) as memory:
        trace = memory.ask("Who is expecting twins?", MRAgent(graph=graph)).trace
        assert evimem.replay(trace, memory).trace == trace
    made = [(event.detail["tool"], event.why) for event in trace if event.kind == "action" and event.action == "call"]
    assert [tool for tool, why in made if f"no tool {tool}" in why] == refused
    assert not [why for tool, why in made if tool not in refused and why]
    offered = {tool.name: tool for tool in model.requests[0].tools}
    assert not set(refused) & offered.keys()
    assert ("part" in offered["events"].arguments["required"]) == ("tags_of" in offered)
    asked = model.requests[0]
    text = f"{asked.system}{asked.prompt}{json.dumps(asked.schema)}"
    assert [tool for tool in TOOLS if re.search(rf"- {tool}:|\b{tool}[|\"]", text)] == list(offered)
    assert ("A tag" in text) == ("tags_of" in offered)


VERBS = "adopt bake clean draw fix grow hang iron knit lend mend paint sell".split()


@pytest.fixture(scope="module")
def talker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory in which one person has more turns than are ranked for a reader, of thirteen classes."""
    path = tmp_path_factory.mktemp("talker") / "m.evimem"
    start = datetime(2024, 1, 1, 9)
    with evimem.open(path) as memory:
        memory.extend(
            evimem.Turn(f"t{n}", "s", "Mira", f"I {VERBS[n] if n < 13 else 'paint'}ed chair {n}.", start + timedelta(n))
            for n in range(130)
        )
        memory.add("Mira", "In July the roof was open.", id="roof", time="2024-09-01T09:00")
    return path


def called(path: Path, *turns: tuple[dict[str, Any], ...]) -> list[Any]:
    with evimem.open(path, llm=ScriptedModel([*(moves(*calls) for calls in turns), *DONE])) as memory:
        trace = memory.ask("Which chair did Mira paint?", "mragent").trace
    return [event for event in trace if event.kind == "action" and event.action == "call"]


def test_the_tags_and_turns_of_a_cue_are_all_counted_and_every_page_can_be_turned(talker: Path) -> None:
    first, second, third = called(
        talker,
        ({"tool": "tags_of", "of": "Mira"}, {"tool": "tags_of", "of": "Mira", "page": 2}),
        ({"tool": "events", "of": "Mira", "part": "adopt"},),
    )
    assert (first.detail["behind"], first.detail["total"]) == (131, 14)
    assert (len(first.detail["rows"]), len(second.detail["rows"])) == (12, 2)
    assert third.detail["rows"] == ["t0"]


def test_the_aspects_of_a_person_are_all_counted(talker: Path) -> None:
    (aspects,) = called(talker, ({"tool": "person_aspects", "of": "Mira", "page": 2},))
    assert aspects.detail["behind"] == 130
    assert len(aspects.detail["rows"]) == aspects.detail["total"] - 12 > 0


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ({"tool": "tags_of", "of": "zzz"}, "no turn has the cue 'zzz'; there is 'Mira', "),
        ({"tool": "topic_events", "of": "weather"}, "there is no topic or session 'weather'; there is 's'"),
        ({"tool": "events_between", "of": "2024", "page": 99}, "there is no page 99; the last is 27"),
        ({"tool": "event_time", "of": "t0x"}, "no tool has returned 't0x' yet; there is 't"),
    ],
)
def test_a_refusal_names_what_there_is(talker: Path, call: dict[str, Any], told: str) -> None:
    (refused,) = called(talker, (call,))
    assert told in refused.why


def test_a_turn_brings_up_the_times_that_its_words_mention(talker: Path) -> None:
    cues = called(talker, ({"tool": "events_between", "of": "2024-09-01"},), ({"tool": "event_cues", "of": "roof"},))[1]
    assert cues.detail["rows"][0] == "2024-07"


def test_a_kept_cue_keeps_its_tags_and_a_kept_tag_is_read_in_any_case() -> None:
    listed = Result(ToolCall("tags_of", "retired"), (Row("mentioned", "tag", 1), Row("work", "tag", 1)), 2, number=2)
    assert route([listed], 2, ["Retired"]) == (listed,)
    (kept,) = route([listed], 2, ['"Work"'])
    assert ([row.key for row in kept.rows], kept.pruned) == (["work"], 1)


def test_cues_are_words_that_turns_have_as_people_write_them_and_times(tmp_path: Path) -> None:
    model = ScriptedModel([moves(answer="x", tier="none")])
    with evimem.open(tmp_path / "m.evimem", llm=model) as memory:
        memory.add("Mira", "My boy has a grey coat, and I am a nurse.", time="2024-02-12T18:20")
        memory.add("Mira", "In March we go to the sea.", time="2024-03-01T18:20")
        memory.ask("What colour did my son have at his job in February 2024?", "mragent", asked_at="2024-06-01")
    listed = model.requests[0].prompt.partition("that the memory knows:")[2].partition("<evidence>")[0]
    assert {"boy", "grey", "nurse", "2024-02"} <= set(re.findall(r'"([^"]+)"', listed))
    assert not {"colour", "job", "boi", "march", "March"} & set(re.findall(r'"([^"]+)"', listed))
