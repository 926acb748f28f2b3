"""How many examples a property test whose examples are dear runs: few by default, forty times as many every night."""

from __future__ import annotations

import os

from hypothesis import settings

NIGHTLY = 40


def few(examples: int) -> settings:
    """Return the settings of a test with so few examples."""
    nightly = os.environ.get("EVIMEM_HYPOTHESIS") == "nightly"
    return settings(max_examples=NIGHTLY * examples if nightly else examples)
