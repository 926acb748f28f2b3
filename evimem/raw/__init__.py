"""The Raw layer: verbatim turns."""

from .clock import MemoryClock, set_instants, settle_timezone, wrong_instants
from .local_times import AS_GIVEN, LocalTimes
from .turn_log import BEGINNING, RawLog, TurnRows, digest, is_same
from .validate import ROLES, TurnValidator, instant

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
