"""Judging and how a verdict takes effect: evidence, the tracker, a judge, the clamps."""
