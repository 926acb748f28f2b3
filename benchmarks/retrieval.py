"""Retrieval quality, and the effect of each ingredient: `python -m benchmarks.retrieval LOCOMO.json`.

Recall and nDCG are over turns, by the definition of evimem.bench.retrieval_metrics; the gold turns are the evidence
that a question cites, and questions without any are left out. `--ablate` adds and drops each ingredient by itself;
`--scenes` runs on generated conversations of three kinds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from evimem import Turn
from evimem.bench.estimates import rows_of
from evimem.bench.locomo_tables import category_name
from evimem.bench.result_file import Cell, ResultTable
from evimem.bench.retrieval_metrics import found_all, hit, ndcg, recall
from evimem.embedding import StaticEmbedder
from evimem.embedding.quantize import pack
from evimem.extract import RuleExtractor
from evimem.index.candidates import SEARCH_EFFORT, SearchEffort
from evimem.index.corpus import Corpus
from evimem.index.document import embedding_texts
from evimem.index.prepared_query import IndexQuery, microseconds
from evimem.index.ranking import rank
from evimem.index.weights import WEIGHTS, Weights
from evimem.loaders.locomo_format import read_locomo
from evimem.query.analysis import hints
from evimem.raw import TurnRows
from evimem.store.layers import index_rows

from .recording import add_result, record
from .scenes import KINDS, scene

DEPTH = 20
CATEGORIES = (1, 2, 3, 4, 5)
NOTHING = 1e-12  # a weight of practically zero: the neighbours are still followed
KERNEL = {"spread": NOTHING}
FLOW = {"answering": 0.0, "echo": 0.0}
INGREDIENTS: dict[str, dict[str, float]] = {
    "dialogue kernel": KERNEL,
    "question to answer": FLOW,
    "what is asked counts less": {"asking": 1.0},
    "turns that ask rank lower": {"asks": 0.0},
    "related words": {"related": 0.0},
    "speaker": {"speaker": 0.0},
    "date": {"date": 0.0},
    "when": {"when": 0.0},
    "long questions tell": {"questions": 1e9, "questions_to_assistant": 1e9},
    "passages pay for their chances": {"tickets": 0.0},
    "a user's words": {"user": 0.0},
    "standing instructions": {"rule": 0.0},
}
BARE = {name: value for without in INGREDIENTS.values() for name, value in without.items()}
CHECKS: dict[str, dict[str, float]] = {
    "words only": {"meaning": 0.0},
    "meaning only": {"words": NOTHING},
    "BM25 alone": {**BARE, "meaning": 0.0},
    "b = .3": {"b": 0.3},
    "b = .9": {"b": 0.9},
    "spread = .2": {"spread": 0.2},
    "spread = .4": {"spread": 0.4},
    "burst = 1 (a message is a turn)": {"burst": 1.0},
}


@dataclass(frozen=True)
class PreparedQuestion:
    """A question in the index's terms, with its gold turns and category."""

    question: IndexQuery
    gold: frozenset[str]
    category: int


@dataclass(frozen=True)
class Conversation:
    """A corpus, the ids of its turns in order, and the questions about it."""

    corpus: Corpus
    ids: tuple[str, ...]
    asked: tuple[PreparedQuestion, ...]


@dataclass(frozen=True)
class Score:
    """The metrics of one question."""

    category: int
    recall_5: float
    recall_10: float
    recall_20: float
    ndcg_10: float
    hit_10: float
    all_10: float


def conversation(turns: Sequence[Turn], questions: Iterable[tuple[str, frozenset[str], int]]) -> Conversation:
    """Index turns as a memory does, and prepare the questions about them."""
    embedder, extractor = StaticEmbedder(), RuleExtractor()
    sessions = {name: at for at, name in enumerate(dict.fromkeys(turn.session for turn in turns))}
    speakers = {name: at for at, name in enumerate(dict.fromkeys(turn.speaker for turn in turns))}
    corpus = Corpus(embedder.dimension)
    for number, turn in enumerate(turns, 1):
        place = TurnRows(number, sessions[turn.session], speakers[turn.speaker])
        vectors = [pack(vector) for vector in embedder.embed(embedding_texts(turn))]
        for row in index_rows(turn, place, extractor.extract(turn), vectors):
            corpus.append(row)
    last = max(turn.time for turn in turns)
    ids = tuple(turn.id for turn in turns)
    asked = []
    for text, gold, category in questions:
        found = hints(text, speakers, last)
        times = tuple((microseconds(t.start), microseconds(t.end)) for t in found.times if t.start and t.end)
        names = frozenset(speakers[name] for name in found.names)
        vector = embedder.embed([text])[0]
        query = IndexQuery(text, vector, names, times, found.when, found.recalls)
        asked.append(PreparedQuestion(query, gold & set(ids), category))
    return Conversation(corpus, ids, tuple(one for one in asked if one.gold))


