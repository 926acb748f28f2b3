"""Times: the intervals that a text mentions, and how to say an interval in words."""

from .cues import mentions_time
from .find import Located, find_times, locate_times
from .onset import onset
from .render import render

__all__ = ["Located", "find_times", "locate_times", "mentions_time", "onset", "render"]
