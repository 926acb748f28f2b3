"""The terms that a question asks by, and what they weigh in a corpus."""

import pytest

from evimem.index.prepared_query import FEW, MOST_TERMS, UNIT, IndexQuery, PreparedQuery, prepare
from evimem.index.weights import WEIGHTS

from .corpora import Said, corpus_of

CORPUS = corpus_of([Said(("piano",)), Said(("boat",))])


def asked(text: str, *turns: str) -> PreparedQuery:
    return prepare(IndexQuery(text), corpus_of(Said(tuple(turn.split())) for turn in turns))


def names(found: PreparedQuery) -> list[str]:
    return [term.name for term in found.terms]


def test_a_term_is_weighed_by_how_few_turns_have_it():
    found = asked("boat tea", "boat", "tea", "tea")
    assert names(found) == ["boat", "tea"]
    assert found.terms[0].weight > found.terms[1].weight
    assert found.total == found.terms[0].weight + found.terms[1].weight


def test_a_term_that_no_turn_has_is_missed_in_the_total():
    found = asked("boat qwxzyk", "boat", "tea")
    assert names(found) == ["boat"]
    assert found.total > found.terms[0].weight


def test_a_term_of_every_fourth_turn_is_left_out_where_there_is_another():
    turns = ["tea boat", *["tea"] * FEW, *["cake"] * 2 * FEW]
    assert names(asked("tea boat", *turns)) == ["boat"]
    assert names(asked("tea", *turns)) == ["tea"]


def test_of_very_many_terms_the_first_are_looked_up():
    many = [f"zq{number}" for number in range(MOST_TERMS + 10)]
    found = asked(" ".join(many), " ".join(many))
    assert sorted(names(found)) == sorted(many[: MOST_TERMS // 2] + many[-MOST_TERMS // 2 :])


def test_what_means_a_term_counts_less_than_the_term():
    found = asked("instruments", "piano", "boat")
    assert names(found) == ["instrument"]
    (piano,) = found.terms[0].related
    assert piano.posting.positions.tolist() == [0]
    assert piano.share == pytest.approx(UNIT * WEIGHTS.related * CORPUS.idf(1) / CORPUS.idf(0), abs=1)


def test_a_common_word_that_means_a_term_tells_nothing():
    assert asked("instruments", *["piano"] * (FEW + 1), *["boat"] * FEW).terms == ()


def test_a_name_means_nothing_but_itself():
    assert asked("What did the Puppy do?", "dog", "boat").terms == ()
    assert names(asked("What did the puppy do?", "dog", "boat")) == ["puppi"]
