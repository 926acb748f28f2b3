"""What a model reads in a turn: grounded facts, what it is filed under; and when a failure is tried again."""

import json
from dataclasses import replace
from datetime import datetime

import pytest

import evimem
from evimem.errors import ModelUnavailable, PromptTooLong, ReplyError
from evimem.extract.labels import Label, find_known_name, label_fact, read_label
from evimem.llm.extract_facts import extract_request, plan_retry, read_extraction
from evimem.testing import ScriptedModel
from evimem.text.prompt_text import resolved_references
from evimem.types.stored import statements
from evimem.types.values import Turn

TURN = Turn(
    "t9", "s", "Mira", "We adopted a puppy, Biscuit, last Friday. I don't like the noise.", datetime(2024, 3, 12, 18)
)
EARLIER = (Turn("t8", "s", "Noah", "Did you go to the shelter in Porto?", datetime(2024, 3, 12, 17)),)
ADOPTED = {
    "subject": "Mira", "predicate": "adopted", "object": "a puppy", "when": "last Friday",
    "quote": "adopted a puppy, Biscuit, last Friday", "kind": "event",
}  # fmt: skip


def read(*facts, turn=TURN, previous=EARLIER):
    return read_extraction(json.dumps({"facts": list(facts)}), turn, previous)


def kept(turn=TURN, **changes):
    (fact,) = read({**ADOPTED, **changes}, turn=turn).facts
    return fact


def dropped(**changes):
    extraction = read({**ADOPTED, **changes})
    assert extraction.facts == ()
    (reason,) = extraction.dropped
    return reason


def test_a_fact_is_grounded_to_the_character_and_dated_by_our_own_grammar():
    fact = kept()
    assert TURN.text[slice(*fact.span)] == "adopted a puppy, Biscuit, last Friday"
    assert (fact.subject, fact.predicate, fact.object, fact.kind, fact.extractor) == (
        "Mira", "adopted", "a puppy", "event", "llm",
    )  # fmt: skip
    assert (fact.event.start, fact.event.granularity) == (datetime(2024, 3, 8), "day")


def test_the_first_person_is_the_speaker():
    assert kept(subject="I").subject == kept(subject="The user").subject == "Mira"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"quote": "adopted two cats"}, "quote not in the turn"), ({"predicate": ""}, "incomplete"),
        ({"object": "an elephant called Dumbo"}, "words from nowhere"), ({"object": "a kitten"}, "words from nowhere"),
        ({"object": "an adopted puppy, 7"}, "words from nowhere"), ({"object": "Wilma's puppy"}, "words from nowhere"),
        ({"subject": "John Doe"}, "words from nowhere"), ({"subject": "Mira's sister"}, "words from nowhere"),
        ({"subject": "Mira's friends"}, "words from nowhere"), ({"subject": "the weather"}, "words from nowhere"),
    ],
)  # fmt: skip
def test_what_the_turn_does_not_say_is_dropped_and_counted(changes, why):
    assert dropped(**changes) == why


@pytest.mark.parametrize(
    ("said", "subject", "object"),
    [
        ("i'm on 41 now", "Mira", "41k now"), ("three of them, 1.800 each", "Mira", "3 for 1,800"),
        ("ma maw has a gin", "Mira's mother", "a gin"), ("mamas got milk", "Mira's mother", "milk"),
        ("phase one of the timetable moves", "phase 1 of the timetable migration", "the timetable"),
        ("its ma wrist, the writing one", "Mira's hurt wrist", "the writing one"),
        ("if the hip lets me", "Mira's going to the shelter", "Mira's hip"), ("you taught me lists", "Noah", "lists"),
        ("the flat is cold", "Mira's apartment", "cold"),
    ],
)  # fmt: skip
def test_what_the_turn_says_in_other_words_is_kept(said, subject, object):
    turn = replace(TURN, text=said)
    assert kept(turn, subject=subject, object=object, quote=said).subject == subject


