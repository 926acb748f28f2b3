"""The Raw layer: verbatim turns."""

from .turn_log import BEGINNING, RawLog, TurnRows, digest, is_same
from .validate import (
    AS_GIVEN,
    ROLES,
    LocalTimes,
    MemoryClock,
    TurnValidator,
    instant,
    set_instants,
    settle_timezone,
    wrong_instants,
)

__all__ = [
    "AS_GIVEN",
    "BEGINNING",
    "ROLES",
    "MemoryClock",
    "LocalTimes",
    "RawLog",
    "TurnRows",
    "TurnValidator",
    "digest",
    "instant",
    "is_same",
    "set_instants",
    "settle_timezone",
    "wrong_instants",
]
