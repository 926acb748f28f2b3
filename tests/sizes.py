"""How much a test tries: little by default, more with EVIMEM_SIZE=usual, and most every night.

The usual size is enough for every break of tests/breaks to be noticed: its tests run under it at that size.
"""

import os
from collections.abc import Sequence
from typing import Any, TypeVar
from zlib import crc32

import pytest
from hypothesis import settings

T = TypeVar("T")
SEED = int(os.environ.get("EVIMEM_SEED", "20240312"))
REDUCED = os.environ.get("EVIMEM_SIZE") != "usual"
NIGHTLY = 40  # times as many examples


def sizes(usual: int, *, nightly: int | None = None, reduced: int) -> list[Any]:
    """Return the values to parametrize a test with: a reduced or its usual size and, under the mark, a nightly one.

    With reduced=0 only the long runs have the test.
    """
    size = reduced if REDUCED else usual
    if not size:
        return [pytest.param(nightly or usual, marks=pytest.mark.nightly)]
    return [size, *([pytest.param(nightly, marks=pytest.mark.nightly)] if nightly else [])]


def share(values: Sequence[T], one_of: int, name: str) -> Sequence[T]:
    """Return one of so many values, others for another test; all at the usual size."""
    return values[crc32(name.encode()) % one_of :: one_of] if REDUCED else values


def few(examples: int) -> settings:
    """Return the settings of a property test whose examples are dear: so many, and many times as many every night."""
    nightly = os.environ.get("EVIMEM_HYPOTHESIS") == "nightly"
    return settings(max_examples=NIGHTLY * examples if nightly else examples)


def bound(trials: int) -> str:
    """Return the 95 % upper bound of a rate after so many trials without a case (the rule of three)."""
    return f"95 % upper bound {100 * 3 / trials:.2g} %"
