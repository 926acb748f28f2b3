"""Whoever lacks a data set is told where to get it, by every loader and every benchmark, before anything runs."""

import re
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.data_sets import read_locomo, read_longmemeval
from benchmarks.scoring.labelled_chats import read_chats
from evimem.errors import ImportFailed

FOLDER = Path(__file__).parents[2] / "benchmarks"
LOCOMO, CHATS = "nowhere/locomo10.json", "nowhere/chats"
OF_LOCOMO, OF_CHATS = "github.com/snap-research/LoCoMo", "benchmarks/chats of the source code"
REQUESTS, OF_REQUESTS = "nowhere/requests", "benchmarks/requests_chats of the source code"
COMMANDS = [
    ("asked_arms", (REQUESTS, "--chats", CHATS, "--mailbox", "nowhere"), OF_REQUESTS),
    ("beside_peers", (LOCOMO,), OF_LOCOMO), ("block", (LOCOMO,), OF_LOCOMO),
    ("extracted", (LOCOMO, "nowhere"), OF_LOCOMO),
    ("confidence", (LOCOMO, CHATS), OF_LOCOMO), ("likely_turns", (LOCOMO, CHATS), OF_LOCOMO),
    ("links", ("--locomo", LOCOMO), OF_LOCOMO), ("long_replies", (CHATS,), OF_CHATS),
    ("loops", (LOCOMO,), OF_LOCOMO), ("loops", (CHATS,), OF_CHATS), ("metric_libraries", (LOCOMO, CHATS), OF_LOCOMO),
    ("model_calls", (LOCOMO,), OF_LOCOMO), ("model_calls", ("--chats", CHATS), OF_CHATS),
    ("offline", (LOCOMO,), OF_LOCOMO), ("paper_tables", ("1", LOCOMO), OF_LOCOMO), ("reader", (CHATS,), OF_CHATS),
    ("requests", (REQUESTS,), OF_REQUESTS),
    ("rerank", (CHATS,), OF_CHATS), ("retrieval", (LOCOMO,), OF_LOCOMO), ("retrieval", ("--chats", CHATS), OF_CHATS),
    ("times", (LOCOMO,), OF_LOCOMO),
]  # fmt: skip


@pytest.mark.parametrize(("name", "words", "where"), COMMANDS)
def test_a_benchmark_says_where_to_get_its_data(name, words, where, monkeypatch, capsys):
    if name == "metric_libraries" and find_spec("ir_measures") is None:
        pytest.skip("needs an environment of its own")
    monkeypatch.setattr(sys, "argv", [name, *words])
    with pytest.raises(SystemExit) as ended:
        import_module(f"benchmarks.{name}").main()
    assert (ended.value.code, where in capsys.readouterr().err) == (2, True)


def test_every_benchmark_that_reads_a_data_set_is_among_them():
    reads = re.compile(r'add_argument\("(?:--)?(?:locomo|chats|path|file|folder)"')
    reading = {path.stem for path in FOLDER.glob("[a-z]*.py") if reads.search(path.read_text(encoding="utf-8"))}
    assert reading == {name for name, _, _ in COMMANDS}


@pytest.mark.parametrize(
    ("read", "where"), [(read_locomo, OF_LOCOMO), (read_longmemeval, "xiaowu0162/LongMemEval"), (read_chats, OF_CHATS)]
)
def test_a_loader_says_where_to_get_its_data(read, where, tmp_path):
    with pytest.raises(ImportFailed, match=where):
        list(read(tmp_path / "nothing"))
