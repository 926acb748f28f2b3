"""What the index is asked, and what it answers: positions, no ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

import numpy as np
from numpy.typing import NDArray

from .weights import WEIGHTS, Weights

_MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1)
_EPOCH_AWARE = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True, slots=True)
class Question:
    """What to look for. `before`, `after`, `speaker`, `session` and `exclude` are hard filters; the rest are priors.

    Times are microseconds (see `microseconds`), speakers and sessions the ordinals of the corpus, `exclude` positions;
    `weights` are what the parts of a score count.
    """

    text: str
    vector: NDArray[np.float32] | None = None
    names: frozenset[int] = frozenset()
    times: tuple[tuple[int, int], ...] = ()
    when: bool = False
    before: int | None = None
    after: int | None = None
    speaker: int | None = None
    session: int | None = None
    exclude: frozenset[int] = frozenset()
    weights: Weights = WEIGHTS


@dataclass(frozen=True, slots=True)
class Ranked:
    """One turn found: `parts` sum to `score`; `neighbours` are the turns beside it that count in its score."""

    position: int
    score: float
    parts: Mapping[str, float] = field(default_factory=dict, hash=False)
    neighbours: tuple[int, ...] = ()


def microseconds(time: datetime) -> int:
    """Return a time as whole microseconds since 1970; naive times as they stand, aware ones in UTC."""
    return (time - (_EPOCH if time.tzinfo is None else _EPOCH_AWARE)) // _MICROSECOND
