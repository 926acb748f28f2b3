"""What a turn is found by."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.index.document import document, embedding_text
from evimem.text.terms import terms
from evimem.types.values import Turn


def said(text: str, caption: str | None = None) -> Turn:
    return Turn("1", "s", "Mira", text, datetime(2024, 3, 12), caption)


def test_words_of_questions_and_of_statements_are_counted_apart() -> None:
    found = document(said("The piano is new. Do you play the piano?", caption="a piano"))
    assert found.terms == {"mira": 1, "piano": 2 + (1 << 8), "new": 1, "plai": 1 << 8}
    assert found.length == 6
    assert found.asks == 1 / 3 or abs(found.asks - 1 / 3) < 1e-7


def test_a_turn_that_only_tells_asks_nothing() -> None:
    assert document(said("Yes! We did... finally.")).asks == 0


def test_marks_of_other_scripts_end_sentences_too() -> None:
    assert document(said("去哪里\uff1f公园\u3002")).asks == pytest.approx(5 / 9)  # 5 pairs and characters ask, 3 tell


def test_counts_beyond_a_byte_are_kept_as_many() -> None:
    found = document(said("tea " * 1000 + "? " + "tea " * 1000))
    assert found.terms["tea"] == 0xFFFF
    assert found.length == 2001


def test_a_turn_that_speaks_of_time_says_so() -> None:
    assert document(said("We met last Friday.")).temporal
    assert not document(said("We met at the pier.")).temporal


def test_the_embedded_text_says_who_speaks_and_what_is_seen() -> None:
    assert embedding_text(said("Look!", caption="a boat")) == "Mira: Look! a boat"
    assert embedding_text(said("Look!")) == "Mira: Look!"


@given(st.text(max_size=200), st.none() | st.text(max_size=40))
def test_every_term_of_a_turn_is_in_its_document(text: str, caption: str | None) -> None:
    found = document(said(text, caption))
    assert set(found.terms) == {*terms(text), *terms(caption or ""), "mira"}
    assert 0 <= found.asks <= 1
    assert found.length == 1 + len(terms(text)) + len(terms(caption or ""))
