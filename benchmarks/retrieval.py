"""Retrieval quality, and what each ingredient is worth.

`python -m benchmarks.retrieval LOCOMO.json --chats FOLDER ...` prints every set and register. Recall and nDCG are over
turns (benchmarks.scoring.retrieval_metrics); the gold turns are the evidence that a question cites, and
questions without any are left out, as are those of labelled chats without an answer. `--ablate` adds and drops each
ingredient by itself; `--scenes` runs on generated conversations of three kinds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from benchmarks.data_sets import read_locomo
from evimem import Turn
from evimem.embedding.static_embedder import StaticEmbedder
from evimem.extract.rule_extractor import RuleExtractor
from evimem.index.corpus import Corpus, RowBlock, Stored
from evimem.index.document import derive_documents, embedding_texts
from evimem.index.prepared_query import IndexQuery, prepare
from evimem.index.ranking import SEARCH_EFFORT, SearchEffort, rank
from evimem.index.weights import WEIGHTS, Weights
from evimem.query.analysis import find_hints
from evimem.raw.turn_log import TurnRows
from evimem.store.rebuild import make_index_rows
from evimem.types.values import instant
from evimem.types.vectors import pack

from .recording import add_result, data_set, record
from .scenes import KINDS, scene
from .scoring.estimates import estimate, rows_of
from .scoring.labelled_chats import LabelledChat, read_chats
from .scoring.locomo_tables import category_name
from .scoring.result_file import Cell, ResultTable
from .scoring.retrieval_metrics import found_all, hit, ndcg, recall

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
    "passages that tell little rank lower": {"brief": 0.0},
    "related words": {"related": 0.0},
    "speaker": {"speaker": 0.0},
    "speaker, twice where several things are asked for": {"several": 1.0},
    "date": {"date": 0.0},
    "when": {"when": 0.0},
    "long questions tell": {"questions": 1e9, "questions_to_assistant": 1e9},
    "passages pay for their chances": {"tickets": 0.0},
    "a user's words": {"user": 0.0},
    "standing instructions": {"rule": 0.0},
}
BARE = {name: value for without in INGREDIENTS.values() for name, value in without.items()}
WHOLE, PLAIN = "everything", "words and meaning"
STEPS: dict[str, dict[str, float]] = {"BM25 alone": {**BARE, "meaning": 0.0}, PLAIN: BARE, WHOLE: {}}
CHECKS: dict[str, dict[str, float]] = {
    "words only": {"meaning": 0.0},
    "meaning only": {"words": NOTHING},
    "BM25 alone": STEPS["BM25 alone"],
    "b = .3": {"b": 0.3},
    "b = .9": {"b": 0.9},
    "spread = .2": {"spread": 0.2},
    "spread = .4": {"spread": 0.4},
    "burst = 1 (a message is a turn)": {"burst": 1.0},
}


@dataclass(frozen=True)
class GoldQuestion:
    """A question with the ids of its gold turns, its category, and "today" for it where that is known."""

    text: str
    gold: frozenset[str]
    category: int = 0
    asked_at: datetime | None = None


@dataclass(frozen=True)
class PreparedQuestion:
    """A question in the index's terms, with its gold turns and category."""

    question: IndexQuery
    gold: frozenset[str]
    category: int


@dataclass(frozen=True)
class Conversation:
    """A corpus, the ids of its turns in order, the questions about it, and its register, where it has one."""

    corpus: Corpus
    ids: tuple[str, ...]
    asked: tuple[PreparedQuestion, ...]
    register: str = ""


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


Clusters: TypeAlias = "list[list[Score]]"


