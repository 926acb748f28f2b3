"""The tables of the papers, each by one command: `python -m benchmarks.paper_tables TABLE LOCOMO.json`.

EviMem's are 1 (the system beside a single pass), 2 (IRIS, a group of parts more in each row), 3 (LaceMem: turns alone,
with the index, with edges), 4 (tiers against the evidence that was shown), 4.4 (what confidence tells of it) and
failures (how wrong answers are wrong), 5 (time of a question by stage), 9 (what the search for a gap finds, beside
asking again without one) and, with a model, 10 and 11 (another backbone or embedder, by a second judge as well).
All of them are of EviMem to the letter (`evimem.loops.VARIANTS`), whose units are facts. memr3, mgretrieval and mragent
are the main tables of those papers, by category: their loop, as it ships and as published, beside one search and their
baselines; the same with -ablations are theirs. memr3-sweep and mgretrieval-sweep vary their numbers, memr3-iterations
counts decisions by category, mgretrieval-rounds scores the answers by round. `evimem` asks once and makes
that paper's, `loops` those of the others, `all` makes each of them.
--repeat N asks everything N times, and adds the mean and standard deviation over the runs.

Without --model all is deterministic: the offline judge and reader stand in the place of the models, and no row compares
with a paper's; every header says so. MRAgent explores with a model only: without one its rows are left out. With
--settings FILE.toml each role has a model of its own (see `benchmarks/papers.toml`, which are EviMem's); with --model
NAME (and --base-url; the key in OPENAI_API_KEY) one serves them all. Either first extracts facts from every turn, and
marks the answers; --judge evimem marks as EviMem's paper does, adversarial questions by the answer that they suggest.
With --mailbox DIR the model is whoever writes the replies. A run in which every question failed ends with code 1. Give
--checkpoint FILE, which keeps each result and the memories with their facts, so that the same command goes on from
there; --dollars N ends it at a sum. Categories have the file's numbers and their true names.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, TypeAlias

from benchmarks.data_sets import LocomoSample, read_locomo
from evimem import Memory
from evimem.errors import ModelError
from evimem.flow import Flow, run
from evimem.llm.request import REFINE, Ledger, ask_model
from evimem.loops import FULL, OF_MEMR3, VARIANTS, Loop, Session, abstain_without_evidence, as_loop
from evimem.loops.retrieve import TupleRetrieval, query_from_gaps, strategy_name
from evimem.query.analysis import analyse
from evimem.text.prompt_text import bulleted_list, format_time, mark_lines, quote_name
from evimem.types.results import Answer

from .asked_models import add_models, models_of
from .baselines import BASELINES
from .endpoints import Endpoints
from .recording import add_result, data_set, record
from .scoring.answer_judge import EVIMEM
from .scoring.answer_overlap import bert_score_by, word_set_f1
from .scoring.asking import Approach, Asker
from .scoring.estimates import estimate, rows_of
from .scoring.judge_identity import grades, rubric_of
from .scoring.locomo_tables import OVERLAP, answer_measures, by_category, overlap_of, told_of
from .scoring.processes import mapped
from .scoring.result_file import Cell, ResultTable
from .scoring.retrieval_metrics import ndcg, recall
from .scoring.robustness import ROBUSTNESS, by_judge, robustness
from .scoring.run_locomo import DEPTH, QuestionResult, ask_all, ingested
from .scoring.stages import STAGES
from .scoring.sufficiency import FAILURES, RELIABILITY, failures, reliability

IRIS = ("single-pass", "basic-loop", "tiered-sufficiency", "temporal-adaptation", "full")
LACEMEM = ("raw-only", "index-layer", "full")
BACKBONE, EMBEDDER = "full, another model", "full, another embedder"
DEFAULT = "evimem's default"
ONE_SEARCH = "one search"
LOOPS = ("memr3", "mgretrieval", "mragent")
ABLATIONS = {
    "memr3": tuple(f"no-{part}" for part in OF_MEMR3),
    "mgretrieval": ("one-round", "read-again", "not-rewritten"),
    "mragent": (
        "cue-event-one-turn",
        "cue-tag-event-one-turn",
        "one-turn",
        "cue-event",
        "cue-tag-event",
        "all-returned",
    ),
}
OF_MRAGENT = frozenset(("mragent", "mragent-ablations"))
_MEMR3, _MGRETRIEVAL = VARIANTS["memr3-as-published"], VARIANTS["mgretrieval-as-published"]
SWEEPS: Mapping[str, Mapping[str, Loop]] = {
    "memr3-sweep": {
        **{f"n_chk = {k}": replace(_MEMR3, k=k) for k in (1, 3, 5, 7, 9)},  # type: ignore[type-var]
        **{f"n_max = {n}": replace(_MEMR3, k=3, iterations=n) for n in range(1, 6)},  # type: ignore[type-var]
    },
    "mgretrieval-sweep": {
        **{f"l = {depth}": replace(_MGRETRIEVAL, depth=depth) for depth in range(2, 7)},  # type: ignore[type-var]
        **{f"r = {n}": replace(_MGRETRIEVAL, iterations=n) for n in range(1, 6)},  # type: ignore[type-var]
    },
}
SWEPT: Mapping[str, Loop] = {name: loop for rows in SWEEPS.values() for name, loop in rows.items()}
BASELINES_OF = {
    "memr3": ("RAG", "RAG-CoT-RAG", "full context"),
    "mgretrieval": ("RAG", "full context"),
    "mragent": ("RAG",),
}
ROUNDS = tuple(f"r = {n}" for n in range(1, 5))
FACTS_OF_DEPTH = 100  # nearest facts, of which the first `DEPTH` turns are taken
CUTS = (5, 10, 20)
Measure: TypeAlias = Callable[[QuestionResult], float]
SCORES: Mapping[str, Measure] = {"F1 of word sets": overlap_of(word_set_f1), **OVERLAP}
COSTS: Mapping[str, Measure] = {
    "checks": lambda one: one.checks,
    "tokens of context": lambda one: one.context,
    "requests": lambda one: one.requests,
    "tokens sent": lambda one: one.input_tokens,
}
SCORED: Mapping[str, Callable[[QuestionResult], float | None]] = {
    "official F1": lambda one: one.f1,
    "J": lambda one: None if one.correct is None else float(one.correct),
}
ASKED = frozenset(("requests", "tokens sent"))  # of which there are none without a model
SUFFICIENT = ("exact", "inferrable")
Runs: TypeAlias = Mapping[str, Sequence[QuestionResult]]
Row: TypeAlias = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Requeried:
    """What a search of one iteration ranked first, where one of the two ways to ask again was followed."""

    sample: str
    way: str
    iteration: int
    ranked: tuple[str, ...]
    gold: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SampleRun:
    """What came of a conversation: the results of each row, and the searches of table 9."""

    asked: dict[str, list[QuestionResult]]
    again: list[Requeried]
    unread: int = 0  # turns of which the model gave no facts


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of a paper: what it is, the rows that it needs, and how it is made of their results.

    Without `made` it has the scores of their answers, those of `overlap` with the gold form among them.
    """

    says: str
    rows: tuple[str, ...]
    made: Callable[[Runs, Sequence[Requeried]], Iterator[Row]] | None = None
    columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    intervals: tuple[str, ...] = ("all",)
    two_judges: bool = False
    overlap: tuple[str, ...] = ("ROUGE-L",)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=(*TABLES, "evimem", "loops", "all"))
    parser.add_argument("locomo", type=data_set("locomo"))
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask every Nth question (default: all)")
    parser.add_argument(
        "--bert-score",
        metavar="FOLDER",
        type=Path,
        help="also BERTScore, by the model.onnx and tokenizer.json in FOLDER (extra [bertscore])",
    )
    add_models(parser)
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="ask everything N times")
    add_result(parser)
    options = parser.parse_args()
    asking = models_of(options, parser.error)
    served = asking.endpoints
    if options.table in TABLES and TABLES[options.table].two_judges and not (served and served.second_judge):
        parser.error(f"table {options.table} needs --settings with [models.second_judge]")
    if options.table in OF_MRAGENT and not asking.llm:
        parser.error(f"{options.table} explores with a model: give --settings, --model or --mailbox")
    of_evimem = {name: one for name, one in TABLES.items() if name.partition("-")[0] not in LOOPS}
    of_loops = {name: one for name, one in TABLES.items() if name not in of_evimem}
    groups = {"all": TABLES, "evimem": of_evimem, "loops": of_loops}
    named = groups.get(options.table) or {options.table: TABLES[options.table]}
    named = {name: one for name, one in named.items() if asking.llm or name not in OF_MRAGENT}
    wanted = {name: one for name, one in named.items() if (served and served.second_judge) or not one.two_judges}
    rows = {name: _approach(name, asking.llm, options.judge, asking.marker) for name in _needed(wanted.values())}
    rows = {name: how for name, how in _swapped(rows, served).items() if how is not None}
    rows |= {_run(name, n): how for n in range(2, options.repeat + 1) for name, how in list(rows.items())}
    work = partial(run_sample, rows=rows, every=options.every, again="9" in wanted, asker=asking.asker)
    samples = list(read_locomo(options.locomo))
    runs = mapped(
        work,
        [_suggested(one) for one in samples] if EVIMEM in options.judge else samples,
        1 if asking.asker else os.cpu_count() or 1,
        lambda run: print(f"{sum(map(len, run.asked.values()))} questions asked", flush=True),
    )
    asked = {name: [one for run in runs for one in run.asked[name]] for name in rows}
    again = [one for run in runs for one in run.again]
    judge = asking.judge
    mode = f"with {asking.named}" if asking.named else "deterministic, so that no row compares with the paper's"
    notes = [judge.note()] if judge else []
    notes += [f"The model gave no facts of {unread} turns."] if (unread := sum(run.unread for run in runs)) else []
    further = {"BERTScore": overlap_of(bert_score_by(options.bert_score))} if options.bert_score else {}
    tables = [table(name, one, mode, asked, again, notes, further) for name, one in wanted.items()]
    if options.repeat > 1:
        tables.append(repeated(asked, mode, options.repeat))
    record("paper_tables", options, tables, [options.locomo], used=judge.options() if judge else {})
    if options.mailbox and (waiting := asking.llm.waiting()):
        print(f"{waiting} requests wait in {options.mailbox / 'requests'}: write the replies, and run this again")
    elif (every := [one for some in asked.values() for one in some]) and all(one.failed for one in every):
        raise SystemExit(f"every question failed: {every[0].failed}")


