"""The result of a loader, conversations of turns with what was refused, and the files that an export is made of.

An export is one file, the members of a zip or the files of a folder. Nothing of it is unpacked to a disk.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, TypeAlias, TypeVar

from ..errors import ImportFailed
from ..types.values import Turn
from .json_values import parse

Read = TypeVar("Read", bound=Turn)

MAX_BYTES = 4 << 30  # of one member; it is streamed, never held in memory
MAX_RATIO = 100  # unpacked to packed: about 10 for text, about 1,000 for a zip bomb
RATIO_COUNTS_FROM = 8 << 20  # bytes: a small file may be repetitive

MAX_ELEMENT = 64 << 20  # bytes of one element (one conversation): bounds the memory used for a hostile file
_CONVERSATIONS = re.compile(r"conversations(?:-\d+)?")
_CHUNK = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NO_SPACE = re.compile(rb"\S")
_QUOTE_OR_BRACKET = re.compile(rb'["\[\]{},]')
_QUOTE_OR_ESCAPE = re.compile(rb'["\\]')

_READ = (".json", ".txt")  # what messages stand in; the pictures of an export are left where they are
MAX_WHOLE = 256 << 20  # bytes of a file that is parsed as a whole: bounds the memory used for a hostile one


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns of one memory. `name` identifies it among those of its file; empty if it is the only one."""

    name: str
    turns: Iterable[Turn]


