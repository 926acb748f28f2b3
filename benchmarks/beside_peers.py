"""evimem beside other memories, on the same turns and questions, without a model.

    pip install -e . -r benchmarks/peers.txt      # an environment of its own
    python -m benchmarks.beside_peers LOCOMO.json --turns 2000 --result FILE

Each memory has a process of its own, and all take turns at every piece of work, so that a busy minute is busy for all;
times are of the processor, every thread counted. LoCoMo's conversations, each in a store of its own, are asked for
recall. Then one store takes `--turns` of LoCoMo's turns in batches of 500, up to the first search after them; then a
turn and a question at a time, as a chatbot does; then questions alone. Another takes turns of which every second is a
reply of 2 to 9 kB. evimem and FTS5 sync each call to disk, and evimem finds facts, dates and edges besides; the others
keep what their defaults keep. evimem has rows of its own for `block` and for a fresh process. One that is not installed
has no figures.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, distribution, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

import evimem
from benchmarks.data_sets import read_locomo
from evimem.types.values import Turn

from .peers import PEERS
from .recording import add_result, data_set, record
from .scoring.bootstrap import percentile
from .scoring.estimates import estimate
from .scoring.result_file import Cell, ResultTable
from .scoring.retrieval_metrics import recall

BATCH = 500
PIECE = 10  # turns or questions between which the next memory has its turn
PIECES = 10
DEPTH = 10
LONG = 200  # turns, every second one of them a long reply
LENGTHS = (2_000, 9_000)  # characters of a long reply
# Distributions that are named otherwise than their modules.
NAMES = {"rank_bm25": "rank-bm25", "mem0": "mem0ai", "langgraph.store.memory": "langgraph-checkpoint"}
OWN = "evimem"
_SAID = "evimem beside: "  # before what a process says: some libraries print on their own
TIMES = ("ingest, us a turn", "with long replies", "a turn and a question, ms", "search, ms", "LoCoMo search, ms")
COLUMNS = ("CPU, p50 or mean", "R@10", *TIMES, "peak RSS, MB", "disk, MB", "install, MB", "import, ms by the clock")
RATIOS = ("above 1: evimem is ahead", "R@10", *TIMES, "what the other stores")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=data_set("locomo"))
    parser.add_argument("--turns", type=int, default=2000)
    parser.add_argument("--peer", action="append", choices=tuple(PEERS), help="only this one; may be given again")
    parser.add_argument("--one", choices=tuple(PEERS), help=argparse.SUPPRESS)
    add_result(parser)
    options = parser.parse_args()
    if options.one:
        serve(options.one, options.locomo, options.turns)
        return
    names = options.peer or list(PEERS)
    missing = [name for name in names if find_spec(_library(name).partition(".")[0]) is None]
    found = beside([name for name in names if name not in missing], options.locomo, options.turns)
    notes = [f"Load {os.getloadavg()[0]:.1f} at the end: compare the ratios."]
    if missing:
        notes.append(f"Not installed: {', '.join(missing)}.")
    title = f"Beside others, on LoCoMo: {options.turns:,} turns in a store"
    rows = tuple(_row(name, one) for name, one in found.items())
    tables = [ResultTable("peers", title, COLUMNS, rows, tuple(notes), ("R@10",))]
    if OWN in found:
        tables.append(ResultTable("ratios", "evimem beside each", RATIOS, ratios(found)))
        tables.append(ResultTable("own", "evimem alone", ("", "CPU ms"), own_rows(found[OWN])))
    record("beside_peers", options, tables, [options.locomo])


def beside(names: Sequence[str], locomo: Path, turns: int) -> dict[str, dict[str, Any]]:
    """Return the figures of each memory, by name: one piece of work of each after another."""
    words = ["--turns", str(turns), str(locomo)]
    program = [sys.executable, "-m", "benchmarks.beside_peers"]
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # a second thread would only spin, which counts as work
    served = {
        name: subprocess.Popen(
            [*program, "--one", name, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=alone
        )
        for name in names
    }
    found: dict[str, dict[str, Any]] = {name: {} for name in names}
    waiting = dict(served)
    while waiting:
        for name, process in list(waiting.items()):
            process.stdin.write("\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            said = next((line for line in process.stdout or () if line.startswith(_SAID)), None)
            if said is None:
                raise SystemExit(f"{name} ended with {process.wait()} before it was done")
            step, values = json.loads(said.removeprefix(_SAID))
            found[name].setdefault(step, []).extend(values)
            if step == "ended":
                del waiting[name]
        print(".", end="", flush=True)
    return found


def serve(name: str, locomo: Path, turns: int) -> None:
    """Do a piece of work for each line that comes in, and say what it took."""
    pieces = work(name, locomo, turns)
    for _ in sys.stdin:
        done = next(pieces)
        print(f"{_SAID}{json.dumps(done)}", flush=True)
        if done[0] == "ended":
            return


def work(name: str, locomo: Path, turns: int) -> Iterator[tuple[str, list[Any]]]:
    """Yield the name of each piece of work and what each part of it came to."""
    peer, samples = PEERS[name], list(read_locomo(locomo))
    said = [replace(one, id=f"{sample.id} {one.id}") for sample in samples for one in sample.turns]
    asked = [one.text for sample in samples for one in sample.questions]
    random.Random(7).shuffle(asked)
    if len(said) < turns + PIECE * PIECES:
        raise SystemExit(f"{locomo.name} has {len(said):,} turns; give --turns below {len(said) - PIECE * PIECES:,}")
    for sample in samples:
        with tempfile.TemporaryDirectory() as folder, closing(peer(Path(folder))) as memory:
            memory.add(sample.turns)
            memory.search("warm up", DEPTH, None)
            questions = [one for one in sample.questions if one.evidence]
            for start in range(0, len(questions), PIECE):
                piece = []
                for question in questions[start : start + PIECE]:
                    took, ranked = timed(memory.search, question.text, DEPTH, None)
                    piece.append([sample.id, recall(ranked, question.evidence, DEPTH), took])
                yield "recall", piece
    with tempfile.TemporaryDirectory() as name_, closing(peer(Path(name_))) as memory:
        memory.add(said[:PIECE])  # what is loaded at the first use is no part of any figure
        memory.search("warm up", DEPTH, None)
        for start in range(PIECE, turns, BATCH):
            batch = said[start : min(start + BATCH, turns)]
            yield "batch", [timed(memory.add, batch)[0] / len(batch)]
        yield "first", [timed(memory.search, "now", DEPTH, None)[0] / turns]  # where an index is made only then
        for number in range(PIECES):
            together = []
            for one in range(turns + number * PIECE, turns + (number + 1) * PIECE):
                kept, _ = timed(memory.add, said[one : one + 1])
                together.append(kept + timed(memory.search, said[one - 1].text, DEPTH, None)[0])
            yield "turn", together
            some = asked[number * PIECE : (number + 1) * PIECE]
            yield "search", [timed(memory.search, question, DEPTH, None)[0] for question in some]
            yield "block", [timed(memory.block, question)[0] for question in some if hasattr(memory, "block")]
        if getattr(peer, "keeps", True):
            yield "disk", [sum(file.stat().st_size for file in Path(name_).rglob("*") if file.is_file()) / 1e6]
        if name == OWN:
            yield "fresh", [fresh(Path(name_) / "own.evimem")]
    with tempfile.TemporaryDirectory() as folder, closing(peer(Path(folder))) as memory:
        memory.add(said[:PIECE])
        kept, _ = timed(memory.add, lengthened(said[PIECE : PIECE + LONG]))
        yield "long", [(kept + timed(memory.search, "now", DEPTH, None)[0]) / LONG]
    yield "import", [_import_ms(_library(name))]
    yield "ended", [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]


def timed(call: Callable[..., Any], *given: Any) -> tuple[float, Any]:
    """Return the processor time of a call in ms, and what it returned."""
    started = time.process_time()
    found = call(*given)
    return 1000 * (time.process_time() - started), found


def lengthened(turns: Sequence[Turn]) -> list[Turn]:
    """Return turns of which every second is a reply, lengthened by others to some kB."""
    chance, texts = random.Random(7), [turn.text for turn in turns]
    found = []
    for place, turn in enumerate(turns):
        text, wanted = turn.text, chance.randrange(*LENGTHS) if place % 2 else 0
        while len(text) < wanted:
            text += "\n\n" + chance.choice(texts)
        found.append(replace(turn, text=text))
    return found


def fresh(path: Path) -> float:
    """Return the processor time, in ms, of a process that opens a memory and makes one block."""
    code = "import sys, evimem; evimem.open(sys.argv[1]).block('What did we plan?')"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def figures(found: dict[str, list[Any]]) -> dict[str, float]:
    """Return the figures of `TIMES` by their names, in their units."""
    batches = found["batch"]
    per_turn = 1000 * (sum(batches) / len(batches) + found["first"][0])
    values = (
        per_turn,
        1000 * found["long"][0],
        percentile(found["turn"], 0.5),
        percentile(found["search"], 0.5),
        percentile([took for *_, took in found["recall"]], 0.5),
    )
    return dict(zip(TIMES, values, strict=True))


def ratios(found: dict[str, dict[str, list[Any]]]) -> tuple[tuple[Cell, ...], ...]:
    """Return a row for each other memory: how evimem compares with it, above 1 where evimem is ahead, and why."""
    own = figures(found[OWN])
    return tuple(
        (
            name,
            _recall(found[OWN]) / _recall(one),
            *(figures(one)[column] / own[column] for column in TIMES),
            PEERS[name].stores,
        )
        for name, one in found.items()
        if hasattr(PEERS[name], "stores")
    )


def own_rows(found: dict[str, list[Any]]) -> tuple[tuple[Cell, ...], ...]:
    """Return what nobody else has a row for."""
    blocks = found["block"]
    return (
        ("`block`, p50", percentile(blocks, 0.5)),
        ("`block`, p99", percentile(blocks, 0.99)),
        ("a fresh process: import, open, one block", found["fresh"][0]),
    )


def _recall(found: dict[str, list[Any]]) -> float:
    return sum(value for _, value, _ in found["recall"]) / len(found["recall"])


def _row(name: str, found: dict[str, list[Any]]) -> tuple[Cell, ...]:
    score = estimate(found["recall"], lambda one: float(one[1]), lambda one: str(one[0]))
    library = _library(name)
    disk = found.get("disk", [None])[0]
    return (
        f"{name} {_version(library)}".strip(),
        score,
        *figures(found).values(),
        found["ended"][0],
        disk,
        _install_mb(library),
        found["import"][0],
    )


def _library(name: str) -> str:
    return str(getattr(PEERS[name], "library", "evimem"))


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
