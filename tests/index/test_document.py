"""What a turn is found by, and how a long one is cut into passages."""

from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evimem.index.document import (
    MAX_PASSAGES,
    MAX_SENTENCE_WORDS,
    PASSAGE_WORDS,
    Document,
    documents,
    embedding_texts,
    passage,
    passages,
    sets_rule,
    trim_range,
)
from evimem.text.terms import terms
from evimem.types.values import Turn


def said(text: str, caption: str | None = None) -> Turn:
    return Turn("1", "s", "Mira", text, datetime(2024, 3, 12), caption)


def document(turn: Turn) -> Document:
    (found,) = documents(turn, count=1)
    return found


def test_words_of_questions_and_of_statements_are_counted_apart():
    found = document(said("The piano is new. Do you play the piano?", caption="a piano"))
    assert found.terms == {"mira": 1, "piano": 2 + (1 << 8), "new": 1, "plai": 1 << 8}
    assert found.length == 6
    assert found.asks == 1 / 3 or abs(found.asks - 1 / 3) < 1e-7


def test_marks_of_other_scripts_end_sentences_too():
    assert document(said("去哪里\uff1f公园\u3002")).asks == pytest.approx(5 / 9)  # 5 pairs and characters ask, 3 tell


def test_counts_beyond_a_byte_are_kept_as_many():
    found = document(said("tea " * 1000 + "? " + "tea " * 1000))
    assert found.terms["tea"] == 0xFFFF
    assert found.length == 2001


def test_a_turn_that_speaks_of_time_says_so():
    assert document(said("We met last Friday.")).temporal
    assert not document(said("We met at the pier.")).temporal


def test_the_embedded_text_says_who_speaks_and_what_is_seen():
    assert embedding_texts(said("Look!", caption="a boat")) == ("Mira: Look! a boat",)
    assert embedding_texts(said("Look!")) == ("Mira: Look!",)


@given(st.text(max_size=200), st.none() | st.text(max_size=40))
def test_every_term_of_a_turn_is_in_its_document(text, caption):
    found = document(said(text, caption))
    assert set(found.terms) == {*terms(text), *terms(caption or ""), "mira"}
    assert 0 <= found.asks <= 1
    assert found.length == 1 + len(terms(text)) + len(terms(caption or ""))


def test_each_passage_has_its_words_the_speakers_name_and_the_last_one_the_caption():
    text = "The boat is old. " * 40
    turn = said(text, caption="a river")
    found, texts = documents(turn), embedding_texts(turn)
    assert len(found) == len(texts) > 1
    assert all("mira" in one.terms and "boat" in one.terms for one in found)
    assert ["river" in one.terms for one in found] == [False] * (len(found) - 1) + [True]
    assert [text.endswith("a river") for text in texts] == [False] * (len(found) - 1) + [True]
    assert len(documents(turn, count=1)) == len(embedding_texts(turn, count=1)) == 1


def test_a_users_standing_instruction_is_recognized():
    rule = Turn("1", "s", "user", "Thanks! Always give me metric units.", datetime(2024, 3, 12), role="user")
    assert sets_rule(rule)
    assert sets_rule(replace(rule, text="From now on, call me Kit."))
    assert not sets_rule(replace(rule, role="assistant"))
    assert not sets_rule(replace(rule, text="I always give up too early."))
    assert not sets_rule(replace(rule, text=rule.text + " x" * 500))


PIECES = ["boat ", "The end. ", "so? ", "...\n", "\u4eca\u5929", "x" * 200]
LONG = "The boat is old and the river is wide. " * 40
texts = st.one_of(st.text(max_size=2_000), st.lists(st.sampled_from(PIECES), max_size=400).map("".join))


@given(texts)
def test_passages_tile_the_text(text):
    found = passages(text)
    assert found[0][0] == 0
    assert found[-1][1] == len(text)
    assert all(first[1] == second[0] for first, second in pairwise(found))
    assert 1 <= len(found) <= MAX_PASSAGES
    assert len(found) == 1 or all(start < end for start, end in found)


def test_sentences_are_packed_whole():
    found = [LONG[start:end] for start, end in passages(LONG)]
    assert len(found) > 1
    assert all(text.strip().startswith("The boat") and text.strip().endswith("wide.") for text in found)
    assert all(len(text.split()) <= PASSAGE_WORDS for text in found)


def test_a_sentence_without_end_is_cut():
    found = passages("word " * 1_000)
    assert all(text <= PASSAGE_WORDS for text in (len(("word " * 1_000)[start:end].split()) for start, end in found))


def test_a_long_sentence_that_is_not_too_long_stays_whole():
    sentence = "word " * (MAX_SENTENCE_WORDS - 1) + "end. "
    text = "Before. " * 20 + sentence + "After. " * 20
    assert text[slice(*passages(text)[1])].strip() == sentence.strip()


def test_text_without_spaces_is_cut_by_characters():
    assert max(end - start for start, end in passages("\u4eca" * 10_000)) <= PASSAGE_WORDS * 8


@pytest.mark.parametrize("text", ["a. " * 200_000, "word " * 200_000, "\n" * 600_000, "x" * 600_000])
def test_the_longest_turn_has_a_bounded_number_of_passages(text):
    assert len(passages(text)) <= MAX_PASSAGES


def test_space_around_a_passage_is_left_out():
    assert trim_range("  a b \n", (0, 7)) == (2, 5)
    assert trim_range("   ", (0, 3)) == (3, 3)


@given(texts)
@example("word. " * 30_000)  # whose passages are joined
@example("a. " * 60 * 2 * MAX_PASSAGES)
def test_one_passage_is_found_as_it_is_among_all(text):
    found = passages(text)
    some = range(0, len(found), len(found) // 20 + 1)
    assert [passage(text, part, len(found)) for part in some] == [trim_range(text, found[part]) for part in some]
    assert passage(text, 0, 1) == trim_range(text, (0, len(text)))
