"""The Edges layer."""

from .graph import EdgeGraph
from .rules import Link, ranked, threshold

__all__ = ["EdgeGraph", "Link", "ranked", "threshold"]