@dataclass(frozen=True, slots=True)
class ImportedTurn(Turn):
    """A turn of an export whose conversations may branch: `Memory.extend` knows it again when it is read again.

    Attributes:
        former_id: The id that earlier versions gave it, which named no conversation; empty if there is none.
        abandoned: Turns of its conversation that the export holds on other branches: stored ones are erased, as by
            `forget`, in the transaction that stores this turn.
    """

    former_id: str = ""
    abandoned: tuple[ImportedTurn, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """An item of a file that is not a turn: where it is, and why it was refused."""

    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


Refuse: TypeAlias = Callable[[RefusedItem], None]


def readable(messages: Iterable[Any], where: str, read: Callable[[Any], Read | None], refuse: Refuse) -> Iterator[Read]:
    """Yield what `read` makes of each message, None left out; one that it cannot read is refused with its place."""
    for number, message in enumerate(messages, start=1):
        try:
            turn = read(message)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            why = str(error) if type(error) is ValueError else f"not in the form of a message ({error!r})"
            refuse(RefusedItem(f"{where} message {number}", why))
        else:
            if turn is not None:
                yield turn


def raise_refused(item: RefusedItem) -> None:
    """Raise ImportFailed for a refused item. To collect refused items and continue, pass `some_list.append` instead."""
    raise ImportFailed(str(item))


@contextmanager
def unpacked(archive: zipfile.ZipFile, member: str) -> Iterator[BinaryIO]:
    """Open a member for reading. Raise ImportFailed for one that is damaged, encrypted or too large."""
    packed = archive.getinfo(member).compress_size
    try:
        with _open(archive, member) as file:
            yield io.BufferedReader(_Counted(file, member, packed))
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ImportFailed(f"{member!r} is damaged ({error}); download the export again") from error


def _open(archive: zipfile.ZipFile, member: str) -> IO[bytes]:
    try:
        return archive.open(member)
    except (RuntimeError, NotImplementedError) as error:  # encrypted, or a compression method that Python lacks
        raise ImportFailed(f"{member!r} cannot be unpacked ({error}); unpack it and give the .json") from error


class _Counted(io.RawIOBase):
    """A stream that raises ImportFailed once more bytes have come out than are allowed."""

    def __init__(self, file: IO[bytes], name: str, packed: int) -> None:
        self._file = file
        self._name = name
        self._packed = max(packed, 1)
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._count += len(data)
        bomb = self._count > RATIO_COUNTS_FROM and self._count > MAX_RATIO * self._packed
        if bomb or self._count > MAX_BYTES:
            raise ImportFailed(
                f"{self._name!r} unpacks to over {self._count >> 20} MiB from {self._packed >> 10} KiB; allowed are "
                f"a ratio of {MAX_RATIO} and {MAX_BYTES >> 30} GiB: if you trust it, unpack it and give the .json"
            )
        return len(data)


def elements(file: BinaryIO, name: str) -> Iterator[Any]:
    """Yield the elements of the JSON list in a file. Raise ImportFailed if it is no list, damaged or truncated."""
    for number, data in enumerate(_split(file, name), start=1):
        try:
            element = parse(data)
        except ValueError as error:
            raise ImportFailed(f"{name!r}: element {number} of its list is {error}") from error
        yield element


def conversations(path: Path, mark: str) -> Iterator[Any]:
    """Yield the raw conversations of a chat program's export: of its file, or of each that a zip or folder holds.

    They are a list, a list behind `conversations`, or a single one, which has the key `mark`.
    """
    with parts_of(path) as parts:
        named = [part for part in parts if _CONVERSATIONS.fullmatch(part.stem)] or parts[:1]
        if len(parts) != 1 and not _CONVERSATIONS.fullmatch(named[0].stem if named else ""):
            raise ImportFailed(f"{str(path)!r} holds no conversations.json; expected the zip or folder of an export")
        for part in named:
            yield from _of_part(part, mark)


def _of_part(part: Part, mark: str) -> Iterator[Any]:
    if not part.start(4096).lstrip().startswith(b"{"):
        with part.open() as file:
            yield from elements(file, part.name)
        return
    whole = part.whole()
    found = [whole] if mark in whole else whole.get("conversations")
    if not isinstance(found, list):
        raise ImportFailed(f"{part.name!r} has no list of conversations; expected one, or a conversation with {mark!r}")
    yield from found


def _split(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the bytes of each element, found by scanning for brackets and commas outside of strings."""
    cursor = _Cursor(file, name)
    if cursor.skip_space() != b"[":
        raise ImportFailed(f"{name!r} begins with {cursor.peek()!r}; expected a JSON list")
    cursor.skip(1)
    while cursor.skip_space() not in (b"]", b""):
        yield cursor.element()
        if cursor.skip_space() == b",":
            cursor.skip(1)
    if cursor.skip_space() != b"]":
        raise ImportFailed(f"{name!r} is truncated: its list is never closed; export or download it again")


class _Cursor:
    """A position in a file, with the bytes read from there on."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._buffer = bytearray(file.read(_CHUNK).removeprefix(_BYTE_ORDER_MARK))
        self._at = 0

    def peek(self) -> bytes:
        return bytes(self._buffer[self._at : self._at + 20])

    def skip(self, count: int) -> None:
        self._at += count

    def skip_space(self) -> bytes:
        """Skip white space; return the byte that follows, or no byte at the end of the file."""
        if self._at >= _CHUNK:
            del self._buffer[: self._at]
            self._at = 0
        found = self._find(_NO_SPACE, self._at)
        self._at = found.start() if found else len(self._buffer)
        return found.group() if found else b""

    def element(self) -> bytes:
        """Return the bytes up to the comma or bracket that ends an element of the outer list."""
        at, depth = self._at, 0
        while found := self._find(_QUOTE_OR_BRACKET, at):
            mark, at = found.group(), found.end()
            if mark == b'"':
                at = self._end_of_string(at)
            elif mark in b"[{":
                depth += 1
            elif depth == 0:
                return self._take(at - 1)
            elif mark in b"]}":
                depth -= 1
        return self._take(len(self._buffer))

    def _take(self, end: int) -> bytes:
        taken = bytes(self._buffer[self._at : end])
        self._at = end
        return taken

    def _end_of_string(self, at: int) -> int:
        while found := self._find(_QUOTE_OR_ESCAPE, at):
            if found.group() == b'"':
                return found.end()
            at = found.end() + 1
        return len(self._buffer)

    def _find(self, pattern: re.Pattern[bytes], at: int) -> re.Match[bytes] | None:
        while not (found := pattern.search(self._buffer, at)):
            at = max(at, len(self._buffer))
            if not self._more():
                return None
        return found

    def _more(self) -> bool:
        if len(self._buffer) - self._at > MAX_ELEMENT:
            raise ImportFailed(
                f"{self._name!r} has an element of over {MAX_ELEMENT >> 20} MiB; split the file by conversation"
            )
        chunk = self._file.read(_CHUNK)
        self._buffer += chunk
        return bool(chunk)


@dataclass(frozen=True, slots=True)
class Part:
    """A file of an export: its name, with the folders above it, and how it is opened."""

    name: str
    open: Callable[[], AbstractContextManager[BinaryIO]]

    @property
    def folder(self) -> str:
        """The name of the folder that it stands in; empty at the top."""
        return self.name.split("/")[-2] if "/" in self.name else ""

    @property
    def stem(self) -> str:
        """Its name without folders and ending."""
        return self.name.split("/")[-1].rpartition(".")[0] or self.name

    def start(self, count: int) -> bytes:
        """Return its first bytes, without a byte order mark."""
        with self.open() as file:
            return file.read(count).removeprefix(b"\xef\xbb\xbf")

    def whole(self) -> Any:
        """Return what it holds as JSON. Raise ImportFailed if it is too large or no JSON."""
        with self.open() as file:
            data = file.read(MAX_WHOLE + 1)
        if len(data) > MAX_WHOLE:
            raise ImportFailed(f"{self.name!r} has over {MAX_WHOLE >> 20} MiB; export fewer chats or a shorter time")
        try:
            return parse(data.removeprefix(b"\xef\xbb\xbf"))
        except ValueError as error:
            raise ImportFailed(f"{self.name!r} is {error}; export or download it again") from error


@contextmanager
def parts_of(path: Path) -> Iterator[list[Part]]:
    """Yield the parts of an export, which may be opened until the block ends. Raise ImportFailed for a damaged zip."""
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.suffix in _READ and one.is_file() and not one.is_symlink())
        yield [Part(f"{path.name}/{one.relative_to(path).as_posix()}", partial(_opened, one)) for one in files]
    elif not is_zip(path):
        yield [Part(path.name, partial(_opened, path))]
    else:
        with _archive(path) as archive:
            names = sorted(name for name in archive.namelist() if name.endswith(_READ) and "__MACOSX/" not in name)
            yield [Part(f"{path.name}/{name}", partial(unpacked, archive, name)) for name in names]


def _opened(path: Path) -> BinaryIO:
    return path.open("rb")


def is_zip(path: Path) -> bool:
    """Return whether a file begins as a zip; a damaged one is one too."""
    with path.open("rb") as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


def _archive(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise ImportFailed(f"{str(path)!r} is a damaged zip ({error}); download the export again") from error
