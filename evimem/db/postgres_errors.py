"""psycopg's errors as evimem's, with a remedy and whether to retry; they quote nothing."""

from __future__ import annotations

import re
from types import TracebackType

from ..errors import (
    DiskFull,
    MissingExtra,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
    StoreUnavailable,
)

try:
    import psycopg
except ImportError as _error:
    raise MissingExtra("a memory on PostgreSQL", "postgres") from _error

_CROWDED = re.compile(
    r"too many (clients|connections)|connection slots are reserved|no more connections allowed|temporarily unavailable"
)
# How libpq's reason for a failed connection is told: its own words may repeat parts of the address or of a file.
_REASONS = (
    (r"authentication failed|no password|pg_hba|role .* (is not permitted|does not exist)", "it refused the role"),
    (r"database .* does not exist", "it has no such database"),
    (r"refused|No such file|not a directory|Permission denied", "no server listens there"),
    (r"timeout|timed out", "it did not answer in time"),
    (r"translate host name|resolve|not known", "its name is not known"),
    (r"SSL|TLS|certificate", "encryption could not be agreed on"),
    (r"starting up|shutting down|recovery|not yet accepting", "it is starting or shutting down"),
    (r"unsupported startup parameter", "a pooler before it refuses a parameter of the address"),
)


class CrowdedServer(StoreBusy):
    """A server that refused a connection because it has as many as it may."""


class UnknownRefusal(StoreUnavailable):
    """A server that refused a connection in words that are not known here, as one that does not speak English does."""


class UndoneTransaction(StoreBusy):
    """A transaction that the server has undone for the sake of another's: a serialization failure, or a deadlock."""


class SilentServer(psycopg.OperationalError):
    """A server or proxy that sent no byte of an answer for longer than a call waits."""


class TypedErrors:
    """Turns psycopg's errors into evimem's.

    Nothing is chained to them: the server's text may quote stored text.
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, psycopg.Error):
            raise translate_error(error, self._name) from None


def explain_refusal(text: str, name: str) -> StoreError:
    """Return the error for a connection that was not made; `text` is libpq's reason, of which nothing is shown."""
    if _CROWDED.search(text):
        return CrowdedServer(
            f"{name!r} has as many connections as it may; nothing was written: repeat the call, or raise "
            "max_connections of the server"
        )
    reason = next((told for words, told in _REASONS if re.search(words, text)), None)
    kind, reason = (UnknownRefusal, "for a reason of its own") if reason is None else (StoreUnavailable, reason)
    return kind(f"{name!r} cannot be reached ({reason}); nothing was written: repeat the call when that has changed")


# By the beginning of SQLSTATE, the first that fits: the kind of error, and its text about a place and a reason.
_KINDS: tuple[tuple[str, type[StoreError], str], ...] = (
    (r"40001|40P01", UndoneTransaction, "{0} stayed busy ({1}); nothing was written: repeat the call"),
    (r"55P03|53300|57014", StoreBusy, "{0} stayed busy ({1}); nothing was written: repeat the call"),
    (r"57P|08", StoreUnavailable, "the connection to {0} was lost ({1}); nothing was written: repeat the call"),
    (r"53[12]00", DiskFull, "no room on the server of {0} ({1}); nothing of this call was kept: free space and repeat"),
    (r"25006", StoreReadOnly, "{0} is a replica or read-only ({1}); give the address of the primary"),
    (
        r"42501",
        StoreError,
        "the role of {0} lacks a right on the tables ({1}); open the memory again, which names the missing GRANT",
    ),
    (r"XX", StoreCorrupt, "{0} is damaged ({1}); check the server's storage, or restore a backup"),
    (r"", StoreError, "{0} could not be used: {1}"),
)


def is_connection_lost(error: psycopg.Error) -> bool:
    """Return whether an error means that the connection is no more."""
    return re.match(r"57P|08", _sql_state(error)) is not None


def translate_error(error: psycopg.Error, name: str) -> StoreError:
    """Return evimem's error for one of psycopg's, without the server's text."""
    state = error.sqlstate
    reason = f"{type(error).__name__}{f', SQLSTATE {state}' if state else ''}"
    kind, told = next((kind, told) for begin, kind, told in _KINDS if re.match(begin, _sql_state(error)))
    return kind(told.format(repr(name), reason))


def _sql_state(error: psycopg.Error) -> str:
    # A connection that broke has no SQLSTATE: 08 is the class of connections.
    return error.sqlstate or ("08" if isinstance(error, psycopg.OperationalError) else "")
