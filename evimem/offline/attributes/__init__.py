"""Attributes of people and things: "what is my sister's dog called", read from what the evidence states of each."""

from .lookup import NOT_ASKED, QUESTIONS, Item, Lookup, lookup

__all__ = ["NOT_ASKED", "QUESTIONS", "Item", "Lookup", "lookup"]
