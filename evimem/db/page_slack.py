"""The unused middle of a tree's page, where SQLite leaves copies of rows that it moved to another page.

`secure_delete` overwrites what is deleted, but not what balancing a tree has left behind: a forgotten word may still
stand there. Layout: https://sqlite.org/fileformat2.html#b_tree_pages
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

MOST_PAGES = 1 << 24  # with more, the page number that other kinds of pages begin with could look like a kind of tree
_HEAD = struct.Struct(">BHHH")  # kind, first free block, number of cells, where their content begins
_HEADS = {2: 12, 5: 12, 10: 8, 13: 8}  # how long it is, by kind: inner pages of indexes and tables, and leaves
_OF_THE_FILE = 100  # bytes, before the first page's own head


def left_behind(pages: bytes, size: int, first: int) -> Iterator[tuple[int, int]]:
    """Yield where bytes that no row owns are not zero, among whole pages that begin at `first` in the file."""
    for at in range(0, len(pages), size):
        head = at + (_OF_THE_FILE if first + at == 0 else 0)
        kind, _, cells, content = _HEAD.unpack_from(pages, head)
        if kind not in _HEADS:
            continue
        start, end = head + _HEADS[kind] + 2 * cells, at + (content or 65_536)
        if start < end <= at + size and pages.count(0, start, end) < end - start:
            yield start, end