def _suggested(sample: LocomoSample) -> LocomoSample:
    """Return a sample whose adversarial questions have the answer that they suggest, as EviMem's paper scores them."""
    questions = (one if one.trap is None else replace(one, answer=one.trap) for one in sample.questions)
    return replace(sample, questions=tuple(questions))


def _run(name: str, number: int) -> str:
    return f"{name}, run {number}"


def repeated(asked: Runs, mode: str, many: int) -> ResultTable:
    """Return the mean and the standard deviation of each row over its runs, by category."""
    rows: list[Row] = []
    for name in (name for name in asked if _run(name, 2) in asked):
        runs = [asked[name], *(asked[_run(name, number)] for number in range(2, many + 1))]
        for what, score in SCORED.items():
            means = [[_mean(some, score) for some in by_category(run).values()] for run in runs]
            cells = [[one for one in column if one is not None] for column in zip(*means, strict=True)]
            rows.append((f"{name}: {what}, mean", *(fmean(one) if one else None for one in cells)))
            rows.append((f"{name}: {what}, deviation", *(stdev(one) if len(one) > 1 else None for one in cells)))
    columns = (mode.partition(",")[0], *by_category([]))
    return ResultTable("repeated", f"The same questions asked {many} times ({mode})", columns, tuple(rows))


