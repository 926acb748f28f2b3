"""MRAgent's statements R1 to R6, each checked through the public API."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.extract.labels import read_label
from evimem.judging.judge import MAX_TURN_CALLS, TOOLS
from evimem.loops import MRAgent
from evimem.testing import ScriptedModel
from evimem.types.trace import Trace
from tests.ways import way

from .conftest import draft, events

WHEN = "When did Mira adopt her puppy?"
BESIDES = "What else happened in the month in which Mira adopted the puppy?"
WRIST = "I broke my wrist on 12 July 2023."


def call(tool: str, of: str, part: str = "", page: int = 1) -> dict[str, Any]:
    return {"tool": tool, "of": of, "part": part, "page": page}


def move(*calls: dict[str, Any], answer: str = "", supports: tuple[str, ...] = ()) -> str:
    tier, confidence = ("exact", 0.9) if answer else ("partial", 0.4)
    told = {"reason": "", "gaps": [], "tier": tier, "confidence": confidence, "answer": answer}
    return json.dumps({**told, "calls": list(calls), "supports": list(supports)})


def called(trace: Trace) -> list[dict[str, Any]]:
    """Of each call what was called, what it returned, and why it was refused."""
    return [{**event.detail, "why": event.why} for event in events(trace, "action") if event.action == "call"]


@pytest.fixture(scope="module")
def july(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory in which two things happened in one July, told in different months by different people."""
    path = tmp_path_factory.mktemp("july") / "m.evimem"
    with evimem.open(path) as memory:
        memory.add("Mira", "I adopted a puppy on 5 July 2023.", time="2023-07-06T18:00", session="s1", id="puppy")
        for day in range(1, 21):
            said = f"I ran {day} miles with Mira and the puppy in the month."
            memory.add("Tomas", said, time=f"2023-08-{day:02}T09:00", session="s2", id=f"walk{day}")
        memory.add("Noah", WRIST, time="2023-09-02T09:00", session="s3", id="wrist")
        memory.add("Noah", "It is in plaster.", time="2023-09-02T09:01", session="s3", id="plaster")
        memory.add(
            "Noah", "I lived in Porto from March to May 2019.", time="2023-09-03T09:00", session="s4", id="porto"
        )
        memory.add("Noah", "I moved in 2020.", time="2023-09-03T09:01", session="s4", id="moved")
    return path


@pytest.fixture
def ask(july: Path) -> Callable[..., evimem.Answer]:
    def asked(question: str, *replies: str, then: Any = None, **budget: Any) -> evimem.Answer:
        asked.requests = (model := ScriptedModel(replies, then=then)).requests  # type: ignore[attr-defined]
        with evimem.open(july, llm=model) as memory:
            return memory.ask(question, **way("mragent", **budget))

    return asked


def test_r1_cues_have_tags_tags_have_turns_and_there_is_a_way_back(ask: Any) -> None:
    first = [call("tags_of", "wrist"), call("person_aspects", "Noah"), call("topic_events", "s3")]
    then = [call("events", "wrist", "break"), call("person_facts", "Noah", "break")]
    back = [call("event_time", "wrist"), call("event_cues", "wrist"), call("event_context", "wrist")]
    done = move(answer="a broken wrist", supports=("wrist",))
    answer = ask("Who was hurt?", move(*first), move(*then), move(*back), done, draft("Noah", "wrist"))
    rows = {(one["tool"], one["part"]): one["rows"] for one in called(answer.trace)}
    assert rows["tags_of", ""] == ["break"]
    assert rows["topic_events", ""] == ["wrist", "plaster"]
    assert rows["events", "break"] == rows["person_facts", "break"] == ["wrist"]
    assert "break" in rows["person_aspects", ""]
    assert rows["event_time", ""] == ["2023-07-12T00:00/2023-07-13T00:00 (day)", "2023-09-02T09:00"]
    assert rows["event_cues", ""][0] == "2023-07"
    assert "Noah" in rows["event_cues", ""]
    assert rows["event_context", ""] == ["plaster"]
    assert not [one["why"] for one in called(answer.trace) if one["why"]]


