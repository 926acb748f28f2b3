"""The columns by position, the dialogue links, the postings behind them, and who counts in a turn's score."""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.index.corpus import COLUMNS, Corpus, Posting, RowBlock
from evimem.index.dialogue import NO_POSITION, Neighbourhood
from evimem.index.ranking import SEARCH_EFFORT, SearchEffort
from evimem.index.weights import WEIGHTS

from .corpora import DIMENSION, Said, corpora, corpus_of, extend, passages, questions, rank


@dataclass(frozen=True)
class Kept:
    """Postings by term."""

    postings: dict[str, Posting]

    def read(self, terms: Collection[str]) -> dict[str, Posting]:
        return self.postings

    def terms_beginning(self, prefix: str) -> list[str]:
        return [term for term in self.postings if term.startswith(prefix)]

    def drop(self, terms: Iterable[str]) -> None:
        raise AssertionError("none of their rows is erased")


def sealed(turns: list[Said], gone: frozenset[int] = frozenset()) -> Corpus:
    """A corpus as it is read from segments, whose postings are looked up."""
    corpus = corpus_of(turns, gone)
    events = {position: corpus.events(position) for position in range(len(corpus)) if corpus.events(position)}
    columns = np.zeros(len(corpus), COLUMNS)
    for name in COLUMNS.names or ():
        columns[name] = getattr(corpus, name)
    columns[~corpus.alive] = 0  # as a store keeps them
    postings = {word: corpus.posting(word) for said in turns for word in (*said.stated, *said.asked)}
    loaded = Corpus(DIMENSION, Kept(postings))
    loaded.extend(RowBlock(columns, corpus.vectors, corpus.scale, events))
    return loaded


def chain(corpus: Corpus, session: int) -> list[int]:
    start = [i for i in range(len(corpus)) if corpus.alive[i] and corpus.session[i] == session]
    here = next((i for i in start if corpus.dialogue.before.values[i] == NO_POSITION), NO_POSITION)
    found = []
    while here != NO_POSITION:
        found.append(here)
        here = int(corpus.dialogue.after.values[here])
    return found


@given(corpora, corpora, st.frozensets(st.integers(0, 23), max_size=5))
def test_dialogue_is_linked_in_order_of_time_then_arrival(turns, later, gone):
    corpus = extend(corpus_of(turns, gone), later)
    whole = [*turns[: len(corpus) - len(later)], *later]
    gone = gone & set(range(len(whole) - len(later)))
    for session in range(3):
        members = [i for i, said in enumerate(whole) if said.session == session and i not in gone]
        assert chain(corpus, session) == sorted(members, key=lambda i: (whole[i].time, i))


@given(passages, passages, questions, st.frozensets(st.integers(0, 23), max_size=3))
def test_a_loaded_corpus_goes_on_like_the_one_it_was_written_from(old, new, question, gone):
    gone = gone - {len(old) - 1}
    corpus, loaded = corpus_of(old, gone), sealed(old, gone)
    extend(loaded, new)
    for said in new:
        extend(corpus, [said])
    assert rank(question, loaded, 9) == rank(question, corpus, 9)


LARGE = SearchEffort(whole=0, compared=0, sketched=3, nearest=3, final=6)  # as in a memory of many rows


@given(passages, passages, questions, *[st.frozensets(st.integers(0, 23), max_size=4)] * 2)
def test_rows_are_erased_as_if_they_had_never_been_there(old, new, question, first, second):
    first, second = ({at for at in some if at < len(old) - 1} for some in (first, second))
    corpus, expected = corpus_of(old), corpus_of(old, first | second)
    for gone in (first, second):
        rank(question, corpus, 9, LARGE)  # computes what it keeps
        corpus.erase({at: {*old[at].stated, *old[at].asked} for at in gone})
    for added in ([], new):
        extend(corpus, added)
        extend(expected, added)
        for effort in (SEARCH_EFFORT, LARGE):
            assert rank(question, corpus, 9, effort) == rank(question, expected, 9, effort)
        assert (corpus.rows, corpus.turns, corpus.words) == (expected.rows, expected.turns, expected.words)
        for name in set(corpus.columns) - {"turn"}:
            assert np.array_equal(getattr(corpus, name), getattr(expected, name)), name


def around(corpus: Corpus, position: int) -> Neighbourhood:
    at = np.array([position], np.int32)
    return corpus.smoothing.neighbourhood(corpus.dialogue, corpus.speaker, corpus.turn, at, WEIGHTS)


def near(speakers: str, position: int) -> dict[int, tuple[float, float]]:
    corpus = corpus_of(Said(("tea",), speaker=ord(name), time=at) for at, name in enumerate(speakers))
    found = around(corpus, position)
    rows = zip(found.positions[:, 0], found.shares[:, 0], found.answers[:, 0], strict=True)
    return {int(place): (float(share), float(answer)) for place, share, answer in rows if share}


def test_a_turn_counts_whole_and_its_neighbours_less_the_further_away():
    found = near("abababababab", 6)
    assert found.keys() == {2, 3, 4, 5, 6, 7, 8, 9, 10}
    assert found[6] == (1.0, 0.0)
    assert [found[6 + far][0] for far in (1, 2, 3, 4)] == pytest.approx(
        [WEIGHTS.spread * math.exp(-far / WEIGHTS.fade) for far in range(4)]
    )
    assert [found[6 - far][0] for far in (1, 2, 3, 4)] == [found[6 + far][0] for far in (1, 2, 3, 4)]


def test_turns_of_another_session_do_not_count():
    corpus = corpus_of(Said(("tea",), session=at % 2, speaker=at, time=at) for at in range(8))
    found = around(corpus, 4)
    assert set(found.positions[found.shares > 0].tolist()) == {0, 2, 4, 6}
