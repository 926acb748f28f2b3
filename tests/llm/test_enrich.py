import json
from dataclasses import replace
from datetime import datetime

import pytest

from evimem.errors import ModelUnavailable, ReplyError
from evimem.llm.extract_facts import (
    extract_request,
    plan_retry,
    read_extraction,
)
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


def test_a_poisoned_turn_goes_to_the_dead_letters_and_holds_up_no_other():
    bad = ReplyError("extract", "it is empty", "")
    assert [plan_retry(bad, n).seconds for n in (1, 2, 3)] == [30.0, 60.0, None]
    refused = ModelUnavailable("no", retryable=False, status=400)
    assert [(plan_retry(refused, n).seconds, plan_retry(refused, n).halt) for n in (1, 3)] == [
        (30.0, False),
        (None, False),
    ]


def test_a_server_that_is_down_makes_the_queue_rest_and_costs_no_turn():
    down = ModelUnavailable("down", retryable=True)
    assert [plan_retry(down, n).seconds for n in (1, 3, 50)] == [30.0, 120.0, 600.0]
    assert plan_retry(down, 50).halt
    assert plan_retry(ModelUnavailable("busy", retryable=True, retry_after=3600.0, status=429), 1).seconds == 3600.0
    assert plan_retry(ModelUnavailable("key", retryable=False, status=401), 9).seconds is not None


def test_a_reason_holds_nothing_that_was_said():
    error = ReplyError("extract", "it is empty", "Mira's card is 4111")
    assert plan_retry(error, 1).reason == "ReplyError: it is empty"


def test_the_request_has_the_turns_before_as_context_and_nothing_said_in_the_system_part():
    request = extract_request(TURN, EARLIER)
    assert '"Noah":\n> Did you go to the shelter in Porto?' in request.prompt
    assert "Tue 12 March 2024 18:00" in request.prompt
    assert "puppy, Biscuit" in request.prompt
    assert "Biscuit" not in request.system
