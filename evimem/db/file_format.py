"""The reading of the bytes of a SQLite file: whether it is a memory, and where its pages hold more than their rows.

`secure_delete` zeroes deleted rows, but not the copies that balancing a tree leaves behind in the unallocated space of
pages: erased text may survive in them. Layout: https://sqlite.org/fileformat2.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

APPLICATION_ID = 0x65766D6D  # "evmm", in the file's header: tells a memory from any other SQLite file
MAGIC = b"SQLite format 3\0"
HEADER_SIZE = 100  # bytes before the header of the first page
# Overflow and free-list pages begin with a page number of 4 bytes. Below 2 ** 24 its first byte is 0, which is no kind
# of B-tree page; above, they could be mistaken for one.
MOST_PAGES = 1 << 24
_VERSIONS = (b"\x01", b"\x02")  # of the format, to write and to read: with a rollback journal, with a log
_HEADER = struct.Struct(">BHHH")  # kind, first free block, number of cells, start of the cell content area
_HEADER_SIZES = {2: 12, 5: 12, 10: 8, 13: 8}  # by kind: interior index, interior table, leaf index, leaf table


def find_unused_ranges(pages: bytes, size: int, first: int) -> Iterator[tuple[int, int]]:
    """Yield the byte ranges of unallocated space that are not all zero.

    Args:
        pages: Consecutive whole pages of the file.
        size: Bytes a page.
        first: The offset of `pages` in the file; the ranges are relative to `pages`.
    """
    for at in range(0, len(pages), size):
        head = at + (HEADER_SIZE if first + at == 0 else 0)
        kind, _, cells, content = _HEADER.unpack_from(pages, head)
        if kind not in _HEADER_SIZES:
            continue
        # After the header come 2 bytes a cell. A content start of 0 stands for 65,536, which 16 bits cannot express.
        start, end = head + _HEADER_SIZES[kind] + 2 * cells, at + (content or 65_536)
        if start < end <= at + size and pages.count(0, start, end) < end - start:
            yield start, end


def is_encrypted_header(header: bytes) -> bool:
    """Return whether a file that begins so is an encrypted database: of the header only page size and versions show."""
    size = int.from_bytes(header[16:18], "big")
    known = header[21:24] == b"\x40\x20\x20" and header[18:19] in _VERSIONS and header[19:20] in _VERSIONS
    return known and size & (size - 1) == 0 and header[: len(MAGIC)] != MAGIC


def is_memory_header(header: bytes) -> bool:
    """Return whether a file that begins so is a memory: a SQLite database with our application id."""
    return header[: len(MAGIC)] == MAGIC and int.from_bytes(header[68:72], "big") == APPLICATION_ID
