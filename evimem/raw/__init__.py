"""The Raw layer: verbatim turns."""

from .clock import check_clock, is_of_clock, set_instants, settle_timezone, wrong_instants
from .local_times import AS_GIVEN, LocalTimes
from .turn_log import BEGINNING, RawLog, TurnRows, digest
from .validate import ROLES, TurnValidator, instant

__all__ = [
    "AS_GIVEN",
    "BEGINNING",
    "ROLES",
    "LocalTimes",
    "RawLog",
    "TurnRows",
    "TurnValidator",
    "check_clock",
    "digest",
    "instant",
    "is_of_clock",
    "set_instants",
    "settle_timezone",
    "wrong_instants",
]
