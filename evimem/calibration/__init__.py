"""How far a memory's probabilities can be believed: measured on labelled questions, and put right by a monotone map."""

from .calibration_report import Calibration
from .labelled import Labelled, read_labelled

__all__ = ["Calibration", "Labelled", "read_labelled"]
