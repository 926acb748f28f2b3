"""The tables of the papers, each by one command: `python -m benchmarks.paper_tables TABLE LOCOMO.json`.

EviMem's are 1 (the system beside a single pass), 2 (IRIS, a group of parts more in each row), 3 (LaceMem: turns alone,
with the index, with edges), 4 (tiers against the evidence that was shown), 4.4 (what confidence tells of it) and
failures (how wrong answers are wrong), 5 (time of a question by stage), 9 (what the search for a gap finds, beside
asking again without one) and, with a model, 10 and 11 (another --backbone or --embedder, by a --second-judge as well).
All of them are of EviMem to the letter (`evimem.loops.VARIANTS`), whose units are facts. memr3, mgretrieval and mragent
are the main tables of those papers, by category: their loop, as it ships and as published, beside one search; the same
with -ablations are theirs. `all` asks once and makes each of them.

Without --model all is deterministic: the offline judge and reader stand in the place of the models, and no row compares
with a paper's; every header says so. With --model NAME (and --base-url; the key in OPENAI_API_KEY) it first extracts
facts from every turn, and also marks the answers, or --marking-model does; with --mailbox DIR the model is whoever
writes the replies. Give --checkpoint FILE, which keeps each result and the memories with their facts, so that the same
command goes on from there; --dollars N ends it at a sum. Categories have the file's numbers and their true names.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.data_sets import LocomoSample, read_locomo
from evimem import Memory, OpenAI, OpenAIEmbedder
from evimem.errors import ModelError
from evimem.flow import run
from evimem.llm.request import REFINE, Ledger, ask_model
from evimem.loops import OF_MEMR3, VARIANTS
from evimem.loops.retrieve import compose, strategy
from evimem.query.analysis import analyse
from evimem.text.prompt_text import bullets, marked, named

from .asked_models import add_models, models_of
from .recording import add_result, data_set, record
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
OF_LOOPS = frozenset((*LOOPS, *(f"{name}-ablations" for name in LOOPS)))
CUTS = (5, 10, 20)
Measure: TypeAlias = Callable[[QuestionResult], float]
SCORES: Mapping[str, Measure] = {"F1 of word sets": overlap_of(word_set_f1), **OVERLAP}
COSTS: Mapping[str, Measure] = {
    "checks": lambda one: one.checks,
    "tokens of context": lambda one: one.context,
    "requests": lambda one: one.requests,
    "tokens sent": lambda one: one.input_tokens,
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
    parser.add_argument("table", choices=(*TABLES, "all"))
    parser.add_argument("locomo", type=data_set("locomo"))
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask every Nth question (default: all)")
    parser.add_argument(
        "--bert-score",
        metavar="FOLDER",
        type=Path,
        help="also BERTScore, by the model.onnx and tokenizer.json in FOLDER (extra [bertscore])",
    )
    add_models(parser)
    parser.add_argument("--backbone", metavar="NAME", help="another model of the same endpoint (tables 10 and 11)")
    parser.add_argument("--embedder", metavar="NAME", help="an embedding model of the same endpoint (tables 10 and 11)")
    parser.add_argument("--second-judge", metavar="NAME", help="another model that marks too (tables 10 and 11)")
    add_result(parser)
    options = parser.parse_args()
    asking = models_of(options, parser.error)
    if options.table in TABLES and TABLES[options.table].two_judges and not options.second_judge:
        parser.error(f"table {options.table} needs --model and --second-judge")
    if (options.backbone or options.embedder or options.second_judge) and not options.model:
        parser.error("--backbone, --embedder and --second-judge need --model")
    named = TABLES if options.table == "all" else {options.table: TABLES[options.table]}
    wanted = {name: one for name, one in named.items() if options.second_judge or not one.two_judges}
    rows = {name: _approach(name, asking.llm, options.judge, asking.marker) for name in _needed(wanted.values())}
    rows = {name: how for name, how in _swapped(rows, options).items() if how is not None}
    work = partial(run_sample, rows=rows, every=options.every, again="9" in wanted, asker=asking.asker)
    runs = mapped(
        work,
        list(read_locomo(options.locomo)),
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
    record("paper_tables", options, tables, [options.locomo], used=judge.options() if judge else {})
    if options.mailbox and (waiting := asking.llm.waiting()):
        print(f"{waiting} requests wait in {options.mailbox / 'requests'}: write the replies, and run this again")


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

    The generic way asks a model for the next query as the loop does, without telling what is missing. Without a model
    it makes one of the question's names and words with the angle of the iteration, and knows no gap either.
    """
    speakers = tuple({turn.speaker for turn in sample.turns})
    for one in (one for one in asked if one.gold):
        generic = [one.question]
        analysis = analyse(one.question, speakers, sample.turns[-1].time)
        queries = [(one.question, one.question)]
        for number, query in enumerate(one.refined, start=2):
            composed = compose(analysis, (), generic, number) if llm is None else _without_gap(llm, generic, number)
            generic.append(composed)
            queries.append((query, generic[-1]))
        for number, (for_gap, for_question) in enumerate(queries, start=1):
            if not (for_gap and for_question):
                continue  # one of them has nothing new to search for
            for way, query in (("for what is missing", for_gap), ("the question again", for_question)):
                ranked = tuple(hit.turn.id for hit in memory.search(query, DEPTH, over="facts"))
                yield Requeried(one.sample, way, number, ranked, one.gold)


