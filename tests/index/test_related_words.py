"""The words that mean what a question says."""

import pytest

from evimem.embedding.static_embedder import StaticEmbedder
from evimem.index.prepared_query import TABLE, WIDTH, _numbers, instances, is_word, related
from evimem.text.terms import stem


@pytest.mark.parametrize("word", ["instrument", "puppy", "career", "soup"])
def test_the_table_holds_the_nearest_words_of_the_shipped_embedding(word):
    words = [piece for piece in _numbers() if is_word(piece)]
    vectors = StaticEmbedder().embed([word, *words])
    cosines = dict(zip(words, vectors[1:] @ vectors[0], strict=True))
    others = [other for other in sorted(cosines, key=lambda other: -cosines[other]) if stem(other) != stem(word)]
    expected = list(dict.fromkeys(map(stem, others)))[:WIDTH]
    assert [term for term, _ in related(word)] == expected
    assert related(word)[0][1] == pytest.approx(cosines[others[0]], abs=1 / 255)


def test_nearness_falls_and_a_word_is_not_related_to_itself():
    found = related("puppy")
    assert [cosine for _, cosine in found] == sorted((cosine for _, cosine in found), reverse=True)
    assert stem("puppy") not in dict(found)


def test_an_unknown_word_is_related_to_nothing():
    assert related("qwxzyk") == ()


def test_the_table_has_a_row_for_each_piece():
    assert TABLE.stat().st_size % (WIDTH * 3) == 0


def test_a_kind_has_instances_by_each_of_its_names():
    assert stem("violin") in instances(stem("instruments"))
    assert instances(stem("drink")) == instances(stem("beverages")) != ()
    assert instances("qwxzyk") == ()
