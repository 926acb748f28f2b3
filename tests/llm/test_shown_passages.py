from hypothesis import given
from hypothesis import strategies as st

from evimem.llm.shown_words import Passages, excerpt
from evimem.text.terms import terms

GREY = "The weather stayed grey over the harbour. "


def test_a_short_text_is_shown_as_it_is():
    assert Passages("We adopted a puppy.", {"puppi"}).within(100) == ((0, 19),)
    assert excerpt("We adopted a puppy.", ((0, 19),)) == "We adopted a puppy."


def test_what_matches_is_shown_with_what_stands_beside_it():
    text = GREY * 50 + "We met Ana there. We adopted a puppy. It is called Biscuit. " + GREY * 50
    shown = excerpt(text, Passages(text, set(terms("puppy"))).within(100))
    assert shown == "\u2026 We met Ana there. We adopted a puppy. It is called Biscuit. \u2026"


def test_a_rare_word_outweighs_a_common_one():
    text = GREY * 50 + "The puppy slept. " + GREY * 50
    (only,) = Passages(text, set(terms("grey weather harbour puppy"))).within(20)
    assert text[slice(*only)] == "The puppy slept."


def test_without_a_match_the_start_is_shown():
    ranges = Passages(GREY * 50, {"xylophon"}).within(100)
    assert excerpt(GREY * 50, ranges) == f"{GREY * 2}".strip() + " \u2026"


def test_a_text_without_sentences_is_cut_between_words():
    text = "word " * 2_000 + "puppy " + "word " * 2_000
    (start, end), *_ = Passages(text, {"puppi"}).within(300)
    assert "puppy" in text[start:end]
    assert text[start - 1 : start + 1].isspace() or text[start : end + 1].split(maxsplit=1)[0] == "word"


@given(st.text(), st.sets(st.sampled_from(["a", "b", "0"])), st.integers(1, 60))
def test_ranges_lie_in_the_text_in_order_and_keep_to_their_room(text, wanted, most):
    ranges = Passages(text, wanted).within(most)
    ends = [place for pair in ranges for place in pair]
    assert ends == sorted(ends)
    assert all(0 <= start <= end <= len(text) for start, end in ranges)
    assert sum(end - start for start, end in ranges) <= most