def _by_memory(rows: Mapping[str, Approach]) -> list[dict[str, Approach]]:
    """Return the rows in groups of one embedder and one model, of which each has a memory of its own."""
    groups: dict[tuple[int, int], dict[str, Approach]] = {}
    for name, how in rows.items():
        groups.setdefault((id(how.embedder), id(how.llm)), {})[name] = how
    return list(groups.values())


def _without_gap(llm: Any, queries: Sequence[str], number: int) -> str:
    """Return a model's next query for the first of these, of which it is told no gap; empty where it fails."""
    question = marked(queries[0])
    request = REFINE.request(
        question=question,
        asked_at="unknown",
        iteration=number,
        iterations=VARIANTS["full"].iterations,  # type: ignore[attr-defined]
        strategy=strategy(temporal=False, iteration=number - 1),
        query=named(queries[-1]),
        queries=bullets(queries[:-1]),
        missing=bullets(()),
    )
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
    of_paper = f"{name.partition('-')[0]}'s {_which(name)}" if name in OF_LOOPS else f"EviMem's table {name}"
    columns = (mode.partition(",")[0], *(one.columns or ("", *by_category([])))[1:])  # what shows in every rendering
    runs = {row: asked[row] for row in one.rows if row in asked}
    scores = {**{what: SCORES[what] for what in one.overlap}, **further}
    rows = tuple(one.made(runs, again) if one.made else answers(runs, scores))
    failed = sum(bool(result.failed) for some in runs.values() for result in some)
    failures = [f"{failed} questions failed, which count as wrong."] if failed else []
    shown = (*one.notes, *notes, *failures)
    return ResultTable(f"table-{name}", f"{of_paper}: {one.says} ({mode})", columns, rows, shown, one.intervals)


def _which(name: str) -> str:
    return "ablations" if name.endswith("-ablations") else "main table"


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
            checks = [(one, *check) for one in some for check in zip(one.tiers, one.covered, strict=True)]
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


def _needed(tables: Iterable[PaperTable]) -> list[str]:
    return list(dict.fromkeys(row for one in tables for row in one.rows))


def _approach(row: str, llm: Any, judges: Sequence[str], marker: Any = None) -> Approach:
    row = row.partition(",")[0]
    loop = row if row in LOOPS else "single_pass" if row == ONE_SEARCH else VARIANTS.get(row, "iris")
    if llm is None:
        return Approach(None, loop, spans=True)
    return Approach(llm, loop, enrich=True, spans=True, rubric=rubric_of(judges), marker=marker, grade=grades(judges))


def _swapped(rows: Mapping[str, Approach], options: argparse.Namespace) -> dict[str, Approach | None]:
    """Return how each row is asked; None for one of tables 10 and 11 whose other model or embedder is not named."""
    if not options.second_judge:
        return dict(rows)
    endpoint = partial(OpenAI, base_url=options.base_url)
    second = endpoint(model=options.second_judge)
    embedder = options.embedder and OpenAIEmbedder(model=options.embedder, base_url=options.base_url)
    ways: dict[str, Approach | None] = {name: replace(how, second=second) for name, how in rows.items()}
    for name, given in ((BACKBONE, options.backbone), (EMBEDDER, options.embedder)):
        if name in rows and not given:
            ways[name] = None
    if embedder and EMBEDDER in rows:
        ways[EMBEDDER] = replace(rows[EMBEDDER], second=second, embedder=embedder)
    if options.backbone and BACKBONE in rows:
        how = rows[BACKBONE]
        ways[BACKBONE] = replace(how, second=second, marker=how.marks, llm=endpoint(model=options.backbone))
    return ways


def _sample(one: QuestionResult | Requeried) -> str:
    return one.sample


def _share(checks: Sequence[tuple[QuestionResult, str, bool]], holds: Callable[[tuple], bool]) -> Cell:  # type: ignore[type-arg]
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
_CHECKED = ("", "checks", "agreement", "precision", "recall", "EXACT precision", "EXACT recall")
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
            "clamps; the oracle is that all gold turns stand in the view that was judged. It calls no view "
            "inferrable, as the paper's does where a reader could still infer the answer.",
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
            "answers by category", (ONE_SEARCH, f"{name}-as-published", name), notes=(_CONTEXT,), overlap=tuple(SCORES)
        )
        for name in LOOPS
    },
    **{
        f"{name}-ablations": PaperTable("a part left out in each row", (f"{name}-as-published", *rows))
        for name, rows in ABLATIONS.items()
    },
}


if __name__ == "__main__":
    main()
