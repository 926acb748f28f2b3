"""Make the figures of the loops again every night, and compare them with the written ones."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.figures import FIGURES, LOCOMO, ROOT
from benchmarks.scoring.result_file import read_result

# Nothing in these is random or depends on the machine.
EXACT = ("loops", "loops-scripted", "loops-locomo", "loops-locomo-scripted", "model_calls")


@pytest.mark.nightly
@pytest.mark.parametrize("figure", [one for one in FIGURES if one.name in EXACT], ids=lambda one: one.name)
def test_a_written_figure_is_what_its_command_gives(figure, tmp_path):
    locomo = os.environ.get("EVIMEM_LOCOMO")
    if LOCOMO in shlex.split(figure.words) and not locomo:
        pytest.skip("set EVIMEM_LOCOMO to the path of LoCoMo's file")
    words = figure.command(locomo and Path(locomo))
    words[-1] = str(tmp_path / "made.json")
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    made, written = read_result(tmp_path / "made.json"), read_result(figure.path)
    assert {one.name: one.rows for one in made.tables} == {one.name: one.rows for one in written.tables}
