"""A page as Markdown, for a report in a file."""

from __future__ import annotations

from collections.abc import Sequence

from .page import Block, Field, Heading, Table


def text_of(page: Sequence[Block]) -> str:
    """Return a page as Markdown: tables as tables, each line as a paragraph of its own."""
    return "\n".join(_block(block) for block in page) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Heading):
        return f"## {block.text}\n"
    if isinstance(block, Field):
        return f"{block.label}: {block.text}\n"
    return f"{block.text}\n" if block.text else ""


def _table(table: Table) -> str:
    rules = ["---:" if column in table.right else "---" for column in table.columns]
    rows = [_row(table.columns), _row(rules), *map(_row, table.rows)]
    title = [f"## {table.title}", ""] if table.title else []
    return "\n".join([*title, *rows]) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
