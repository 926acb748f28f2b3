"""evimem's exceptions. `except evimem.EvimemError` catches all of them.

* EvimemError
  x InvalidTurn          a turn that cannot be stored as given
  x TurnConflict         an id that is stored already with other content
  x UnknownTurn          an id that is not stored
  x InvalidQuery         a question, filter, budget or other argument that is not valid
    x NoModel            it needs a chat model, and there is none
  x DimensionMismatch    a vector of the wrong width
  x EmbedderMismatch     a memory opened with another embedder than it was built with
  x MissingExtra         an optional dependency that is not installed
  x ModelError           the chat model did not give a usable reply (has .retryable)
    x ReplyError         its reply does not have the requested form
    x ModelTimeout       it did not answer before the deadline
    x ModelUnavailable   it refused, or could not be reached
      x PromptTooLong      the request has more tokens than the model reads
  x EmbedderError        the embedder failed (has .retryable)
  x StoreError           the file cannot be used
    x WrongKey           it is encrypted with another key, or is not encrypted
    x NotAMemory         it is not a memory
    x NewerSchema        a later version of evimem wrote it
    x StoreCorrupt       its content is not as it was written
    x StoreRolledBack    it is older than its commit mark, emptied or missing
    x StoreReadOnly      it cannot be written
    x StoreUnavailable   its server cannot be reached, or was lost (.retryable, .in_doubt)
    x StoreBusy          it stayed in use for longer than the timeout
      x PoolFull         every memory that a pool may have open at once stayed in use
    x DiskFull           the disk is full
    x StoreClosed        the handle is closed, or belongs to the parent of a fork
  x TraceMismatch        a replay that does not repeat its trace
  x ImportFailed         a file to read that is not of the expected format
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable
from dataclasses import dataclass
from reprlib import Repr
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_LOG = logging.getLogger("evimem")

# Decoding a damaged row can raise these; the store reports each of them as StoreCorrupt.
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, struct.error)


class _Shown(Repr):
    """Shows any value: one that cannot be shown, such as a number of 5,000 digits or a list in itself, by its type."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = 400

    def repr_int(self, value: int, level: int) -> str:
        return repr(value) if value.bit_length() <= _MOST_BITS else f"<a whole number of {value.bit_length()} bits>"

    def repr_bytes(self, value: bytes, level: int) -> str:
        return repr(bytes(value[: self.maxother]))

    repr_bytearray = repr_bytes


_MOST_BITS = 1_000  # Python refuses to print a whole number of some thousand digits
_SHOWN = _Shown()


def shown(value: object, most: int = 60) -> str:
    """Return a caller's value for a message: about `most` characters, of any value."""
    text = _SHOWN.repr(value)
    return text if len(text) <= most else f"{text[:most]}..."


def describe_safely(value: object) -> str:
    """Return a value that may quote a conversation, for a message: numbers as they are, else its type and its size."""
    parts = value if isinstance(value, (list, tuple)) and len(value) < 10 else [value]
    if all(one is None or isinstance(one, (bool, int, float)) for one in parts):
        return shown(value)
    kind = f"a {type(value).__name__}"
    if isinstance(value, (str, bytes, bytearray, list, tuple, dict, set, frozenset)):
        return f"{kind} of length {len(value)}"
    return kind


class EvimemError(Exception):
    """Base class of every exception that evimem defines.

    All of them can be pickled, with their message and attributes, so that they cross from process to process; the
    cause of one does not.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the message and the attributes: `__init__` of many a kind takes other arguments than the message."""
        return _restore, (type(self), self.args), self.__dict__


def _restore(kind: type[EvimemError], args: tuple[Any, ...]) -> EvimemError:
    """Return an error of a kind with the arguments of `Exception`, its attributes still unset."""
    return kind.__new__(kind, *args)


class InvalidTurn(EvimemError):
    """A turn cannot be stored as given: a field is missing, too long or of the wrong type (see `Memory.add`)."""


