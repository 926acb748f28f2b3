"""Make every figure, table and plot of the project's pages again, at one commit: `python -m benchmarks all`.

  python -m benchmarks all --locomo LOCOMO.json --peers PYTHON    # all; what has been made of this code is kept
  python -m benchmarks all --again --only speed --only walks      # some of them, once more
  python -m benchmarks all --list                                 # names, commands, what each needs
  python -m benchmarks all --check                                # fail where a figure is older than the last release

Each figure is a command of its own and a result file in benchmarks/results; stop at any time and repeat the command: a
figure is kept while the files of evimem/, prompts/ and benchmarks/ are those of its commit. Figures that no load of the
machine changes are made side by side, a process a core, then those that measure time one by one. A figure that lacks
its data set, its peers or its model is named and left out. At the end the tables, plots and figures in the prose of the
pages are filled anew.
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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
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
LOCOMO = "LOCOMO"
METRIC_MODULES = ("nltk", "rouge_score", "ir_measures")  # of benchmarks/metric_libraries.txt
DECIDING = ("evimem", "prompts", "benchmarks/*.py", "benchmarks/*.toml", "benchmarks/*.jsonl", "benchmarks/messages")


@dataclass(frozen=True)
class Figure:
    """A result file and the command that writes it.

    Attributes:
        name: The name of the file in benchmarks/results, without its ending.
        words: The words after `python -m`; LOCOMO stands for the path of the data set.
        needs: What must be given besides, in words; empty for nothing.
        timed: Whether it measures time or memory, so that nothing else may run beside it.
    """

    name: str
    words: str
    needs: str = ""
    timed: bool = False

    @property
    def path(self) -> Path:
        """Where the result file lies."""
        return RESULTS / f"{self.name}.json"

    def command(self, locomo: Path | None) -> list[str]:
        """Return the words after the interpreter."""
        words = [str(locomo) if word == LOCOMO else word for word in shlex.split(self.words)]
        return ["-m", *words, "--result", str(self.path)]

    def fits(self, command: str) -> bool:
        """Tell whether the command that a result names is this one, whatever the data set's file is called."""
        named = shlex.split(command)[2:-2]  # without `python -m` and `--result FILE`
        words = shlex.split(self.words)
        return len(named) == len(words) and all(a == b for a, b in zip(words, named, strict=True) if a != LOCOMO)