def test_r2_tags_are_listed_with_counts_before_any_content_and_content_comes_in_pages(ask: Any) -> None:
    early = move(call("events", "miles", "run"), call("person_facts", "Noah", "break"))
    listed = move(call("tags_of", "miles"), call("tags_of", "zebra"))
    pages = move(call("events", "miles", "run"), call("events", "miles", "run", 2), call("events", "miles", "rin"))
    trace = ask("Was anybody hurt?", early, listed, pages, move(answer="no"), draft("no", "e1")).trace
    one, two, tags, zebra, first, second, wrong = called(trace)
    assert "call tags_of first" in one["why"]
    assert "call person_aspects first" in two["why"]
    assert (tags["rows"], tags["total"], tags["behind"]) == (["run"], 1, 20)
    assert "no turn has the cue 'zebra'" in zebra["why"]
    assert (len(first["rows"]), len(second["rows"]), first["total"]) == (5, 5, 20)
    assert not set(first["rows"]) & set(second["rows"])
    assert "'run'" in wrong["why"]
    loaded = {event.iteration for event in events(trace, "evidence") if event.turns}
    assert loaded <= {1, 4}, "no content came before its tag was chosen"


def test_r3_a_time_that_a_turn_brings_up_leads_to_what_the_question_never_named(ask: Any) -> None:
    steps = [
        move(call("tags_of", "puppy")),
        move(call("event_cues", "puppy")),
        move(call("events_between", "2023-07", "2023-07")),
        move(answer="Noah broke his wrist", supports=("wrist",)),
    ]
    answer = ask(BESIDES, *steps, draft("Noah broke his wrist", "wrist"))
    found = [(event.iteration, event.turns) for event in events(answer.trace, "evidence") if "wrist" in event.turns]
    assert found == [(4, ("wrist",))]
    cues = next(one for one in called(answer.trace) if one["tool"] == "event_cues")
    assert "2023-07" in cues["rows"]
    assert "2023-07" not in BESIDES
    assert [one.turn_id for one in answer.citations] == ["wrist"]


def test_r4_a_reply_that_cannot_be_read_costs_a_turn_and_two_in_a_row_end_the_search(ask: Any) -> None:
    answer = ask(BESIDES, "hm", "hm", move(call("tags_of", "puppy")), move(answer="a puppy"), draft("a puppy", "e1"))
    assert [one["tool"] for one in called(answer.trace)] == ["tags_of"]
    answer = ask(BESIDES, then=lambda request: "hm" if request.role == "decide" else draft("a puppy", "e1"))
    assert [event.reason for event in events(answer.trace, "stop")] == ["the model's replies cannot be read"]
    assert [one.turn_id for one in answer.citations] == ["puppy"]


def test_r4_a_call_is_made_once_a_few_in_a_turn_and_turns_have_an_end(ask: Any) -> None:
    again = move(call("tags_of", "puppy"), call("tags_of", "puppy", page=2), call("nothing", "puppy"))
    many = move(*(call("events_between", f"20{year}") for year in range(10, 19)))
    same = move(call("tags_of", "wrist"))
    answer = ask(
        WHEN,
        same,
        again,
        again,
        same,
        many,
        then=lambda request: same if request.role == "decide" else draft("x", "puppy"),
    )
    decided = [request for request in ask.requests if request.role == "decide"]
    whys = [one["why"] for one in called(answer.trace)]
    assert sum("it was called before" in why for why in whys) >= 2
    assert sum(f"at most {MAX_TURN_CALLS} calls" in why for why in whys) == 9 - MAX_TURN_CALLS
    assert [event.reason for event in events(answer.trace, "stop")] == ["turns used up"]
    assert "No tool can be called any more" in decided[-1].prompt
    assert len(events(answer.trace, "judgement")) == 8


