from collections.abc import Callable
from datetime import datetime

import pytest

from evimem.times import find_times, mentions_time
from evimem.times.context import Context
from evimem.times.find_times import words_of
from evimem.times.forms import grammar
from evimem.times.lexicon import fold

SAID = (datetime(2024, 3, 12, 18, 20), datetime(2023, 10, 8), datetime(2022, 12, 31, 23, 59))
# A first name, and a present tense about the future: the words alone do not show which.
MISSED = {"April will be better.", "She visits the first week of August."}

TABLES = (
    "expressions.txt", "later_expressions.txt", "messages.txt", "more_messages.txt", "third_messages.txt",
    "fourth_messages.txt",
)  # fmt: skip
NO_TIMES = ("not_times.txt", "more_not_times.txt")
MORE = (
    "Three years already!",
    "Two years and counting.",
    "He left two days earlier.",
    "Two weeks beforehand we met.",
    "Two weeks afterwards we met.",
    "Two weeks hence we fly.",
    "The coming two weeks.",
    "A week back.",
    "Later today.",
    "The Friday before last and the Friday after next.",
    "The past weekend.",
    "Over the next year.",
    "On 6/9 we met.",
    "At 7 o'clock.",
    "At some point.",
    "In the near future.",
    "These days.",
    "On Oct-07-2021 and in 2016 May.",
    "Tomorrow 9:30-10:30.",
)


def _found(row):
    return tuple((time.start, time.end, time.granularity) for time in find_times(row.text, row.said_at))


@pytest.mark.parametrize(("name", "size"), [("expressions.txt", 390), ("later_expressions.txt", 130)])
def test_nearly_all_expressions_have_their_exact_interval(table: Callable, name: str, size: int):
    rows = table(name)
    wrong = {row.text for row in rows if _found(row) != row.meanings}
    assert len(rows) >= size
    assert wrong <= MISSED


@pytest.mark.parametrize(
    ("name", "size", "least"),
    [
        ("messages.txt", 220, 0.97),
        ("more_messages.txt", 150, 0.97),
        ("third_messages.txt", 80, 0.97),
        ("fourth_messages.txt", 320, 0.83),  # few of its rows led to a rule
    ],
)
def test_most_messages_have_their_exact_interval(table: Callable, name: str, size: int, least: float):
    rows = table(name)
    exact = sum(_found(row) == row.meanings for row in rows)
    assert len(rows) >= size
    assert exact >= least * len(rows)


def test_words_of_time_without_a_time_are_not_resolved(table: Callable):
    rows = table("not_times.txt")
    resolved = [row.text for row in rows for said in SAID for time in find_times(row.text, said) if time.start]
    assert len(rows) >= 280
    assert resolved == []


@pytest.mark.parametrize("name", TABLES)
def test_a_sentence_in_a_long_text_is_read_as_alone(table: Callable, name: str):
    around = "She sang and he hummed along.\n" * 20
    for row in table(name):
        alone = find_times(row.text, row.said_at)
        assert find_times(f"{around}\n{row.text}\n\n{around}", row.said_at) == alone


def test_few_sentences_without_a_time_are_resolved(table: Callable):
    rows = table("more_not_times.txt")
    resolved = [row.text for row in rows if any(time.start for time in find_times(row.text, SAID[0]))]
    assert len(rows) >= 230
    assert len(resolved) <= 0.02 * len(rows), resolved


def test_every_expression_has_a_cue(table: Callable):
    assert all(mentions_time(row.text) for row in table("expressions.txt") if row.meanings)


FORMS = grammar("en").forms


def test_a_form_matches_only_texts_with_one_word_of_each_list_that_it_needs(table: Callable):
    texts = [_said(text) for text in (*(row.text for name in TABLES for row in table(name)), *MORE)]
    refused = [(each.form, text.folded) for each in FORMS for text in texts if _is_refused(each, text)]
    assert refused == []
    assert sum(bool(each.needs) for each in FORMS) >= 0.95 * len(FORMS)


def _said(text: str) -> Context:
    return Context(text, fold(text), SAID[0], grammar("en"))


def _is_refused(form, text: Context) -> bool:
    return not form.may_match(words_of(text.folded)) and any(form.matches(text.read_by(form)))


def test_every_form_of_english_is_matched_by_some_text(table: Callable):
    texts = [_said(text) for text in (*(row.text for name in (*TABLES, *NO_TIMES) for row in table(name)), *MORE)]
    forms = [each for each in FORMS if each.reader != "none"]  # figures of speech
    unmatched = [each.form for each in forms if not any(any(each.matches(text.read_by(each))) for text in texts)]
    assert unmatched == []
