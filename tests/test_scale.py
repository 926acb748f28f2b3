"""A search of a large memory finds what scoring every turn would find, up to turns that are as good."""

import pytest

import evimem
from benchmarks.speed import against_all, chat
from evimem.index.ranking import SearchEffort
from tests.sizes import REDUCED

TURNS = 1_500 if REDUCED else 5_000


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("scale") / "m.evimem"
    with evimem.open(path) as memory:
        memory.extend(chat(TURNS, 22))
    return path


@pytest.mark.parametrize("compared", [32_768, 0])
def test_candidates_score_as_much_as_the_best_of_all(path, compared):
    like, kept = against_all(path, SearchEffort(whole=0, compared=compared, sketched=512))
    assert kept >= 0.995
    assert like >= 0.85