def test_r5_an_answer_is_supported_by_what_was_returned_and_has_a_confidence(ask: Any) -> None:
    done = move(answer="5 July 2023", supports=("puppy", "e1", "wrist", "e999"))
    answer = ask(
        WHEN,
        done,
        json.dumps(
            {
                **json.loads(draft("5 July 2023")),
                "citations": [{"id": "puppy", "quote": ""}, {"id": "wrist", "quote": ""}],
            }
        ),
    )
    (explored,) = [event.detail for event in events(answer.trace, "action") if event.action == "explore"]
    assert explored["supports"] == ["puppy"]
    assert [one.turn_id for one in answer.citations] == ["puppy"]
    assert 0 <= answer.confidence <= 1
    assert [event.reason for event in events(answer.trace, "stop")] == ["nothing to call"]


def test_r6_times_are_intervals_and_what_happened_is_apart_from_when_it_was_said(ask: Any) -> None:
    times = [
        call("events_between", "2019-03", "2019-05"),
        call("events_between", "2020"),
        call("events_between", "2023-07"),
    ]
    asked = [call("event_time", "porto"), call("event_time", "moved"), call("events_between", "July")]
    answer = ask("Where was Noah?", move(*times), move(*asked), move(answer="Porto"), draft("Porto", "porto"))
    spring, year, july, porto, moved, wrong = called(answer.trace)
    assert (spring["rows"], year["rows"], sorted(july["rows"])) == (["porto"], ["moved"], ["puppy", "wrist"])
    assert porto["rows"][0].startswith("2019-03-01T00:00/2019-06-01T00:00")
    assert moved["rows"][0].startswith("2020-01-01T00:00/2021-01-01T00:00 (year)")
    assert porto["rows"][-1] == "2023-09-03T09:00"
    assert "expected YYYY, YYYY-MM or YYYY-MM-DD" in wrong["why"]


@pytest.mark.parametrize(
    ("graph", "gone"),
    [
        ("cue-tag-content", ()),
        ("cue-tag-event", ("person_aspects", "person_facts", "topic_events")),
        ("cue-event", ("person_aspects", "person_facts", "topic_events", "tags_of", "A tag")),
    ],
)
def test_r8_a_graph_without_tags_or_contents_is_not_spoken_of(ask: Any, graph: str, gone: tuple[str, ...]) -> None:
    ask(
        WHEN, *[move(call(tool, "Noah")) for tool in gone[:1]], move(answer="July"), draft("July", "puppy"), graph=graph
    )
    first = ask.requests[0]
    text = f"{first.system}{first.prompt}{json.dumps(first.schema)}{[tool.name for tool in first.tools]}"
    assert [word for word in gone if re.search(rf"- {word}:|\b{word}[|\"']|{word} says", text)] == []
    assert all(f"- {tool}:" in first.system for tool in TOOLS if tool not in gone)


def test_r_without_a_model_nothing_is_explored_and_the_answer_says_what_was_done(july: Path) -> None:
    with evimem.open(july) as memory:
        explored, looked = memory.ask(BESIDES, "mragent"), memory.ask(BESIDES, "iris")
        assert evimem.replay(explored.trace, memory) == explored
    assert explored.trace.loop == "mragent"
    assert called(explored.trace) == []
    assert "exploring takes a model" in str(explored.reason)
    assert (explored.text, explored.citations) == (looked.text, looked.citations)


def paging(kept: str | None) -> Callable[[Any], str]:
    """Return a model that loads page after page of what was said of miles, and keeps an item of each, or all."""

    def reply(request: Any) -> str:
        turn = int(str(re.findall(r"Turn (\d+) of", request.prompt)[0])) if request.role == "decide" else 0
        if not turn:
            return draft("a wrist", "wrist")
        if turn == 8:
            return keeping(kept, answer="none", supports=("e1",))
        return keeping(kept, *([call("tags_of", "miles")] if turn == 1 else [call("events", "miles", "run", turn)]))

    return reply


def keeping(kept: str | None, *calls: dict[str, Any], **given: Any) -> str:
    return json.dumps({**json.loads(move(*calls, **given)), **({} if kept is None else {"keep": [kept]})})


