"""Turns on their way in, and the work that is queued for them."""
