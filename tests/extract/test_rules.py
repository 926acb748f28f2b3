from datetime import datetime, timedelta

import pytest

from evimem import Turn
from evimem.extract.attribution import find_own_acts
from evimem.extract.rule_extractor import RuleExtractor
from evimem.extract.turn_facts import MAX_FACTS, classify_stance

TUESDAY = datetime(2024, 3, 12, 18, 20)


def turn(text: str, caption: str | None = None, role: str | None = None, speaker: str = "Mira") -> Turn:
    return Turn("t1", "s1", speaker, text, TUESDAY, caption=caption, role=role)


def facts(text: str, **more: str) -> list[tuple[str, str, str]]:
    return [(fact.subject, fact.predicate, fact.object) for fact in RuleExtractor().extract(turn(text, **more))]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I adopted a puppy.", "event"), ("My sister is a nurse.", "state"), ("I live in Porto.", "state"),
        ("I love olives.", "opinion"), ("I used to live in Porto.", "state"),
    ],
)  # fmt: skip
def test_a_fact_has_the_kind_of_its_verb(text: str, kind: str) -> None:
    (fact,) = RuleExtractor().extract(turn(text))
    assert fact.kind == kind


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I adopted a puppy.", "asserts"), ("Nice! I adopted a puppy. And you?", "asserts"),
        ("I got a puppy, want to see her?", "asserts"), ("In March, with my brother.", "asserts"),
        ("What did you do?", "asks"), ("Cool! Do you still live in Porto?", "asks"), ("where do you live", "asks"),
        ("Wow, that's great, Ben!", "neither"), ("Thank you so much for asking!", "neither"),
        ("Take care of yourself!", "neither"), ("Good morning!", "neither"), ("\U0001f389\U0001f389", "neither"),
        ("", "neither"),
    ],
)  # fmt: skip
def test_a_turn_asserts_or_asks_or_does_neither(text: str, expected: str) -> None:
    assert classify_stance(turn(text)) == expected
    assert expected == "asserts" or not facts(text)


def test_each_clause_has_its_own_time() -> None:
    sold, bought = RuleExtractor().extract(turn("I sold my car yesterday and my wife bought a bike in January."))
    assert sold.event is not None
    assert bought.event is not None
    assert sold.event.start == datetime(2024, 3, 11)
    assert bought.event.granularity == "month"


def test_the_extractors_weekday_argument_decides_what_last_monday_means() -> None:
    said = turn("I adopted a cat last Monday.")
    recent, previous = (
        RuleExtractor(weekday=weekday).extract(said)[0].event for weekday in ("recent", "previous_week")
    )
    assert recent is not None
    assert previous is not None
    assert recent.start is not None
    assert previous.start == recent.start - timedelta(days=7)


def test_what_an_assistant_did_is_a_fact_and_what_it_advises_or_drafts_is_none() -> None:
    said = facts("I booked a table. The museum opens at nine. I'd take the tram. Book early.", speaker="assistant")
    assert said == [("assistant", "booked", "a table")]
    assert facts("Here is a draft:\n\nDear Ana,\nI sold the car.\nBest,\nTom", speaker="assistant") == []


def test_an_act_in_a_quotation_is_no_own_one_and_a_mark_of_inches_opens_none() -> None:
    assert find_own_acts('The note said "I booked a table" in red.') == []
    assert len(find_own_acts('It fits a 27" screen, and I booked a table.')) == 1


@pytest.mark.parametrize(
    ("caption", "expected"),
    [
        ("a photo of a dog on a beach", ("Mira", "shared a photo of", "a dog on a beach")),
        ("An image of two red bikes.", ("Mira", "shared an image of", "two red bikes")),
        ("  three cups  ", ("Mira", "shared a photo of", "three cups")),
    ],
)
def test_a_caption_becomes_a_fact_about_what_the_speaker_shared(caption: str, expected: tuple[str, str, str]) -> None:
    assert facts("", caption=caption) == [expected]


def test_what_a_speaker_says_of_themselves_is_read_wherever_it_stands_in_a_long_turn() -> None:
    long = "The ferry leaves the harbour. " * 200 + "I met Ana. " + "The gulls scream. " * 200
    assert ("Mira", "met", "Ana") in facts(long)


def test_a_turn_has_16_facts_and_one_more_for_every_2000_characters() -> None:
    assert len(facts(" ".join(f"I bought {n} boats." for n in range(99)))) == MAX_FACTS
    assert len(facts(" ".join(f"I bought {n} boats." for n in range(999)))) == MAX_FACTS + 9


def test_a_pasted_letter_a_quotation_and_code_are_not_the_speakers_words() -> None:
    assert facts("Improve my letter:\n\nDear Ms. Cole,\nI live in Oslo.\nRegards,\nMira\n\nI hate letters.") == [
        ("Mira", "hates", "letters")
    ]
    assert facts("> I sold my car\nNo way.") == []
    assert facts('He wrote: "Sorry. I sold my car." I love jazz.') == [("Mira", "loves", "jazz")]
    assert facts("```\nI sold my car.\n```\nI use Go.") == [("Mira", "uses", "Go")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My sister Ruth is late.", ("Mira's sister", "Ruth")),
        ("Everybody calls me Kit.", ("Mira", "Kit")),
        ("My real name is Kateryna.", ("Mira", "Kateryna")),
        ("I babysat my niece Katherine, everyone calls her Kit.", ("Katherine", "Kit")),
        ("Benedict rang yesterday (we all call him Ned).", ("Benedict", "Ned")),
    ],
)
def test_another_name_is_learned_where_it_is_told(text: str, expected: tuple[str, str]) -> None:
    assert (expected[0], "also_known_as", expected[1]) in facts(text)


@pytest.mark.parametrize(
    "request_to_remember",
    ["Remember that", "Please remember that", "Note that", "Keep in mind that", "Remember,", "FYI"],
)
def test_a_request_to_remember_states_what_follows_it(request_to_remember: str) -> None:
    facts = RuleExtractor().extract(turn(f"{request_to_remember} I live in Porto."))
    assert [(fact.predicate, fact.object) for fact in facts] == [("lives in", "Porto")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Remember that I want wire transfers from now on.", "asserts"),  # which the rules are not sure of
        ("FYI we live in Rome now.", "asserts"),
        ("Remember to call me.", "neither"),
        ("Do you remember where I live?", "asks"),
    ],
)
def test_a_request_to_remember_is_worth_asking_a_model_where_it_states_something(text: str, expected: str) -> None:
    assert classify_stance(turn(text)) == expected


def test_a_list_is_read_item_by_item() -> None:
    assert facts("My news:\n- I sold my car\n- Ben bought a boat\n") == [
        ("Mira", "sold", "Mira's car"),
        ("Ben", "bought", "a boat"),
    ]


def test_an_unresolved_time_keeps_its_text() -> None:
    (fact,) = RuleExtractor().extract(turn("I met Ben a while ago."))
    assert fact.event is not None
    assert fact.event.start is None
    assert fact.event.text == "a while ago"


def test_a_caption_without_text_asserts_and_with_a_question_asks() -> None:
    assert classify_stance(turn("", caption="a photo of a dog")) == "asserts"
    assert classify_stance(turn("What is it?", caption="a photo of a dog")) == "asks"
