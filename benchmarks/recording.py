"""Print the tables of a benchmark, and write its result file where `--result FILE` asks for one."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.data_sets import check_present
from benchmarks.scoring.svg_plot import Chart
from evimem.errors import ImportFailed

from .scoring.provenance import provenance
from .scoring.readme_report import markdown
from .scoring.result_file import ResultFile, ResultTable, write_result

_STARTED = time.perf_counter()


def add_result(parser: argparse.ArgumentParser) -> None:
    """Add the option for the result file."""
    parser.add_argument("--result", type=Path, metavar="FILE", help="also write the result to FILE")


def data_set(name: str) -> Callable[[str], Path]:
    """Return a type of argument: the path of a data set, refused with where to get it if nothing is there."""

    def at(text: str) -> Path:
        path = Path(text)
        try:
            check_present(name, path)
        except ImportFailed as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        return path

    return at


def record(
    name: str,
    options: argparse.Namespace,
    tables: Sequence[ResultTable],
    data: Sequence[Path] = (),
    charts: Mapping[str, Chart] | None = None,
    used: Mapping[str, Any] | None = None,
) -> None:
    """Print tables of the benchmark `python -m benchmarks.NAME`, and write its result.

    `used` is what decided the figures besides the options.
    """
    for table in tables:
        print(f"\n## {table.title}\n\n{markdown(table)}")
    if options.result is not None:
        seconds = time.perf_counter() - _STARTED
        made = provenance(["python", "-m", f"benchmarks.{name}", *sys.argv[1:]], data, seconds)
        plain = {key: value for key, value in vars(options).items() if isinstance(value, (str, int, float, bool))}
        write_result(ResultFile(name, made, plain | {**(used or {})}, tuple(tables), charts or {}), options.result)
        print(f"written: {options.result}")
