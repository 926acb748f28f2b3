import pytest

from evimem.extract import predicate_class
from evimem.extract.tagging import lemma


@pytest.mark.parametrize(
    ("predicate", "obj", "expected"),
    [
        ("moved to", "Porto", "live"), ("lives in", "Porto", "live"), ("has relocated to", "Porto", "live"),
        ("used to live in", "Porto", "live"), ("is thinking about moving to", "Porto", "live"),
        ("does not live in", "Porto", "live"), ("is based in", "Porto", "live"),
        ("said he moved to", "Porto", "live"), ("is from", "Porto", "origin"), ("works at", "Acme", "work"),
        ("no longer works at", "Acme", "work"), ("started", "a new job at Acme", "work"),
        ("quit", "Mira's job", "work"), ("got", "a job at Acme", "work"), ("studies", "law", "study"),
        ("majored in", "law", "study"), ("started", "university", "study"), ("likes", "tea", "like"),
        ("loves to cook", "soup", "like"), ("does not enjoy", "opera", "like"), ("hates", "olives", "dislike"),
        ("adopted", "a puppy", "own"), ("has", "two cats", "own"), ("bought", "a boat", "own"),
        ("sold", "the car", "sell"), ("is married to", "Tom", "relationship"), ("is dating", "Tom", "relationship"),
        ("broke up with", "Tom", "relationship"), ("is", "single", "relationship"),
        ("got engaged to", "Tom", "relationship"), ("feels", "lonely", "feel"), ("is", "happy about it", "feel"),
        ("is", "34 years old", "age"), ("turned", "35", "age"), ("is called", "Biscuit", "name"),
        ("is", "a nurse", "be"), ("went to", "the gym", "go"), ("was running", "", "run"),
        ("has written", "a book", "write"), ("upcycled", "a chair", "upcycle"), ("baked", "bread", "bake"),
        ("planned to visit", "Rome", "visit"),
    ],
)  # fmt: skip
def test_a_predicate_has_the_class_of_its_meaning(predicate: str, obj: str, expected: str) -> None:
    assert predicate_class(predicate, obj) == expected


@pytest.mark.parametrize("predicate", ["", " ", "(", "\u6211", "not", "'s", "to to to", "said"])
def test_any_words_have_a_class(predicate: str) -> None:
    assert isinstance(predicate_class(predicate), str)


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("went", "go"), ("adopted", "adopt"), ("tries", "try"), ("tried", "try"), ("stopped", "stop"),
        ("running", "run"), ("making", "make"), ("lying", "lie"), ("taught", "teach"), ("bought", "buy"),
        ("written", "write"), ("goes", "go"), ("has", "have"), ("is", "be"), ("upcycled", "upcycle"),
        ("googling", "google"), ("snogged", "snog"), ("preferred", "prefer"), ("visited", "visit"),
        ("table", "table"),
    ],
)  # fmt: skip
def test_a_form_has_its_lemma(form: str, base: str) -> None:
    assert lemma(form) == base
