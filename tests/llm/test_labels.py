"""What a model files a turn under: which names it may use, what is kept of them, and who is shown them."""

import json
from datetime import datetime

import evimem
from evimem.extract.labels import Label, canonical, label_fact, label_in
from evimem.llm.extract_facts import extract_request, read_extraction
from evimem.llm.shown_words import what_is_meant
from evimem.testing import ScriptedModel
from evimem.types.stored import statements
from evimem.types.values import Turn

TURN = Turn("t9", "s", "Mira", "We adopted a puppy, Biscuit, last Friday.", datetime(2024, 3, 12, 18))
EARLIER = (Turn("t8", "s", "Noah", "Did you go to the shelter in Porto?", datetime(2024, 3, 12, 17)),)
ADOPTED = {
    "subject": "Mira", "predicate": "adopted", "object": "a puppy", "when": "last Friday",
    "quote": "adopted a puppy, Biscuit, last Friday", "kind": "event",
}  # fmt: skip
FILED = {"keywords": ["Biscuit", "Porto", "Lisbon"], "tag": "Pets new", "topic": "none"}


def test_a_turn_with_facts_is_filed_under_names_that_were_said_and_in_the_words_that_are_in_use():
    known = (Label("Mira's pets", "new pet", ("biscuits",)),)
    found = read_extraction(json.dumps({"facts": [ADOPTED], **FILED}), TURN, EARLIER, known=known).facts
    assert label_in(found) == Label("", "new pet", ("biscuits", "Porto"))
    assert [fact.predicate for fact in statements(found)] == ["adopted"]
    assert read_extraction(json.dumps({"facts": [], **FILED}), TURN).facts == ()
    assert label_in(statements(found)) == Label()


def test_the_names_in_use_are_shown_to_the_model():
    known = (Label("Mira's pets", "new pet", ("Biscuit", "Porto")), Label("Mira's pets", "", ('a "quote"',)))
    prompt = extract_request(TURN, known=known).prompt
    assert 'keywords: "Biscuit", "Porto", "a' in prompt
    assert prompt.count("Mira's pets") == 1
    assert "In use:\n(nothing)" in extract_request(TURN).prompt


def test_a_label_is_kept_with_its_facts_and_is_none_of_them(tmp_path):
    reply = json.dumps({"facts": [ADOPTED], **FILED, "topic": "Mira's pets"})
    asked = []

    def extracted(request):
        asked.append(request.prompt)
        return reply

    model = ScriptedModel(then=extracted)
    model.concurrency = 1
    with evimem.open(tmp_path / "m.evimem", llm=model) as memory:
        for place in range(2):
            memory.add("Mira", TURN.text, time=f"2024-03-1{place}T18:00", session=f"s{place}", id=f"t{place}")
        memory.enrich()
        store = memory._core.store
        filed = [label_in(store.facts([one])) for one in ("t0", "t1")]
        assert filed == [Label("Mira's pets", "Pets new", ("Biscuit",))] * 2
        assert 'In use:\nkeywords: "Biscuit"' in asked[1]
        assert {fact.predicate for fact in memory.facts(about="Mira")} == {"adopted"}
        assert {hit.fact.predicate for hit in memory.search_facts("Biscuit pets new")} == {"adopted"}
        assert {fact.kind for fact in store.about("Mira", 9).facts} == {"event"}
        memory.rebuild()
        assert [label_in(store.facts([one])) for one in ("t0", "t1")] == filed
        assert memory.check().problems == ()
        memory.export(tmp_path / "out.jsonl")
        memory.forget(["t0"])
        assert store.facts(["t1"]) != ()
    with evimem.open(tmp_path / "again.evimem") as other:
        other.import_(tmp_path / "out.jsonl")
        assert label_in(other._core.store.facts(["t1"])) == filed[1]


def test_one_name_stands_for_all_forms_of_its_words_and_for_no_other():
    assert canonical("Family visits", ("visiting friends", "family visit")) == "family visit"
    assert canonical("the", ("of",)) == "the"
    assert label_in([label_fact(TURN, Label("a", "b", ("c", "d")))]) == Label("a", "b", ("c", "d"))


def test_a_label_adds_nothing_to_what_is_meant_by_the_words_of_a_turn():
    filed = label_fact(TURN, Label("Mira's pets", "new pet", ("shelter",)))
    assert what_is_meant([filed], TURN, TURN.text) == ""
