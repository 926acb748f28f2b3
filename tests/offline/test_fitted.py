"""The fitted numbers of the judge without a model belong to the signals that it computes today."""

from __future__ import annotations

import pytest

from benchmarks.confidence import example_means
from evimem.offline.signals import FITTED

REFIT = "the signals moved since fitted.toml was fitted: run `python -m benchmarks.confidence ... --constants` again"


def test_the_fitted_numbers_belong_to_the_signals_of_today() -> None:
    assert example_means() == pytest.approx(FITTED["fitted_on"], abs=0.02), REFIT
