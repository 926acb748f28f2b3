"""The output of a command: pages of lines, fields and tables, or one JSON value; notes and progress on stderr."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import time
import unicodedata
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Literal, NamedTuple, TextIO, TypeAlias

_QUIET = 1.0  # seconds without a bar: short work needs none
_REDRAW = 0.1  # seconds between updates on a terminal
_REPORT = 15.0  # seconds between lines where stderr is not a terminal
_BAR = 24  # characters
Style = Literal["", "answer", "strong", "dim", "good", "warn", "bad", "mark", "name"]

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

_DIRECTIONS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Screen:
    """Prints results. `as_json` prints the data instead of the page; `coloured` uses rich on a terminal."""

    def __init__(self, *, as_json: bool = False, coloured: bool = True) -> None:
        self.as_json = as_json
        # rich is an extra: print plain text without it
        self._coloured = coloured and not as_json and sys.stdout.isatty() and find_spec("rich") is not None

    def show(self, page: Sequence[Block], data: Any) -> None:
        """Print a page, or with `as_json` the data that it was made from."""
        if self.as_json:
            sys.stdout.write(f"{json.dumps(data, allow_nan=False)}\n")
        else:
            self.page(page)

    def page(self, page: Sequence[Block]) -> None:
        """Print a page; nothing with `as_json`."""
        if self.as_json:
            return
        if self._coloured:
            print_in_colour(page)
        else:
            sys.stdout.write(text_of(page, min(shutil.get_terminal_size((100, 24)).columns, 120)))

    def stream(self, text: str) -> None:
        """Print a piece of text at once, without a line end."""
        sys.stdout.write(visible(text))
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """Print a note to stderr."""
        sys.stderr.write(f"{visible(text)}\n")

    def progress(self, label: str, unit: str, total: int | None = None) -> Progress:
        """Return a progress line; `total` is the number of units, None if unknown."""
        return Progress(sys.stderr, visible(label), unit, total)


class Progress:
    """Counts finished units; draws once the work has taken a second. Call it with the number of units just done."""

    def __init__(
        self,
        stream: TextIO,
        label: str,
        unit: str,
        total: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._label = label
        self._unit = unit
        self._total = total
        self._clock = clock
        self._started = self._drawn = clock()
        self._terminal = stream.isatty()
        self._shown = False
        self.done: int = 0

    def __call__(self, count: int) -> None:
        self.done += count
        now = self._clock()
        pause = _REDRAW if self._terminal else _REPORT
        if now - self._started >= _QUIET and now - self._drawn >= pause:
            self._draw(now)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown or (self._clock() - self._started >= _QUIET and self.done):
            self._draw(self._clock())
            if self._terminal:
                print(file=self._stream)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._started

    def _draw(self, now: float) -> None:
        start, end = ("\r", "\x1b[K") if self._terminal else ("", "\n")
        print(f"{start}{self.text(now)}", end=end, file=self._stream, flush=True)
        self._drawn, self._shown = now, True

    def text(self, now: float) -> str:
        """Return the progress line at a time of the clock."""
        rate = self.done / max(now - self._started, 1e-9)
        count = f"{self.done:,} {self._unit}, {rate:,.0f}/s"
        if not self._total:
            return f"{self._label}  {count}"
        share = min(self.done / self._total, 1.0)
        bar = ("#" * round(share * _BAR)).ljust(_BAR, ".")
        left = (self._total - self.done) / rate if rate else 0.0
        return f"{self._label} [{bar}] {share:4.0%}  {count}, {max(left, 0):,.0f} s left"


class Piece(NamedTuple):
    """Some text in one style."""

    text: str
    style: Style = ""


class Line(NamedTuple):
    """Pieces behind an indent and a label, padded to a `width` in characters; what does not fit is wrapped there."""

    pieces: tuple[Piece, ...] = ()
    indent: int = 0
    label: str = ""
    width: int = 0
    style: Style = "dim"  # of the label

    @property
    def text(self) -> str:
        """The text without label and colours; marked pieces are put in angle quotes."""
        return "".join(f"\u00ab{one.text}\u00bb" if one.style == "mark" else one.text for one in self.pieces)


class Table(NamedTuple):
    """Rows under headings; columns named in `right` are right-aligned."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[str] = frozenset()
    title: str = ""