class TurnConflict(EvimemError):
    """A turn of this id is stored already with other content. `turn_id` is the id. Turns are never rewritten (E1)."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(
            f"turn {shown(turn_id, 120)} is already stored with other content, and turns are never rewritten; "
            "give the new turn another id, or forget the stored one first"
        )
        self.turn_id = turn_id


class UnknownTurn(EvimemError):
    """No turn of this id is stored. `turn_id` is the id."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(
            f"no turn {shown(turn_id, 120)} in this memory; expected the id of a stored turn, as add() and search() "
            "return it"
        )
        self.turn_id = turn_id


class InvalidQuery(EvimemError):
    """A question, filter, budget or other argument is not valid; the message names it and the expected form."""


class NoModel(InvalidQuery):
    """The call needs a chat model, and none was given: a loop that asks one, or `enrich_batch`."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} needs a chat model, but there is none; give llm=, such as evimem.OpenAI(model=...)")


class TraceMismatch(EvimemError):
    """A replay did not repeat its trace: the memory or evimem has changed since, or the trace is incomplete."""


class DimensionMismatch(EvimemError):
    """A vector has `got` dimensions, but the memory was built with `expected`."""

    def __init__(self, got: int, expected: int) -> None:
        super().__init__(
            f"vectors have {got} dimensions but the memory was built with {expected}; "
            "open it with the embedder it was built with, or switch with reembed()"
        )
        self.got = got
        self.expected = expected


class EmbedderMismatch(EvimemError):
    """A memory was opened with the embedder named `got`, but was built with the one named `expected`."""

    def __init__(self, got: str, expected: str) -> None:
        super().__init__(
            f"the memory was built with embedder {shown(expected)} but opened with {shown(got)}; "
            "open it with that embedder; reembed() then switches to another"
        )
        self.got = got
        self.expected = expected


class MissingExtra(EvimemError):
    """An optional dependency is not installed. `extra` is the extra of the package that installs it."""

    def __init__(self, what: str, extra: str, install: str = "") -> None:
        super().__init__(f"{what} needs the {extra!r} extra: {install or 'pip install ' + repr(f'evimem[{extra}]')}")
        self.extra = extra


class ModelError(EvimemError):
    """The chat model did not give a usable reply.

    Attributes:
        retryable: Whether the same request may succeed later.
        calls: The requests (`evimem.types.trace.Called`) made for it, this one included.
        received: The reply as far as it came (`evimem.types.trace.Reply`: its text where there is one, its
            tokens and its seconds); None if unknown.
        partial: Where `ask` raised it, an `Answer` with the evidence so far, which neither answers nor abstains; else
            None.
    """

    retryable = False
    calls: tuple[Any, ...] = ()
    received: Any = None
    partial: Any = None


class ReplyError(ModelError):
    """A reply does not have the requested form, and one repair did not help.

    The text is not part of the message: messages end up in logs, and a reply may quote private text.

    Attributes:
        role: The role of the model: "judge", "decide", "answer" or "extract".
        why: The fault of the reply.
        reply: Its text.
        cut: Whether the reply ended at the limit of its length.
        refused: Whether the model, or a filter of its provider, declined on account of the text.
    """

    cut: bool = False
    refused: bool = False

    def __init__(
        self, role: str, why: str, reply: str, received: Any = None, *, cut: bool = False, refused: bool = False
    ) -> None:
        super().__init__(f"the {role} model's reply of {len(reply)} characters could not be read: {why}")
        self.role = role
        self.why = why
        self.reply = reply
        self.received = received
        self.cut = cut
        self.refused = refused


class ModelTimeout(ModelError):
    """The chat model did not answer before the deadline of the whole call. Retryable.

    Attributes:
        partial: Where `ask` raised it and the evidence has lines to quote, the `Answer` that is given without a model:
            its `kind` is "quote", `fell_back` is True, and its `reason` names the deadline. Else as of any ModelError.
    """

    retryable = True


class ModelUnavailable(ModelError):
    """The chat model refused, or could not be reached.

    Attributes:
        retryable: Whether the same request may succeed later.
        retry_after: Seconds that the server asked to wait; None if it did not.
        detail: The server's own text, kept out of the message because servers quote the request.
        status: The HTTP status; None without a response.
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


class PromptTooLong(ModelUnavailable):
    """The request has more tokens than the model reads: it refused it, or read only a part of it.

    A judge or an answer is asked for again with less evidence; this is raised where even little is too much.
    """


