"""Test doubles for code that uses evimem: deterministic, and without network beyond this machine."""

from .scripted import FakeClock, ScriptedModel, WordEmbedder
from .scripted_server import FAULTS, Fault, ModelServer, Received

__all__ = ["FAULTS", "FakeClock", "Fault", "ModelServer", "Received", "ScriptedModel", "WordEmbedder"]
