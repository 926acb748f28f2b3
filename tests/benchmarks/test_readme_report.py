"""The figures of the pages of benchmarks/ are those of result files, and no table or chart stands without one."""

import re
from pathlib import Path

import pytest

from benchmarks.scoring.readme_report import outside, render
from benchmarks.scoring.result_file import read_result
from evimem.errors import ImportFailed

README = Path(__file__).parents[2] / "benchmarks" / "README.md"
RESEARCH = README.with_name("RESEARCH.md")
LOOPS = README.parents[1] / "docs" / "loops.md"
every_page = pytest.mark.parametrize("page", [README, RESEARCH], ids=lambda page: page.stem)
FIGURES = re.compile(r"^(?:\|\s*:?---|!\[)", re.MULTILINE)


@pytest.mark.parametrize("page", [README, RESEARCH, LOOPS], ids=lambda page: page.stem)
def test_tables_and_charts_are_what_the_result_files_say(page):
    text = page.read_text(encoding="utf-8")
    rendered = render(text, page.parent)
    assert rendered.text == text, f"run `python -m benchmarks report benchmarks/{page.name}`"
    for place, drawn in rendered.charts.items():
        assert (README.parent / place).read_text(encoding="utf-8") == drawn, f"{place} differs"


def by_hand(text: str) -> list[str]:
    """Return what looks like a table or a chart outside of the blocks that results fill."""
    return FIGURES.findall(outside(text))


@every_page
def test_no_table_or_chart_stands_without_a_result_file(page):
    assert by_hand(page.read_text(encoding="utf-8")) == []


def test_the_page_for_those_who_choose_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 250


@pytest.mark.parametrize("written", ["| a | b |\n| --- | ---: |\n| x | 1 |\n", "![Times](plots/times.svg)\n"])
def test_a_table_or_chart_that_is_written_by_hand_is_seen(written):
    assert len(by_hand(f"{README.read_text(encoding='utf-8')}\n{written}")) == 1


def test_every_result_file_and_chart_is_shown():
    text = README.read_text(encoding="utf-8") + RESEARCH.read_text(encoding="utf-8") + LOOPS.read_text(encoding="utf-8")
    assert [one.name for one in (README.parent / "plots").iterdir() if f"(plots/{one.name})" not in text] == []
    assert [one.name for one in (README.parent / "results").glob("*.json") if f"results/{one.name}:" not in text] == []


def test_every_result_is_of_committed_code():
    made = {one.name: read_result(one).made for one in (README.parent / "results").glob("*.json")}
    assert [name for name, one in made.items() if one.commit is None or one.commit.endswith("+")] == []


def test_a_figure_that_was_changed_by_hand_is_seen(tmp_path):
    (tmp_path / "results").symlink_to(README.parent / "results")
    changed = README.read_text(encoding="utf-8").replace("| 0.", "| 1.", 1)
    assert render(changed, tmp_path).text == README.read_text(encoding="utf-8") != changed


def test_a_figure_in_a_sentence_is_made_again_in_its_own_form(tmp_path):
    (tmp_path / "results").symlink_to(README.parent / "results")
    row, column = "<!-- results/walks.json: walks | `add` | ", " -->"
    found = next(
        one for one in read_result(README.parent / "results" / "walks.json").table("walks").rows if one[0] == "`add`"
    )
    files = found[2]
    text = f"It goes through 7{row}files{column} files, 1.5{row}files{column} by count."
    assert (
        render(text, tmp_path).text
        == f"It goes through {files}{row}files{column} files, {files}.0{row}files{column} by count."
    )


@pytest.mark.parametrize("mark", ["walks | `add` | metres", "walks | `mend` | files", "walks | `add` | walk"])
def test_a_figure_that_is_not_in_the_result_is_an_error(tmp_path, mark):
    (tmp_path / "results").symlink_to(README.parent / "results")
    with pytest.raises(ImportFailed):
        render(f"7<!-- results/walks.json: {mark} -->", tmp_path)
