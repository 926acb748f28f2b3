"""Benchmarks: metrics as pure functions, and runners that score a memory on a labelled conversation."""
