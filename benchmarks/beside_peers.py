"""evimem beside other memories, in one run, on the same turns and questions, without a model.

    pip install -e . -r benchmarks/peers.txt      # an environment of its own
    python -m benchmarks.beside_peers LOCOMO.json --turns 6000 --result FILE

Each runs in a process of its own: LoCoMo's conversations for recall, each in a store of its own, then `--turns` of
generated chat, in batches of 500, for speed, memory and disk. evimem and FTS5 sync each batch to disk, and evimem finds
facts, dates and edges besides; the others keep what their defaults keep. One that is not installed has no figures.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from importlib.metadata import PackageNotFoundError, distribution, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

import evimem
from evimem.loaders.locomo_format import read_locomo

from .peers import PEERS
from .recording import add_result, data_set, record
from .scoring.bootstrap import percentile
from .scoring.estimates import estimate
from .scoring.result_file import Cell, ResultTable
from .scoring.retrieval_metrics import recall
from .speed import chat

WORDS = 25  # per turn, about as long as LoCoMo's
BATCH = 500
DEPTH = 10
QUERIES = 200  # on the generated chat
# Distributions that are named otherwise than their modules.
NAMES = {"rank_bm25": "rank-bm25", "mem0": "mem0ai", "langgraph.store.memory": "langgraph-checkpoint"}
OWN = "evimem"
RATIOS = ("above 1: evimem is ahead", "R@10", "ingest", "search, LoCoMo", "search", "what the other stores")
COLUMNS = (
    "", "R@10", "search, LoCoMo, ms, p50", "ingest, turns/s", "search, ms, p50", "search, ms, p99", "peak RSS, MB",
    "disk, MB", "install, MB", "import, ms",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=data_set("locomo"))
    parser.add_argument("--turns", type=int, default=6000)
    parser.add_argument("--peer", action="append", choices=tuple(PEERS), help="only this one; may be given again")
    parser.add_argument("--one", choices=tuple(PEERS), help=argparse.SUPPRESS)
    add_result(parser)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.one, options.locomo, options.turns)))
        return
    found: dict[str, dict[str, Any]] = {}
    missing = []
    for name in options.peer or PEERS:
        if find_spec(getattr(PEERS[name], "library", "evimem").partition(".")[0]) is None:
            missing.append(name)
            continue
        words = ["--one", name, "--turns", str(options.turns), str(options.locomo)]
        out = subprocess.run(
            [sys.executable, "-m", "benchmarks.beside_peers", *words], capture_output=True, text=True, check=True
        )
        found[name] = json.loads(out.stdout.splitlines()[-1])
        print(f"{name}: done", flush=True)
    rows = [_row(name, one) for name, one in found.items()]
    title = f"Beside others: LoCoMo, and {options.turns:,} generated turns"
    notes = [f"Load {os.getloadavg()[0]:.1f} at the end: compare the ratios."]
    if missing:
        notes.append(f"Not installed: {', '.join(missing)}.")
    tables = [ResultTable("peers", title, COLUMNS, tuple(rows), tuple(notes), ("R@10",))]
    if options.peer is None or OWN in options.peer:
        tables.append(ResultTable("ratios", "evimem beside each", RATIOS, ratios(found)))
    record("beside_peers", options, tables, [options.locomo])


def measured(name: str, locomo: Path, turns: int) -> dict[str, Any]:
    """Return the figures of one memory, in this process."""
    peer = PEERS[name]
    library = getattr(peer, "library", "evimem")
    found: dict[str, Any] = {"import": _import_ms(library), "version": _version(library), "recall": [], "locomo": []}
    found["install"] = _install_mb(library)
    for sample in read_locomo(locomo):
        with tempfile.TemporaryDirectory() as folder, closing(peer(Path(folder))) as memory:
            memory.add(sample.turns)
            for question in (one for one in sample.questions if one.evidence):
                started = time.perf_counter()
                ranked = memory.search(question.text, DEPTH, None)
                found["locomo"].append(1000 * (time.perf_counter() - started))
                found["recall"].append([sample.id, recall(ranked, question.evidence, DEPTH)])
    with tempfile.TemporaryDirectory() as name_, closing(peer(Path(name_))) as memory:
        said = list(chat(turns, WORDS))
        memory.add(said[:BATCH])  # warm up: loading at first use is not measured
        started = time.perf_counter()
        for start in range(BATCH, turns, BATCH):
            memory.add(said[start : start + BATCH])
        memory.search("warm up", DEPTH, None)  # where the index is made at the first search, it belongs to ingest
        found["rate"] = (turns - BATCH) / (time.perf_counter() - started)
        found["search"] = []
        for turn in said[:: max(1, turns // QUERIES)][:QUERIES]:
            question = " ".join(turn.text.split()[:8])
            started = time.perf_counter()
            memory.search(question, DEPTH, None)
            found["search"].append(1000 * (time.perf_counter() - started))
        if getattr(peer, "keeps", True):
            found["disk"] = sum(file.stat().st_size for file in Path(name_).rglob("*") if file.is_file()) / 1e6
    found["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def ratios(found: dict[str, dict[str, Any]]) -> tuple[tuple[Cell, ...], ...]:
    """Return a row for each other memory: how evimem compares with it, above 1 where evimem is ahead, and why."""
    own = found[OWN]
    return tuple(
        (
            name,
            _recall(own) / _recall(one),
            own["rate"] / one["rate"],
            percentile(one["locomo"], 0.5) / percentile(own["locomo"], 0.5),
            percentile(one["search"], 0.5) / percentile(own["search"], 0.5),
            PEERS[name].stores,
        )
        for name, one in found.items()
        if hasattr(PEERS[name], "stores")
    )


def _recall(found: dict[str, Any]) -> float:
    return sum(value for _, value in found["recall"]) / len(found["recall"])


def _row(name: str, found: dict[str, Any]) -> tuple[Cell, ...]:
    score = estimate(found["recall"], lambda pair: float(pair[1]), lambda pair: str(pair[0]))
    named = f"{name} {found['version']}".strip()
    return (
        named,
        score,
        percentile(found["locomo"], 0.5),
        found["rate"],
        percentile(found["search"], 0.5),
        percentile(found["search"], 0.99),
        found["peak"],
        found.get("disk"),
        found["install"],
        found["import"],
    )


def _import_ms(library: str) -> float:
    code = f"import time; t = time.perf_counter(); import {library}; print(1000 * (time.perf_counter() - t))"
    return float(subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()[-1])


def _install_mb(library: str) -> float | None:
    """Return the size of a library and all that it needs, without bytecode, in MB; None for a part of Python."""
    if library == "sqlite3":
        return None
    waiting, seen = [Requirement(NAMES.get(library, library))], set[tuple[str, frozenset[str]]]()
    while waiting:
        wanted = waiting.pop()
        name, extras = wanted.name.lower().replace("_", "-"), frozenset(wanted.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        for line in requires(name) or ():
            other = Requirement(line)
            if other.marker is None or any(other.marker.evaluate({"extra": extra}) for extra in extras or {""}):
                waiting.append(other)
    return sum(file.stat().st_size for name in {name for name, _ in seen} for file in _files_of(name)) / 1e6


def _files_of(name: str) -> list[Path]:
    """Return the files of a distribution that are there; those of evimem from its folder, as it may be editable."""
    if name == "evimem":
        files = Path(evimem.__file__).parent.rglob("*")
    else:
        files = (Path(str(file.locate())) for file in distribution(name).files or ())
    return [file for file in files if file.suffix != ".pyc" and file.is_file()]


def _version(library: str) -> str:
    if library == "sqlite3":
        return sqlite3.sqlite_version
    if library == "evimem":
        return evimem.__version__
    try:
        return version(NAMES.get(library, library))
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    main()
