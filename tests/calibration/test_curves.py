"""Reliability, risk and ranking, against values worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.calibration import (
    Bin,
    Point,
    aurc,
    auroc,
    ece,
    reliability,
    risk_coverage,
    threshold_for,
)

SURE = [0.95, 0.9, 0.9, 0.6, 0.2]
LABELS = [True, True, False, True, False]
LABELLED = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=60)


def test_bins_hold_what_was_predicted_and_observed():
    first, second, third = reliability(SURE, LABELS)
    assert (first, second) == (Bin(0.2, 0.0, 1), Bin(0.6, 1.0, 1))
    assert (third.predicted, third.observed, third.count) == (pytest.approx(2.75 / 3), pytest.approx(2 / 3), 3)


def test_the_calibration_error_weighs_bins_by_their_size():
    assert ece((Bin(0.5, 0.9, 1), Bin(0.9, 0.8, 3))) == pytest.approx((0.4 + 3 * 0.1) / 4)


def test_risk_grows_with_coverage_and_equal_probabilities_come_together():
    assert risk_coverage(SURE, LABELS) == (
        Point(0.95, 0.2, 0.0),
        Point(0.9, 0.6, pytest.approx(1 / 3)),
        Point(0.6, 0.8, 0.25),
        Point(0.2, 1.0, pytest.approx(0.4)),
    )


def test_the_area_is_the_mean_risk_with_equals_mixed():
    expected = (0 + 0.5 / 2 + 1 / 3 + 1 / 4 + 2 / 5) / 5
    assert aurc(SURE, LABELS) == pytest.approx(expected)


def test_the_threshold_for_a_precision_is_the_widest_that_has_it():
    assert threshold_for(SURE, LABELS, 0.75) == Point(0.6, 0.8, 0.25)
    assert threshold_for(SURE, LABELS, 1.0) == Point(0.95, 0.2, 0.0)
    assert threshold_for([0.9], [False], 0.5) is None


@given(LABELLED)
def test_ranking_is_what_comparing_every_pair_says(labelled):
    true = [score for score, label in labelled if label]
    false = [score for score, label in labelled if not label]
    if true and false:
        won = sum((t > f) + (t == f) / 2 for t in true for f in false)
        scores, labels = [score for score, _ in labelled], [label for _, label in labelled]
        assert auroc(scores, labels) == pytest.approx(won / len(true) / len(false))