def conversation(turns: Sequence[Turn], questions: Iterable[GoldQuestion], register: str = "") -> Conversation:
    """Index turns as a memory does, and prepare the questions about them."""
    embedder, extractor = StaticEmbedder(), RuleExtractor()
    sessions = {name: at for at, name in enumerate(dict.fromkeys(turn.session for turn in turns))}
    speakers = {name: at for at, name in enumerate(dict.fromkeys(turn.speaker for turn in turns))}
    rows: list[Stored] = []
    for number, turn in enumerate(turns, 1):
        place = TurnRows(number, sessions[turn.session], speakers[turn.speaker])
        vectors = [pack(vector) for vector in embedder.embed(embedding_texts(turn))]
        rows += make_index_rows(turn, place, derive_documents(turn).value, extractor.extract(turn), vectors)
    corpus = Corpus(embedder.dimension)
    corpus.extend(RowBlock.of(dict(enumerate(rows, 1)), 0, embedder.dimension))
    last = max(turn.time for turn in turns)
    ids = tuple(turn.id for turn in turns)
    asked = []
    for one in questions:
        found = find_hints(one.text, speakers, one.asked_at or last)
        times = tuple((instant(t.start), instant(t.end)) for t in found.times if t.start and t.end)
        names = frozenset(speakers[name] for name in found.names)
        priors = {"names": names, "times": times, "when": found.when, "recalls": found.recalls}
        query = IndexQuery(one.text, embedder.embed([one.text])[0], **priors, several=found.several)  # type: ignore[arg-type]
        asked.append(PreparedQuestion(query, one.gold & set(ids), one.category))
    return Conversation(corpus, ids, tuple(one for one in asked if one.gold), register)


def locomo(path: Path) -> list[Conversation]:
    """Read the conversations of a LoCoMo file."""
    return [
        conversation(sample.turns, (GoldQuestion(q.text, frozenset(q.evidence), q.category) for q in sample.questions))
        for sample in read_locomo(path)
    ]


def labelled(folder: Path) -> list[Conversation]:
    """Read the labelled chats of a folder; each keeps its register."""
    return [conversation(chat.turns, _answered(chat), chat.register) for chat in read_chats(folder)]


def _answered(chat: LabelledChat) -> list[GoldQuestion]:
    return [
        GoldQuestion(q.text, frozenset(q.evidence), asked_at=datetime.fromisoformat(q.asked_at) if q.asked_at else None)
        for q in chat.questions
        if q.gold
    ]


def scenes(count: int) -> dict[str, list[Conversation]]:
    """Write so many conversations of each kind."""
    written = {kind: [scene(kind, seed) for seed in range(count)] for kind in KINDS}
    return {
        kind: [conversation(one.turns, [GoldQuestion(*asked) for asked in one.questions]) for one in several]
        for kind, several in written.items()
    }


