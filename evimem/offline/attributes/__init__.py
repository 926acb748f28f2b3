"""Attributes of people and things: "what is my sister's dog called", read from what the evidence states of each.

`ADVICE` and `ATTRIBUTES` are the patterns of the questions that are answered so.
"""

from .advice import ASKED as ADVICE
from .asked_attribute import PATTERNS as ATTRIBUTES
from .asked_attribute import Attribute, attribute_of
from .attribute_answer import in_order
from .lookup import NOT_ASKED, Item, Lookup, lookup

__all__ = ["ADVICE", "ATTRIBUTES", "NOT_ASKED", "Attribute", "Item", "Lookup", "attribute_of", "in_order", "lookup"]
