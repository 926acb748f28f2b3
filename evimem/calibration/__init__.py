"""How far a memory's probabilities can be believed: measured on labelled questions, and put right by a monotone map."""

from .labelled import Labelled, read_labelled
from .report import Calibration

__all__ = ["Calibration", "Labelled", "read_labelled"]
