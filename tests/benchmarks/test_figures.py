"""`python -m benchmarks all` knows every figure that a page shows, and no figure is older than the last release."""

import argparse
import json
import re
from pathlib import Path

import pytest

from benchmarks.figures import (
    BY_HAND,
    FIGURES,
    PAGES,
    RESULTS,
    ROOT,
    Figure,
    has_same_code,
    lacking_for,
    last_release,
    main,
    outdated,
)
from benchmarks.scoring.provenance import current_commit
from evimem.errors import ImportFailed

NONE_GIVEN = argparse.Namespace(locomo=None, peers=None, model_replies=False)


def test_every_result_file_has_a_command_and_no_other_name_stands_in_the_table() -> None:
    shown = {
        found for page in PAGES for found in re.findall(r"results/([\w-]+)\.json", (ROOT / page).read_text("utf-8"))
    }
    assert shown <= {one.name for one in FIGURES} | set(BY_HAND)
    assert {one.stem for one in RESULTS.glob("*.json")} <= {one.name for one in FIGURES} | set(BY_HAND)


def test_every_page_with_figures_is_filled() -> None:
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
    with_figures = {page.relative_to(ROOT).as_posix() for page in pages if "results/" in page.read_text("utf-8")}
    assert with_figures - {"docs/evaluation.md", "docs/loops.md"} <= set(PAGES)


def test_no_figure_is_older_than_the_last_release() -> None:
    assert outdated(last_release((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))) == []


def test_an_older_figure_is_found(tmp_path: Path) -> None:
    result = json.loads((RESULTS / "walks.json").read_text(encoding="utf-8"))
    for name, version in (("old", "0.1.9"), ("new", "0.2.0")):
        result["made"]["version"] = version
        (tmp_path / f"{name}.json").write_text(json.dumps(result), encoding="utf-8")
    assert outdated((0, 2, 0), tmp_path) == ["old"]


def test_the_last_release_is_the_newest_dated_heading() -> None:
    text = "## [Unreleased]\n\n## [0.10.0] - 2027-01-01\n\n## [0.9.1] - 2026-12-01\n"
    assert last_release(text) == (0, 10, 0)
    with pytest.raises(ImportFailed):
        last_release("## [Unreleased]\n")


@pytest.mark.parametrize(
    ("words", "needs", "told"),
    [
        ("benchmarks.block LOCOMO", "", "--locomo"),
        ("benchmarks.reader", "a model: give --model-replies", "--model-replies"),
        ("benchmarks.walks", "", ""),
    ],
)
def test_a_figure_that_lacks_something_is_named_with_what_it_lacks(words: str, needs: str, told: str) -> None:
    lacking = lacking_for(Figure("x", words, needs), NONE_GIVEN)
    assert told in lacking
    assert bool(told) == bool(lacking)


def test_the_list_has_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    printed = capsys.readouterr().out
    assert [one.name for one in FIGURES if f"python -m {one.words}" not in printed] == []


@pytest.mark.parametrize(
    ("command", "fits"),
    [
        ("python -m benchmarks.block locomo-dev.json --every 6 --result block.json", True),
        ("python -m benchmarks.block locomo-dev.json --every 7 --result block.json", False),
        ("python -m benchmarks.block locomo-dev.json --result block.json", False),
    ],
)
def test_a_figure_is_kept_only_where_its_command_is_still_the_same(command: str, fits: bool) -> None:
    assert Figure("block", "benchmarks.block LOCOMO --every 6").fits(command) == fits


def test_a_commit_that_is_not_known_has_not_the_same_code() -> None:
    commit = (current_commit() or "").removesuffix("+")
    assert has_same_code(commit, commit)
    assert not has_same_code("0123456789ab", commit)
