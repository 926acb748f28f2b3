"""The exit codes of the commands."""

from __future__ import annotations

from enum import IntEnum

from ..errors import (
    DimensionMismatch,
    EmbedderError,
    EmbedderMismatch,
    EvimemError,
    MissingExtra,
    ModelError,
    StoreError,
)


class Exit(IntEnum):
    """The exit codes, stable between versions."""

    OK = 0
    FAILED = 1
    USAGE = 2
    ABSTAINED = 3
    INPUT = 4
    STORE = 5
    MODEL = 6
    INTERRUPTED = 130


MEANINGS = {
    Exit.OK: "done",
    Exit.FAILED: "an unexpected error; please report it with the traceback",
    Exit.USAGE: "the command line is wrong; see --help",
    Exit.ABSTAINED: "ask abstained: the memory has no sufficient evidence",
    Exit.INPUT: "a file, id or value does not exist or is not valid, or turns were refused",
    Exit.STORE: "the memory cannot be used, or doctor found a problem",
    Exit.MODEL: "a chat model or an embedder failed or is not installed",
    Exit.INTERRUPTED: "interrupted by Ctrl-C; finished work is kept, the same command continues",
}


def code_of(error: EvimemError) -> Exit:
    """Return the exit code that an error leads to."""
    if isinstance(error, (StoreError, EmbedderMismatch, DimensionMismatch)):
        return Exit.STORE
    if isinstance(error, (ModelError, EmbedderError, MissingExtra)):
        return Exit.MODEL
    return Exit.INPUT
