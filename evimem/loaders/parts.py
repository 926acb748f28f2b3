"""The files that an export is made of: one file, the members of a zip or the files of a folder, never unpacked."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import ImportFailed
from .json_values import parse
from .unpacked import unpacked

_READ = (".json", ".txt")  # what messages stand in; the pictures of an export are left where they are
MAX_WHOLE = 256 << 20  # bytes of a file that is parsed as a whole: bounds the memory used for a hostile one


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