ALL_CHATS = "benchmarks/chats benchmarks/strangers"
MAILED_LOOPS = "iris full memr3 memr3-as-published mgretrieval mgretrieval-as-published mragent mragent-as-published"
FIGURES = (  # the longest first, so that no core waits for the last
    Figure("confidence", f"benchmarks.confidence LOCOMO {ALL_CHATS}"),
    Figure("retrieval", f"benchmarks.retrieval LOCOMO --chats {ALL_CHATS} benchmarks/unseen --ablate"),
    Figure("loops-locomo-scripted", "benchmarks.loops LOCOMO --scripted --literal --every 8"),
    Figure("loops-scripted", "benchmarks.loops benchmarks/chats --scripted --literal --every 4"),
    Figure("loops", "benchmarks.loops benchmarks/chats --literal --every 4"),
    Figure("papers", "benchmarks.paper_tables evimem LOCOMO --every 8"),
    Figure("papers-loops", "benchmarks.paper_tables loops LOCOMO --every 20"),
    Figure("loops-locomo", "benchmarks.loops LOCOMO --literal --every 8"),
    Figure("model_calls", "benchmarks.model_calls LOCOMO --chats benchmarks/chats --every 4"),
    Figure("locomo", "benchmarks locomo LOCOMO --offline --wide"),
    Figure("fresh", "benchmarks chats benchmarks/fresh"),
    Figure("chats", "benchmarks chats benchmarks/chats"),
    Figure("chats-bm25", "benchmarks chats benchmarks/chats --adapter benchmarks.scoring.scored_memory:PlainBm25"),
    Figure("requests", "benchmarks.requests benchmarks/requests_fresh"),
    Figure("requests-chats", "benchmarks.requests benchmarks/requests_chats"),
    Figure("requests-later", "benchmarks.requests benchmarks/requests_later --only marek priya tilda"),
    Figure("requests-german", "benchmarks.requests benchmarks/requests_later --only benno"),
    Figure("page", "benchmarks.offline --page"),
    Figure("times", "benchmarks.times LOCOMO"),
    Figure("house", "benchmarks.house"),
    Figure(
        "metrics", "benchmarks.metric_libraries LOCOMO benchmarks/chats", "benchmarks/metric_libraries.txt installed"
    ),
    Figure("block", "benchmarks.block LOCOMO --every 6", timed=True),
    Figure("walks", "benchmarks.walks", timed=True),
    Figure("speed", "benchmarks.speed 1000 10000", timed=True),
    Figure("floor", "benchmarks.floor --waiting 50000", timed=True),
    Figure("scaling", "benchmarks.scaling 1000 10000 100000 --facts-up-to 10000", timed=True),
    Figure("beside_scan", "benchmarks.beside_scan 10000 50000", timed=True),
    Figure(
        "vector_index",
        "benchmarks.vector_index --sizes 10000 50000 --data speech",
        timed=True,
    ),
    Figure("depth", "benchmarks.depth 2000", timed=True),
    Figure("links", "benchmarks.links 1000 10000", timed=True),
    Figure(
        "peers",
        "benchmarks.beside_peers LOCOMO --turns 1000",
        "the interpreter of an environment: give --peers",
        timed=True,
    ),
    Figure(
        "loops-mailed-locomo",
        f"benchmarks.loops LOCOMO --mailbox mailbox/locomo --only conv-26 conv-30 --loops {MAILED_LOOPS} --every 25",
        "a model: give --model-replies",
    ),
    Figure(
        "loops-mailed",
        "benchmarks.loops benchmarks/chats --mailbox mailbox/chats --only nurses-glasgow companion-retiree "
        f"--loops {MAILED_LOOPS} --every 4",
        "a model: give --model-replies",
    ),
    Figure(
        "asked_arms",
        "benchmarks.asked_arms benchmarks/requests_marked --chats benchmarks/requests_marked --mailbox mailbox/arms "
        "--marks mailbox/marks.json --each 4",
        "a model: give --model-replies",
    ),
    Figure(
        "reader",
        "benchmarks.reader benchmarks/fresh --seed 4 --tokens 800 --mailbox mailbox",
        "a model: give --model-replies",
    ),
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
    add("--jobs", type=int, metavar="N", help="figures that measure no time at once (default: one for each core)")
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
    wanted = [one for one in FIGURES if not options.only or one.name in options.only]
    left_out = [f"{one.name}: needs {lacking}" for one in wanted if (lacking := lacking_for(one, options))]
    able = [one for one in wanted if not lacking_for(one, options)]
    kept = [] if options.again else [one for one in able if is_made_of(one, commit)]
    for one in kept:
        print(f"kept   {one.name}")
    failed = _run_all([one for one in able if one not in kept], options)
    for page in fill_pages():
        print(f"filled {page}")
    for line in (*(f"failed {name}" for name in failed), *(f"left out {reason}" for reason in left_out)):
        print(line)
    return Exit.FAILED if failed else Exit.OK


def _run_all(figures: Sequence[Figure], options: argparse.Namespace) -> list[str]:
    """Run those that measure no time side by side, then the others one by one; return the names of what failed."""
    beside = [one for one in figures if not one.timed]
    alone = [one for one in figures if one.timed]
    with ThreadPoolExecutor(options.jobs or os.cpu_count() or 1) as pool:
        ran = list(pool.map(lambda one: _run(one, options), beside))
    ran += [_run(one, options) for one in alone]
    return [one.name for one, fine in zip((*beside, *alone), ran, strict=True) if not fine]


def lacking_for(figure: Figure, options: argparse.Namespace) -> str:
    """Return what a figure needs and is not given; empty where nothing lacks."""
    if LOCOMO in shlex.split(figure.words) and options.locomo is None:
        return "the data set LoCoMo: give --locomo"
    given = {"--peers": options.peers, "--model-replies": options.model_replies}
    named = next((option for option in given if option in figure.needs), None)
    lacks_modules = "metric_libraries.txt" in figure.needs and not all(map(find_spec, METRIC_MODULES))
    return figure.needs if lacks_modules or (named and not given[named]) else ""


def is_made_of(figure: Figure, commit: str) -> bool:
    """Tell whether the result file of a figure was made by its command of today, and by the code of this commit."""
    if not figure.path.exists():
        return False
    made = read_result(figure.path).made
    return figure.fits(made.command) and has_same_code(made.commit, commit)


def has_same_code(made: str | None, commit: str) -> bool:
    """Tell whether nothing that decides figures differs between two commits; False for one that is not known."""
    words = ["git", "-C", str(ROOT), "diff", "--quiet", str(made), commit, "--", *DECIDING]
    return made == commit or not subprocess.run(words, capture_output=True, check=False).returncode


def _run(figure: Figure, options: argparse.Namespace) -> bool:
    """Run the command of a figure; return whether it ended well."""
    python = options.peers if "--peers" in figure.needs else Path(sys.executable)
    began = time.perf_counter()
    print(f"making {figure.name}", flush=True)
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [str(python), *figure.command(options.locomo)], cwd=ROOT, stdout=subprocess.DEVNULL, env=alone, check=False
    )
    if not done.returncode:
        print(f"made   {figure.name} in {time.perf_counter() - began:,.0f} s", flush=True)
    return not done.returncode


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