class EmbedderError(EvimemError):
    """The embedder failed, or returned something other than finite vectors.

    Attributes:
        retryable: Whether the same call may succeed later.
        of_texts: Whether the texts may be the reason, so that other texts can succeed; None where that is not known.
        retry_after: Seconds that the server asked to wait; None if it did not.
    """

    def __init__(
        self, message: str, *, retryable: bool = True, of_texts: bool | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.of_texts = of_texts
        self.retry_after = retry_after


class StoreError(EvimemError):
    """The file cannot be used; the message names the path, the reason and a remedy.

    `retryable` says whether the same call may succeed later; repeating one that adds turns stores nothing twice.
    """

    retryable = False


class NotAMemory(StoreError):
    """The path holds something other than a memory; it was not changed."""


class WrongKey(StoreError):
    """The file is encrypted and no key or another one was given, or a key was given and it is not encrypted."""


class NewerSchema(StoreError):
    """A later version of evimem wrote the file: its schema is `found`, this version knows up to `known`."""

    def __init__(self, path: str, found: int, known: int) -> None:
        super().__init__(f"{path!r} has schema {found} but this evimem knows up to {known}; upgrade evimem to open it")
        self.found = found
        self.known = known


class StoreCorrupt(StoreError):
    """The content of the file is not as it was written: a digest, page or row is damaged. See `evimem doctor`."""


class StoreRolledBack(StoreError):
    """The file is older than its commit mark (the small file next to it), emptied or missing: restore the right one."""


class StoreReadOnly(StoreError):
    """The file or its folder cannot be written, or the folder does not exist."""


class StoreUnavailable(StoreError):
    """The server of a memory cannot be reached, or the connection to it was lost. Try again.

    `in_doubt` says that it was lost during a commit: the writes of the call are stored whole or not at all, which
    nobody knows. Repeating it is safe.
    """

    retryable = True

    def __init__(self, message: str, *, in_doubt: bool = False) -> None:
        super().__init__(message)
        self.in_doubt = in_doubt


class StoreBusy(StoreError):
    """The file stayed in use for longer than the timeout, by another process or another part of this one. Try again."""

    retryable = True


class PoolFull(StoreBusy):
    """Every memory that a pool may have open at once stayed in use for as long as a caller waits.

    `capacity` is their number, `waited` the seconds waited. Nothing was opened: repeating the call is safe. Inside a
    block it says that the place, which was lent while the block waited for a model, did not come back in time.
    """

    def __init__(self, capacity: int, waited: float) -> None:
        super().__init__(
            f"all {capacity} memories of the pool stayed in use for {waited:g} s; end `with` blocks sooner, "
            "raise capacity= (files open at once), or wait longer with wait_seconds="
        )
        self.capacity = capacity
        self.waited = waited


class DiskFull(StoreError):
    """The disk is full. The transaction was rolled back, unless the message says otherwise: repeating is safe."""


class StoreClosed(StoreError):
    """The handle is closed, or belongs to the parent of a fork."""


class ImportFailed(EvimemError):
    """A file to read is not of the expected format; the message names the place in it."""


@dataclass(frozen=True, slots=True)
class Attempt(Generic[T]):
    """The result of a reading; with `error`, the type of the exception that it raised, a default stands in its place.

    Of an exception only the type is kept: its words may quote stored text.
    """

    value: T
    error: str | None = None


def try_read(otherwise: T, read: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Attempt[T]:
    """Call a reading; return its result or, where it raised an exception of any kind, the default."""
    try:
        return Attempt(read(*args, **kwargs))
    except Exception as error:  # noqa: BLE001 - a failed reading must not lose the turn
        return Attempt(otherwise, type(error).__name__)


def or_else(otherwise: T, read: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a reading of a question; where it raises, go on without it, and warn of that in the log."""
    found = try_read(otherwise, read, *args, **kwargs)
    if found.error is not None:
        name = getattr(read, "__name__", type(read).__name__)
        _LOG.warning("a question is asked without what %s reads: it raised %s", name, found.error)
    return found.value


_INPUT, _STORE, _MODEL = 4, 5, 6  # exit codes of `evimem`


class Code(NamedTuple):
    """The HTTP status and the exit code of an error, the same in every program that serves memories."""

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