def locomo(path: Path) -> list[Conversation]:
    """Read the conversations of a LoCoMo file."""
    return [
        conversation(sample.turns, ((q.text, frozenset(q.evidence), q.category) for q in sample.questions))
        for sample in read_locomo(path)
    ]


def scenes(count: int) -> dict[str, list[Conversation]]:
    """Write so many conversations of each kind."""
    written = {kind: [scene(kind, seed) for seed in range(count)] for kind in KINDS}
    return {
        kind: [conversation(one.turns, ((text, gold, 0) for text, gold in one.questions)) for one in several]
        for kind, several in written.items()
    }


def scored(found: Conversation, weights: Weights, effort: SearchEffort) -> list[Score]:
    """Put every question; return how well each was served."""
    return [
        _score(
            [found.ids[one.turn - 1] for one in rank(asked.question, found.corpus, DEPTH, weights, None, effort)], asked
        )
        for asked in found.asked
    ]


def _score(ranked: Sequence[str], asked: PreparedQuestion) -> Score:
    measures = [recall(ranked, asked.gold, k) for k in (5, 10, 20)]
    return Score(asked.category, *measures, *(measure(ranked, asked.gold, 10) for measure in (ndcg, hit, found_all)))


def row(name: str, clusters: Sequence[Sequence[Score]]) -> tuple[Cell, ...]:
    """Return a row of a table: R@5 R@10 R@20 nDCG@10, and R@10 by category."""
    scores = [score for cluster in clusters for score in cluster]
    means = [fmean(values) for values in zip(*map(_main, scores), strict=True)]
    by_category = [[one.recall_10 for one in scores if one.category == category] for category in CATEGORIES]
    return (name, *means, *(fmean(values) if values else None for values in by_category))


def _main(score: Score) -> tuple[float, ...]:
    return (score.recall_5, score.recall_10, score.recall_20, score.ndcg_10)


COLUMNS = ("", "R@5", "R@10", "R@20", "nDCG@10", *(f"R@10 {category_name(one)}" for one in CATEGORIES))


def summary(name: str, clusters: Sequence[Sequence[Score]]) -> ResultTable:
    """Return the whole table of one configuration, with intervals over conversations."""
    scores = [(number, score) for number, cluster in enumerate(clusters) for score in cluster]
    measures: dict[str, Callable[[tuple[int, Score]], float]] = {
        "R@5": lambda s: s[1].recall_5, "R@10": lambda s: s[1].recall_10, "R@20": lambda s: s[1].recall_20,
        "nDCG@10": lambda s: s[1].ndcg_10, "Hit@10": lambda s: s[1].hit_10, "All@10": lambda s: s[1].all_10,
    }  # fmt: skip
    groups = {
        "all": scores,
        **{category_name(one): [s for s in scores if s[1].category == one] for one in CATEGORIES if one},
    }
    groups = {group: some for group, some in groups.items() if some}
    return ResultTable(
        name, f"Retrieval, {name}", ("", *groups), rows_of(measures, groups, lambda s: s[0]), (), ("all",)
    )


def ablation(conversations: Sequence[Conversation]) -> ResultTable:
    """Return what each ingredient adds to bare words and meaning, and what its loss costs the whole."""

    def changed(name: str, changes: dict[str, float]) -> tuple[Cell, ...]:
        weights = replace(WEIGHTS, **changes)
        return row(name, [scored(one, weights, SEARCH_EFFORT) for one in conversations])

    rows = [changed("everything", {}), changed("bare: words and meaning of the turn alone", BARE)]
    for name, without in INGREDIENTS.items():
        kept = {key: value for key, value in BARE.items() if key not in without}
        rows.append(changed(f"bare + {name}", kept))
    rows += [changed(f"without {name}", without) for name, without in INGREDIENTS.items()]
    rows += [changed(name, changes) for name, changes in CHECKS.items()]
    candidates = SearchEffort(whole=0)
    rows.append(row("candidates only", [scored(one, WEIGHTS, candidates) for one in conversations]))
    return ResultTable("ingredients", "What each ingredient is worth", COLUMNS, tuple(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", help="a LoCoMo file")
    parser.add_argument("--ablate", action="store_true", help="show each ingredient alone and each dropped")
    parser.add_argument("--scenes", action="store_true", help="run on the written conversations of three kinds")
    add_result(parser)
    options = parser.parse_args()
    if options.file is None and not options.scenes:
        parser.error("give a LoCoMo file, or --scenes")
    groups = {"locomo": locomo(options.file)} if options.file else {}
    if options.scenes:
        groups |= scenes(3)
    tables = []
    for name, conversations in groups.items():
        tables.append(summary(name, [scored(one, WEIGHTS, SEARCH_EFFORT) for one in conversations]))
        if options.ablate:
            tables.append(replace(ablation(conversations), name=f"ingredients-{name}"))
    record("retrieval", options, tables, [options.file] if options.file else [])


if __name__ == "__main__":
    main()