def _mean(some: Sequence[QuestionResult], score: Callable[[QuestionResult], float | None]) -> float | None:
    values = [value for one in some if (value := score(one)) is not None]
    return fmean(values) if values else None


def run_sample(
    sample: LocomoSample, *, rows: Mapping[str, Approach], every: int, again: bool, asker: Asker | None = None
) -> SampleRun:
    """Ask every Nth question of a conversation in each row's way, of one memory."""
    some = replace(sample, questions=sample.questions[::every])
    asker = asker or Asker()
    asked: dict[str, list[QuestionResult]] = {}
    searched: list[Requeried] = []
    unread = 0
    for ways in _by_memory(rows):
        with ingested(some, next(iter(ways.values())), asker) as (memory, report):
            for name, how in ways.items():
                asked[name] = ask_all(memory, some, how, asker, name, ranked=False, barred=report.read.barred)
            if again and "full" in ways:
                searched += asked_again(memory, some, asked["full"], ways["full"].llm)
        unread += report.read.unread
    return SampleRun({name: asked[name] for name in rows}, searched, unread)


def asked_again(
    memory: Memory, sample: LocomoSample, asked: Iterable[QuestionResult], llm: Any = None
) -> Iterator[Requeried]:
    """Yield the searches of each iteration that a question reached: for its gap, and for the question again.

    The two ways differ in the gap alone: the generic one asks a model for the next query with the strategy, date and
    temperature of the loop, without telling what is missing, and both search facts as the loop does. Without a model
    it makes one of the question's names and words with the angle of the iteration, and knows no gap either.
    """
    speakers = tuple({turn.speaker for turn in sample.turns})
    for one in (one for one in asked if one.gold):
        generic = [one.question]
        analysis = analyse(one.question, speakers, sample.turns[-1].time)
        queries = [(one.question, one.question)]
        for number, query in enumerate(one.refined, start=2):
            composed = (
                query_from_gaps(analysis, (), generic, number)
                if llm is None
                else _without_gap(llm, generic, number, sample.turns[-1].time, temporal=analysis.temporal)
            )
            generic.append(composed)
            queries.append((query, generic[-1]))
        for number, (for_gap, for_question) in enumerate(queries, start=1):
            if not (for_gap and for_question):
                continue  # one of them has nothing new to search for
            for way, query in (("for what is missing", for_gap), ("the question again", for_question)):
                yield Requeried(one.sample, way, number, nearest_turns(memory, query), one.gold)


