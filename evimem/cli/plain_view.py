"""Pages as plain text, without colours and dependencies."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from .page import Block, Field, Heading, Table, visible


def text_of(page: Sequence[Block], width: int = 100) -> str:
    """Return a page as text of at most this width in characters; longer words and tables stay whole."""
    return "".join(f"{row.rstrip()}\n" for block in page for row in _rows(block, width))


def _rows(block: Block, width: int) -> list[str]:
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Heading):
        return [visible(block.text), "-" * min(len(block.text), width)]
    if isinstance(block, Field):
        label = " " * block.indent + visible(block.label).ljust(block.width)
        return _wrapped(block.text, width, label, " " * (block.indent + block.width))
    return _wrapped(block.text, width, " " * block.indent, " " * block.indent)


def _wrapped(text: str, width: int, first: str, others: str) -> list[str]:
    rows: list[str] = []
    for part in visible(text).split("\n"):
        start = others if rows else first
        room = max(width, len(others) + 20)
        rows += textwrap.wrap(part, room, initial_indent=start, subsequent_indent=others, break_on_hyphens=False) or [
            start
        ]
    return rows


def _table(block: Table) -> list[str]:
    cells = [block.columns, *([visible(cell).replace("\n", " ") for cell in row] for row in block.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rows = ["  ".join(_cell(cell, block, at, widths) for at, cell in enumerate(row)) for row in cells]
    rule = "  ".join("-" * width for width in widths)
    return [*([visible(block.title)] if block.title else []), rows[0], rule, *rows[1:]]


def _cell(cell: str, block: Table, at: int, widths: Sequence[int]) -> str:
    return cell.rjust(widths[at]) if block.columns[at] in block.right else cell.ljust(widths[at])
