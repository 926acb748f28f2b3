"""Judging and quoting without a model: requirements, attribution, signals, probabilities, quoted lines."""
