"""How a long turn is cut into passages."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evimem.index.document import LONGEST, MOST, WORDS, passage, passages, trimmed

PIECES = ["boat ", "The end. ", "so? ", "...\n", "\u4eca\u5929", "x" * 200]
LONG = "The boat is old and the river is wide. " * 40
texts = st.one_of(st.text(max_size=2_000), st.lists(st.sampled_from(PIECES), max_size=400).map("".join))


@given(texts)
def test_passages_tile_the_text(text):
    found = passages(text)
    assert found[0][0] == 0
    assert found[-1][1] == len(text)
    assert all(first[1] == second[0] for first, second in pairwise(found))
    assert 1 <= len(found) <= MOST
    assert len(found) == 1 or all(start < end for start, end in found)


def test_sentences_are_packed_whole():
    found = [LONG[start:end] for start, end in passages(LONG)]
    assert len(found) > 1
    assert all(text.strip().startswith("The boat") and text.strip().endswith("wide.") for text in found)
    assert all(len(text.split()) <= WORDS for text in found)


def test_a_sentence_without_end_is_cut():
    found = passages("word " * 1_000)
    assert all(text <= WORDS for text in (len(("word " * 1_000)[start:end].split()) for start, end in found))


def test_a_long_sentence_that_is_not_too_long_stays_whole():
    sentence = "word " * (LONGEST - 1) + "end. "
    text = "Before. " * 20 + sentence + "After. " * 20
    assert text[slice(*passages(text)[1])].strip() == sentence.strip()


def test_text_without_spaces_is_cut_by_characters():
    assert max(end - start for start, end in passages("\u4eca" * 10_000)) <= WORDS * 8


@pytest.mark.parametrize("text", ["a. " * 200_000, "word " * 200_000, "\n" * 600_000, "x" * 600_000])
def test_the_longest_turn_has_a_bounded_number_of_passages(text):
    assert len(passages(text)) <= MOST


def test_space_around_a_passage_is_left_out():
    assert trimmed("  a b \n", (0, 7)) == (2, 5)
    assert trimmed("   ", (0, 3)) == (3, 3)


@given(texts)
@example("word. " * 30_000)  # whose passages are joined
@example("a. " * 60 * 2 * MOST)
def test_one_passage_is_found_as_it_is_among_all(text):
    found = passages(text)
    some = range(0, len(found), len(found) // 20 + 1)
    assert [passage(text, part, len(found)) for part in some] == [trimmed(text, found[part]) for part in some]
    assert passage(text, 0, 1) == trimmed(text, (0, len(text)))
