"""Pages in colour, through rich (the extra `cli`)."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table as RichTable
from rich.text import Text

from .page import Block, Field, Heading, Piece, Style, Table, visible

_STYLES: dict[Style, str] = {
    "": "",
    "answer": "bold bright_cyan",
    "strong": "bold",
    "dim": "dim",
    "good": "green",
    "warn": "yellow",
    "bad": "bold red",
    "mark": "black on bright_yellow",
    "name": "magenta",
}


def print_page(page: Sequence[Block], console: Console | None = None) -> None:
    """Print a page. Text is never interpreted as markup."""
    console = console or Console(highlight=False)
    for block in page:
        console.print(_renderable(block))


def _renderable(block: Block) -> RenderableType:
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Heading):
        return Rule(Text(visible(block.text), style="bold"), align="left", style="dim")
    if isinstance(block, Field):
        grid = RichTable.grid()
        grid.add_column(width=block.width, no_wrap=True)
        grid.add_column()
        grid.add_row(Text(visible(block.label), style=_STYLES[block.style]), _text(block.pieces))
        return Padding(grid, (0, 0, 0, block.indent), expand=False)
    text = _text(block.pieces)
    return Padding(text, (0, 0, 0, block.indent), expand=False) if block.indent else text


def _text(pieces: Sequence[Piece]) -> Text:
    text = Text()
    for piece in pieces:
        text.append(visible(piece.text), style=_STYLES[piece.style])
    return text


def _table(block: Table) -> RichTable:
    table = RichTable(title=visible(block.title) or None, title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    for column in block.columns:
        table.add_column(column, justify="right" if column in block.right else "left", overflow="fold")
    for row in block.rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    return table