def nearest_turns(memory: Memory, text: str) -> tuple[str, ...]:
    """Return the ids of the turns of the facts nearest to a text, as EviMem to the letter finds them."""
    found: list[str] = []

    @as_loop("nearest")
    def nearest(session: Session) -> Flow[Answer]:
        retrieval = TupleRetrieval(session.task, session.analysis, session.roster, session.variant, session.events)
        yield from retrieval.nearest(text, FACTS_OF_DEPTH, path="anchor", iteration=1)
        found.extend(item.turn.id for item in retrieval.evidence[:DEPTH])
        return abstain_without_evidence(session, 1)

    memory.ask(text, nearest)
    return tuple(found)


def _by_memory(rows: Mapping[str, Approach]) -> list[dict[str, Approach]]:
    """Return the rows in groups of one embedder and one model, of which each has a memory of its own."""
    groups: dict[tuple[int, int], dict[str, Approach]] = {}
    for name, how in rows.items():
        groups.setdefault((id(how.embedder), id(how.llm)), {})[name] = how
    return list(groups.values())


def _without_gap(llm: Any, queries: Sequence[str], number: int, asked_at: datetime, *, temporal: bool) -> str:
    """Return a model's next query for the first of these, of which it is told no gap; empty where it fails."""
    question = mark_lines(queries[0])
    request = REFINE.request(
        question=question,
        asked_at=format_time(asked_at),
        iteration=number,
        iterations=FULL.iterations,
        strategy=strategy_name(temporal=temporal, iteration=number - 1),
        query=quote_name(queries[-1]),
        queries=bulleted_list(queries[:-1]),
        missing=bulleted_list(()),
    )
    request = replace(request, temperature=FULL.temperature)
    try:
        return str(run(ask_model(request, REFINE.read, Ledger(number)), llm.complete)["query"])
    except ModelError:
        return ""


