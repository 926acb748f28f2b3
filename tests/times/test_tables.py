"""English sentences: the tables of this folder, and what every row of them says of the engine."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from evimem.times import find_times, mentions_time
from evimem.times.forms import load_grammar
from evimem.times.lexicon import fold

SAID = (datetime(2024, 3, 12, 18, 20), datetime(2023, 10, 8), datetime(2022, 12, 31, 23, 59))
Table = Callable[[str], Any]


def _found(row: Any) -> tuple[tuple[datetime | None, datetime | None, str], ...]:
    return tuple((time.start, time.end, time.granularity) for time in find_times(row.text, row.said_at))


def test_all_expressions_have_their_exact_interval(table: Table) -> None:
    rows = table("expressions.txt")
    assert len(rows) >= 470
    assert [row.text for row in rows if _found(row) != row.meanings] == []


def test_what_is_read_in_messages_begins_on_a_right_day_and_most_times_are_found(table: Table) -> None:
    asserted = right = real = found = 0
    for row in table("messages.txt"):
        days = {start.date() for start, _, _ in row.meanings if start}
        read = {start.date() for start, _, _ in _found(row) if start}
        asserted, right = asserted + len(read), right + len(read & days)
        real, found = real + len(days), found + len(read & days)
    assert real >= 390
    assert right / asserted >= 0.98
    assert found / real >= 0.7


def test_words_of_time_without_a_time_are_not_resolved(table: Table) -> None:
    rows = table("not_times.txt")
    assert len(rows) >= 550
    assert [row.text for row in rows for said in SAID for time in find_times(row.text, said) if time.start] == []


@pytest.mark.parametrize("name", ["expressions.txt", "messages.txt"])
def test_a_sentence_in_a_long_text_is_read_as_alone(table: Table, name: str) -> None:
    around = "She sang and he hummed along.\n" * 20
    for row in table(name):
        alone = find_times(row.text, row.said_at)
        assert find_times(f"{around}\n{row.text}\n\n{around}", row.said_at) == alone


def test_a_text_with_a_time_mentions_one(table: Table) -> None:
    rows = [row for name in ("expressions.txt", "messages.txt") for row in table(name)]
    assert all(mentions_time(row.text) for row in rows if find_times(row.text, row.said_at))


def test_every_form_of_english_is_matched_by_some_text(table: Table) -> None:
    texts = [fold(row.text) for name in ("expressions.txt", "messages.txt", "not_times.txt") for row in table(name)]
    forms = [form for form in load_grammar("en").forms if form.reader != "none"]  # figures of speech
    assert [form.form for form in forms if not any(map(form.pattern.search, texts))] == []


def test_a_form_is_tried_on_every_text_that_it_matches(table: Table) -> None:
    texts = [fold(row.text) for name in ("expressions.txt", "messages.txt", "not_times.txt") for row in table(name)]
    of = load_grammar("en")
    missed = [
        (form.form, text)
        for text in texts
        for form in {*of.forms} - {*of.forms_possible_in(text)}
        if form.is_a_time and form.pattern.search(text)
    ]
    assert missed == []
