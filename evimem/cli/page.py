"""The output of a command: pages of lines, fields and tables, or one JSON value; notes and progress on stderr."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
import time
import unicodedata
from collections.abc import Callable, Sequence
from itertools import groupby
from types import TracebackType
from typing import Any, Literal, NamedTuple, TextIO, TypeAlias

_QUIET_SECONDS = 1.0  # seconds without a bar: short work needs none
_BAR_CHARACTERS = 24  # characters
Style = Literal["", "answer", "strong", "dim", "good", "warn", "bad", "mark", "name"]

_COLOURS: dict[Style, str] = {  # as a terminal is told them (SGR)
    "answer": "1;96",
    "strong": "1",
    "dim": "2",
    "good": "32",
    "warn": "33",
    "bad": "1;31",
    "mark": "30;103",
    "name": "35",
}
_DIRECTIONS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Screen:
    """Prints results. `as_json` prints the data instead of the page; `coloured` uses colours on a terminal."""

    def __init__(self, *, as_json: bool = False, coloured: bool = True) -> None:
        self.as_json = as_json
        plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
        self._coloured = coloured and not plain and sys.stdout.isatty()

    def print_page_or_json(self, page: Sequence[Block], data: Any) -> None:
        """Print a page, or with `as_json` the data that it was made from."""
        if self.as_json:
            sys.stdout.write(f"{json.dumps(data, allow_nan=False)}\n")
        else:
            self.print_page(page)

    def print_page(self, page: Sequence[Block]) -> None:
        """Print a page; nothing with `as_json`."""
        if not self.as_json:
            width = terminal_width()
            sys.stdout.write(render_text(page, width, coloured=self._coloured))

    def print_piece(self, text: str) -> None:
        """Print a piece of text at once, without a line end."""
        sys.stdout.write(escape_control_characters(text))
        sys.stdout.flush()

    def flush(self) -> None:
        """Flush the output at once: the command goes on for long."""
        sys.stdout.flush()

    def print_note(self, text: str) -> None:
        """Print a note to stderr."""
        write_note(sys.stderr, text)

    def start_progress(self, label: str, unit: str, total: int | None = None) -> Progress:
        """Return a progress line; `total` is the number of units, None if unknown."""
        return Progress(sys.stderr, escape_control_characters(label), unit, total)


def terminal_width() -> int:
    """Return how many characters a line may have for people to read it."""
    return min(shutil.get_terminal_size((100, 24)).columns, 120)


def write_note(stream: TextIO, text: str) -> None:
    """Write a line for people: on a terminal wrapped between words, for a program whole."""
    lines = escape_control_characters(text).split("\n")
    if stream.isatty():
        wrapper = textwrap.TextWrapper(
            terminal_width(), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
        lines = [row for line in lines for row in wrapper.wrap(line) or [""]]
    stream.write("".join(f"{line}\n" for line in lines))


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
        # Seconds between updates on a terminal,
        # or between lines where stderr is not a terminal.
        pause = 0.1 if self._terminal else 15.0
        if now - self._started >= _QUIET_SECONDS and now - self._drawn >= pause:
            self._draw(now)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown or (self._clock() - self._started >= _QUIET_SECONDS and self.done):
            self._draw(self._clock())
            if self._terminal:
                print(file=self._stream)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._started

    def _draw(self, now: float) -> None:
        start, end = ("\r", "\x1b[K") if self._terminal else ("", "\n")
        print(f"{start}{self.progress_line(now)}", end=end, file=self._stream, flush=True)
        self._drawn, self._shown = now, True

    def progress_line(self, now: float) -> str:
        """Return the progress line at a time of the clock."""
        rate = self.done / max(now - self._started, 1e-9)
        count = f"{self.done:,} {self._unit}, {rate:,.0f}/s"
        if not self._total:
            return f"{self._label}  {count}"
        share = min(self.done / self._total, 1.0)
        bar = ("#" * round(share * _BAR_CHARACTERS)).ljust(_BAR_CHARACTERS, ".")
        left = (self._total - self.done) / rate if rate else 0.0
        return f"{self._label} [{bar}] {share:4.0%}  {count}, {max(left, 0):,.0f} s left"


class Piece(NamedTuple):
    """Some text in one style."""

    text: str
    style: Style = ""


class Line(NamedTuple):
    """Pieces behind an indent and a label, padded to a `width` in characters; a longer text is wrapped there."""

    pieces: tuple[Piece, ...] = ()
    indent: int = 0
    label: str = ""
    width: int = 0
    style: Style = "dim"  # of the label


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


def make_line(*pieces: Piece | str, indent: int = 0) -> Line:
    """Return a line of pieces; a bare string has no style."""
    return Line(tuple(Piece(one) if isinstance(one, str) else one for one in pieces), indent)


def make_field(label: str, *pieces: Piece | str, indent: int = 2, style: Style = "dim", width: int = 10) -> Line:
    """Return a label with pieces; a bare string has no style."""
    return make_line(*pieces, indent=indent)._replace(label=label, width=width, style=style)


def make_table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[str] = (), title: str = ""
) -> Table:
    """Return a table; cells are converted to strings."""
    return Table(tuple(columns), tuple(tuple(map(str, row)) for row in rows), frozenset(right), title)


def escape_control_characters(text: str) -> str:
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


def render_text(page: Sequence[Block], width: int = 100, *, coloured: bool = False) -> str:
    """Return a page as text of at most this width in characters; longer words and tables stay whole.

    Marked text stands in angle quotes, or in a colour.
    """

    def apply_style(text: str, style: Style) -> str:
        return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if coloured and style and text else text

    rows: list[str] = []
    for block in page:
        if isinstance(block, Table):
            title, head, rule, *cells = _table_rows(block)
            rows += [apply_style(title, "strong")] if title else []
            rows += [apply_style(head, "strong"), apply_style(rule, "dim"), *cells]
        elif isinstance(block, Heading):
            rows += [
                apply_style(escape_control_characters(block.text), "strong"),
                apply_style("-" * min(len(block.text), width), "dim"),
            ]
        else:
            mark = "{}" if coloured else "\u00ab{}\u00bb"
            pieces = [
                Piece((mark if style == "mark" else "{}").format(escape_control_characters(text)), style)
                for text, style in block.pieces
            ]
            label = f"{' ' * block.indent}{escape_control_characters(block.label).ljust(block.width)}"
            wrapped = _wrap_pieces(pieces, len(label), block.indent + block.width, width)
            lines = ["".join(apply_style(*piece) for piece in one) for one in wrapped]
            rows.append(f"{apply_style(label, block.style) if block.label else label}{lines[0]}")
            rows += [f"{' ' * (block.indent + block.width)}{line}" for line in lines[1:]]
    return "".join(f"{row.rstrip()}\n" for row in rows)


def _table_rows(block: Table) -> list[str]:
    """Return the title, the headings, a rule and the rows of a table."""
    cells = [
        block.columns,
        *([escape_control_characters(cell).replace("\n", " ") for cell in row] for row in block.rows),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    sides = ["rjust" if name in block.right else "ljust" for name in block.columns]
    rows = [[getattr(cell, side)(size) for cell, side, size in zip(row, sides, widths, strict=True)] for row in cells]
    head, *others = ["  ".join(row).rstrip() for row in rows]
    return [escape_control_characters(block.title), head, "  ".join("-" * size for size in widths), *others]


def _wrap_pieces(pieces: Sequence[Piece], first: int, others: int, width: int) -> list[list[Piece]]:
    """Return the pieces of each row; of `width` characters the first row has so many less, and each later one."""
    text, styles = "".join(one.text for one in pieces), [one.style for one in pieces for _ in one.text]
    rows, at = list[list[Piece]](), 0
    for part in text.split("\n"):
        indents = " " * (others if rows else first), " " * others
        room = max(width, others + 20)
        wrapped = textwrap.wrap(
            part, room, initial_indent=indents[0], subsequent_indent=indents[1], break_on_hyphens=False
        )
        for number, row in enumerate(wrapped or [indents[0]]):
            words = row[len(indents[number > 0]) :]
            at = text.index(words, at)  # only blanks at the ends of rows are left out
            runs = groupby(range(at, at + len(words)), key=styles.__getitem__)
            rows.append([Piece(text[places[0] : places[-1] + 1], style) for style, (*places,) in runs])
            at += len(words)
    return rows
