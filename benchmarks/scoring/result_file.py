"""The file of a result: what was run, where, on which data, and the tables and charts that came of it, as JSON.

Every benchmark writes one, and every table of a report is made from one, so that no figure stands without its run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import orjson

from benchmarks.scoring.svg_plot import Chart, Curve
from evimem.db.atomic_files import replace_with
from evimem.errors import ImportFailed

from .provenance import Provenance

VERSION = 1
_LAID_OUT = 4  # lists and objects within one another, down to the rows of a table


@dataclass(frozen=True, slots=True)
class MeanScore:
    """A mean over `count` questions; `low` and `high` bound its 95 % interval, where there is one."""

    value: float
    count: int
    low: float | None = None
    high: float | None = None


T = TypeVar("T")
Cell: TypeAlias = "str | int | float | MeanScore | None"


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Figures in rows, named by their first cell; None is the mean of nothing. Intervals are shown in `intervals`."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    intervals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultFile:
    """A run: its name, how it was made, its options, its tables, and its charts by name."""

    name: str
    made: Provenance
    options: Mapping[str, Any]
    tables: tuple[ResultTable, ...]
    charts: Mapping[str, Chart] = field(default_factory=dict)

    def table(self, name: str) -> ResultTable:
        """Return a table by its name. Raise ImportFailed if there is none."""
        return _named({one.name: one for one in self.tables}, name, f"table of {self.name!r}")

    def chart(self, name: str) -> Chart:
        """Return a chart by its name. Raise ImportFailed if there is none."""
        return _named(self.charts, name, f"chart of {self.name!r}")


def as_json(result: ResultFile) -> dict[str, Any]:
    """Return a result as a JSON value."""
    return {"evimem_result": VERSION, **asdict(result)}


def write_result(result: ResultFile, path: Path) -> None:
    """Write a result, a row of a table and a curve of a chart a line, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replace_with(path) as file:
        file.write(f"{_laid_out(as_json(result))}\n".encode())


def read_result(path: Path) -> ResultFile:
    """Return the result that a file holds. Raise ImportFailed for a file of another form, OSError if there is none."""
    try:
        found = orjson.loads(path.read_bytes())
        _check_version(found["evimem_result"])
        return ResultFile(
            found["name"],
            Provenance(**found["made"]),
            found["options"],
            tuple(_table(one) for one in found["tables"]),
            {name: _chart(one) for name, one in found["charts"].items()},
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ImportFailed(
            f"{str(path)!r} is no result of a benchmark ({error!r}); expected a file written with --result, version "
            f"{VERSION}"
        ) from error


def _laid_out(value: Any, depth: int = 0) -> str:
    """Return JSON with what is deeper than a row of a table on one line, so that two results can be compared."""
    if depth == _LAID_OUT or not isinstance(value, (dict, list, tuple)) or not value:
        return orjson.dumps(value).decode()
    room = " " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{room}{orjson.dumps(name).decode()}: {_laid_out(one, depth + 1)}" for name, one in value.items()]
    else:
        parts = [f"{room}{_laid_out(one, depth + 1)}" for one in value]
    opens, closes = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return "\n".join([opens, ",\n".join(parts), f"{' ' * depth}{closes}"])


def _check_version(version: object) -> None:
    if version != VERSION:
        raise ValueError(f"version {version!r}")


def _table(found: Mapping[str, Any]) -> ResultTable:
    lists = {name: tuple(found[name]) for name in ("columns", "notes", "intervals")}
    rows = tuple(tuple(MeanScore(**cell) if isinstance(cell, dict) else cell for cell in row) for row in found["rows"])
    return ResultTable(name=found["name"], title=found["title"], rows=rows, **lists)


def _chart(found: Mapping[str, Any]) -> Chart:
    pairs = {name: tuple(found[name]) for name in ("width", "height")}
    lines = tuple(
        Curve(**{**one, "points": tuple(map(tuple, one["points"])), "sizes": tuple(one["sizes"])})
        for one in found["lines"]
    )
    return Chart(**{**found, **pairs, "lines": lines, "bars": tuple(map(tuple, found["bars"]))})


def _named(found: Mapping[str, T], name: str, what: str) -> T:
    if name not in found:
        raise ImportFailed(f"there is no {what} named {name!r}; expected one of {', '.join(found) or 'none'}")
    return found[name]