def table(
    name: str,
    one: PaperTable,
    mode: str,
    asked: Runs,
    again: Sequence[Requeried],
    notes: Sequence[str] = (),
    further: Mapping[str, Measure] = {},
) -> ResultTable:
    """Return a table of the paper with its header; `notes` are of the whole run, `further` scores of its answers."""
    of_paper = (
        f"{name.partition('-')[0]}'s {_which(name)}" if name.partition("-")[0] in LOOPS else f"EviMem's table {name}"
    )
    columns = (mode.partition(",")[0], *(one.columns or ("", *by_category([])))[1:])  # what shows in every rendering
    runs = {row: asked[row] for row in one.rows if row in asked}
    scores = {**{what: SCORES[what] for what in one.overlap}, **further}
    rows = tuple(one.made(runs, again) if one.made else answers(runs, scores))
    failed = Counter(result.failed for some in runs.values() for result in some if result.failed)
    why = next(iter(failed.most_common(1)), ("", 0))[0]
    failures = [f"{failed.total()} questions failed, which count as wrong; most often: {why}."] if failed else []
    shown = (*one.notes, *notes, *failures)
    return ResultTable(f"table-{name}", f"{of_paper}: {one.says} ({mode})", columns, rows, shown, one.intervals)


def _which(name: str) -> str:
    return name.partition("-")[2] or "main table"


def answers(runs: Runs, overlap: Mapping[str, Measure]) -> Iterator[Row]:
    """Yield the scores of the answers of each row by category, and at the end how many questions there are."""
    for name, asked in runs.items():
        told = by_category(told_of(asked))
        yield from rows_of({f"{name}: {what}": score for what, score in overlap.items()}, told, _sample)[:-1]
        measures = {**answer_measures(asked), **COSTS}
        if not any(one.requests for one in asked):
            measures = {what: measure for what, measure in measures.items() if what not in ASKED}
        named = {f"{name}: {what}": measure for what, measure in measures.items()}
        *scores, counted = rows_of(named, by_category(asked), _sample)
        yield from scores
    yield counted


def tiers(runs: Runs, again: Sequence[Requeried]) -> Iterator[Row]:
    """Yield, for each row and category, how the tier of each check agrees with what it was shown."""
    for name, asked in runs.items():
        for category, some in by_category([one for one in asked if one.gold]).items():
            checks = [
                (one, *check) for one in some for check in zip(one.tiers, one.covered, one.inferrable, strict=True)
            ]
            told = [check for check in checks if check[1] in SUFFICIENT]
            exact = [check for check in checks if check[1] == "exact"]
            all_shown = [check for check in checks if check[2]]
            yield (
                f"{name}, {category}",
                len(checks),
                _share(checks, lambda check: (check[1] in SUFFICIENT) == check[2]),
                _share(told, lambda check: check[2]),
                _share(all_shown, lambda check: check[1] in SUFFICIENT),
                _share(exact, lambda check: check[2]),
                _share(all_shown, lambda check: check[1] == "exact"),
                _share(checks, lambda check: (check[1] in SUFFICIENT) == (check[2] or check[3])),
                _share([check for check in checks if check[3] and not check[2]], lambda check: check[1] in SUFFICIENT),
            )


def latency(runs: Runs, again: Sequence[Requeried]) -> Iterator[Row]:
    """Yield the mean time of a question of each row: by stage, then all of it by category."""
    for name, asked in runs.items():
        stages = [_mean_ms(asked, lambda one, at=at: one.stages[at]) for at in range(len(STAGES))]
        categories = [_mean_ms(some, lambda one: one.ask_seconds) for some in by_category(asked).values()]
        yield (name, *stages, *categories)


