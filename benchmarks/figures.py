"""Make every figure, table and plot of the project's pages again, at one commit: `python -m benchmarks all`.

  python -m benchmarks all --locomo LOCOMO.json --peers PYTHON    # all; what has been made at this commit is kept
  python -m benchmarks all --only speed --only walks              # some of them
  python -m benchmarks all --list                                 # names, commands, what each needs
  python -m benchmarks all --check                                # fail where a figure is older than the last release

Each figure is a command of its own and a result file in benchmarks/results; stop at any time and repeat the command. A
figure that lacks its data set, its peers or its model is named and left out. At the end the pages are filled anew.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evimem.cli.arguments import Exit
from evimem.db.atomic_files import replace_with
from evimem.errors import ImportFailed

from .scoring.provenance import current_commit
from .scoring.readme_report import render
from .scoring.result_file import read_result

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = (
    "benchmarks/README.md",
    "benchmarks/RESEARCH.md",
    "README.md",
    "docs/why.md",
    "docs/calibration.md",
    "docs/loops.md",
)
RELEASE = re.compile(r"^## \[(\d+)\.(\d+)\.(\d+)\] - \d", re.MULTILINE)
LOCOMO, PEERS = "LOCOMO", "PEERS"


@dataclass(frozen=True)
class Figure:
    """A result file and the command that writes it.

    Attributes:
        name: The name of the file in benchmarks/results, without its ending.
        words: The words after `python -m`; LOCOMO stands for the path of the data set.
        needs: What must be given besides, in words; empty for nothing.
    """

    name: str
    words: str
    needs: str = ""

    @property
    def path(self) -> Path:
        """Where the result file lies."""
        return RESULTS / f"{self.name}.json"

    def command(self, locomo: Path | None) -> list[str]:
        """Return the words after the interpreter."""
        words = [str(locomo) if word == LOCOMO else word for word in shlex.split(self.words)]
        return ["-m", *words, "--result", str(self.path)]


ALL_CHATS = "benchmarks/chats benchmarks/strangers"
MAILED_LOOPS = "iris full memr3 memr3-as-published mgretrieval mgretrieval-as-published mragent mragent-as-published"
FIGURES = (
    Figure("locomo", "benchmarks locomo LOCOMO --offline --wide"),
    Figure("retrieval", f"benchmarks.retrieval LOCOMO --chats {ALL_CHATS} benchmarks/unseen --ablate"),
    Figure("block", "benchmarks.block LOCOMO --every 6"),
    Figure("requests", "benchmarks.requests benchmarks/requests_fresh"),
    Figure("requests-chats", "benchmarks.requests benchmarks/requests_chats"),
    Figure("fresh", "benchmarks chats benchmarks/fresh"),
    Figure("chats", "benchmarks chats benchmarks/chats"),
    Figure("chats-bm25", "benchmarks chats benchmarks/chats --adapter benchmarks.scoring.scored_memory:PlainBm25"),
    Figure("confidence", f"benchmarks.confidence LOCOMO {ALL_CHATS}"),
    Figure("page", "benchmarks.offline --page"),
    Figure("loops", "benchmarks.loops benchmarks/chats --literal --every 4"),
    Figure("loops-scripted", "benchmarks.loops benchmarks/chats --scripted --literal --every 4"),
    Figure("loops-locomo", "benchmarks.loops LOCOMO --literal --every 8"),
    Figure("loops-locomo-scripted", "benchmarks.loops LOCOMO --scripted --literal --every 8"),
    Figure(
        "loops-mailed-locomo",
        f"benchmarks.loops LOCOMO --mailbox mailbox/locomo --only conv-26 conv-30 --loops {MAILED_LOOPS} --every 40",
        "a model: give --model-replies",
    ),
    Figure(
        "loops-mailed",
        "benchmarks.loops benchmarks/chats --mailbox mailbox/chats --only nurses-glasgow companion-retiree "
        f"--loops {MAILED_LOOPS} --every 5",
        "a model: give --model-replies",
    ),
    Figure("model_calls", "benchmarks.model_calls LOCOMO --chats benchmarks/chats --every 4"),
    Figure(
        "metrics", "benchmarks.metric_libraries LOCOMO benchmarks/chats", "benchmarks/metric_libraries.txt installed"
    ),
    Figure("papers", "benchmarks.paper_tables evimem LOCOMO --every 8"),
    Figure("speed", "benchmarks.speed 1000 10000"),
    Figure("floor", "benchmarks.floor"),
    Figure("calls", "benchmarks.scaling 1000 10000 100000"),
    Figure("scaling", "benchmarks.scaling 1000 10000 100000 1000000", "hours: give --long"),
    Figure("beside_scan", "benchmarks.beside_scan 10000 100000"),
    Figure("depth", "benchmarks.depth 2000"),
    Figure("links", "benchmarks.links 1000 10000"),
    Figure("walks", "benchmarks.walks"),
    Figure("house", "benchmarks.house"),
    Figure(
        "vector_index",
        "benchmarks.vector_index --sizes 10000 50000 100000 --data speech --graph hnswlib voyager",
        "hours: give --long",
    ),
    Figure("peers", "benchmarks.beside_peers LOCOMO --turns 1000", "the interpreter of an environment: give --peers"),
    Figure("reader", "benchmarks.reader benchmarks/fresh --seed 4 --mailbox mailbox", "a model: give --model-replies"),
)
BY_HAND = {
    "real_model": "EVIMEM_REAL_RESULT=real_model.json python -m pytest -m nightly tests/real_model",
}


def main(words: Sequence[str]) -> int:
    """Make figures, list them, or check them; return the exit code."""
    options = _parser().parse_args(words)
    if options.list:
        for one in FIGURES:
            print(f"{one.name:22} python -m {one.words}{f'   ({one.needs})' if one.needs else ''}")
        for name, command in BY_HAND.items():
            print(f"{name:22} {command}   (by hand)")
        return Exit.OK
    if options.check:
        old = outdated(last_release((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
        print(
            "\n".join(f"older than the last release: {one}" for one in old)
            or "no figure is older than the last release"
        )
        return Exit.INPUT if old else Exit.OK
    return _make(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks all", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    names = [one.name for one in FIGURES]
    add("--only", action="append", choices=names, metavar="NAME", help="make this figure; may be repeated")
    add("--locomo", type=Path, metavar="FILE", help="the data set LoCoMo, which is not shipped")
    add("--peers", type=Path, metavar="PYTHON", help="the interpreter of an environment with benchmarks/peers.txt")
    add(
        "--model-replies",
        action="store_true",
        help="ask a reader by files in the folder mailbox; repeat until it is done",
    )
    add("--long", action="store_true", help="make also what takes hours")
    add("--again", action="store_true", help="make also what was made at this commit")
    add("--list", action="store_true", help="print the figures and their commands")
    add("--check", action="store_true", help="make nothing; fail where a figure is older than the last release")
    return parser


def _make(options: argparse.Namespace) -> int:
    commit = current_commit()
    if commit is None or commit.endswith("+"):
        print(
            "the code has changes that are not committed, so that no figure could name what it measured; commit first"
        )
        return Exit.INPUT
    failed, left_out = [], []
    for one in FIGURES:
        if options.only and one.name not in options.only:
            continue
        if lacking := lacking_for(one, options):
            left_out.append(f"{one.name}: needs {lacking}")
        elif not options.again and is_made_at(one, commit):
            print(f"kept   {one.name}")
        elif (seconds := _run(one, options)) is None:
            failed.append(one.name)
        else:
            print(f"made   {one.name} in {seconds:,.0f} s", flush=True)
    for page in fill_pages():
        print(f"filled {page}")
    for line in (*(f"failed {name}" for name in failed), *(f"left out {reason}" for reason in left_out)):
        print(line)
    return Exit.FAILED if failed else Exit.OK


def lacking_for(figure: Figure, options: argparse.Namespace) -> str:
    """Return what a figure needs and is not given; empty where nothing lacks."""
    if LOCOMO in shlex.split(figure.words) and options.locomo is None:
        return "the data set LoCoMo: give --locomo"
    given = {"--peers": options.peers, "--long": options.long, "--model-replies": options.model_replies}
    named = next((option for option in given if option in figure.needs), None)
    return figure.needs if named and not given[named] else ""


def is_made_at(figure: Figure, commit: str) -> bool:
    """Tell whether the result file of a figure is of this commit."""
    return figure.path.exists() and read_result(figure.path).made.commit == commit


def _run(figure: Figure, options: argparse.Namespace) -> float | None:
    """Run the command of a figure; return its seconds, or None where it failed."""
    python = options.peers if "--peers" in figure.needs else Path(sys.executable)
    began = time.perf_counter()
    print(f"making {figure.name}", flush=True)
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [str(python), *figure.command(options.locomo)], cwd=ROOT, stdout=subprocess.DEVNULL, env=alone, check=False
    )
    return None if done.returncode else time.perf_counter() - began


def fill_pages() -> list[str]:
    """Fill the tables and plots of every page anew; return the names of files that changed."""
    changed = []
    for page in PAGES:
        path = ROOT / page
        rendered = render(path.read_text(encoding="utf-8"), path.parent)
        for file, text in {
            path: rendered.text,
            **{path.parent / at: drawn for at, drawn in rendered.charts.items()},
        }.items():
            if not file.exists() or file.read_text(encoding="utf-8") != text:
                file.parent.mkdir(parents=True, exist_ok=True)
                with replace_with(file) as out:
                    out.write(text.encode())
                changed.append(os.path.relpath(file, ROOT))
    return changed


def last_release(changelog: str) -> tuple[int, ...]:
    """Return the version of the newest dated heading of a changelog. Raise ImportFailed where there is none."""
    found = [tuple(map(int, one)) for one in RELEASE.findall(changelog)]
    if not found:
        raise ImportFailed("the changelog has no heading such as '## [0.1.0] - 2026-11-21'")
    return max(found)


def outdated(release: tuple[int, ...], folder: Path = RESULTS) -> list[str]:
    """Return the names of result files that an earlier version than a release made."""
    made: Mapping[str, str] = {one.stem: read_result(one).made.version for one in sorted(folder.glob("*.json"))}
    return [name for name, version in made.items() if tuple(map(int, version.split(".")[:3])) < release]
