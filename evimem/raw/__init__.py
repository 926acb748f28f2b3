"""The Raw layer."""

from .turn_log import Place, RawLog, digest
from .validate import Admission, instant

__all__ = ["Admission", "Place", "RawLog", "digest", "instant"]
