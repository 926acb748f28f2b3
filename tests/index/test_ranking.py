"""The ranking is held to its oracle, `tests.reference.exhaustive_ranking`, and both to what a memory promises."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.index.corpus import ASSISTANT
from evimem.index.prepared_query import IndexQuery, Ranked
from evimem.index.ranking import SearchEffort
from evimem.index.weights import WEIGHTS
from evimem.types.vectors import Neighbours
from tests.reference.exhaustive_ranking import rank_all

from .corpora import Said, append, corpora, corpus_of, direction, passages, questions, rank

CANDIDATES = SearchEffort(whole=0)


def unfiltered(question: IndexQuery) -> IndexQuery:
    return replace(question, before=None, after=None, speaker=None, session=None, exclude=frozenset(), holding=())


def scores(found: list[Ranked]) -> list[tuple[int, float]]:
    return [(one.position, one.score) for one in found]


@given(passages, questions, st.integers(1, 8))
def test_the_fast_ranking_is_the_slow_one_to_the_bit(turns, question, k):
    corpus = corpus_of(turns)
    assert rank(question, corpus, k) == rank_all(question, corpus, k)


@given(passages, questions, st.integers(1, 8))
def test_a_filtered_ranking_is_what_the_filter_leaves_of_the_whole_one(turns, question, k):
    corpus = corpus_of(turns)
    whole = rank_all(unfiltered(question), corpus, len(turns))
    let_through = {one.turn for one in rank_all(question, corpus, len(turns))}
    assert rank(question, corpus, k) == [one for one in whole if one.turn in let_through][:k]


@given(passages, questions, st.integers(1, 30))
def test_candidates_are_distinct_eligible_and_as_many_as_asked_for(turns, question, k):
    corpus = corpus_of(turns)
    eligible = {one.turn for one in rank_all(question, corpus, len(turns))}
    few = SearchEffort(whole=0, seeds=2, nearest=1, kept=2, final=2)
    for effort in (CANDIDATES, few):
        found = [one.turn for one in rank(question, corpus, k, effort=effort)]
        assert len(found) == len(set(found)) == min(k, len(eligible))
        assert set(found) <= eligible


@given(corpora, questions)
def test_a_candidate_scores_what_it_scores_among_all(turns, question):
    corpus = corpus_of(turns)
    whole = {one.position: one for one in rank(question, corpus, len(turns))}
    few = SearchEffort(whole=0, seeds=2, nearest=1, kept=2, final=2)
    assert all(whole[one.position] == one for one in rank(question, corpus, 1, effort=few))


@given(passages, questions)
def test_parts_sum_to_the_score_and_neighbours_are_of_the_session(turns, question):
    corpus = corpus_of(turns)
    for one in rank(question, corpus, 5):
        assert sum(one.parts.values()) == pytest.approx(one.score, abs=1e-12)
        around = corpus.rows_of(one.neighbours)
        assert set(corpus.session[around].tolist()) <= {int(corpus.session[one.position])}
        assert one.turn == corpus.turn[one.position] not in one.neighbours


@given(corpora, questions, st.randoms(use_true_random=False))
def test_any_interleaving_that_keeps_each_sessions_order_finds_the_same(turns, question, chance):
    question = replace(question, exclude=frozenset())
    order = interleaved(turns, chance)
    first = rank(question, corpus_of(turns), len(turns))
    second = rank(question, corpus_of([turns[index] for index in order]), len(turns))
    assert {one.position: one.score for one in first} == {order[one.position]: one.score for one in second}


def interleaved(turns: list[Said], chance: random.Random) -> list[int]:
    """Shuffle arrival between sessions; turns of one session and time keep theirs, because it is their order."""
    waiting = {session: [i for i, said in enumerate(turns) if said.session == session] for session in range(3)}
    order = []
    while any(waiting.values()):
        session = chance.choice([session for session, left in waiting.items() if left])
        order.append(waiting[session].pop(0))
    return order


@given(passages, questions, st.sets(st.integers(1, 14), max_size=6))
def test_forgetting_leaves_what_was_never_there(turns, question, gone):
    question = replace(question, exclude=frozenset())
    rows = corpus_of(turns).rows_of(gone).tolist()
    corpus = corpus_of(turns, rows)
    left = [position for position in range(len(turns)) if position not in rows]
    fresh = rank(question, corpus_of([turns[position] for position in left]), len(turns))
    assert scores(rank(question, corpus, len(turns))) == [(left[place], score) for place, score in scores(fresh)]


@given(passages, questions, st.integers(0, 23))
def test_a_search_between_two_turns_changes_no_later_one(turns, question, pause):
    corpus = corpus_of(turns[:pause])
    rank(question, corpus, 3)
    for said in turns[pause:]:
        append(corpus, said)
    assert rank(question, corpus, 9) == rank(question, corpus_of(turns), 9)


def test_many_equal_turns_come_in_order_of_arrival():
    corpus = corpus_of(Said(("tea",) * (1 + at % 3 % 2), session=at) for at in range(300))
    found = [one.position for one in rank(IndexQuery("tea"), corpus, 300)]
    assert found == sorted(found, key=lambda at: (at % 3 != 1, at))


def test_other_weights_do_not_find_what_was_remembered_under_these():
    corpus = corpus_of(Said((), seed=at, speaker=at % 2, time=at) for at in range(4))
    question = IndexQuery("", direction(2))
    wide = replace(question, weights=replace(WEIGHTS, spread=0.9))
    rank(question, corpus, 4)
    assert rank(wide, corpus, 4) == rank_all(wide, corpus, 4)


def test_the_answer_after_a_question_is_found_by_the_questions_words():
    corpus = corpus_of(
        [
            Said((), ("garden", "river"), speaker=0, time=1),
            Said(("cake",), speaker=1, time=2),
            Said(("letter",), speaker=0, time=3, session=1),
        ]
    )
    found = rank(IndexQuery("garden river"), corpus, 3)
    assert [one.position for one in found] == [1, 0, 2]
    assert found[0].parts["words"] > 0
    assert found[0].neighbours == (1,)


class Fixed:
    """A vector index that always finds the same, and keeps what it was asked for."""

    def __init__(self, *positions: int) -> None:
        self._positions = positions
        self.wanted = 0

    def search(self, vector: object, k: int) -> Neighbours:
        self.wanted = k
        return Neighbours(np.array(self._positions[:k], np.int64), np.zeros(len(self._positions[:k]), np.float32))


def test_what_only_the_vector_index_finds_is_a_candidate_with_what_stands_around_it():
    corpus = corpus_of(Said((), seed=0, session=at // 10, speaker=at % 2, time=at) for at in range(300))
    found = rank(IndexQuery("", direction(1)), corpus, 9, nearest=Fixed(204), effort=SearchEffort(whole=0, final=9))
    assert {one.position for one in found} <= set(range(200, 210))


def test_a_position_that_the_corpus_does_not_have_yet_is_passed_over():
    corpus = corpus_of(Said((), seed=0, session=at) for at in range(5))
    assert len(rank(IndexQuery("", direction(1)), corpus, 3, nearest=Fixed(99, 2), effort=CANDIDATES)) == 3


def test_a_filter_that_hides_much_is_not_left_to_the_index():
    corpus = corpus_of(Said((), seed=0, session=at, speaker=at % 10) for at in range(1000))
    index = Fixed(*range(1000))
    for effort in (SearchEffort(whole=0, nearest=2), SearchEffort(whole=0, nearest=2, compared=0, sketched=4)):
        found = rank(IndexQuery("", direction(1), speaker=3), corpus, 3, nearest=index, effort=effort)
        assert {one.position % 10 for one in found} == {3}
    assert index.wanted == 0
    rank(IndexQuery("", direction(1), exclude=frozenset({5})), corpus, 3, nearest=index, effort=effort)
    assert index.wanted > 0


def test_a_date_alone_makes_a_candidate():
    day = 86_400_000_000
    corpus = corpus_of(Said((), seed=None, session=at, time=at * day) for at in range(1000))
    found = rank(IndexQuery("", times=((700 * day, 701 * day),)), corpus, 3, effort=SearchEffort(whole=0))
    assert found[0].position == 700


def test_scores_do_not_depend_on_the_length_of_the_vectors():
    corpus = corpus_of([Said(("tea",), seed=1), Said(("tea",), seed=2)])
    once, twice = (rank(IndexQuery("tea", factor * direction(1)), corpus, 2) for factor in (1, 2))
    assert once == twice


def test_the_named_speaker_counts_more_where_the_other_talks_ten_times_as_much():
    even = corpus_of(Said(("tea",) * 3, speaker=at % 2, time=at) for at in range(8))
    uneven = corpus_of(Said(("tea",) * (3 if at % 2 else 30), speaker=at % 2, time=at) for at in range(8))
    found = [rank(IndexQuery("tea", names=frozenset({1})), corpus, 8) for corpus in (even, uneven)]
    parts = [max(one.parts.get("speaker", 0.0) for one in ranked) for ranked in found]
    assert parts[0] == WEIGHTS.speaker
    assert parts[1] == pytest.approx(WEIGHTS.speaker * (16.5 / 3) ** 0.5)
    assert rank(IndexQuery("tea", names=frozenset({0})), uneven, 1)[0].parts["speaker"] == WEIGHTS.speaker


def test_several_things_of_one_speaker_are_looked_for_in_his_own_turns():
    corpus = corpus_of([Said(("tea",), speaker=0, session=0), Said(("tea",), speaker=1, session=1)])
    one, several = (
        {found.turn: found.parts for found in rank(IndexQuery("tea", names=frozenset({1}), several=many), corpus, 5)}
        for many in (False, True)
    )
    assert several[2]["speaker"] == pytest.approx(WEIGHTS.several * one[2]["speaker"])
    assert "speaker" not in several[1]


@pytest.mark.parametrize(("bound", "expected"), [({"before": 20}, {0, 2}), ({"after": 20}, {1, 2, 3})])
def test_time_filters_read_the_event_where_there_is_one(bound, expected):
    corpus = corpus_of(
        [
            Said(("tea",), time=30, events=((5, 6),)),
            Said(("tea",), time=25),
            Said(("tea",), time=40, events=((1, 2), (38, 39))),
            Said(("tea",), time=20),
        ]
    )
    assert {one.position for one in rank(IndexQuery("tea", **bound), corpus, 9)} == expected


def test_a_time_between_two_events_of_a_turn_does_not_meet_it():
    corpus = corpus_of([Said(("tea",), events=((1, 2), (38, 39)))])
    assert rank(IndexQuery("tea", after=10, before=20), corpus, 9) == []


def test_a_date_in_the_question_prefers_what_happens_then_as_well():
    day = 86_400_000_000
    corpus = corpus_of(
        Said(("tea",), time=900 * day, session=n, events=((n * 100 * day, n * 100 * day + day),)) for n in range(4)
    )
    assert rank(IndexQuery("tea", times=((200 * day, 201 * day),)), corpus, 4)[0].position == 2


def test_a_users_words_rank_before_an_assistants_unless_one_speaker_is_named():
    corpus = corpus_of([Said(("tea",), role=ASSISTANT, speaker=1, session=0), Said(("tea",), speaker=0, session=1)])
    assert [one.turn for one in rank(IndexQuery("tea"), corpus, 5)] == [2, 1]
    named = rank(IndexQuery("tea", names=frozenset({1})), corpus, 5)
    assert [(one.turn, "user" in one.parts) for one in named] == [(1, False), (2, False)]
