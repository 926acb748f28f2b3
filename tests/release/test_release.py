"""A tag is released only as the version it names; the built wheel runs in an environment that pipx makes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import evimem
from scripts.check_release import ROOT, faults

CHANGELOG = "## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-11-25\n"


def test_a_tag_of_the_version_with_its_section_and_figures_may_be_released() -> None:
    assert list(faults("v0.2.0", "0.2.0", CHANGELOG, [])) == []


@pytest.mark.parametrize(
    ("tag", "version", "old", "told"),
    [
        ("v0.2.1", "0.2.0", [], "expected v0.2.0"),
        ("v0.3.0", "0.3.0", [], "no dated section of 0.3.0"),
        ("v0.1.0", "0.1.0", [], "no dated section of 0.1.0"),
        ("v0.2.0", "0.2.0", ["speed"], "the figure speed"),
    ],
)
def test_whatever_forbids_a_release_is_told(tag: str, version: str, old: list[str], told: str) -> None:
    (fault,) = faults(tag, version, CHANGELOG, old)
    assert told in fault


def test_the_workflow_runs_scripts_that_are_there() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "has not been run" in text
    assert all((ROOT / name).exists() and name in text for name in (".ci/run", "scripts/check_release.py"))


@pytest.mark.nightly
def test_pipx_runs_the_built_wheel_and_the_source_distribution_holds_its_tests(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(tmp_path), str(ROOT)], check=True, capture_output=True
    )
    (wheel,) = tmp_path.glob("*.whl")
    home = {
        "PIPX_HOME": str(tmp_path / "home"),
        "PIPX_BIN_DIR": str(tmp_path / "bin"),
        "PATH": str(Path(sys.executable).parent),
    }
    for words, told in ((["--version"], f"evimem {evimem.__version__}"), (["demo"], "quoted")):
        command = [sys.executable, "-m", "pipx", "run", "--spec", str(wheel), "evimem", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env=home)
        assert told in done.stdout
    assert list(tmp_path.glob("*.tar.gz"))


def test_the_changelog_has_the_form_that_it_names() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert [one for one in versions[1:] if not re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", one)] == []
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= kinds
    unreleased = text.partition("## [Unreleased]")[2].partition("\n## ")[0]
    assert unreleased.strip().startswith("### ")