class Heading(NamedTuple):
    """The heading of a section."""

    text: str


Block: TypeAlias = Line | Table | Heading
BLANK = Line()


def line(*pieces: Piece | str, indent: int = 0) -> Line:
    """Return a line of pieces; a bare string has no style."""
    return Line(tuple(Piece(one) if isinstance(one, str) else one for one in pieces), indent)


def field(label: str, *pieces: Piece | str, indent: int = 2, style: Style = "dim", width: int = 10) -> Line:
    """Return a label with pieces; a bare string has no style."""
    return line(*pieces, indent=indent)._replace(label=label, width=width, style=style)


def table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[str] = (), title: str = ""
) -> Table:
    """Return a table; cells are converted to strings."""
    return Table(tuple(columns), tuple(tuple(map(str, row)) for row in rows), frozenset(right), title)


def visible(text: str) -> str:
    r"""Return a text that cannot control the terminal: control and direction characters become visible marks.

    >>> visible("a\x1b[31mb\u202e")
    'a\ufffd[31mb\ufffd'
    """
    if text.isprintable():
        return text

    def shown(char: str) -> str:
        steers = unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} or char in _DIRECTIONS
        return char if char == "\n" or not steers else " " if char in "\t\r\u2028\u2029" else "\ufffd"

    return "".join(map(shown, text))


def text_of(page: Sequence[Block], width: int = 100) -> str:
    """Return a page as text of at most this width in characters; longer words and tables stay whole."""
    return "".join(f"{row.rstrip()}\n" for block in page for row in _rows(block, width))


def _rows(block: Block, width: int) -> list[str]:
    if isinstance(block, Table):
        return _table_rows(block)
    if isinstance(block, Heading):
        return [visible(block.text), "-" * min(len(block.text), width)]
    others = " " * (block.indent + block.width)
    start, room = " " * block.indent + visible(block.label).ljust(block.width), max(width, len(others) + 20)
    rows: list[str] = []
    for part in visible(block.text).split("\n"):
        first = others if rows else start
        rows += textwrap.wrap(part, room, initial_indent=first, subsequent_indent=others, break_on_hyphens=False) or [
            first
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


def print_in_colour(page: Sequence[Block], console: Any = None) -> None:
    """Print a page through rich, the extra `cli`; text is never interpreted as markup. Raise ImportError without it."""
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 - an extra
    from rich.console import Console  # noqa: PLC0415
    from rich.padding import Padding  # noqa: PLC0415
    from rich.rule import Rule  # noqa: PLC0415
    from rich.table import Table as RichTable  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    def text(pieces: Sequence[Piece]) -> Text:
        return Text.assemble(*((visible(piece.text), _STYLES[piece.style]) for piece in pieces))

    console = console or Console(highlight=False)
    for block in page:
        if isinstance(block, Table):
            shown = RichTable(
                title=visible(block.title) or None, title_justify="left", title_style="bold", box=SIMPLE_HEAD
            )
            for column in block.columns:
                justify: Any = "right" if column in block.right else "left"
                shown.add_column(column, justify=justify, overflow="fold")
            for row in block.rows:
                shown.add_row(*(Text(visible(cell)) for cell in row))
            console.print(shown)
        elif isinstance(block, Heading):
            console.print(Rule(Text(visible(block.text), style="bold"), align="left", style="dim"))
        else:
            grid = RichTable.grid()
            grid.add_column(width=block.width, no_wrap=True)
            grid.add_column()
            grid.add_row(Text(visible(block.label), style=_STYLES[block.style]), text(block.pieces))
            console.print(Padding(grid if block.width else text(block.pieces), (0, 0, 0, block.indent), expand=False))
