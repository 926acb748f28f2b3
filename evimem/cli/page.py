"""What is shown to people, before it is known how: lines of styled pieces, tables and boxes."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Style = Literal["", "answer", "strong", "dim", "good", "warn", "bad", "mark", "name"]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text in one style."""

    text: str
    style: Style = ""


@dataclass(frozen=True, slots=True)
class TextLine:
    """Pieces side by side; what does not fit is wrapped under the first. `indent` counts characters."""

    pieces: tuple[Piece, ...] = ()
    indent: int = 0

    @property
    def text(self) -> str:
        """The words of the line without colours; what is marked stands between angle quotes."""
        return _plain(self.pieces)


@dataclass(frozen=True, slots=True)
class Field:
    """A label with what belongs to it; what does not fit is wrapped beside the label."""

    label: str
    pieces: tuple[Piece, ...]
    indent: int = 2
    style: Style = "dim"
    width: int = 10

    @property
    def text(self) -> str:
        """The words beside the label, without colours."""
        return _plain(self.pieces)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings; columns named in `right` are set flush right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[str] = frozenset()
    title: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """The start of a part."""

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
    """Return a table of anything that can be written."""
    return Table(tuple(columns), tuple(tuple(map(str, row)) for row in rows), frozenset(right), title)


def _plain(pieces: Sequence[Piece]) -> str:
    return "".join(f"\u00ab{piece.text}\u00bb" if piece.style == "mark" else piece.text for piece in pieces)


def _pieces(pieces: Sequence[Piece | str]) -> tuple[Piece, ...]:
    return tuple(Piece(piece) if isinstance(piece, str) else piece for piece in pieces)


def visible(text: str) -> str:
    r"""Return a text in which nothing steers the terminal: control and direction characters become visible marks.

    >>> visible("a\x1b[31mb\u202e")
    'a\ufffd[31mb\ufffd'
    """
    if text.isprintable():
        return text
    return "".join(char if char == "\n" or not _steers(char) else _mark(char) for char in text)


def _steers(char: str) -> bool:
    return unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} or char in _DIRECTIONS


def _mark(char: str) -> str:
    return " " if char in "\t\r\u2028\u2029" else "\ufffd"


_DIRECTIONS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