def scored(found: Conversation, weights: Weights, effort: SearchEffort) -> list[Score]:
    """Put every question; return how well each was served."""
    return [
        _score([found.ids[one.turn - 1] for one in rank(prepare(question, found.corpus), DEPTH, effort)], asked)
        for asked in found.asked
        for question in [replace(asked.question, weights=weights)]
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


def changed(conversations: Sequence[Conversation], changes: Mapping[str, float]) -> Clusters:
    """Put every question with some weights changed; return the scores of each conversation."""
    weights = replace(WEIGHTS, **changes)
    return [scored(one, weights, SEARCH_EFFORT) for one in conversations]


def ablation(conversations: Sequence[Conversation], runs: Mapping[str, Clusters]) -> ResultTable:
    """Return what each ingredient adds to bare words and meaning, and what its loss costs the whole.

    `runs` are the scores of the whole and of the runs without each ingredient, by name.
    """
    rows = [row(WHOLE, runs[WHOLE]), row(f"bare: {PLAIN} of the turn alone", runs[PLAIN])]
    for name, without in INGREDIENTS.items():
        kept = {key: value for key, value in BARE.items() if key not in without}
        rows.append(row(f"bare + {name}", changed(conversations, kept)))
    rows += [row(f"without {name}", runs[name]) for name in INGREDIENTS]
    rows += [row(name, changed(conversations, changes)) for name, changes in CHECKS.items()]
    candidates = SearchEffort(whole=0)
    rows.append(row("candidates only", [scored(one, WEIGHTS, candidates) for one in conversations]))
    return ResultTable("ingredients", "What each ingredient is worth", COLUMNS, tuple(rows))


def runs_without(conversations: Sequence[Conversation]) -> dict[str, Clusters]:
    """Return the scores of the whole, of words alone and with their meaning, and without each ingredient, by name."""
    return {name: changed(conversations, changes) for name, changes in {**STEPS, **INGREDIENTS}.items()}


def by_register(sets: Mapping[str, Sequence[Conversation]], runs: Mapping[str, Mapping[str, Clusters]]) -> ResultTable:
    """Return R@10 of each set and register, with intervals over conversations: from plain words to the whole."""
    rows: list[tuple[Cell, ...]] = []
    for name, conversations in sets.items():
        groups = {name: [*range(len(conversations))]}
        for at, one in enumerate(conversations):
            if one.register:
                groups.setdefault(f"{name}: {one.register}", []).append(at)
        for group, places in groups.items():
            cells = [recall_of([runs[name][step][at] for at in places]) for step in STEPS]
            rows.append((group, *cells, len(places), sum(len(conversations[at].asked) for at in places)))
    columns = ("R@10", *STEPS, "conversations", "questions")
    return ResultTable("sets", "Retrieval by set and register", columns, tuple(rows), (), tuple(STEPS))


def losses(runs: Mapping[str, Mapping[str, Clusters]]) -> ResultTable:
    """Return what R@10 loses in each set without each ingredient, question by question, with intervals."""
    rows = tuple(
        (f"without {name}", *(recall_of(_lost(of[WHOLE], of[name])) for of in runs.values())) for name in INGREDIENTS
    )
    return ResultTable("losses", "What R@10 loses without an ingredient", ("", *runs), rows, (), tuple(runs))


def register_losses(conversations: Sequence[Conversation], runs: Mapping[str, Clusters]) -> ResultTable:
    """Return what R@10 loses in each register of a set without each ingredient."""
    registers = tuple(dict.fromkeys(one.register for one in conversations))
    rows = []
    for name in INGREDIENTS:
        lost = _lost(runs[WHOLE], runs[name])
        within = {
            of: [cluster for one, cluster in zip(conversations, lost, strict=True) if one.register == of]
            for of in registers
        }
        rows.append((f"without {name}", *(recall_of(within[of]) for of in registers)))
    return ResultTable("register-losses", "What R@10 loses in each register", ("", *registers), tuple(rows))


def _lost(whole: Clusters, without: Clusters) -> Clusters:
    """Return the scores of the whole with the loss of recall of each question as its R@10."""
    return [
        [replace(one, recall_10=one.recall_10 - other.recall_10) for one, other in zip(ones, others, strict=True)]
        for ones, others in zip(whole, without, strict=True)
    ]


def recall_of(clusters: Clusters) -> Cell:
    """Return the mean R@10 with its interval over conversations."""
    found = [(at, score) for at, cluster in enumerate(clusters) for score in cluster]
    return estimate(found, lambda one: one[1].recall_10, lambda one: one[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=data_set("locomo"), nargs="?", help="a LoCoMo file")
    parser.add_argument(
        "--chats", type=data_set("chats"), nargs="+", default=[], metavar="FOLDER", help="folders of labelled chats"
    )
    parser.add_argument("--ablate", action="store_true", help="show each ingredient alone and each dropped")
    parser.add_argument("--scenes", action="store_true", help="run on the written conversations of three kinds")
    add_result(parser)
    options = parser.parse_args()
    if options.file is None and not options.scenes and not options.chats:
        parser.error("give a LoCoMo file, folders of labelled chats, or --scenes")
    sets = {"locomo": locomo(options.file)} if options.file else {}
    sets |= {folder.name: labelled(folder) for folder in options.chats}
    if options.scenes:
        sets |= scenes(3)
    tables = tables_with_ablation(sets) if options.ablate else summaries(sets)
    record("retrieval", options, tables, [*([options.file] if options.file else []), *options.chats])


def summaries(sets: Mapping[str, Sequence[Conversation]]) -> list[ResultTable]:
    """Return the whole table of each set."""
    return [summary(name, changed(conversations, {})) for name, conversations in sets.items()]


def tables_with_ablation(sets: Mapping[str, Sequence[Conversation]]) -> list[ResultTable]:
    """Return the tables of all sets and registers, and what each ingredient is worth in each."""
    runs = {name: runs_without(conversations) for name, conversations in sets.items()}
    tables = [summary(name, of[WHOLE]) for name, of in runs.items()] + [by_register(sets, runs), losses(runs)]
    for name, conversations in sets.items():
        if conversations[0].register:
            table = register_losses(conversations, runs[name])
        else:
            table = ablation(conversations, runs[name])
        tables.append(replace(table, name=f"{table.name}-{name}"))
    return tables


if __name__ == "__main__":
    main()
