"""Speed of ingest and search by memory size: `python -m benchmarks.speed 10000 100000 [--result FILE]`.

Everything runs offline in one process on generated chat (seeded, Zipf vocabulary, 22 words per turn, 25 turns per
session; `--long` for turns of 220 words). Ingest rates are of `extend`: facts, postings and vectors, durable. Times are
of the processor, which other work on the machine hardly moves; those of a single `add` and of a bare commit, which wait
for the disk, are of the clock. "like all" is the share of the ten best turns that are also found when every turn is
scored; "score kept" is the ratio of their scores, since among hundreds of equally good turns others may be found. A
million turns take about ten minutes and 2 GB of disk. Compare ratios within one run.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a second thread would only spin, which counts as processor time

import apsw

import evimem
from benchmarks.scoring.svg_plot import COLOURS, Chart, Curve
from evimem.embedding.static_embedder import StaticEmbedder
from evimem.index.prepared_query import prepare
from evimem.index.ranking import SEARCH_EFFORT, SearchEffort, rank
from evimem.store.reads import resolve_query
from evimem.store.sqlite import SqliteStore

from .recording import add_result, record
from .scoring.result_file import ResultTable

SEED = 7
PEOPLE = ("Mira", "Tomas", "Elio", "Katrin")
VERBS = "went bought saw lost painted started finished visited cooked fixed called missed planned liked".split()
TIMES = ("yesterday", "last week", "in May", "two years ago", "tomorrow", "", "", "", "", "")
SCORED = 100_000  # turns up to which every one is scored for comparison
GROWING = ("open, ms", "first search, ms", "search, ms, p50")
INGEST = "ingest, turns per second of a processor"
QUESTIONS = (
    "Where did Mira go last summer?",
    "What did Tomas buy for the garden?",
    "When did Elio start painting?",
    "Who visited Katrin in May?",
    "Which things did Mira lose?",
)


def chat(count: int, words: int, first: int = 0) -> Iterator[evimem.Turn]:
    """Yield turns with common and rare words, distributed by Zipf's law."""
    chance = random.Random(SEED + first)
    start = datetime(2020, 1, 1) + timedelta(minutes=7 * first)
    for number in range(count):
        rare = " ".join(f"thing{min(60_000, int(chance.paretovariate(1.0)))}" for _ in range(words // 3))
        common = " ".join(chance.choice(VERBS) + f" the item{chance.randrange(400)}" for _ in range(words // 6))
        text = f"I {chance.choice(VERBS)} {rare} {chance.choice(TIMES)} and then I {common}."
        place = first + number
        yield evimem.Turn(
            f"t{place}", f"s{place // 25}", PEOPLE[place % 4], text, start + timedelta(minutes=7 * number)
        )


def seconds(call: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Return the time of a call: of the processor, or by another clock."""
    began = clock()
    call()
    return clock() - began


def median_ms(calls: list[Callable[[], object]], clock: Callable[[], float] = time.process_time) -> float:
    return statistics.median(seconds(call, clock) for call in calls) * 1000


def bare_commit_ms(folder: Path) -> float:
    """Return the time of a commit with one small row in SQLite at the same settings: the lower bound of `add`."""
    db = apsw.Connection(str(folder / "bare.db"))
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        db.execute(f"PRAGMA {pragma}")
    db.execute("CREATE TABLE t (x)")
    insert = [lambda: db.execute("INSERT INTO t VALUES (?)", ("x" * 200,))] * 100
    figure = median_ms(list(insert), time.perf_counter)
    db.close()
    return figure


def against_all(path: Path, effort: SearchEffort = SEARCH_EFFORT) -> tuple[float, float]:
    """Compare the ten best turns of a search with the ten best when every turn is scored.

    Return, as means over the questions, the share of turns in both and the ratio of the summed scores.
    """
    embedder, same, kept = StaticEmbedder(), [], []
    store = SqliteStore(path, embedder.name, embedder.dimension)
    try:
        corpus = store.corpus()
        for text in asked():
            query = evimem.Query(text, 10, vector=embedder.embed([text])[0])
            question = resolve_query(query, store.raw, embedder.dimension)
            if question is None:
                raise ValueError(f"{text!r} names a speaker or session that the memory does not hold")
            prepared = prepare(question, corpus)
            found = rank(prepared, 10, effort)
            best = rank(prepared, 10, SearchEffort(whole=len(corpus)))
            same.append(len({one.position for one in found} & {one.position for one in best}) / len(best))
            kept.append(sum(one.score for one in found) / sum(one.score for one in best))
    finally:
        store.close()
    return statistics.fmean(same), statistics.fmean(kept)


def asked() -> list[str]:
    """Return questions with frequent and rare words."""
    return [*QUESTIONS, *(f"{text[:-1]} with thing{40 * number}?" for number in range(1, 6) for text in QUESTIONS)]


def measure(size: int, words: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="evimem-speed-") as name:
        folder = Path(name)
        path = folder / "m.evimem"
        with evimem.open(path) as memory:
            rate = size / seconds(lambda: memory.extend(chat(size, words)))
            extra = list(chat(60, words, first=size))
            one = median_ms([lambda turn=turn: memory.extend([turn]) for turn in extra], time.perf_counter)
            facts = memory.stats().facts
        opened = seconds(lambda: evimem.open(path).close())
        with evimem.open(path) as memory:
            first = seconds(lambda: memory.search("warm up"))
            found = median_ms([lambda q=q: memory.search(q) for q in asked() * 3])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        like, kept = against_all(path) if size <= SCORED else (math.nan, math.nan)
        return {
            "turns": size,
            "facts": facts,
            INGEST: rate,
            "one `add`, ms by the clock, p50": one,
            "a bare commit, ms by the clock, p50": bare_commit_ms(folder),
            "open, ms": opened * 1000,
            "first search, ms": first * 1000,
            "search, ms, p50": found,
            "like all": like,
            "score kept": kept,
            "file, MB": sum(file.stat().st_size for file in folder.glob("m.evimem*")) / 1e6,
            "peak RSS, MB": peak,
        }


def import_ms() -> float:
    code = "import time; t = time.perf_counter(); import evimem; print(time.perf_counter() - t)"
    runs = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)]
    return statistics.median(runs) * 1000


def growth(rows: Sequence[dict[str, float]]) -> Iterator[str]:
    """Yield how times grow with size: exponents between neighbouring sizes."""
    for small, large in itertools.pairwise(rows):
        grown = math.log(large["turns"] / small["turns"])
        exponents = {name: math.log(large[name] / small[name]) / grown for name in GROWING}
        exponents["ingest"] = 1 - math.log(large[INGEST] / small[INGEST]) / grown
        growths = ", ".join(f"{name.partition(',')[0]} n^{exponent:.2f}" for name, exponent in exponents.items())
        yield f"{small['turns']:,.0f} to {large['turns']:,.0f} turns: {growths}"


def chart_of(rows: Sequence[dict[str, float]]) -> Chart:
    """Return a chart of the times over the sizes, both on logarithmic axes."""
    curves = {name: [row[name] for row in rows] for name in GROWING}
    curves["ingest of all, ms"] = [1000 * row["turns"] / row[INGEST] for row in rows]
    sizes = [math.log10(row["turns"]) for row in rows]
    lines = tuple(
        Curve(name, tuple(zip(sizes, map(math.log10, values), strict=True)), (4.0,) * len(sizes), colour=colour)
        for colour, (name, values) in zip(COLOURS, curves.items(), strict=False)
    )
    low, high = (bound(height for line in lines for _, height in line.points) for bound in (min, max))
    note = list(growth(rows))[-1] if len(rows) > 1 else ""
    return Chart(
        "Times by size of the memory", note, "turns", "milliseconds of a processor", lines,
        width=(sizes[0], sizes[-1]), height=(math.floor(low), math.ceil(high)), powers=True,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--long", action="store_true", help="turns of 220 words instead of 22")
    add_result(parser)
    options = parser.parse_args()
    rows = [measure(size, 220 if options.long else 22) for size in sorted(options.sizes)]
    names = [name for name in rows[0] if name != "turns"]
    table = ResultTable(
        "sizes",
        "Speed by size of the memory",
        ("", *(f"{row['turns']:,.0f} turns" for row in rows)),
        (*((name, *(None if math.isnan(row[name]) else row[name] for row in rows)) for name in names),
         ("import evimem, ms by the clock", import_ms(), *[None] * (len(rows) - 1))),
        (f"Load {os.getloadavg()[0]:.1f} at the end.", *growth(rows)),
    )  # fmt: skip
    record("speed", options, [table], charts={"scale": chart_of(rows)})


if __name__ == "__main__":
    main()
