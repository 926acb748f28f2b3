"""Calibrate probabilities on labelled questions: measure their error and fit a monotone map that corrects them."""

from .calibration_report import Calibration, Labelled, read_labelled

__all__ = ["Calibration", "Labelled", "read_labelled"]
