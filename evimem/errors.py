"""evimem's exceptions. `except evimem.EvimemError` catches every one that is raised on purpose.

* EvimemError
  x InvalidTurn          a turn that cannot be kept as given
  x TurnConflict         an id that already names other content
  x UnknownTurn          an id that the memory does not hold
  x InvalidQuery         a question, filter or budget that has no meaning
  x DimensionMismatch    a vector of the wrong width
  x EmbedderMismatch     a memory opened with another embedder than it was built with
  x MissingExtra         an optional dependency that is not installed
  x ModelError           the chat model did not give a usable reply (has .retryable)
    x ReplyError         its reply does not have the form that was asked for
    x ModelTimeout       it did not answer before the deadline
    x ModelUnavailable   it refused, or could not be reached
  x EmbedderError        the embedder failed (has .retryable)
  x StoreError           the file cannot be used
    x NotAMemory         it is something else
    x NewerSchema        a later evimem wrote it
    x StoreCorrupt       what it holds is not what was written
    x StoreRolledBack    it is older than its companion says, emptied or missing
    x StoreReadOnly      it cannot be written
    x StoreBusy          it stayed in use for longer than the timeout
      x PoolFull         every memory of a pool that may be open at once stayed in use
    x DiskFull           there is no room left
    x StoreClosed        the handle is closed, or belongs to the parent of a fork
  x TraceMismatch        a trace that the memory no longer leads to
  x ImportFailed         a file to import does not have the form its name or option says
"""

from __future__ import annotations

import struct
from typing import Any

# What reading a damaged row as it was written stumbles over; told to the caller as StoreCorrupt.
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, struct.error)


class EvimemError(Exception):
    """Base of every error evimem raises on purpose."""


class InvalidTurn(EvimemError):
    """A turn cannot be kept as given."""


class TurnConflict(EvimemError):
    """An id already names a turn with other content."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(
            f"turn {turn_id!r} is already stored with other content, and turns are never rewritten; "
            "give the new turn an id of its own, or forget the old one first"
        )
        self.turn_id = turn_id


class UnknownTurn(EvimemError):
    """The memory holds no turn of this id."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(f"no turn {turn_id!r} in this memory; ids are those given to add(), or in AddReport.statuses")
        self.turn_id = turn_id


class InvalidQuery(EvimemError):
    """A question, filter or budget has no meaning."""


class TraceMismatch(EvimemError):
    """Asking a traced question again did not lead to what the trace says."""


class DimensionMismatch(EvimemError):
    """A vector of the wrong width was offered."""

    def __init__(self, got: int, expected: int) -> None:
        super().__init__(
            f"vectors have {got} dimensions but the memory was built with {expected}; "
            "open it with the embedder it was built with, or switch with reembed()"
        )
        self.got = got
        self.expected = expected


class EmbedderMismatch(EvimemError):
    """A memory was opened with another embedder than it was built with."""

    def __init__(self, got: str, expected: str) -> None:
        super().__init__(
            f"the memory was built with embedder {expected!r} but opened with {got!r}; "
            "open it with that embedder; reembed() then switches to another"
        )
        self.got = got
        self.expected = expected


class MissingExtra(EvimemError):
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the {extra!r} extra: pip install 'evimem[{extra}]'")
        self.extra = extra


class ModelError(EvimemError):
    """The chat model did not give a usable reply.

    `calls` are the requests (`trace.Called`) that led here; `partial` is what the loop had when it happened, an
    `Answer` that neither answers nor abstains.
    """

    retryable = False
    calls: tuple[Any, ...] = ()
    partial: Any = None


class ReplyError(ModelError):
    """A reply does not have the form that was asked for.

    `reply` is its text and `received` what it cost (a `Reply`, where known). The text is no part of the message:
    messages end up in logs, and a reply may quote what somebody said.
    """

    def __init__(self, role: str, why: str, reply: str, received: Any = None) -> None:
        super().__init__(f"the {role} model's reply of {len(reply)} characters could not be read: {why}")
        self.role = role
        self.why = why
        self.reply = reply
        self.received = received


class ModelTimeout(ModelError):
    """The chat model did not answer before the deadline."""

    retryable = True


class ModelUnavailable(ModelError):
    """The chat model refused, or could not be reached.

    `status` is the HTTP status, where there was one; `retry_after` the number of seconds that the server asked to
    wait. `detail` is the server's own text, kept out of the message because servers quote what they were sent.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool,
        retry_after: float | None = None,
        detail: str = "",
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after
        self.detail = detail
        self.status = status


class EmbedderError(EvimemError):
    """The embedder failed. `of_texts`: what it was given may be why; `retry_after`: the seconds it asks for."""

    def __init__(
        self, message: str, *, retryable: bool = True, of_texts: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.of_texts = of_texts
        self.retry_after = retry_after


class StoreError(EvimemError):
    """The file cannot be used."""


class NotAMemory(StoreError):
    """The path holds something other than a memory."""


class NewerSchema(StoreError):
    """A later evimem wrote the file."""

    def __init__(self, path: str, found: int, known: int) -> None:
        super().__init__(f"{path!r} has schema {found} but this evimem knows up to {known}; upgrade evimem to open it")
        self.found = found
        self.known = known


class StoreCorrupt(StoreError):
    """What the file holds is not what was written."""


class StoreRolledBack(StoreError):
    """The file is older than its companion says, emptied or missing."""


class StoreReadOnly(StoreError):
    """The file or its folder cannot be written."""


class StoreBusy(StoreError):
    """The file stayed in use for longer than the timeout, by another process or another part of this one."""


class PoolFull(StoreBusy):
    """Every memory that a pool may have open at once stayed in use for as long as a caller waits.

    `capacity` is how many that are; `waited` the number of seconds. Nothing was opened: repeating the call is safe.
    """

    def __init__(self, capacity: int, waited: float) -> None:
        super().__init__(
            f"all {capacity} memories of the pool stayed in use for {waited:g} s; end `with` blocks sooner, "
            "raise capacity= (files open at once), or wait longer with wait_seconds="
        )
        self.capacity = capacity
        self.waited = waited


class DiskFull(StoreError):
    """There is no room left. Nothing of the call was kept, unless the message says so: repeating it is safe."""


class StoreClosed(StoreError):
    """The handle is closed, or belongs to the parent of a fork."""


class ImportFailed(EvimemError):
    """A file to import does not have the form its name or option says."""
