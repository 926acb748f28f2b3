"""Times: the intervals that a text mentions, and how to say an interval in words."""

from .find import Located, find_times, locate_times
from .onset import onset
from .render import render
from .triggers import mentions_time

__all__ = ["Located", "find_times", "locate_times", "mentions_time", "onset", "render"]
