"""The result of a loader: turns, and refused or left-out items; and the files that an export is made of.

An export is one file, the members of a zip or the files of a folder. Nothing of it is unpacked to a disk.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from ..errors import ImportFailed
from ..types.values import Turn
from .json_values import parse_json

MESSAGE_STEP = timedelta(minutes=1)  # between messages without a time: keeps their order, means nothing else
MAX_BYTES = 4 << 30  # of one member; it is streamed, never held in memory
MAX_RATIO = 100  # unpacked to packed: about 10 for text, about 1,000 for a zip bomb
RATIO_COUNTS_FROM = 8 << 20  # bytes: a small file may be repetitive

_READ = (".json", ".txt", ".html", ".csv")  # names of files that messages stand in end so
MAX_WHOLE = 64 << 20  # bytes of a file that is parsed as a whole: bounds the memory used for a hostile one

UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, IndexError, RecursionError)
REASONS = {  # why items of a kind are left out
    "notice": "the program wrote it, and no person",
    "deleted message": "its sender deleted it; the export holds no words of it",
    "empty message": "it has neither text nor a file",
    "hidden message": "the program did not show it in the chat",
    "system message": "instructions of the program to the model",
    "thoughts": "a model thought it and did not say it",
    "tool call or result": "a call of a tool or its result, which is not shown in the chat",
    "other branch": "it was edited or answered anew; the branch that was shown last is read",
    "content of a file": "a picture, sound or document: its name is kept as a caption, its content is not read",
    "link preview": "the words of a page that a message links to",
    "citation mark": "it points to a source that the export does not hold",
    "summary": "the program's own summary of a conversation whose messages are read",
    "reaction": "a mark on a message, without words",
    "activity": "an entry of the history that is no prompt",
    "heading": "it stands before the first message, or between messages",
    "column": "its name is none of those that are known; name it with --columns",
    "other content": "content of a type that is not read",
    "other file": "it holds no conversation in the form of this export",
}


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


def raise_refusal(item: RefusedItem) -> None:
    """Raise ImportFailed for a refused item. To collect refused items and continue, pass `some_list.append` instead."""
    raise ImportFailed(str(item))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Items of one kind that a file holds and that did not become turns, or of which a part did not.

    Attributes:
        kind: One of `REASONS`.
        count: How many there are.
        reason: Why they were left out.
        places: Where the first three are.
    """

    kind: str
    count: int
    reason: str
    places: tuple[str, ...]


class ImportLog:
    """The items of a file that were refused, left out, or read in a way that may be wrong.

    Attributes:
        doubts: Decisions that may be wrong, with the option that decides them.
    """

    def __init__(self, refuse: Refuse = raise_refusal) -> None:
        self._refuse = refuse
        self._counts: Counter[str] = Counter()
        self._places: dict[str, list[str]] = {}
        self.doubts: list[str] = []

    def refuse(self, where: str, why: str) -> None:
        """Report an item that cannot be read."""
        self._refuse(RefusedItem(where, why))

    def skip(self, kind: str, where: str) -> None:
        """Count an item of one of `REASONS` that is left out."""
        self._counts[kind] += 1
        places = self._places.setdefault(kind, [])
        # Name the first three places of each kind of item that is left out.
        if len(places) < 3:
            places.append(where)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Return the items left out so far, the most frequent kind first."""
        return tuple(
            LeftOut(kind, count, REASONS[kind], tuple(self._places[kind])) for kind, count in self._counts.most_common()
        )


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns of a file, which are read as they are asked for.

    Attributes:
        turns: The turns.
        log: The refused and left-out items; complete when all turns were read.
    """

    turns: Iterable[Turn]
    log: ImportLog = field(default_factory=ImportLog, compare=False)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Return the items that did not become turns, by kind; complete when all turns were read."""
        return self.log.left_out


@dataclass(frozen=True, slots=True)
class ExportFile:
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

    def read_beginning(self, count: int) -> bytes:
        """Return its first bytes, without a byte order mark."""
        with self.open() as file:
            return file.read(count).removeprefix(b"\xef\xbb\xbf")

    def read_json(self) -> Any:
        """Return its content as JSON. Raise ImportFailed if it is too large or no JSON."""
        with self.open() as file:
            data = file.read(MAX_WHOLE + 1)
        if len(data) > MAX_WHOLE:
            raise ImportFailed(f"{self.name!r} has over {MAX_WHOLE >> 20} MiB; export fewer chats or a shorter time")
        try:
            return parse_json(data.removeprefix(b"\xef\xbb\xbf"))
        except ValueError as error:
            raise ImportFailed(f"{self.name!r} is {error}; export or download it again") from error


@contextmanager
def open_export_files(path: Path) -> Iterator[list[ExportFile]]:
    """Yield the parts of an export, which may be opened until the block ends. Raise ImportFailed for a damaged zip."""
    if path.is_dir():
        every = (one for one in path.rglob("*") if one.suffix in _READ and one.is_file() and not one.is_symlink())
        files = sorted(every, key=lambda one: _natural_sort_key(one.as_posix()))
        yield [
            ExportFile(f"{path.name}/{one.relative_to(path).as_posix()}", partial(_open_binary, one)) for one in files
        ]
    elif not is_zip(path):
        yield [ExportFile(path.name, partial(_open_binary, path))]
    else:
        with _open_zip(path) as archive:
            members = {one.filename: one for one in archive.infolist()}
            names = [name for name in members if name.endswith(_READ) and "__MACOSX/" not in name]
            names.sort(key=_natural_sort_key)
            yield [
                ExportFile(f"{path.name}/{name}", partial(_open_zip_member, archive, members[name])) for name in names
            ]


def _natural_sort_key(name: str) -> list[tuple[int, str]]:
    """Return the key by which messages2.html comes after messages.html and before messages10.html."""
    stem, dot, ending = name.rpartition(".")
    pieces = re.split(r"(\d{1,18})", stem if dot else ending)
    return [(int(piece), "") if at % 2 else (-1, piece) for at, piece in enumerate(pieces)]


def _open_binary(path: Path) -> BinaryIO:
    return path.open("rb")


@contextmanager
def _open_zip_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[BinaryIO]:
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


def _open_zip(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise ImportFailed(f"{str(path)!r} is a damaged zip ({error}); download the export again") from error
