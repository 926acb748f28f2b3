"""MGRetrieval's statements G1 to G6, each checked through the public API, or through a store of its own (G1, G5)."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evimem
from evimem.loops import VARIANTS, MGRetrieval, mgretrieval
from evimem.loops.mgretrieval import keyword_groups
from evimem.testing import ScriptedModel
from evimem.types.stored import Entry
from evimem.types.trace import Trace
from evimem.types.values import Turn
from tests.reference.memory_store import MemoryStore
from tests.sizes import few

from .conftest import PUPPY, Chat, draft, events

WHEN = "When did Mira adopt her puppy?"
LONG = "Which heron by the mill did Mira see on the walk, or which salty loaf did Noah bake?"
WORDS = ("heron", "mill", "loaf", "salt")


def considered(*critical: str, accepted: bool = False, tier: str = "partial", answer: str = "") -> str:
    kept = {"critical": list(critical), "gaps": [], "reason": "", "answer": answer, "accepted": accepted}
    return json.dumps({**kept, "tier": tier, "confidence": 0.9 if accepted else 0.4})


def chosen(*labels: str) -> str:
    return json.dumps({"keywords": list(labels)})


DONE = considered("e1", accepted=True, tier="exact", answer="8 March 2024")


def labels(request: Any) -> list[str]:
    """Return the labels of the lines that are shown."""
    return re.findall(r"(?m)^\[(e\d+)\]", request.prompt)


def worded(request: Any) -> str:
    """Answer with the first line that is shown."""
    return draft("no", *labels(request)[:1])


def ask(chat: Chat, question: str, *replies: Any, **options: Any) -> evimem.Answer:
    return chat.ask(question, *replies, loop="mgretrieval", **options)


def rounds(trace: Trace) -> list[tuple[str, ...]]:
    """Of each round, the turns that it was the first to read."""
    found: dict[int, tuple[str, ...]] = {}
    for event in events(trace, "evidence"):
        found[event.iteration] = (*found.get(event.iteration, ()), *event.turns)
    return list(found.values())


def shown(trace: Trace) -> list[set[str]]:
    return [set(event.detail["turns"]) for event in events(trace, "action") if event.action == "show"]


def test_g1_each_keyword_has_the_turns_that_say_it_and_a_new_turn_joins_its_own(remembered: Any) -> None:
    memory = remembered(("Mira", PUPPY, "2024-03-12T18:20"), ("Noah", "Your puppy is loud.", "2024-03-12T18:21"))
    store = memory._core.store
    assert [found.turns for found in store.keywords(["Biscuit", "puppies", "harbour"])] == [1, 2]
    postings = store.corpus()
    memory.add("Mira", "The puppy swam in the harbour.", time="2024-03-13T09:00", id="D1:3")
    assert [found.turns for found in store.keywords(["Biscuit", "puppies", "harbour"])] == [1, 3, 1]
    assert store.holding(["puppi"], 9).turn_ids == ("D1:1", "D1:2", "D1:3")
    assert store.corpus() is postings, "the postings were read anew"
    assert memory.turn("D1:1").text == PUPPY


def test_g2_at_most_four_keywords_of_the_memory_are_read_from_all_of_them_to_each_alone(chat: Chat) -> None:
    trace = ask(chat, LONG, chosen("k4", "k3", "k99", "k5", "k6", "k7"), *[considered()] * 4, k=60).trace
    (choice,) = [event.detail for event in events(trace, "action") if event.action == "keywords"]
    with evimem.open(chat.path) as memory:
        held = memory._core.store
        assert all(found.turns == choice["found"][found.term] for found in held.keywords(LONG.split()[1:9]))
        groups = [tuple(event.query.split()) for event in events(trace, "query")]
        sizes = [held.holding(group, 0).total for group in groups]
    assert len(choice["found"]) > len(choice["chosen"]) == 4
    assert set(choice["chosen"]) <= choice["found"].keys()
    assert {term for group in groups for term in group} == set(choice["chosen"])
    lengths = [len(group) for group in groups]
    assert lengths == sorted(lengths, reverse=True)
    assert all(a <= b for (a, one), (b, other) in pairwise(zip(sizes, groups, strict=True)) if len(one) == len(other))
    assert 0 not in sizes, "what has no turns is not searched"


def test_g3_a_round_reads_only_what_is_new_and_there_are_at_most_four(chat: Chat) -> None:
    answer = ask(chat, WHEN, *[considered()] * 4, worded)
    read = rounds(answer.trace)
    assert [len(turns) for turns in read] == [10, 10, 10, 1]
    assert len({turn for turns in read for turn in turns}) == 31
    again = ask(chat, "Who saw the heron?", *[considered()] * 3, worded)
    assert [len(turns) for turns in rounds(again.trace) if turns] == [10, 10, 10]
    assert [event.reason for event in events(again.trace, "stop")] == ["nothing left"]
    at_once = ask(chat, WHEN, DONE, draft())
    assert [event.reason for event in events(at_once.trace, "stop")] == ["accepted"]
    assert [request.role for request in chat.requests] == ["decide", "answer"]
    assert len(rounds(ask(chat, WHEN, *[considered("e1")] * 4, draft(), k=2).trace)) == 4


def test_g4_a_round_is_given_the_question_the_answer_so_far_what_is_critical_and_what_is_new(chat: Chat) -> None:
    replies = [
        considered("e1", "e3", answer="in March"),
        considered("e3"),
        lambda request: considered(labels(request)[1]),
        considered("e99"),
    ]
    trace = ask(chat, WHEN, *replies, worded).trace
    read = rounds(trace)
    asked = [request.prompt for request in chat.requests]
    kept = [event.detail["critical"] for event in events(trace, "action") if event.action == "consider"]
    assert [len(ids) for ids in kept] == [2, 1, 1, 0]
    assert shown(trace)[:4] == [set(new) | set(old) for new, old in zip(read, [[], *kept], strict=False)]
    assert all(WHEN in prompt for prompt in asked)
    assert ['- "in March"' in prompt for prompt in asked[:4]] == [False, True, True, True]
    assert ["Kept before: none" in prompt for prompt in asked[:4]] == [True, False, False, False]


@pytest.fixture
def filed(tmp_path: Path) -> Path:
    """Two exchanges; of the turns of the first a model has written keywords, one of which no turn of it says."""
    lines = ["Did Leo come by?", "He bakes rye bread now.", "Did you see the heron?", "Yes, it ate a fish."]

    def read(request: Any) -> str:
        said = request.prompt.partition("<turn")[2]
        fact = {"subject": "Leo", "predicate": "bakes", "object": "rye bread", "when": "", "quote": "bakes rye bread"}
        facts = [{**fact, "kind": "state"}] if "bakes" in said else []
        return json.dumps({"facts": facts, "keywords": ["Leo", "rye bread"], "tag": "baking", "topic": "Leo"})

    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=read)) as memory:
        for place, text in enumerate(lines):
            memory.add("MN"[place % 2], text, time=f"2024-03-12T18:0{place}", id=f"t{place}")
        memory.enrich()
    return tmp_path / "m.evimem"


LITERAL = {"unit": "exchange", "vocabulary": "whole", "whole_groups": True, "neighbours": False}


def test_g1_keywords_that_a_model_writes_stand_in_the_place_of_the_stems_of_a_turn(filed: Path) -> None:
    def reply(request: Any) -> str:
        labels = dict(re.findall(r'(k\d+): "([^"]+)", in', request.prompt))
        listed.append(set(labels.values()))
        wanted = [label for label, keyword in labels.items() if keyword in {"Leo", "rye bread", "heron"}]
        return chosen(*wanted) if labels else considered() if request.role == "decide" else draft("rye", "t1")

    listed: list[set[str]] = []
    with evimem.open(filed, llm=ScriptedModel(then=reply)) as memory:
        trace = memory.ask("What does he bake?", MGRetrieval(**LITERAL)).trace
    assert {"Leo", "rye bread", "heron", "fish"} <= listed[0]
    assert not {"bread", "bake"} & listed[0], "the words of a turn that a model has filed are no keywords"
    (choice,) = [event.detail for event in events(trace, "action") if event.action == "keywords"]
    assert set(choice["chosen"]) == {"Leo", "rye bread", "heron"}
    assert rounds(trace) == [("t0", "t1"), ("t2", "t3")], "exchanges, the group of most keywords first"


@pytest.mark.parametrize(("most", "pages"), [(500, 1), (10, 7)])
def test_g2_the_whole_vocabulary_is_chosen_from_in_pages(chat: Chat, most: int, pages: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(mgretrieval, "MAX_LISTED_KEYWORDS", most)

    def reply(request: Any) -> str:
        labels = dict(re.findall(r'(k\d+): "([^"]+)"[^,]*, in', request.prompt))
        asked.append(len(labels))
        wanted = [label for label, keyword in labels.items() if keyword in {"heron", "puppy"}]
        return chosen(*wanted) if labels else considered() if request.role == "decide" else draft("no", "e1")

    asked: list[int] = []
    with evimem.open(chat.path, llm=ScriptedModel(then=reply)) as memory:
        trace = memory.ask(WHEN, MGRetrieval(vocabulary="whole")).trace
    (choice,) = [event.detail for event in events(trace, "action") if event.action == "keywords"]
    assert sorted(choice["chosen"]) == ["heron", "puppi"]
    pages_asked = [count for count in asked if count]
    assert max(pages_asked) <= most
    assert sum(pages_asked[:pages]) == choice["vocabulary"] > 4
    with evimem.open(chat.path) as memory:
        first = memory.ask(WHEN, MGRetrieval(vocabulary="whole")).trace
    (choice,) = [event.detail for event in events(first, "action") if event.action == "keywords"]
    assert set(choice["chosen"]) <= choice["found"].keys(), "by rule, only what the question names"


TURNS = st.lists(st.sets(st.sampled_from(WORDS)), min_size=1, max_size=12)


@given(TURNS, st.permutations(WORDS))
@few(30)
def test_g5_what_each_keyword_has_alone_contains_every_higher_level(said: list[set[str]], terms: list[str]) -> None:
    store = MemoryStore("none", 8)
    texts = [" ".join(sorted(words)) or "nothing" for words in said]
    turns = [Turn(f"t{n}", "s", "Mira", text, f"2024-03-12T18:{n:02}") for n, text in enumerate(texts)]  # type: ignore[arg-type]
    store.write([Entry(turn) for turn in turns])
    every = list(keyword_groups(terms, lambda group: 1))
    assert [sum(len(group) == size for group in every) for size in (4, 3, 2, 1)] == [1, 4, 6, 4]
    held = {group: store.holding(group, 99).turn_ids for group in every}
    levels = [{one for group in every if len(group) == size for one in held[group]} for size in (4, 3, 2, 1)]
    assert all(above <= below for above, below in pairwise(levels))
    assert levels[-1] == {turn.id for turn, words in zip(turns, said, strict=True) if words}


def test_g6_the_answer_is_written_from_what_was_critical_in_the_callers_form(chat: Chat) -> None:
    done = considered("e1", "e3", accepted=True, tier="exact", answer="adopted on 8 March")
    replies = [considered("e1", "e3"), done, draft("8 March 2024", "e1")]
    answer = ask(chat, WHEN, *replies, format="one date, in words")
    last = chat.requests[-1]
    kept = [event.detail["critical"] for event in events(answer.trace, "action") if event.action == "consider"][-1]
    assert shown(answer.trace)[-1] == set(kept)
    assert len(kept) == 2
    assert 'Write it in this form: "one date, in words"' in last.prompt
    assert "adopted on 8 March" in last.prompt
    order = [event.kind for event in answer.trace if event.kind in {"query", "call"}]
    assert order[-2:] == ["call", "call"]
    assert {one.turn_id for one in answer.citations} <= set(kept)


@pytest.mark.parametrize(("accepts", "ends"), [("flag", "accepted"), ("tier", "rounds used up")])
def test_g7_as_in_the_paper_the_flag_alone_ends_it(chat: Chat, accepts: str, ends: str) -> None:
    unsure = considered("e1", accepted=True, tier="partial", answer="8 March")
    trace = ask(chat, WHEN, *[unsure] * (1 if accepts == "flag" else 4), draft(), accepts=accepts).trace
    assert [event.reason for event in events(trace, "stop")] == [ends]


@pytest.mark.parametrize("depth", [1, 2, 6])
def test_g8_a_pyramid_is_as_deep_as_it_is_to_be(chat: Chat, depth: int) -> None:
    def reply(request: Any) -> str:
        listed = "Keywords that the memory knows" in request.prompt
        return chosen(*[f"k{n}" for n in range(1, 9)]) if listed else considered("e1", accepted=True, answer="no")

    with evimem.open(chat.path, llm=ScriptedModel(then=reply)) as memory:
        trace = memory.ask(LONG, MGRetrieval(depth=depth, iterations=1, without={"rewriting"})).trace  # type: ignore[arg-type]
    (choice,) = [event.detail["chosen"] for event in events(trace, "action") if event.action == "keywords"]
    assert len(choice) == depth
    assert {word for event in events(trace, "query") for word in event.query.split()} <= set(choice)


@pytest.mark.parametrize("left_out", ["one-round", "read-again", "not-rewritten"])
def test_g9_its_ablations_leave_out_one_part_each(chat: Chat, left_out: str) -> None:
    def reply(request: Any) -> str:
        labels = dict(re.findall(r'(k\d+): "([^"]+)", in', request.prompt))
        wanted = [label for label, keyword in labels.items() if keyword in {"heron", "Mira", "puppy"}]
        return chosen(*wanted) if labels else considered("e1", answer="x") if request.role == "decide" else draft("y")

    def asked(loop: str) -> tuple[int, bool, int]:
        model = ScriptedModel(then=reply)
        with evimem.open(chat.path, llm=model) as memory:
            trace = memory.ask(WHEN, VARIANTS[loop]).trace
        read = [one for one in events(trace, "action") if one.action == "consider"]
        views = shown(trace)[: len(read)]
        again = any(len(one & two) > 1 for one, two in pairwise(views))
        return len(read), again, sum(request.role == "answer" for request in model.requests)

    rounds_made, again, answers = asked("mgretrieval-as-published")
    assert (rounds_made > 1, again, answers) == (True, False, 1)
    rounds_made, again, answers = asked(left_out)
    expected = (left_out == "one-round", left_out == "read-again", left_out == "not-rewritten")
    assert (rounds_made == 1, again, answers == 0) == expected


@pytest.mark.parametrize("question", [WHEN, LONG, "What did she do?", "???"])
def test_g_without_a_model_it_ends_and_cites_what_it_has_read(chat: Chat, question: str) -> None:
    with evimem.open(chat.path) as memory:
        first, again = memory.ask(question, "mgretrieval"), memory.ask(question, "mgretrieval")
    assert first.trace == again.trace
    assert {one.turn_id for one in first.citations} <= first.trace.read.keys()
    assert len(rounds(first.trace)) <= 4
