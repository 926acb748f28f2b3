"""Phrases whose date a reader would have to compute: which capitalised ones are read, and which are part of a name."""

from datetime import datetime

import pytest

from evimem.times.computed import date_notes

SAID_AT = datetime(2024, 3, 12, 18, 20)


@pytest.mark.parametrize("text", ["Yesterday Rosa called me.", "We sang. Yesterday Anna and I went home."])
def test_a_phrase_that_opens_a_sentence_may_stand_before_a_name(text: str) -> None:
    assert date_notes(text, SAID_AT) == [("Yesterday", "11 March 2024")]


@pytest.mark.parametrize("text", ["Our Yesterday Rosa rose.", "Tomorrow Never Dies is on.", "Friday Night is a film."])
def test_a_phrase_in_a_name_gets_no_date(text: str) -> None:
    assert date_notes(text, SAID_AT) == []
