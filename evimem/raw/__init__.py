"""The Raw layer."""

from .admit import Admission, instant
from .log import RawLog, digest

__all__ = ["Admission", "RawLog", "digest", "instant"]
