import shutil
from importlib.resources import files

import pytest

import evimem
import evimem.loaders.examples
from evimem.cli.arguments import Exit


@pytest.fixture
def path(friends, tmp_path):
    return shutil.copy(friends, tmp_path / "m.evimem")


@pytest.fixture
def labelled(tmp_path):
    lines = (files(evimem.loaders.examples) / "friends.questions.jsonl").read_text().splitlines()
    (tmp_path / "labelled.jsonl").write_text("\n".join([*lines[:30], *lines[-20:]]))
    return tmp_path / "labelled.jsonl"


def test_a_dry_run_reports_and_keeps_nothing(cli, path, labelled):
    ran = cli("calibrate", path, labelled, "--dry-run")
    assert ran.code == Exit.OK
    for part in ("not stored", "questions 50", "answerable 30", "predicted 0.", "ece 0.", "aurc 0.", "precision 0.950"):
        assert part in " ".join(ran.out.split())
    with evimem.open(path) as memory:
        assert memory.calibration() is None


def test_calibrate_keeps_and_has_every_figure_for_programs(cli, path, labelled):
    data = cli("calibrate", path, labelled, "--json", "--precision", "0.9").data
    assert data["questions"] == 50
    assert data["precision"] == 0.9
    assert sum(one["count"] for one in data["reliability"]) == 50
    assert data["knots"]
    with evimem.open(path) as memory:
        assert memory.calibration() is not None
