"""The Edges layer."""

from .edge_table import EdgeGraph
from .link_rules import Link, ranked, threshold

__all__ = ["EdgeGraph", "Link", "ranked", "threshold"]
