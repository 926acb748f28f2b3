"""The Raw layer: verbatim turns."""

from .clock import check_clock, set_instants, wrong_instants
from .turn_log import RawLog, TurnRows, digest
from .validate import TurnValidator, instant

__all__ = ["TurnRows", "RawLog", "TurnValidator", "check_clock", "digest", "instant", "set_instants", "wrong_instants"]
