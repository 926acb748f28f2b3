"""What a model's facts say beyond the words of their turn stands beside these, in every prompt and in a block."""

import json

import pytest

import evimem
from evimem.llm.shown_words import what_is_meant
from evimem.testing import ScriptedModel
from evimem.types.values import Fact
from tests.replies import SUPPORTED

MEANT = '> She got a place at the clinic.\n= that is: "Wilhelmina got a place at the clinic"'
VERDICT = {"tier": "exact", "confidence": 0.9, "requirements": SUPPORTED, "gaps": [], "next_query": "", "reason": ""}
DRAFT = {"steps": [], "answer": "a place", "citations": [{"id": "e1", "quote": "a place"}]}
FACT = {"subject": "Wilhelmina", "predicate": "got", "object": "a place at the clinic", "when": "", "kind": "event"}


def reply(request):
    facts = [{**FACT, "quote": "She got a place"}] if "She got" in request.prompt.rpartition("<turn")[2] else []
    return json.dumps({"judge": VERDICT, "answer": DRAFT, "extract": {"facts": facts}}[request.role])


@pytest.fixture
def clinic(tmp_path):
    model = ScriptedModel(then=reply)
    with evimem.open(tmp_path / "m.evimem", llm=model) as memory:
        memory.add("Mira", "Any news of Wilhelmina?", time="2024-03-12T18:20", id="a")
        memory.add("Noah", "She got a place at the clinic.", time="2024-03-12T18:21", id="b")
        memory.enrich()
        yield memory, model


def test_judge_and_answer_read_whom_a_pronoun_means(clinic):
    memory, model = clinic
    memory.ask("What did Wilhelmina get at the clinic?")
    prompts = {request.role: request.prompt for request in model.requests}
    assert MEANT in prompts["judge"]
    assert MEANT in prompts["answer"]


def test_a_block_says_whom_a_pronoun_means(clinic):
    memory, _ = clinic
    lines = memory.block("What did Wilhelmina get at the clinic?").text.splitlines()
    said = next(at for at, line in enumerate(lines) if line.endswith("She got a place at the clinic."))
    assert lines[said + 1] == MEANT.splitlines()[1]


@pytest.mark.parametrize(
    ("said", "fact", "meant"),
    [
        ("I got a place at the clinic.", {"subject": "Noah"}, False),
        ("Mum got a place at the clinic.", {"subject": "Noah's mother"}, False),
        ("Wilhelmina got a place at the clinic.", {}, False),
        ("She got it!", {}, True),
    ],
)
def test_facts_that_repeat_the_words_of_their_turn_are_not_shown(tmp_path, said, fact, meant):
    found = json.dumps({"facts": [{**FACT, **fact, "quote": said}]})
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=found)) as memory:
        memory.add("Mira", "Did Wilhelmina get a place at the clinic?", time="2024-03-12T18:20", id="a")
        memory.add("Noah", said, time="2024-03-12T18:21", id="b")
        memory.enrich()
        assert [one.text for one in memory.facts(["b"])] == [
            f"{fact.get('subject', 'Wilhelmina')} got a place at the clinic"
        ]
        assert ("that is:" in memory.block("Who got a place at the clinic?").text) is meant


def test_few_facts_are_shown_those_that_name_most_and_no_report():
    turn = evimem.Turn("b", "s", "Noah", "She got it there!", "2024-03-12T18:21", role="user")
    told = [
        ("Ana", "saw", "it"),
        ("Ana", "got", "a place at the clinic"),
        ("Ana", "likes", "the clinic"),
        ("Eli", "is", "x"),
    ]
    facts = [Fact(f"f{n}", "b", *parts, None, (0, 17), "state", "llm") for n, parts in enumerate(told)]
    reported = Fact("r", "b", "Noah", "said", "Bea got a dog, two cats and a horse", None, (0, 17), "report", "llm")
    assert what_is_meant([*facts, reported], turn, turn.text) == 'that is: "Ana got a place at the clinic"; "Eli is x"'
