"""The terms that a question asks by, what they weigh in a corpus, and the words that mean them."""

import pytest

from evimem.embedding.static_embedder import StaticEmbedder
from evimem.index.prepared_query import (
    MOST_TERMS,
    RARE_TERM_ROWS,
    RELATED_TERMS,
    SHARE_UNIT,
    TABLE,
    IndexQuery,
    PreparedQuery,
    _numbers,
    instances,
    is_word,
    nearest_stems,
    prepare,
)
from evimem.index.weights import WEIGHTS
from evimem.text.terms import stem

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
    turns = ["tea boat", *["tea"] * RARE_TERM_ROWS, *["cake"] * 2 * RARE_TERM_ROWS]
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
    assert piano.share == pytest.approx(SHARE_UNIT * WEIGHTS.related * CORPUS.idf(1) / CORPUS.idf(0), abs=1)


def test_a_common_word_that_means_a_term_tells_nothing():
    assert asked("instruments", *["piano"] * (RARE_TERM_ROWS + 1), *["boat"] * RARE_TERM_ROWS).terms == ()


def test_a_name_means_nothing_but_itself():
    assert asked("What did the Puppy do?", "dog", "boat").terms == ()
    assert names(asked("What did the puppy do?", "dog", "boat")) == ["puppi"]


@pytest.mark.parametrize("word", ["instrument", "puppy", "career", "soup"])
def test_the_table_holds_the_nearest_words_of_the_shipped_embedding(word):
    words = [piece for piece in _numbers() if is_word(piece)]
    vectors = StaticEmbedder().embed([word, *words])
    cosines = dict(zip(words, vectors[1:] @ vectors[0], strict=True))
    others = [other for other in sorted(cosines, key=lambda other: -cosines[other]) if stem(other) != stem(word)]
    expected = list(dict.fromkeys(map(stem, others)))[:RELATED_TERMS]
    assert [term for term, _ in nearest_stems(word)] == expected
    assert nearest_stems(word)[0][1] == pytest.approx(cosines[others[0]], abs=1 / 255)


def test_nearness_falls_and_a_word_is_not_related_to_itself():
    found = nearest_stems("puppy")
    assert [cosine for _, cosine in found] == sorted((cosine for _, cosine in found), reverse=True)
    assert stem("puppy") not in dict(found)


def test_an_unknown_word_is_related_to_nothing():
    assert nearest_stems("qwxzyk") == ()


def test_the_table_has_a_row_for_each_piece():
    assert TABLE.stat().st_size % (RELATED_TERMS * 3) == 0


def test_a_kind_has_instances_by_each_of_its_names():
    assert stem("violin") in instances(stem("instruments"))
    assert instances(stem("drink")) == instances(stem("beverages")) != ()
    assert instances("qwxzyk") == ()
