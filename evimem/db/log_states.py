"""The states of a memory that a log of SQLite holds, by their links.

Layout of a log: https://sqlite.org/fileformat2.html#walformat
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .log_link import LINK_FORM

_HEADER_BYTES = 32  # of the log: magic, version, page size, number of checkpoints, salts, checksums
_FRAME_HEADER_BYTES = 24  # page number, pages after a commit else 0, salts, checksums
_BYTE_ORDERS = {0x377F0682: "<u4", 0x377F0683: ">u4"}  # of the words that are summed, by the magic of a log
_PAGE_SIZES = frozenset(1 << power for power in range(9, 17))  # bytes
ReadAt: TypeAlias = Callable[[int, int], bytes]


def read_log_header(read: ReadAt) -> bytes | None:
    """Return the header of a log, whose salts differ each time it begins anew; None where SQLite reads no frame of it.

    `read` returns bytes of the log, at most so many, from an offset.
    """
    header = read(0, _HEADER_BYTES)
    order = _BYTE_ORDERS.get(_magic(header))
    if len(header) < _HEADER_BYTES or order is None or page_size_of_header(header) not in _PAGE_SIZES:
        return None
    sums = _Checksum(24).running_sums((0, 0), _words(header[:24], order)[None])
    return header if next(sums) == _stored_sums(header[24:]) else None


@dataclass(frozen=True, slots=True)
class Frame:
    """A page that a log holds: its number, where it lies, the bytes of the frame, and the pages after a commit or 0."""

    page: int
    place: int
    data: bytes
    count: int


def read_states(read: ReadAt, header: bytes) -> Iterator[str]:
    """Yield the states before and after each transaction that the log holds whole, as SQLite would read it."""
    pending: list[str] = []
    for frame in read_frames(read, header):
        for found in LINK_FORM.finditer(frame.data):
            pending += (found[1].decode(), found[2].decode())
        if frame.count:
            yield from pending
            pending = []


def read_page_places(read: ReadAt, header: bytes) -> Iterator[tuple[dict[int, int], int]]:
    """Yield after each transaction where the pages that the log holds by then lie, and how many the file has."""
    pages: dict[int, int] = {}
    pending: dict[int, int] = {}
    for frame in read_frames(read, header):
        pending[frame.page] = frame.place
        if frame.count:
            pages |= pending
            pending = {}
            yield pages, frame.count


def lacks_pages(read: ReadAt, header: bytes, size: int) -> bool:
    """Return whether a page is neither in the log nor in its file, which is `size` bytes long."""
    page_size, pages, count = page_size_of_header(header), dict[int, int](), 0
    for pages, count in read_page_places(read, header):  # noqa: B007 - after the last transaction
        pass
    absent = range(size // page_size + 1, count + 1)
    # SQLite never writes the page of its lock bytes, at 1 GiB.
    return any(page not in pages and page != (1 << 30) // page_size + 1 for page in absent)


def page_size_of_header(header: bytes) -> int:
    """Return the bytes a page of the log with this header."""
    return int.from_bytes(header[8:12], "big")


def read_frames(read: ReadAt, header: bytes) -> Iterator[Frame]:
    """Yield the pages that the log holds, up to the first that was not written whole."""
    page_size, salts, order = page_size_of_header(header), header[16:24], _BYTE_ORDERS[_magic(header)]
    step, at = _FRAME_HEADER_BYTES + page_size, _HEADER_BYTES
    checksum, last = _Checksum(8 + page_size), _stored_sums(header[24:])
    # Hash a mebibyte at a time.
    while frames := read(at, (1 << 20) // step * step):
        whole = [frames[start : start + step] for start in range(0, len(frames) - step + 1, step)]
        summed = b"".join(frame[:8] + frame[_FRAME_HEADER_BYTES:] for frame in whole)
        sums = checksum.running_sums(last, _words(summed, order).reshape(len(whole), -1)) if whole else iter(())
        for number, (frame, last) in enumerate(zip(whole, sums, strict=True)):
            if frame[8:16] != salts or _stored_sums(frame[16:24]) != last:
                return  # never written whole, or left by an earlier use of the file
            page, count = int.from_bytes(frame[:4], "big"), int.from_bytes(frame[4:8], "big")
            yield Frame(page, at + number * step + _FRAME_HEADER_BYTES, frame, count)
        at += len(whole) * step
        if not whole:
            return


class _Checksum:
    """SQLite's checksum of a log over blocks of words: for each pair (x, y), s += x + t, then t += y + s.

    That is linear, so that a block is one product with the powers of the matrix of a step, modulo 2 ** 32.
    """

    def __init__(self, size: int) -> None:
        """`size` is the number of bytes a block."""
        powers, power = (
            list[tuple[int, int, int]](),
            (1, 0, 1),
        )  # symmetric: upper left, the two off the diagonal, lower right
        for _ in range(size // 8):
            powers.append(power)
            a, b, c = power
            power = (a + b) % 2**32, (b + c) % 2**32, (b + 2 * c) % 2**32
        self._whole = power
        upper, other, lower = (np.array(column[::-1], np.uint32) for column in zip(*powers, strict=True))
        self._of_s = np.stack([upper + other, other], 1).ravel()
        self._of_t = np.stack([other + lower, lower], 1).ravel()

    def running_sums(self, start: tuple[int, int], blocks: NDArray[np.uint32]) -> Iterator[tuple[int, int]]:
        """Yield the sums after each block, shape (blocks, words); they go on from those before it."""
        s, t = start
        a, b, c = self._whole
        own = zip((blocks @ self._of_s).tolist(), (blocks @ self._of_t).tolist(), strict=True)
        for of_s, of_t in own:
            s, t = (a * s + b * t + of_s) % 2**32, (b * s + c * t + of_t) % 2**32
            yield s, t


def _magic(header: bytes) -> int:
    return int.from_bytes(header[:4], "big")


def _words(data: bytes, order: str) -> NDArray[np.uint32]:
    return np.frombuffer(data, order).astype(np.uint32)


def _stored_sums(data: bytes) -> tuple[int, int]:
    return int.from_bytes(data[:4], "big"), int.from_bytes(data[4:8], "big")
