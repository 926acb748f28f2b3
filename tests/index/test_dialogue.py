"""Who counts in a turn's score, and by how much."""

import math

import numpy as np
import pytest

from evimem.index.corpus import Corpus
from evimem.index.dialogue import Neighbourhood
from evimem.index.weights import WEIGHTS

from .corpora import Said, corpus_of


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
