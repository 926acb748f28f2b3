"""Overlap metrics against golden vectors of nltk 3.10.4 (BLEU, METEOR without WordNet) and rouge-score 0.1.2."""

import pytest

from benchmarks.scoring.answer_overlap import bleu_1, meteor, rouge_2, rouge_l, word_set_f1

GOLDEN = [
    ("a blue van", "the blue van", 0.6667, 0.5000, 0.6667, 0.6250),
    ("in the spring of 2021", "spring 2021", 0.4000, 0.0000, 0.5714, 0.4348),
    ("she adopted two kittens", "two kittens were adopted by her", 0.4549, 0.2500, 0.4000, 0.4406),
    ("cedar kennel with a porch", "a cedar kennel with a porch", 0.8187, 0.8889, 0.9091, 0.8441),
    ("tea", "coffee", 0.0000, 0.0000, 0.0000, 0.0000),
    ("walking and running dogs", "dogs that run and walk", 0.3894, 0.0000, 0.2222, 0.4082),
    ("the the the cat", "the cat sat on the mat", 0.4549, 0.2500, 0.4000, 0.2586),
    ("seven", "seven", 1.0000, 0.0000, 1.0000, 0.5000),
    ("a house by the sea and a boat", "boat by the sea", 0.5000, 0.4000, 0.5000, 0.8523),
]


@pytest.mark.parametrize(("answer", "gold", "bleu", "two", "longest", "aligned"), GOLDEN)
def test_overlap_is_what_the_usual_libraries_compute(answer, gold, bleu, two, longest, aligned):
    found = [measure(answer, gold) for measure in (bleu_1, rouge_2, rouge_l, meteor)]
    assert found == pytest.approx([bleu, two, longest, aligned], abs=1e-4)


def test_word_sets_count_each_word_once_and_stem_none():
    assert word_set_f1("tea, tea and tea", "Tea and cake") == pytest.approx(0.8)
    assert word_set_f1("walks", "walk") == word_set_f1("", "walk") == 0


def test_nothing_said_overlaps_with_nothing():
    assert [measure("", "a van") for measure in (bleu_1, rouge_2, rouge_l, meteor)] == [0, 0, 0, 0]
    assert [measure("...", "?") for measure in (bleu_1, rouge_2, rouge_l, meteor)] == [0, 0, 0, 0]
