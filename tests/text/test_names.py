"""Whole names in texts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.text.names import contains_name, whole_word_source


@given(
    st.text(st.sampled_from("aAsSkKbB '\u2019.\u017f\u212a\n"), max_size=30),
    st.text(st.sampled_from("aAsSkKbB "), min_size=1, max_size=5).filter(str.strip),
)
def test_a_name_is_found_where_one_slow_pattern_finds_it(text, name):
    slow = whole_word_source(r"\s+".join(map(re.escape, name.split())) + "(?:['\u2019]s)?")
    assert contains_name(text, name) == (re.search(slow, text, re.IGNORECASE) is not None)


def test_letters_that_are_one_letter_to_re_are_found_for_one_another():
    """The text is folded before the pattern is tried, which must leave out none of its matches."""
    cased = [letter for letter in map(chr, range(0x30000)) if len({letter, letter.lower(), letter.upper()}) > 1]
    assert len(cased) > 2_000
    text = " ".join(cased)
    for letter in cased:
        for found in re.finditer(re.escape(letter), text, re.IGNORECASE):
            assert contains_name(found[0], letter), f"{found[0]!r} is {letter!r} in another case"


def test_an_empty_name_is_in_no_text():
    assert not contains_name("Mira is here.", " ")


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("MIRA's tea", "Mira", True),
        ("Miranda's tea", "Mira", False),
        ("Anna\n Maria", "anna maria", True),
        ("Anna Mari", "Anna Maria", False),
    ],
)
def test_a_name_is_whole_words_whatever_their_case(text, name, *, expected):
    assert contains_name(text, name) == expected
