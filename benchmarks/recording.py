"""Print the tables of a benchmark, and write its result file where `--result FILE` asks for one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from evimem.bench.provenance import provenance
from evimem.bench.readme_report import markdown
from evimem.bench.result_file import ResultFile, ResultTable, write_result
from evimem.bench.svg_plot import Chart


def add_result(parser: argparse.ArgumentParser) -> None:
    """Add the option for the result file."""
    parser.add_argument("--result", type=Path, metavar="FILE", help="also write the result to FILE")


def record(
    name: str,
    options: argparse.Namespace,
    tables: Sequence[ResultTable],
    data: Sequence[Path] = (),
    charts: Mapping[str, Chart] | None = None,
) -> None:
    """Print tables of the benchmark `python -m benchmarks.NAME`, and write its result."""
    for table in tables:
        print(f"\n## {table.title}\n\n{markdown(table)}")
    if options.result is not None:
        made = provenance(["python", "-m", f"benchmarks.{name}", *sys.argv[1:]], data)
        used = {key: value for key, value in vars(options).items() if isinstance(value, (str, int, float, bool))}
        write_result(ResultFile(name, made, used, tuple(tables), charts or {}), options.result)
        print(f"written: {options.result}")
