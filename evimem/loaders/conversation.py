"""The result of a loader, conversations of turns with what was refused, and the files that an export is made of.

An export is one file, the members of a zip or the files of a folder. Nothing of it is unpacked to a disk.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar

from ..errors import ImportFailed
from ..types.values import Turn
from .json_values import DECODER, parse

Read = TypeVar("Read", bound=Turn)

MAX_BYTES = 4 << 30  # of one member; it is streamed, never held in memory
MAX_RATIO = 100  # unpacked to packed: about 10 for text, about 1,000 for a zip bomb
RATIO_COUNTS_FROM = 8 << 20  # bytes: a small file may be repetitive

MAX_ELEMENT = 64 << 20  # bytes of one element (one conversation): bounds the memory used for a hostile file
_CHUNK = 1 << 20  # characters
_LONGEST_TOKEN = 12  # characters of what JSON refuses as a whole where only its beginning was read, but for strings
_SPACE = re.compile(r"\s*")
_COMMA = re.compile(r"\s*,?")

_READ = (".json", ".txt")  # what messages stand in; the pictures of an export are left where they are
MAX_WHOLE = 256 << 20  # bytes of a file that is parsed as a whole: bounds the memory used for a hostile one


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns of a file, which are read as they are asked for."""

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
    """Yield what `read` makes of each message, None and what says nothing left out.

    One that it cannot read is refused with its place, its id or else its number.
    """
    for number, message in enumerate(messages, start=1):
        try:
            turn = read(message)
            spoken = turn is not None and bool(turn.text.strip() or turn.caption)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            why = str(error) if type(error) is ValueError else f"not in the form of a message ({error!r})"
            name = message.get("id") if isinstance(message, dict) else None
            refuse(RefusedItem(f"{where} message {number if name is None else repr(name)}", why))
        else:
            if turn is not None and spoken:
                yield turn


def raise_refused(item: RefusedItem) -> None:
    """Raise ImportFailed for a refused item. To collect refused items and continue, pass `some_list.append` instead."""
    raise ImportFailed(str(item))


def elements(file: BinaryIO, name: str) -> Iterator[Any]:
    """Yield the elements of the JSON list in a file. Raise ImportFailed if it is no list, damaged or truncated."""
    text = io.TextIOWrapper(file, "utf-8-sig")
    try:
        yield from _elements(text, name)
    except ValueError as error:
        raise ImportFailed(f"{name!r} holds what is not JSON ({error})") from error
    finally:
        text.detach()  # whoever opened the file closes it


def _elements(file: io.TextIOWrapper, name: str) -> Iterator[Any]:
    """Yield each element once all of it has been read, with as much more each time as there is of it."""
    buffer = file.read(_CHUNK).lstrip()
    if not buffer.startswith("["):
        raise ImportFailed(f"{name!r} begins with {buffer[:20]!r}; expected a JSON list")
    at, number = 1, 1
    while not buffer.startswith("]", at := _end(_SPACE, buffer, at)):
        try:
            element, end = DECODER.raw_decode(buffer, at)
        except RecursionError as error:
            raise ImportFailed(f"{name!r}: element {number} of its list is nested too deeply") from error
        except json.JSONDecodeError as error:
            if error.pos < len(buffer) - _LONGEST_TOKEN and not error.msg.startswith("Unterminated"):
                raise ImportFailed(f"{name!r}: element {number} of its list is not JSON ({error})") from error
            end = len(buffer)
        if end < len(buffer):  # else it may go on
            yield element
            at, number = _end(_COMMA, buffer, end), number + 1
        elif end - at > MAX_ELEMENT:
            raise ImportFailed(
                f"{name!r} has an element of over {MAX_ELEMENT >> 20} MiB; split the file by conversation"
            )
        elif more := file.read(max(_CHUNK, end - at)):
            buffer, at = buffer[at:] + more, 0
        else:
            raise ImportFailed(f"{name!r} is truncated: its list is never closed; export or download it again")


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


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
            members = {one.filename: one for one in archive.infolist()}
            names = sorted(name for name in members if name.endswith(_READ) and "__MACOSX/" not in name)
            yield [Part(f"{path.name}/{name}", partial(_unpacked, archive, members[name])) for name in names]


def _opened(path: Path) -> BinaryIO:
    return path.open("rb")


@contextmanager
def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[BinaryIO]:
    """Open a member for reading. Raise ImportFailed for one that is damaged, encrypted or too large.

    No more comes out than its header says, whatever is in it.
    """
    name, size, packed = member.filename, member.file_size, max(member.compress_size, 1)
    if size > MAX_BYTES or size > max(RATIO_COUNTS_FROM, MAX_RATIO * packed):
        raise ImportFailed(
            f"{name!r} unpacks to {size >> 20} MiB from {packed >> 10} KiB; allowed are a ratio of {MAX_RATIO} and "
            f"{MAX_BYTES >> 30} GiB: if you trust it, unpack it and give the .json"
        )
    try:
        file = archive.open(member)
    except (RuntimeError, NotImplementedError) as error:  # encrypted, or a compression method that Python lacks
        raise ImportFailed(f"{name!r} cannot be unpacked ({error}); unpack it and give the .json") from error
    except zipfile.BadZipFile as error:
        raise ImportFailed(f"{name!r} is damaged ({error}); download the export again") from error
    try:
        with file:
            yield file  # type: ignore[misc]  # it has no name to write by
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ImportFailed(f"{name!r} is damaged ({error}); download the export again") from error


def is_zip(path: Path) -> bool:
    """Return whether a file begins as a zip; a damaged one is one too."""
    with path.open("rb") as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


def _archive(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise ImportFailed(f"{str(path)!r} is a damaged zip ({error}); download the export again") from error
