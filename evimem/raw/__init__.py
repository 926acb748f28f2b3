"""The Raw layer."""

from .admit import Admission, instant
from .log import Place, RawLog, digest

__all__ = ["Admission", "Place", "RawLog", "digest", "instant"]
