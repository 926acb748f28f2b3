"""What the exit code of a command tells the program that ran it."""

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
    Exit.FAILED: "a bug: please report it with the traceback",
    Exit.USAGE: "the command line is not as --help says",
    Exit.ABSTAINED: "ask found no sufficient evidence, and said so",
    Exit.INPUT: "a file, an id or a value does not exist or has no meaning",
    Exit.STORE: "the memory cannot be used, or doctor found something wrong",
    Exit.MODEL: "a chat model or an embedder failed or is not installed",
    Exit.INTERRUPTED: "Ctrl-C; what was done is kept, and the same command goes on from there",
}


def code_of(error: EvimemError) -> Exit:
    """Return the exit code that an error leads to."""
    if isinstance(error, (StoreError, EmbedderMismatch, DimensionMismatch)):
        return Exit.STORE
    if isinstance(error, (ModelError, EmbedderError, MissingExtra)):
        return Exit.MODEL
    return Exit.INPUT
