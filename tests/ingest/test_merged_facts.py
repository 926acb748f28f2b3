"""A model's facts of a turn take the place of those by rule."""

import json
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.testing import ScriptedModel

SAID = "We adopted a puppy last Friday. Noah bought a lead."
PUPPY = {"subject": "Mira", "predicate": "adopted", "object": "a puppy", "when": "last Friday"}
REPLY = [{**PUPPY, "quote": "adopted a puppy last Friday", "kind": "event"}]


def opened(path: Path, facts: list[dict[str, Any]]) -> evimem.Memory:
    return evimem.open(path, llm=ScriptedModel(then=lambda request: json.dumps({"facts": facts})))


def stated(memory: evimem.Memory) -> list[tuple[str, str]]:
    return [(fact.extractor, fact.text) for fact in memory.facts(["t1"])]


@pytest.mark.parametrize("first", ["rules", "model"])
def test_a_turn_that_a_model_read_has_the_models_facts_alone(tmp_path, first):
    """Whichever came first; a longer fact by rule is no reason to drop one, and one that is wrong goes."""
    with opened(tmp_path / "m.evimem", REPLY) as memory:
        memory.add("Mira", SAID, time="2024-03-12T18:00", id="t1")
        if first == "rules":
            assert len(stated(memory)) == 2
        memory.enrich()
        assert stated(memory) == [("llm", "Mira adopted a puppy")]
        memory.rebuild()
        assert stated(memory) == [("llm", "Mira adopted a puppy")]
        assert memory.check().problems == ()


@pytest.mark.parametrize("facts", [[], [{**REPLY[0], "quote": "adopted an elephant"}]])
def test_facts_by_rule_stay_where_the_model_found_none(tmp_path, facts):
    with opened(tmp_path / "m.evimem", facts) as memory:
        memory.add("Mira", SAID, time="2024-03-12T18:00", id="t1")
        memory.enrich()
        assert [extractor for extractor, _ in stated(memory)] == ["rules", "rules"]


def test_an_export_of_both_kinds_is_read_as_the_models_alone(tmp_path):
    """As a memory wrote it whose facts by rule stood beside the model's."""
    lines = []
    for kind in ("rules", "model"):
        with opened(tmp_path / f"{kind}.evimem", REPLY) as memory:
            memory.add("Mira", SAID, time="2024-03-12T18:00", id="t1")
            assert stated(memory)
            if kind == "model":
                memory.enrich()
            memory.export(tmp_path / kind)
        lines.append([json.loads(line) for line in (tmp_path / kind).read_text().splitlines()])
    lines[0][1]["facts"] += lines[1][1]["facts"]
    (tmp_path / "both").write_text("".join(json.dumps(line) + "\n" for line in lines[0]))
    with evimem.open(tmp_path / "both.evimem") as memory:
        memory.import_(tmp_path / "both")
        assert stated(memory) == [("llm", "Mira adopted a puppy")]


@pytest.mark.parametrize(
    ("after", "kept"), [("I met Wilhelmina.", True), ("Nice weather.", False)], ids=["named elsewhere", "named nowhere"]
)
def test_a_name_that_a_model_read_in_a_forgotten_turn_is_forgotten_with_it(tmp_path, after, kept):
    clinic = {"subject": "Wilhelmina", "predicate": "starts at", "object": "the clinic", "when": "on 8 March 2024"}
    reply = json.dumps({"facts": [{**clinic, "quote": "She starts at the clinic", "kind": "event"}]})
    model = ScriptedModel(then=lambda request: reply if "She starts" in request.prompt.rpartition("<turn")[2] else "[]")
    with evimem.open(tmp_path / "m.evimem", llm=model) as memory:
        for number, text in enumerate((after, "Any news of Wilhelmina?", "She starts at the clinic on 8 March 2024.")):
            memory.add("Mira", text, time=f"2024-03-12T18:0{number}", id=f"t{number}")
        memory.enrich()
        memory.forget(turns=["t1"])
        found = memory.facts(["t2"])
        assert ["Wilhelmina" in fact.text for fact in found] == [kept] * len(found)
        assert (memory.check().problems, memory.enrich().done) == ((), 0 if kept else 1)