@pytest.mark.parametrize(
    ("kept", "without", "grows"), [("e1", (), False), (None, (), True), ("e1", ("routing",), True)]
)
def test_r7_what_is_not_kept_of_what_tools_return_joins_no_later_request(
    ask: Any, kept: str | None, without: tuple[str, ...], grows: bool
) -> None:
    answer = ask("How far was it?", then=paging(kept), without=without, neighbours=False)
    asked = [request for request in ask.requests if request.role == "decide"]
    items = [len(set(re.findall(r"(?m)^\[(e\d+)\]", request.prompt))) for request in asked]
    rows = [sum(request.earlier[-1].text.count(f'"e{n}"') for n in range(99)) for request in asked[2:]]
    assert max(rows) == 5, "what the last calls returned is listed whole"
    assert (items[6] > 12) == grows
    assert ("not kept" in str([one.text for one in asked[6].earlier])) == (not grows)
    context = [event.detail["context"] for event in events(answer.trace, "action") if event.action == "explore"]
    assert all(set(one) <= set(two) for one, two in pairwise(context))
    assert (len(context[-1]) == 1) == (not grows)
    shown = [event.detail["turns"] for event in events(answer.trace, "action") if event.action == "show"]
    assert set(shown[-1]) == set(context[-1]), "the answer is written from what was kept"


def test_r5_what_an_answer_rests_on_is_among_its_citations_whatever_its_words_cite(ask: Any) -> None:
    look, done = move(call("events_between", "2023-07")), move(answer="a wrist", supports=("wrist",))
    answer = ask(BESIDES, look, done, draft("a wrist", "puppy"))
    assert [one.turn_id for one in answer.citations] == ["puppy", "wrist"]


def test_r1_what_an_item_brings_up_is_cues_with_their_tags_which_are_listed_by_it(ask: Any) -> None:
    early, back = call("events", "2023-07", "adopt"), [call("event_cues", "puppy"), call("events", "2023-07", "adopt")]
    answer = ask(BESIDES, move(early), *map(move, back), move(answer="July"), draft("July", "puppy"))
    assert '"2023-07" (time; tags adopt)' in ask.requests[2].earlier[-1].text
    assert ["not listed" in one["why"] for one in called(answer.trace)] == [True, False, False]
    assert called(answer.trace)[-1]["rows"] == ["puppy"]


@pytest.fixture
def filed(tmp_path: Path) -> Path:
    """A memory whose turns a model has filed: two sessions of one topic, and a third of another."""
    lines = [
        ("s1", "I won the regional chess cup.", "cup victory", "chess"),
        ("s2", "I lost at chess.", "defeat", "Chess"),
    ]
    lines += [("s3", "I planted beans.", "planting", "garden")]

    def read(request: Any) -> str:
        told = request.prompt.partition("<turn")[2]
        text, tag, topic = next(one[1:] for one in lines if one[1] in told)
        fact = {"subject": "Noah", "predicate": text.split()[1], "object": text.split()[-1].rstrip("."), "when": ""}
        facts = [{**fact, "quote": text, "kind": "event"}]
        return json.dumps({"facts": facts, "keywords": text.rstrip(".").split()[-2:], "tag": tag, "topic": topic})

    model = ScriptedModel(then=read)
    model.concurrency = 1  # type: ignore[attr-defined]
    with evimem.open(tmp_path / "m.evimem", llm=model) as memory:
        for place, (session, text, *_) in enumerate(lines):
            memory.add("Noah", text, time=f"2024-03-1{place}T18:00", session=session, id=f"t{place}")
        memory.enrich()
    return tmp_path / "m.evimem"


