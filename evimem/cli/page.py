"""Pages: output as lines of styled pieces, fields, tables and headings; as plain text, without colours."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

Style = Literal["", "answer", "strong", "dim", "good", "warn", "bad", "mark", "name"]


class Piece(NamedTuple):
    """Some text in one style."""

    text: str
    style: Style = ""


class TextLine(NamedTuple):
    """Pieces on one line; what does not fit is wrapped to the same `indent` (in characters)."""

    pieces: tuple[Piece, ...] = ()
    indent: int = 0

    @property
    def text(self) -> str:
        """The text without colours; marked pieces are put in angle quotes."""
        return _plain(self.pieces)


class Field(NamedTuple):
    """A label, padded to `width` characters, and its text, which is wrapped to the right of the label."""

    label: str
    pieces: tuple[Piece, ...]
    indent: int = 2
    style: Style = "dim"
    width: int = 10

    @property
    def text(self) -> str:
        """The text without label and colours; marked pieces are put in angle quotes."""
        return _plain(self.pieces)


class Table(NamedTuple):
    """Rows under headings; columns named in `right` are right-aligned."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[str] = frozenset()
    title: str = ""


class Heading(NamedTuple):
    """The heading of a section."""

    text: str


Block: TypeAlias = TextLine | Field | Table | Heading
BLANK = TextLine()


def line(*pieces: Piece | str, indent: int = 0) -> TextLine:
    """Return a line of pieces; a bare string has no style."""
    return TextLine(_pieces(pieces), indent)


def field(label: str, *pieces: Piece | str, indent: int = 2, style: Style = "dim", width: int = 10) -> Field:
    """Return a label with pieces; a bare string has no style."""
    return Field(label, _pieces(pieces), indent, style, width)


def table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[str] = (), title: str = ""
) -> Table:
    """Return a table; cells are converted to strings."""
    return Table(tuple(columns), tuple(tuple(map(str, row)) for row in rows), frozenset(right), title)


def _plain(pieces: Sequence[Piece]) -> str:
    return "".join(f"\u00ab{piece.text}\u00bb" if piece.style == "mark" else piece.text for piece in pieces)


def _pieces(pieces: Sequence[Piece | str]) -> tuple[Piece, ...]:
    return tuple(Piece(piece) if isinstance(piece, str) else piece for piece in pieces)


def visible(text: str) -> str:
    r"""Return a text that cannot control the terminal: control and direction characters become visible marks.

    >>> visible("a\x1b[31mb\u202e")
    'a\ufffd[31mb\ufffd'
    """
    if text.isprintable():
        return text
    return "".join(char if char == "\n" or not _is_control(char) else _mark(char) for char in text)


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} or char in _DIRECTIONS


def _mark(char: str) -> str:
    return " " if char in "\t\r\u2028\u2029" else "\ufffd"


_DIRECTIONS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def text_of(page: Sequence[Block], width: int = 100) -> str:
    """Return a page as text of at most this width in characters; longer words and tables stay whole."""
    return "".join(f"{row.rstrip()}\n" for block in page for row in _rows(block, width))


def _rows(block: Block, width: int) -> list[str]:
    if isinstance(block, Table):
        return _table_rows(block)
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


def _table_rows(block: Table) -> list[str]:
    cells = [block.columns, *([visible(cell).replace("\n", " ") for cell in row] for row in block.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rows = ["  ".join(_cell(cell, block, at, widths) for at, cell in enumerate(row)) for row in cells]
    rule = "  ".join("-" * width for width in widths)
    return [*([visible(block.title)] if block.title else []), rows[0], rule, *rows[1:]]


def _cell(cell: str, block: Table, at: int, widths: Sequence[int]) -> str:
    return cell.rjust(widths[at]) if block.columns[at] in block.right else cell.ljust(widths[at])
