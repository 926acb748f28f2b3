"""The contract of extractors, tested with the rules and with spaCy."""

import time
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem import Fact, Turn
from evimem.extract.rule_extractor import RuleExtractor
from evimem.extract.statements import fact_id
from evimem.protocols import Extractor

from .pipeline import random_extractor, spacy_extractor

NOON = datetime(2024, 3, 12, 12)
EXTRACTORS = [pytest.param(RuleExtractor, id="rules"), pytest.param(spacy_extractor, id="spacy")]
SAID = [
    "I adopted a puppy last Friday.", "My sister moved to Porto, and I sold the car.",
    "I don't like olives. What about you?", "When I was a kid, I lived in Chile.",
]  # fmt: skip
HOSTILE = {
    "a word of 64 KiB": "a" * (64 << 10),
    "3,000 parentheses": "(" * 3000 + "I left" + ")" * 3000,
    "a megabyte of sentences": "I went to the gym with Ben. " * 37_000,
    "a megabyte of spaces": "I went " + " " * (1 << 20) + "home",
    "a megabyte of dots": "." * (1 << 20) + "x",
    "marks": "?!" * 50_000 + "so",
    "lines": "\n" * 100_000 + "- I left",
    "quotes": '"' * 9_999 + "I left",
    "apostrophes": "I'm'm'm" * 9_000,
    "very": "I am " + "very " * 20_000 + "tired",
    "ands": "I ate " + "bread and " * 20_000 + "butter",
    "relatives": "the man who " * 9_000 + "left",
    "zero width": "\u200bI\u200b adopted\u200d a\ufeff puppy",
    "lone surrogates": "I adopted \ud800 a puppy \udfff",
    "tag characters": "I sold my boat" + "".join(chr(0xE0000 + ord(c)) for c in "ignore this"),
    "nul": "I\x00sold my boat\x00",
    "emoji": "I adopted a \U0001f436\u200d\U0001f9ba puppy \U0001f389\U0001f389",
    "right to left": "\u202eI adopted a puppy",
    "length changes with case": "I visited \u0130stanbul \u0130\u0130\u0130 in June",
    "combining marks": "I ate cre\u0301me bru\u0302le\u0301e",
    "no Latin letters": "\u6211\u6628\u5929\u5403\u4e86\u82f9\u679c\u3002\u4f60\u597d\uff1f",
    "dates": "I left on 99999999999/99/99 " * 500,
}
WORDS = st.sampled_from(
    "I my we Ben she the that who and but if because not never don't 's adopted moved likes is was has will to in of a "
    "puppy Porto "
    'happy very running seen , . ? ! ; " ( ) - \u2026 \u200b \ud83d\ude00 2024 yesterday'.split(" ")
)


def turn(text: str, speaker: str = "Mira", **more: str) -> Turn:
    return Turn("t1", "s1", speaker, text, NOON, **more)


@pytest.fixture(params=EXTRACTORS)
def extractor(request: pytest.FixtureRequest) -> Extractor:
    return request.param()


def assert_sound(fact: Fact, said: Turn) -> None:
    """Check that a fact has a span in its turn, a subject and a predicate, the right id and encodable text."""
    source = said.caption if fact.kind == "image" else said.text
    start, end = fact.span
    assert source is not None
    assert 0 <= start < end <= len(source)
    assert fact.turn_id == said.id
    assert fact.subject
    assert fact.predicate
    assert fact.id == fact_id(said.id, fact.extractor, fact.span, fact.subject, fact.predicate, fact.object)
    fact.text.encode()


@pytest.mark.parametrize("text", SAID)
def test_the_span_of_a_fact_holds_the_head_of_its_object(extractor: Extractor, text: str) -> None:
    facts = extractor.extract(turn(text))
    assert facts
    for fact in facts:
        assert_sound(fact, turn(text))
        assert fact.extractor == extractor.name
        heads = fact.object.split()[-1:]
        assert all(head in text[slice(*fact.span)] for head in heads), fact


def test_a_fact_has_the_time_of_its_clause_and_not_in_its_object(extractor: Extractor) -> None:
    (fact,) = extractor.extract(turn("I adopted a puppy last Friday."))
    assert fact.event is not None
    assert fact.event.start == datetime(2024, 3, 8)
    assert fact.object == "a puppy"


@pytest.mark.parametrize(
    "text",
    [
        "What did you do yesterday?", "Do you like olives?", "", "   \n ", "Ben said he lost his job.",
        "I might visit Norway in June!", "I wish I had a dog.", "He bought it.",
    ],
)  # fmt: skip
def test_what_is_asked_reported_planned_or_of_nobody_states_nothing(extractor: Extractor, text: str) -> None:
    assert extractor.extract(turn(text)) == ()


def test_a_caption_is_a_fact_with_its_span_in_the_caption(extractor: Extractor) -> None:
    said = turn("What is this?", caption="a photo of a dog on a beach")
    (fact,) = extractor.extract(said)
    assert fact.kind == "image"
    assert said.caption is not None
    assert said.caption[slice(*fact.span)] == fact.object == "a dog on a beach"


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
@pytest.mark.parametrize(
    "text",
    [
        "You like olives.", "Mira likes olives.", "I like olives.", "The user wants to move to Porto.",
        "I want to move to Porto.",
    ],
)  # fmt: skip
def test_only_a_user_turn_states_what_the_user_likes_or_wants(extractor: Extractor, role: str, text: str) -> None:
    assert extractor.extract(turn(text, speaker=role, role=role)) == ()


def test_unprintable_characters_are_not_in_a_fact(extractor: Extractor) -> None:
    for name in ("zero width", "tag characters", "right to left", "nul", "lone surrogates"):
        facts = extractor.extract(turn(HOSTILE[name]))
        assert facts
        assert all(fact.text.isprintable() for fact in facts), name


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_read_in_bounded_time(extractor: Extractor, name: str) -> None:
    said = turn(HOSTILE[name])
    extractor.extract(turn("I left."))  # loading what is loaded once is not measured
    before = time.process_time()
    facts = extractor.extract(said)
    assert time.process_time() - before < 2  # far above what it takes, because a busy machine needs more processor time
    for fact in facts:
        assert_sound(fact, said)


@given(st.text(max_size=300))
def test_any_text_gives_sound_facts(text: str) -> None:
    for fact in RuleExtractor().extract(turn(text)):
        assert_sound(fact, turn(text))


@given(st.lists(WORDS, max_size=30).map(" ".join))
def test_any_parse_gives_sound_facts(text: str) -> None:
    for fact in random_extractor().extract(turn(text)):
        assert_sound(fact, turn(text))


@given(st.lists(WORDS, max_size=40).map(" ".join), st.text(max_size=20), st.sampled_from(["user", "assistant", "tool"]))
def test_any_order_of_words_gives_sound_facts(text: str, caption: str, role: str) -> None:
    said = Turn("t1", "s1", "Mira", text, NOON, caption=caption, role=role)
    for fact in RuleExtractor().extract(said):
        assert_sound(fact, said)
