"""Who counts in a turn's score, and by how much."""

import math

import numpy as np
import pytest

from evimem.index.corpus import Corpus
from evimem.index.dialogue_smoothing import Neighbourhood
from evimem.index.weights import WEIGHTS

from .corpora import Said, corpus_of


def around(corpus: Corpus, position: int) -> Neighbourhood:
    corpus.smoothing.follow(corpus.dialogue, len(corpus), WEIGHTS, 0.0)
    return corpus.smoothing.neighbourhood(corpus, np.array([position], np.int32), WEIGHTS)


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


def test_only_what_the_other_said_just_before_can_be_answered():
    found = near("abababab", 4)
    assert [place for place, (_, answers) in found.items() if answers] == [3]
    assert found[3][1] == 1.0


def test_messages_of_one_burst_stand_closer_than_turns():
    burst, turns = near("baaaab", 2), near("ababab", 2)
    assert burst[3][0] > turns[3][0]
    assert burst[1][0] == burst[3][0]


def test_every_message_of_a_burst_can_answer_the_burst_before():
    found = near("bbaaa", 4)
    answers = {place: answers for place, (_, answers) in found.items() if answers}
    assert answers.keys() == {0, 1}
    assert answers[1] > answers[0]


def test_a_monologue_reaches_no_further_than_it_may():
    assert near("a" * 40, 20).keys() == set(range(20 - WEIGHTS.steps, 21 + WEIGHTS.steps))


def test_turns_of_another_session_do_not_count():
    corpus = corpus_of(Said(("tea",), session=at % 2, speaker=at, time=at) for at in range(8))
    found = around(corpus, 4)
    assert set(found.positions[found.shares > 0].tolist()) == {0, 2, 4, 6}


def test_a_passage_of_the_same_turn_is_as_far_as_the_next_speaker():
    corpus = corpus_of([Said(("tea",), part=part, parts=3) for part in range(3)])
    found = around(corpus, 0)
    assert found.shares[found.positions == 1] == WEIGHTS.spread
    assert found.shares[found.positions == 2] == pytest.approx(WEIGHTS.spread * math.exp(-1 / WEIGHTS.fade))
