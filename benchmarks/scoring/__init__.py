"""Benchmarks: metrics as pure functions, and a runner that scores a memory on labelled conversations."""
