"""How far a turn and a question walk through the package: python -m benchmarks.walks [--files].

Counted are the functions of the package that are called, and the files they stand in, when a question is asked for the
second time (as in a process that has been running), over every ninth example question; and the processor time of the
first question of a process next to that of a later one. `--files` lists the files of the longest walk.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import evimem
from evimem.loaders.examples import load_example, load_questions

from .recording import add_result, record
from .scoring.result_file import Cell, ResultTable

ROOT = Path(evimem.__file__).parent
EVERY = 9  # a traced question takes twenty times as long as another
FIRST = """
import tempfile, time, evimem
from evimem.loaders.examples import load_example
with tempfile.TemporaryDirectory() as folder, evimem.open(folder + "/m.evimem") as memory:
    memory.extend(load_example("friends"))
    taken = []
    for _ in range(12):
        before = time.process_time()
        memory.ask("When did Mira start playing the cello?")
        taken.append(time.process_time() - before)
    print(1000 * taken[0], 1000 * sorted(taken[1:])[len(taken) // 2])
"""


@dataclass(frozen=True, slots=True)
class Walk:
    """The functions that one call went through, as (file, name)."""

    functions: frozenset[tuple[str, str]]

    @property
    def files(self) -> list[str]:
        return sorted({file for file, _ in self.functions})


def walk(act: Callable[[], Any]) -> Walk:
    """Do something and return which functions of the package were called, in any thread that it started."""
    seen: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ROOT)) and code.co_name != "<module>":
            seen.add((str(Path(code.co_filename).relative_to(ROOT)), f"{code.co_firstlineno}:{code.co_name}"))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return Walk(frozenset(seen))


def question_walks(name: str) -> dict[str, Walk]:
    """Return the walk of each example question of a conversation, asked for the second time."""
    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
        memory.extend(load_example(name))
        walks = {}
        for one in load_questions(name)[::EVERY]:
            memory.ask(one.text)
            walks[one.text] = walk(lambda text=one.text: memory.ask(text))  # type: ignore[misc]
    return walks


def turn_walk() -> Walk:
    """Return the walk of one `add` into a memory that is in use."""
    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
        memory.extend(load_example("friends"))
        memory.add("Mira", "We met on Monday and I bought a bow.", time="2026-06-01T10:00", session="later")
        text = "We adopted a puppy last Friday, a lurcher cross."
        return walk(lambda: memory.add("Mira", text, time="2026-06-02T10:00", session="later"))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="list the files of the longest walk of a question")
    add_result(parser)
    options = parser.parse_args()
    rows: list[tuple[Cell, ...]] = []
    for name in ("friends", "assistant"):
        walks = list(question_walks(name).values())
        for what, values in (("median", statistics.median_low), ("most", max), ("least", min)):
            functions, files = values(len(w.functions) for w in walks), values(len(w.files) for w in walks)
            rows.append((f"`ask`, {name}, {what} of {len(walks)}", functions, files))
        longest = max(walks, key=lambda w: len(w.files))
        if options.files:
            print("\n".join(longest.files))
    added = turn_walk()
    rows.append(("`add`", len(added.functions), len(added.files)))
    walked = ResultTable("walks", "How far a call walks", ("walk", "functions", "files"), tuple(rows))
    record("walks", options, [walked, first_times()])


def first_times() -> ResultTable:
    """Return what a process spends on its first question, and a later one: processor time, medians of 5 processes."""
    runs = [
        tuple(map(float, subprocess.check_output([sys.executable, "-c", FIRST], text=True).split())) for _ in range(5)
    ]
    rows = [
        (name, *(ordered[at] for at in (2, 0, -1)))
        for name, ordered in zip(("first `ask`", "a later one"), map(sorted, zip(*runs, strict=True)), strict=True)
    ]
    bare = []
    for _ in range(7):
        before = _of_children()
        subprocess.run([sys.executable, "-c", "import evimem"], check=True)
        bare.append(1000 * (_of_children() - before))
    rows.append(("a process that imports evimem and ends", sorted(bare)[3], min(bare), max(bare)))
    columns = ("", "median", "least", "most")
    return ResultTable("first", "The first question of a process, ms of a processor", columns, tuple(rows))


def _of_children() -> float:
    """Return the processor time of all processes that were started and have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
