"""From scores and labels to a map: monotone, no worse than the judge itself, refused where it means nothing."""

import math
import random
from dataclasses import replace

import pytest

from evimem.calibration import Calibration, ScoredQuestion, Wanted, aurc, ece, fit, reliability
from evimem.errors import ImportFailed, InvalidQuery


def judged(count: int, told: float = 1.0, seed: int = 0) -> list[ScoredQuestion]:
    """Questions whose judge is right about the odds, times `told`."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        score = chance.gauss(1.0, 2.0)
        said = 1 / (1 + math.exp(-told * score))
        found.append(ScoredQuestion(score, said, said, chance.random() < 1 / (1 + math.exp(-score))))
    return found


def test_an_overconfident_judge_is_corrected():
    found = fit(judged(400, told=4.0), "model", "embedder")
    assert found.ece_before > 0.1
    assert found.ece < found.ece_before / 2
    assert found.probability(1.0) == pytest.approx(1 / (1 + math.exp(-1.0)), abs=0.1)


def test_the_threshold_keeps_false_abstention():
    scored = judged(500)
    for share in (0.05, 0.1, 0.3):
        found = fit(scored, "model", "embedder", Wanted(share))
        assert found.false_abstention == pytest.approx(share, abs=0.03)
        refused = [found.probability(one.score) < found.abstain_below for one in scored if one.answerable]
        assert sum(refused) / len(refused) <= share


def test_the_threshold_reaches_a_precision():
    scored = judged(500)
    found = fit(scored, "model", "embedder", Wanted(precision=0.9))
    given = [one.answerable for one in scored if found.probability(one.score) >= found.abstain_below]
    assert sum(given) / len(given) >= 0.9
    assert found.precise is not None
    assert found.precise.threshold == found.abstain_below
    assert found.precise.coverage == len(given) / len(scored)


def test_a_precision_out_of_reach_is_refused_with_what_is_in_reach():
    scored = [replace(one, score=0.0) for one in judged(60)]
    with pytest.raises(InvalidQuery, match=r"no threshold gives a precision of 0.99.* at best"):
        fit(scored, "model", "embedder", Wanted(precision=0.99))


@pytest.mark.parametrize(
    "scored", [judged(49), [one for one in judged(200) if one.answerable][:60]], ids=["too few", "all alike"]
)
def test_too_few_labels_of_a_kind_are_refused_with_the_reason(scored):
    with pytest.raises(InvalidQuery, match=r"at least 50 labelled questions.*label more"):
        fit(scored, "model", "embedder")


@pytest.mark.parametrize("wanted", [Wanted(1.5), Wanted(precision=-0.1)])
def test_a_share_that_is_none_is_refused(wanted):
    with pytest.raises(InvalidQuery, match="expected a share between 0 and 1"):
        fit(judged(60), "model", "embedder", wanted)


def test_figures_are_of_questions_that_the_map_was_not_fitted_on():
    scored = judged(60)
    found = fit(scored, "model", "embedder")
    labels = [one.answerable for one in scored]
    own = [found.probability(one.score) for one in scored]
    assert found.aurc > aurc(own, labels)
    assert found.ece > ece(reliability(own, labels))


def test_a_calibration_is_read_as_it_was_written():
    found = fit(judged(80), "model", "embedder")
    assert Calibration.from_json(found.to_json()) == found
    with pytest.raises(ImportFailed, match="not a calibration"):
        Calibration.from_json('{"judge": "x"}')
