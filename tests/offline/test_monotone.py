"""Scores become probabilities by a map that never falls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.logistic import fit_monotone

LABELLED = st.lists(st.tuples(st.floats(-5, 5), st.booleans()), min_size=60, max_size=200)


@given(LABELLED, st.floats(-9, 9), st.floats(-9, 9))
def test_a_higher_score_is_never_less_probable(labelled: list[tuple[float, bool]], one: float, other: float) -> None:
    scores, labels = [s for s, _ in labelled], [label for _, label in labelled]
    if len(set(labels)) < 2 or len(set(scores)) < 30:
        return
    probable = fit_monotone(scores, labels)
    low, high = sorted((one, other))
    assert 0 <= probable(low) <= probable(high) <= 1


def test_what_was_observed_is_what_is_predicted() -> None:
    scores = [n / 100 for n in range(1000)]
    probable = fit_monotone(scores, [n % 10 < n // 100 for n in range(1000)])
    assert probable(0.5) == pytest.approx(0.0, abs=0.05)
    assert probable(5.5) == pytest.approx(0.5, abs=0.05)
    assert probable(9.5) == pytest.approx(0.9, abs=0.05)


@pytest.mark.parametrize("labels", [[True, False] * 24, [True] * 60])
def test_too_few_labels_or_all_alike_are_refused_with_the_reason(labels: list[bool]) -> None:
    with pytest.raises(ValueError, match="at least 50"):
        fit_monotone(list(range(len(labels))), labels)