def test_what_a_picture_shows_is_said_of_the_picture():
    shown = replace(TURN, caption="a brown dog on a beach")
    assert (
        kept(shown, kind="image", subject="the dog in the picture", object="a beach", quote="on a beach").event is None
    )


def test_where_nothing_tells_a_name_from_a_word_each_must_be_said():
    turn = replace(TURN, text="我们在里斯本买了一套公寓。")
    assert kept(turn, subject="公寓", object="里斯本", quote="我们在里斯本买了一套公寓").object == "里斯本"
    assert read({**ADOPTED, "subject": "公寓", "object": "里斯本马德里", "quote": "公寓"}, turn=turn).facts == ()


def test_names_may_come_from_the_turns_before_but_the_words_may_not():
    assert kept(object="a puppy in Porto").object == "a puppy in Porto"
    assert dropped(quote="go to the shelter in Porto") == "quote not in the turn"


def test_a_time_that_the_turn_does_not_mention_is_no_time():
    assert kept(when="two years ago").event is None
    assert kept(when="").event is None


def test_a_picture_grounds_what_it_shows_and_nothing_else():
    turn = replace(TURN, caption="a brown dog on a sofa")
    fact = kept(turn, predicate="shares a picture of", object="a brown dog", quote="brown dog", kind="image", when="")
    assert (fact.kind, turn.caption[slice(*fact.span)]) == ("image", "brown dog")
    assert read({**ADOPTED, "quote": "brown dog"}, turn=turn).facts == ()


def test_an_assistant_never_speaks_for_a_user():
    turn = Turn(
        "a1",
        "s",
        "assistant",
        "Mira prefers tea and wants refunds. I looked it up.",
        datetime(2024, 3, 12),
        None,
        "assistant",
    )
    fact = kept(turn, predicate="prefers", object="tea", quote="Mira prefers tea", kind="opinion", when="")
    assert (fact.subject, fact.predicate, fact.object, fact.kind) == ("assistant", "said", "Mira prefers tea", "report")
    own = kept(turn, subject="I", predicate="looked up", object="it", quote="I looked it up", when="")
    assert (own.subject, own.kind) == ("assistant", "event")


def test_a_reply_may_only_add():
    wicked = {"facts": [], "delete": ["t9"], "update": [{"id": "t9", "text": "x"}], "replaced_by": "t1"}
    assert read_extraction(json.dumps(wicked), TURN).facts == ()
    assert kept(replaced_by="f1", id="t1", turn_id="t1", extractor="rules").replaced_by is None
    assert kept(turn_id="t1", extractor="rules").turn_id == "t9"


def test_a_flood_of_facts_is_cut_and_counted():
    extraction = read(*({**ADOPTED, "object": f"a puppy{' a' * n}"} for n in range(40)))
    assert len(extraction.facts) == 32
    assert extraction.dropped == {"too many": 8}


BAD, REFUSED = ReplyError("extract", "it is empty", "Mira's card is 4111"), {"retryable": False, "status": 400}


@pytest.mark.parametrize(
    ("error", "waits", "halts", "certain", "gives_up_at"),
    [
        (BAD, {1: 30.0, 2: 60.0}, False, False, 3),  # a turn that is alone at fault is given up
        (ModelUnavailable("no", **REFUSED), {1: 30.0}, False, False, 3),
        (PromptTooLong("long", retryable=False), {1: 30.0}, False, False, 3),
        # A server that is down makes the queue rest, unless it is down for one turn alone.
        (ModelUnavailable("down", retryable=True), {1: 30.0, 3: 120.0, 50: 600.0}, True, False, 6),
        (ModelUnavailable("busy", retryable=True, retry_after=3600.0, status=429), {1: 3600.0}, True, True, 6),
        (ModelUnavailable("key", retryable=False, status=401), {9: 600.0}, True, True, 6),
    ],
)
def test_a_failure_says_when_to_try_again_and_whose_fault_it_may_be(error, waits, halts, certain, gives_up_at):
    for attempts, seconds in waits.items():
        plan = plan_retry(error, attempts)
        assert (plan.seconds, plan.halt, plan.certain) == (seconds, halts, certain)
        assert "4111" not in plan.reason
    assert [plan_retry(error, attempts).last for attempts in (gives_up_at - 1, gives_up_at)] == [False, True]


