from collections.abc import Callable
from datetime import datetime

import pytest

from evimem.times import find_times, mentions_time
from evimem.times.context import Context
from evimem.times.cues import RULES, cues
from evimem.times.lexicon import fold

SAID = (datetime(2024, 3, 12, 18, 20), datetime(2023, 10, 8), datetime(2022, 12, 31, 23, 59))
# A first name, and a present tense about the future: the words alone do not show which.
MISSED = {"April will be better.", "She visits the first week of August."}

TABLES = (
    "expressions.txt", "later_expressions.txt", "messages.txt", "more_messages.txt", "third_messages.txt",
    "fourth_messages.txt",
)  # fmt: skip
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


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if rule.cues.words], ids=lambda rule: getattr(rule.read, "__name__", "rule")
)
def test_a_rule_matches_only_texts_with_one_of_its_words(table: Callable, rule):
    rows = (row.text for name in TABLES for row in table(name))
    contexts = [Context(text, fold(text), SAID[0], "recent") for text in (*rows, *MORE)]
    matching = [ctx.folded for ctx in contexts if any(rule.candidates(ctx, [(0, len(ctx.text))]))]
    assert matching
    assert [folded for folded in matching if not rule.cues.may_match(cues(folded)[1])] == []
