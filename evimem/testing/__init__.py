"""Doubles for testing code that uses evimem: no network beyond this machine, no randomness."""

from .doubles import FakeClock, ScriptedModel, WordEmbedder
from .faults import FAULTS, Fault
from .server import ModelServer, Received

__all__ = ["FAULTS", "FakeClock", "Fault", "ModelServer", "Received", "ScriptedModel", "WordEmbedder"]
