"""Whole names in texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.text.names import name_pattern, names


@given(
    st.text(st.sampled_from("aAsSkKbB '\u2019.\u017f\u212a\n"), max_size=30),
    st.text(st.sampled_from("aAsSkKbB "), max_size=5),
)
def test_a_name_is_found_where_its_pattern_finds_it(text: str, name: str) -> None:
    assert names(text, name) == (name_pattern(name).search(text) is not None)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("MIRA's tea", "Mira", True),
        ("Miranda's tea", "Mira", False),
        ("Anna\n Maria", "anna maria", True),
        ("Anna Mari", "Anna Maria", False),
    ],
)
def test_a_name_is_whole_words_whatever_their_case(text: str, name: str, *, expected: bool) -> None:
    assert names(text, name) == expected
