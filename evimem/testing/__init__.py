"""Doubles for testing code that uses evimem: no network beyond this machine, no randomness."""

from .scripted import FakeClock, ScriptedModel, WordEmbedder
from .scripted_server import ModelServer, Received
from .wire_faults import FAULTS, Fault

__all__ = ["FAULTS", "FakeClock", "Fault", "ModelServer", "Received", "ScriptedModel", "WordEmbedder"]