def requeries(runs: Runs, again: Sequence[Requeried]) -> Iterator[Row]:
    """Yield what each way to ask again ranks first, by iteration."""
    for way, number in sorted({(one.way, one.iteration) for one in again}):
        some = [one for one in again if (one.way, one.iteration) == (way, number)]
        scores = (
            estimate(some, lambda one, score=score, k=k: score(one.ranked, one.gold, k), _sample)
            for score in (recall, ndcg)
            for k in CUTS
        )
        yield (f"{way}, iteration {number}", len(some), *scores)


def iterations(runs: Runs, again: Sequence[Requeried]) -> Iterator[Row]:
    """Yield how many questions of each category took so many decisions."""
    for name, asked in runs.items():
        for many in sorted({one.checks for one in asked}):
            counts = (sum(one.checks == many for one in some) for some in by_category(asked).values())
            yield (f"{name}, {many}", *counts)


def rounds(runs: Runs, again: Sequence[Requeried]) -> Iterator[Row]:
    """Yield the score of all answers where at most so many rounds are read, and of those that ended in that round."""
    last = list(runs.values())[-1]
    for number, (name, asked) in enumerate(runs.items(), start=1):
        for what, some in (("all", asked), ("ended in it", [one for one in last if one.checks == number])):
            yield (
                f"{name}, {what}",
                *(estimate(part, lambda one: one.f1, _sample) for part in by_category(some).values()),
            )


def _needed(tables: Iterable[PaperTable]) -> list[str]:
    return list(dict.fromkeys(row for one in tables for row in one.rows))


def _approach(row: str, llm: Any, judges: Sequence[str], marker: Any = None) -> Approach:
    loop = _loop_of(row)
    if llm is None:
        return Approach(None, loop, spans=True)
    return Approach(llm, loop, enrich=True, spans=True, rubric=rubric_of(judges), marker=marker, grade=grades(judges))


def _loop_of(row: str) -> str | Loop:
    """Return the loop of a row: a loop or variant by name, a baseline, or one of a sweep."""
    row = row.partition(",")[0]
    if row in BASELINES:
        return BASELINES[row]
    if row in SWEPT:
        return SWEPT[row]
    return row if row in LOOPS else "single_pass" if row == ONE_SEARCH else VARIANTS.get(row, "iris")


def _swapped(rows: Mapping[str, Approach], served: Endpoints | None) -> dict[str, Approach | None]:
    """Return how each row is asked; None for one of tables 10 and 11 whose other model or embedder is not named."""
    if served is None:
        return dict(rows)
    ways: dict[str, Approach | None] = {
        name: replace(how, second=served.second_judge, embedder=served.embedder) for name, how in rows.items()
    }
    if (how := ways.get(EMBEDDER)) is not None:
        ways[EMBEDDER] = served.other_embedder and replace(how, embedder=served.other_embedder)
    if (how := ways.get(BACKBONE)) is not None:
        ways[BACKBONE] = served.backbone and replace(how, marker=how.marks, llm=served.backbone)
    return ways


def _sample(one: QuestionResult | Requeried) -> str:
    return one.sample


def _share(checks: Sequence[tuple[QuestionResult, str, bool, bool]], holds: Callable[[tuple], bool]) -> Cell:  # type: ignore[type-arg]
    return estimate(checks, holds, lambda check: check[0].sample)


def _mean_ms(asked: Sequence[QuestionResult], measure: Callable[[QuestionResult], float]) -> Cell:
    return estimate([one for one in asked if one.stages], lambda one: 1000 * measure(one), _sample)