def test_the_request_has_the_turns_before_as_context_and_nothing_said_in_the_system_part():
    request = extract_request(TURN, EARLIER)
    assert '"Noah":\n> Did you go to the shelter in Porto?' in request.prompt
    assert "Tue 12 March 2024 18:00" in request.prompt
    assert "puppy, Biscuit" in request.prompt
    assert "Biscuit" not in request.system


FILED = {"keywords": ["Biscuit", "Porto", "Lisbon"], "tag": "Pets new", "topic": "none"}


def test_a_turn_with_facts_is_filed_under_names_that_were_said_and_in_the_words_that_are_in_use():
    known = (Label("Mira's pets", "new pet", ("biscuits",)),)
    found = read_extraction(json.dumps({"facts": [ADOPTED], **FILED}), TURN, EARLIER, known=known).facts
    assert read_label(found) == Label("", "new pet", ("biscuits", "Porto"))
    assert [fact.predicate for fact in statements(found)] == ["adopted"]
    assert read_extraction(json.dumps({"facts": [], **FILED}), TURN).facts == ()
    assert read_label(statements(found)) == Label()


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
        filed = [read_label(store.facts([one])) for one in ("t0", "t1")]
        assert filed == [Label("Mira's pets", "Pets new", ("Biscuit",))] * 2
        assert 'In use:\nkeywords: "Biscuit"' in asked[1]
        assert {fact.predicate for fact in memory.facts(about="Mira")} == {"adopted"}
        assert {hit.fact.predicate for hit in memory.search_facts("Biscuit pets new")} == {"adopted"}
        assert {fact.kind for fact in store.about("Mira", 9).facts} == {"event"}
        memory.rebuild()
        assert [read_label(store.facts([one])) for one in ("t0", "t1")] == filed
        assert memory.check().problems == ()
        memory.export(tmp_path / "out.jsonl")
        memory.forget(["t0"])
        assert store.facts(["t1"]) != ()
    with evimem.open(tmp_path / "again.evimem") as other:
        other.import_(tmp_path / "out.jsonl")
        assert read_label(other._core.store.facts(["t1"])) == filed[1]


def test_one_name_stands_for_all_forms_of_its_words_and_for_no_other():
    assert find_known_name("Family visits", ("visiting friends", "family visit")) == "family visit"
    assert find_known_name("the", ("of",)) == "the"
    assert read_label([label_fact(TURN, Label("a", "b", ("c", "d")))]) == Label("a", "b", ("c", "d"))


def test_a_label_adds_nothing_to_what_is_meant_by_the_words_of_a_turn():
    filed = label_fact(TURN, Label("Mira's pets", "new pet", ("shelter",)))
    assert resolved_references([filed], TURN, TURN.text) == ""


def test_a_fact_comes_up_for_the_requests_that_a_model_found_it_to_bear_on(tmp_path):
    said = "the folder is at Tom's place"
    fact = {
        "subject": "user",
        "predicate": "has",
        "object": "the folder at Tom's place",
        "quote": said,
        "kind": "state",
    }
    found = json.dumps({"facts": [{**fact, "bears_on": "dinner, recipes, restaurants"}]})
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=lambda request: found)) as memory:
        memory.add("user", said, time=datetime(2024, 3, 12), id="folder")
        for n in range(30):
            memory.add(
                "user",
                f"My cousin number {n} lives in the village and I like her kitchen and garden.",
                time=datetime(2024, 3, 13),
            )
            memory.add("assistant", "I see.", time=datetime(2024, 3, 13))
        asked = "Suggest a dinner for tonight"
        before = memory.block(asked, tokens=160).text
        memory.enrich()
        assert said not in before
        assert said in memory.block(asked, tokens=160).text
        assert [one.predicate for one in memory.facts(["folder"])] == ["has"]
