"""Tables and charts in a Markdown file, made from result files between marks.

A block begins with `<!-- results/locomo.json: retrieval -->`, a file beside the text and a table of it, or with
`<!-- results/locomo.json: chart reliability -->`, and ends with `<!-- end -->`. What stands between is replaced. A part
of a table is chosen by `<!-- results/peers.json: peers | columns: R@10; disk, MB | rows: evimem -->`: columns by
their names, rows by how their first cell begins.

A figure within a sentence stands before its mark, `.93<!-- results/loops.json: loops | `iris` | at end -->`: the file,
the table, the row's first cell and the column. It is made again with as many decimals as it has, its zero before the
point and its commas as they are.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.scoring.svg_plot import svg
from evimem.errors import ImportFailed

from .result_file import Cell, MeanScore, ResultFile, ResultTable, read_result

_BLOCK = re.compile(
    r"(?P<head><!-- (?P<file>\S+\.json): (?P<chart>chart )?(?P<name>\S+)"
    r"(?: \| columns: (?P<columns>[^|\n]+?))?(?: \| rows: (?P<rows>[^|\n]+?))? -->\n).*?(?P<foot><!-- end -->)",
    re.DOTALL,
)
_FIGURE = re.compile(
    r"(?P<shown>-?(?:\d[\d,]*(?:\.\d+)?|\.\d+))"
    r"(?P<mark><!-- (?P<file>\S+\.json): (?P<table>\S+) \| (?P<row>[^|\n]+?) \| (?P<column>[^|\n]+?) -->)"
)
PLOTS = "plots"


@dataclass(frozen=True, slots=True)
class Rendered:
    """A text with its blocks filled in, and the charts that it shows: SVG by path from the text's folder."""

    text: str
    charts: dict[str, str]


def render(text: str, folder: Path) -> Rendered:
    """Return a text with every block made again from the result files below a folder.

    Raise ImportFailed for a result, table or chart that is not there, and OSError for a file that is not.
    """
    charts: dict[str, str] = {}

    def filled(found: re.Match[str]) -> str:
        result = read_result(folder / found["file"])
        if found["chart"]:
            chart = result.chart(found["name"])
            place = posixpath.join(posixpath.dirname(found["file"]), "..", PLOTS, f"{found['name']}.svg")
            place = posixpath.normpath(place)
            charts[place] = svg(chart)
            body = f"![{chart.title}]({place})\n"
        else:
            table = selected(result.table(found["name"]), words(found["columns"]), words(found["rows"]))
            body = f"{markdown(table)}\n{source(result)}\n"
        return f"{found['head']}\n{body}\n{found['foot']}"

    def figure(found: re.Match[str]) -> str:
        table = read_result(folder / found["file"]).table(found["table"])
        return f"{in_form(cell_of(table, found['row'], found['column']), found['shown'])}{found['mark']}"

    return Rendered(_FIGURE.sub(figure, _BLOCK.sub(filled, text)), charts)


def cell_of(table: ResultTable, row: str, column: str) -> Cell:
    """Return a cell by the first cell of its row, as it is shown, and the name of its column.

    Raise ImportFailed where it is not there.
    """
    found = [one for one in table.rows if shown(one[0]) == row]
    if not found or column not in table.columns:
        raise ImportFailed(f"the table {table.name!r} has no row {row!r} with a column {column!r}")
    return found[0][table.columns.index(column)]


def in_form(cell: Cell, shown: str) -> str:
    """Return a number as another one is written. Raise ImportFailed for a cell that is none.

    >>> [in_form(0.9281, ".85"), in_form(4184.2, "3,900"), in_form(2, "1.5"), in_form(-0.5, "0.25")]
    ['.93', '4,184', '2.0', '-0.50']
    """
    value = cell.value if isinstance(cell, MeanScore) else cell
    if not isinstance(value, (int, float)):
        raise ImportFailed(f"a figure of a sentence is a number, not {value!r}")
    written = f"{value:,.{len(shown.partition('.')[2])}f}"
    return re.sub(r"^(-?)0\.", r"\1.", written) if shown.lstrip("-").startswith(".") else written


def words(listed: str | None) -> list[str]:
    """Return the names of a list that semicolons part."""
    return [one.strip() for one in listed.split(";")] if listed else []


def selected(table: ResultTable, columns: Sequence[str], rows: Sequence[str]) -> ResultTable:
    """Return a table with its first column, these columns and the rows that begin so, in the order given; all without.

    Notes are left out of a part. Raise ImportFailed for a column or a row that is not there.
    """
    if not columns and not rows:
        return table
    missing = [one for one in columns if one not in table.columns]
    starts = [[row for row in table.rows if str(row[0]).startswith(one)][:1] for one in rows]
    missing += [one for one, found in zip(rows, starts, strict=True) if not found]
    if missing:
        raise ImportFailed(f"the table {table.name!r} has no {', '.join(map(repr, missing))}")
    places = [0, *(table.columns.index(one) for one in columns or table.columns[1:])]
    kept = [row for found in starts for row in found] if rows else list(table.rows)
    cells = tuple(tuple(row[at] for at in places) for row in kept)
    return replace(table, columns=tuple(table.columns[at] for at in places), rows=cells, notes=())


def outside(text: str) -> str:
    """Return what of a text stands outside of its blocks: what is written by hand."""
    return _BLOCK.sub("", text)


def source(result: ResultFile) -> str:
    """Return the line that says how a table was made."""
    made = result.made
    took = "" if made.seconds is None else f", {made.seconds:,.0f} s"
    load = "" if made.load is None else f", load {made.load:g} at the end"
    return f"`{made.command}`, {made.date}, commit {made.commit or 'unknown'}, {made.cores} cores{took}{load}."


def markdown(table: ResultTable) -> str:
    """Return a table as Markdown, with its notes."""
    places = range(len(table.columns))
    rules = ["---" if any(isinstance(row[at], str) for row in table.rows) else "---:" for at in places]
    rows = [list(table.columns), rules, *([*map(str, row)] for row in shown_rows(table))]
    lines = "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)
    return f"{lines}\n" + "".join(f"\n{note}\n" for note in table.notes)


def shown_rows(table: ResultTable) -> list[list[str]]:
    """Return the cells of a table as text."""
    return [
        [shown(cell, interval=column in table.intervals) for cell, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]


def shown(cell: Cell, *, interval: bool = False) -> str:
    """Return a figure with about three digits.

    >>> [shown(one) for one in (0.85714, 12.346, 1792.4, 997, None)]
    ['0.857', '12.3', '1,792', '997', '-']
    >>> shown(MeanScore(0.85714, 997, 0.83, 0.88), interval=True)
    '0.857 (0.830-0.880)'
    >>> shown(MeanScore(0.002, 997, -0.001, 0.006), interval=True)
    '0.002 (-0.001 to 0.006)'
    """
    if isinstance(cell, MeanScore):
        if interval and cell.low is not None and cell.high is not None:
            between = "-" if cell.low >= 0 else " to "
            return f"{_number(cell.value)} ({_number(cell.low)}{between}{_number(cell.high)})"
        return _number(cell.value)
    if isinstance(cell, float):
        return _number(cell)
    return "-" if cell is None else f"{cell:,}" if isinstance(cell, int) else cell


def _number(value: float) -> str:
    form: Sequence[tuple[float, Callable[[float], str]]] = (
        (9.995, "{:.3f}".format),
        (99.95, "{:.1f}".format),
    )
    return next((text(value) for below, text in form if abs(value) < below), f"{value:,.0f}")