_LABELS = (
    "The paper names its categories in the order of their numbers: its single-hop is 1 multi-hop here, its multi-hop 2 "
    "temporal, its temporal 3 open-domain, its open-domain 4 single-hop. It scores adversarial questions against the "
    "answer that they suggest; here an abstention alone is right."
)
_CONTEXT = "Tokens of context are those of the turns that an answer is written from, 1.1 a word and .35 a symbol."
_RANKED = ("", "N", *(f"R@{k}" for k in CUTS), *(f"nDCG@{k}" for k in CUTS))
_INFERRED = ("agreement, inferrable too", "recall of inferrable alone")
_CHECKED = ("", "checks", "agreement", "precision", "recall", "EXACT precision", "EXACT recall", *_INFERRED)
TABLES: Mapping[str, PaperTable] = {
    "1": PaperTable("answers by category", ("single-pass", "full", DEFAULT), notes=(_LABELS,)),
    "2": PaperTable("IRIS, a group of parts more in each row", IRIS),
    "3": PaperTable("LaceMem, a layer more in each row", LACEMEM),
    "4": PaperTable(
        "tiers against the evidence",
        ("full", DEFAULT),
        tiers,
        _CHECKED,
        (
            "Over every check of a question with evidence. Sufficient is what is called EXACT or INFERRABLE, after the "
            "clamps; the oracle is that all gold turns stand in the view that was judged. In the last two columns a "
            "view is also inferrable that lacks a gold turn and has every word of the answer.",
        ),
        _CHECKED[2:],
    ),
    "4.4": PaperTable(
        "what the confidence of a check tells of its evidence",
        ("full", DEFAULT),
        reliability,
        RELIABILITY,
        ("Over every check of a question with evidence; it suffices where all gold turns stand in the view.",),
        RELIABILITY[2:],
    ),
    "failures": PaperTable(
        "how wrong answers are wrong",
        ("full", DEFAULT),
        failures,
        FAILURES,
        (
            _LABELS,
            "An answer that no judge marked is wrong below .5 of the official F1. A wrong answer to an adversarial "
            "question is a missed abstention: it has no other right one.",
        ),
        FAILURES[2:],
    ),
    "5": PaperTable(
        "milliseconds a question, by stage and by category",
        (*IRIS, *LACEMEM[:-1], DEFAULT),
        latency,
        ("", *STAGES, *by_category([])),
        ("Of a processor, and the wait for the model, if there is one: compare the ratios.",),
    ),
    "9": PaperTable(
        "the search for what is missing beside the question asked again",
        ("full",),
        requeries,
        _RANKED,
        (
            "N is the questions with gold turns that reach the iteration with a query to make in both ways. Each list "
            "is of that one search, 20 turns, and holds what was found before too. The search for what is missing is "
            "the loop's refined query; the question again is its names and words with the angle of the iteration "
            "(`about`, `like favourite plan`; `when date` and on for questions of time), without the gap.",
        ),
        _RANKED[2:],
    ),
    "10": PaperTable(
        "another model, another embedder, two judges",
        ("full", BACKBONE, EMBEDDER),
        robustness,
        ROBUSTNESS,
        ("Without a --checkpoint, which keeps the first model's, the other model extracts the facts too.",),
        ROBUSTNESS[1:],
        two_judges=True,
    ),
    "11": PaperTable(
        "another model, another embedder, two judges, by category",
        ("full", BACKBONE, EMBEDDER),
        by_judge,
        ("", *by_category([])),
        (_LABELS,),
        two_judges=True,
    ),
    **{
        name: PaperTable(
            "answers by category",
            (ONE_SEARCH, *BASELINES_OF[name], f"{name}-as-published", name),
            notes=(_CONTEXT,),
            overlap=tuple(SCORES),
        )
        for name in LOOPS
    },
    **{
        f"{name}-ablations": PaperTable("a part left out in each row", (f"{name}-as-published", *rows))
        for name, rows in ABLATIONS.items()
    },
    **{name: PaperTable("its numbers, one at a time", tuple(rows), notes=(_CONTEXT,)) for name, rows in SWEEPS.items()},
    "memr3-iterations": PaperTable(
        "questions by the number of their decisions",
        ("memr3-as-published",),
        iterations,
        ("", *by_category([])),
        intervals=(),
    ),
    "mgretrieval-rounds": PaperTable(
        "official F1 by round",
        ROUNDS,
        rounds,
        ("", *by_category([])),
        ("Those that end in the last round hold the ones that no round accepted.",),
    ),
}


if __name__ == "__main__":
    main()
