"""The fitted numbers of the gate belong to the signals that it measures today."""

from __future__ import annotations

import orjson
import pytest

from benchmarks.gate import example_means
from evimem.page.gate import GATE_FILE

REFIT = "the signals moved since gate.json was fitted: refit it with `python -m benchmarks.gate --write`"


def test_the_fitted_gate_belongs_to_the_signals_of_today() -> None:
    assert example_means() == pytest.approx(orjson.loads(GATE_FILE.read_bytes())["fitted_on"], abs=0.02), REFIT
