"""The first reader: one attribute of somebody, looked up in what the evidence states of each, or named as untold."""

from .lookup import Item, Slot, lookup

__all__ = ["Item", "Slot", "lookup"]
