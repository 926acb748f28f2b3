"""Judges and extraction that ask a chat model; flows only, the doors perform the requests."""
