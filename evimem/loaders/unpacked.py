"""Read a member of a zip as a stream with a size limit on the actual output, against zip bombs."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, BinaryIO

from ..errors import ImportFailed

MAX_BYTES = 4 << 30  # of one member; it is streamed, never held in memory
MAX_RATIO = 100  # unpacked to packed: about 10 for text, about 1,000 for a zip bomb
RATIO_COUNTS_FROM = 8 << 20  # bytes: a small file may be repetitive


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