def test_r1_turns_that_are_read_side_by_side_share_their_labels(tmp_path: Path) -> None:
    def reply(request: Any) -> str:
        said = request.prompt.rpartition("\n> ")[2].split("\n")[0]
        thing = said.split()[-1].strip(".")
        pets = "Pets" if thing == "puppy" else "pets"
        fact = {"subject": "Mira", "predicate": "adopted", "object": thing, "quote": said, "kind": "event", "when": ""}
        return json.dumps({"facts": [{**fact, "attribute": ""}], "topic": pets, "tag": pets, "keywords": [thing]})

    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=reply)) as memory:
        memory.add("Mira", "I adopted Rex.", time="2024-03-12T18:20", id="a")
        memory.add("Mira", "I adopted my rex.", time="2024-03-12T18:20", id="b")
        memory.add("Mira", "I adopted a puppy.", time="2024-03-12T18:20", id="c")
        memory.enrich()
        labels = [read_label(memory._core.store.facts([one])) for one in "abc"]
    assert len({label.tag for label in labels}) == len({label.topic for label in labels}) == 1
    assert labels[0].keywords == labels[1].keywords


def test_r1_a_model_files_turns_under_tags_and_under_topics_of_several_sessions(filed: Path) -> None:
    first = move(call("tags_of", "chess"), call("event_cues", "t0"), call("topic_events", "chess"))
    then = move(call("events", "chess", "defeat"), call("topic_events", "s3"), call("topic_events", "golf"))
    model = ScriptedModel([first, then, move(answer="a cup", supports=("t0",)), draft("a cup", "t0")])
    with evimem.open(filed, llm=model) as memory:
        trace = memory.ask("What did Noah win?", "mragent").trace
    tags, cues, topic, events_of, session, none = called(trace)
    assert sorted(tags["rows"]) == ["cup victory", "defeat"]
    assert cues["rows"][:2] == ["chess", "cup"]
    assert (topic["rows"], topic["total"]) == (["t0", "t1"], 2)
    assert events_of["rows"] == ["t1"]
    assert session["rows"] == ["t2"]
    assert "no topic or session 'golf'" in none["why"]
    assert "session s1, topic chess" in model.requests[1].earlier[-1].text


def test_r1_as_published_it_begins_with_the_cues_alone(filed: Path) -> None:
    first = move(call("tags_of", "Noah"), call("tags_of", "win"))
    moves = [first, move(call("events", "Noah", "cup victory")), move(answer="a cup", supports=("t0",))]
    model = ScriptedModel([*moves, draft("a cup", "t0")])
    with evimem.open(filed, llm=model) as memory:
        answer = memory.ask("What did Noah win?", "mragent-as-published")
    assert "(nothing was found)" in model.requests[0].prompt
    assert '- "Noah"' in model.requests[0].prompt
    assert {event.iteration for event in events(answer.trace, "evidence") if event.turns} == {3}


@pytest.mark.parametrize("most", [1, 3])
def test_r4_how_many_calls_a_turn_makes_is_a_setting(filed: Path, most: int) -> None:
    asked = move(*(call("person_aspects", name) for name in ("Noah", "Mira", "Zoe", "Ada")))
    model = ScriptedModel([asked, move(answer="a cup", supports=("t0",)), draft("a cup", "t0")])
    with evimem.open(filed, llm=model) as memory:
        trace = memory.ask("What did Noah win?", MRAgent(calls_a_turn=most)).trace
    refused = [one["why"] for one in called(trace) if f"at most {most} calls are made in a turn" in one["why"]]
    assert len(refused) == 4 - most
    assert f"calls: at most {most}," in model.requests[0].system


@pytest.mark.parametrize(
    ("loop", "tools"),
    [
        ("cue-event-one-turn", {"events"}),
        ("cue-tag-event-one-turn", {"tags_of", "events"}),
        ("one-turn", {"tags_of", "events", "person_aspects", "person_facts"}),
    ],
)
def test_r8_without_reasoning_a_graph_is_walked_by_rule_in_one_turn(filed: Path, loop: str, tools: set[str]) -> None:
    model = ScriptedModel([move(answer="a cup", supports=("t0",)), draft("a cup", "t0")])
    with evimem.open(filed, llm=model) as memory:
        trace = memory.ask("What cup did Noah win?", loop).trace
    assert {one["tool"] for one in called(trace)} == tools
    assert {event.iteration for event in events(trace, "evidence")} == {1}
    assert not events(trace, "query"), "nothing is searched for"
    assert len(model.requests) == 2
