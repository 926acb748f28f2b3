"""The names of errors outside Python: the status of an HTTP response, and the exit code of a command.

One table for every program that serves memories, so that the same failure is the same everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

from ..errors import (
    DimensionMismatch,
    DiskFull,
    EmbedderError,
    EmbedderMismatch,
    EvimemError,
    InvalidQuery,
    InvalidTurn,
    MissingExtra,
    ModelError,
    ModelTimeout,
    StoreBusy,
    StoreClosed,
    StoreError,
    StoreUnavailable,
    TraceMismatch,
    TurnConflict,
    UnknownTurn,
)

_INPUT, _STORE, _MODEL = 4, 5, 6  # exit codes of `evimem`


class Code(NamedTuple):
    """The HTTP status and the exit code of an error."""

    status: int
    exit: int


# The first row that an error is an instance of holds; so a class stands before those that it inherits from.
CODES: tuple[tuple[type[EvimemError], Code], ...] = (
    (UnknownTurn, Code(404, _INPUT)),
    (TurnConflict, Code(409, _INPUT)),
    (TraceMismatch, Code(409, _INPUT)),
    (InvalidTurn, Code(422, _INPUT)),
    (InvalidQuery, Code(422, _INPUT)),
    (MissingExtra, Code(501, _MODEL)),
    (ModelTimeout, Code(504, _MODEL)),
    (ModelError, Code(502, _MODEL)),
    (EmbedderError, Code(502, _MODEL)),
    (StoreBusy, Code(503, _STORE)),
    (StoreUnavailable, Code(503, _STORE)),
    (StoreClosed, Code(503, _STORE)),
    (DiskFull, Code(507, _STORE)),
    (StoreError, Code(500, _STORE)),
    (EmbedderMismatch, Code(500, _STORE)),
    (DimensionMismatch, Code(500, _STORE)),
    (EvimemError, Code(422, _INPUT)),
)


def code_of_error(error: EvimemError) -> Code:
    """Return the codes of an error."""
    return next(code for kind, code in CODES if isinstance(error, kind))
