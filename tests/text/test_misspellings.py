"""Other spellings that a word of a question may stand for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.text.misspellings import (
    MIN_LETTERS,
    distance,
    likely_terms,
    may_be_mistyped,
    other_spellings,
    terms_with_other_particles,
)
from evimem.text.terms import stem

WORDS = ("allergic", "appointment", "physiotherapist", "landlord", "greyhound", "okonkwo")
PLACES = st.integers(min_value=0, max_value=40)


@given(st.sampled_from(WORDS), PLACES)
def test_a_swap_of_two_neighbours_is_undone(word: str, place: int) -> None:
    at = place % (len(word) - 1)
    slip = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    assert stem(slip) == stem(word) or stem(word) in likely_terms(slip)[0]


@given(st.sampled_from(WORDS), PLACES)
def test_a_letter_left_out_or_doubled_is_one_edit(word: str, place: int) -> None:
    at = place % len(word)
    for slip in (word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:]):
        assert distance(slip, word) == distance(word, slip) <= 1
        assert slip == word or word in other_spellings(slip, slip, {word}) or stem(slip) != slip or stem(word) != word


@given(st.text("abc", max_size=5), st.text("abc", max_size=5), st.text("abc", max_size=5))
def test_the_distance_is_zero_for_equal_words_alone_and_alike_both_ways(one: str, two: str, end: str) -> None:
    assert (distance(one, two) == 0) == (one == two)
    assert distance(one, two) == distance(two, one) <= max(len(one), len(two))
    assert distance(one + end, two + end) <= distance(one, two)


@pytest.mark.parametrize(
    ("slip", "meant"),
    [("alergic", "allergic"), ("physioterapyst", "physiotherapist"), ("rnet", "rent"), ("runnign", "running")],
)
def test_a_slip_stands_for_the_word_that_the_vocabulary_has(slip: str, meant: str) -> None:
    assert other_spellings(slip, slip, {stem(meant), stem("umbrella")}) == (stem(meant),)


def test_a_known_word_is_no_slip_for_another() -> None:
    assert not may_be_mistyped("brother", "my brother")
    assert other_spellings("brother", "my brother", {stem("bother")}) == ()


def test_a_short_name_is_that_of_another_person() -> None:
    assert other_spellings("jarl", "Where is Jarl?", {"karl"}, named=True) == ()
    assert other_spellings("katarzina", "Where is Katarzina?", {"katarzyna"}, named=True) == ("katarzyna",)


def test_words_below_the_least_length_and_codes_are_no_slips() -> None:
    assert not may_be_mistyped("x" * (MIN_LETTERS - 1), "")
    assert not may_be_mistyped("zq1f9", "")


def test_a_function_word_of_another_language_is_no_slip() -> None:
    question = "Di quanto \u00e8 slittato il rogito?"
    assert other_spellings("quanto", question, {"quando"}) == ()


def test_a_korean_noun_is_found_with_every_particle_and_with_none() -> None:
    with_subject, with_topic, bare = "\ubbfc\uc218\uac00", "\ubbfc\uc218\ub294", "\ubbfc\uc218"
    assert {with_topic, bare} <= set(terms_with_other_particles(with_subject))
    assert with_subject in terms_with_other_particles(bare)
    assert terms_with_other_particles("Minsu") == ()
