"""The reader for research on LoCoMo, by cross-validation: `python -m benchmarks.offline LOCOMO.json`.

SpanConstants are fitted on all conversations but one (and on the shipped examples), and the one left out is asked with
them. `--constants` also prints those fitted on all conversations: `common` of evimem/offline/fitted.toml, and
benchmarks/span/fitted.toml. Questions of other conversations, with the names replaced, serve as questions whose answer
the memory does not hold.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.data_sets import read_locomo
from evimem.api.core import Core
from evimem.api.memory import Memory
from evimem.embedding.static_embedder import StaticEmbedder
from evimem.flow import Flow
from evimem.judging.evidence import Draft, Manner, Verdict, View
from evimem.loaders.examples import EXAMPLES, load_example, load_questions
from evimem.offline.matching import match_sentences, strength
from evimem.offline.signals import Linear
from evimem.store.sqlite import SqliteStore
from evimem.types.results import Budget
from evimem.types.values import Turn

from .logistic import fit_columns, fit_monotone, logistic
from .recording import add_result, data_set, record
from .scoring.answer_f1 import normalized, official_f1
from .scoring.result_file import Cell, ResultTable
from .span import SPAN, SpanConstants, SpanJudge
from .span.answer_span import SENTENCES, asked_of, describe, tokens

ANSWERABLE = {
    "gap": 1,
    "gap_best": 1,
    "told_own": 1,
    "told_other": -1,
    "margin": 1,
    "window": 1,
}
SUFFICIENT = {
    "fall": 1, "spread": -1, "words": 0, "length": 0, "listed": -1, "timed": 0, "guess": 0, "sessions": -1, "window": 1,
}  # fmt: skip
FORM = ("length", "listed", "timed", "guess")
FALSE_ABSTENTION = 0.10
PRECISION = 0.97  # slightly above the goal for unseen conversations
FOREIGN = 60  # per conversation, questions of other conversations
FOREIGN_WEIGHT = 0.25
EXAMPLE_NAMES = "friends", "assistant"
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class OfflineQuestion:
    """A question about a conversation; category 0 is of a shipped example, -1 of another conversation."""

    text: str
    gold: str | None
    trap: str | None
    evidence: frozenset[str]
    category: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation with its questions."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[OfflineQuestion, ...]

    @property
    def shipped(self) -> bool:
        return self.name in EXAMPLE_NAMES


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a question: the last view, the raw signals, and the answer with the constants of this run."""

    conversation: str
    question: OfflineQuestion
    view: View | None
    signals: dict[str, float]
    probability: float
    confidence: float
    tier: str
    text: str | None
    drafted: str | None
    seconds: float

    @property
    def answerable(self) -> bool:
        return self.question.gold is not None

    @property
    def complete(self) -> bool:
        """Whether all gold turns are in the last view."""
        shown = {item.turn.id for item in self.view.shown} if self.view else set()
        return bool(self.question.evidence) and self.question.evidence <= shown


class Recorder(SpanJudge):
    """The offline judge, recording its last view, verdict and draft."""

    view: View | None = None
    verdict: Verdict | None = None
    draft: Draft | None = None

    def __init__(self, constants: SpanConstants) -> None:
        super().__init__(constants)

    def judge(self, view: View) -> Flow[Verdict]:
        verdict = yield from super().judge(view)
        Recorder.view, Recorder.verdict = view, verdict
        return verdict

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        draft = yield from super().answer(view, verdict, manner)
        Recorder.draft = draft
        return draft


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=data_set("locomo"), nargs="?")
    parser.add_argument("--constants", action="store_true", help="also print the constants fitted on all conversations")
    parser.add_argument("--shipped", action="store_true", help="ask with the shipped constants, nothing left out")
    parser.add_argument("--page", action="store_true", help="print twenty answers over our own conversations, unedited")
    parser.add_argument("--k", type=int, default=20, help="turns of the sufficiency figures")
    add_result(parser)
    options = parser.parse_args()
    if options.page:
        record("offline", options, page())
        return
    if options.result:
        parser.error("--result goes with --page; the other tables are printed only")
    if options.locomo is None:
        parser.error("give the path of LoCoMo's file, or --page")
    conversations = [*_locomo(options.locomo), *_shipped_examples()]
    with tempfile.TemporaryDirectory(prefix="evimem-offline-") as folder:
        stores = {c.name: _ingested(c, Path(folder)) for c in conversations}
        first = [o for c in conversations for o in ask(c, stores[c.name], SPAN, Budget())]
        wide = [o for c in conversations for o in ask(_real(c), stores[c.name], SPAN, Budget(k=options.k))]
        if options.constants:
            print(fit(first, wide), flush=True)
        held: list[Outcome] = []
        for c in conversations:
            rest = [o for o in first if o.conversation != c.name]
            broad = [o for o in wide if o.conversation != c.name]
            constants = SPAN if options.shipped else fit(rest, broad)
            held += ask(c, stores[c.name], constants, Budget())
            if not c.shipped:
                print(f"{c.name}: abstains below {constants.abstain_below:.3f}, exact from {constants.exact:.3f}")
    report(held, first, wide, options.k)


def fit(outcomes: Sequence[Outcome], wide: Sequence[Outcome]) -> SpanConstants:
    """Fit every constant to these outcomes, thresholds to those of LoCoMo alone."""
    names = sorted({o.conversation for o in outcomes})
    answerable = _fit_answerable(outcomes)
    left_out = np.concatenate([_answerable_left_out(outcomes, name) for name in names])
    order = [o for name in names for o in outcomes if o.conversation == name]
    asked = np.array([_locomo_question(o) for o in order])
    calibrated = fit_monotone(left_out[asked].tolist(), [o.answerable for o in order if _locomo_question(o)])
    answered = [calibrated(s) for s, o in zip(left_out, order, strict=True) if _locomo_question(o) and o.answerable]
    enough = [o for o in wide if _locomo_question(o) and o.answerable]
    sufficient = _fit_sufficient(enough)
    groups = sorted({o.conversation for o in enough})
    guessed = _sigmoid(np.concatenate([_left_out(enough, name, _fit_sufficient) for name in groups]))
    truth = np.array([o.complete for name in groups for o in enough if o.conversation == name])
    return replace(
        SPAN,
        answerable=answerable,
        calibrated=calibrated,
        sufficient=sufficient,
        word=_fit_word([o for o in outcomes if _locomo_question(o)]),
        abstain_below=round(float(np.quantile(answered, FALSE_ABSTENTION)), 3),
        exact=round(_threshold(guessed, truth, PRECISION), 3),
    )


def report(held: Sequence[Outcome], first: Sequence[Outcome], wide: Sequence[Outcome], k: int) -> None:
    """Print the tables."""
    locomo = [o for o in held if _locomo_question(o)]
    print("\n| category | n | official F1 | F1 if never abstained | abstained |\n|---|---|---|---|---|")
    for category in (1, 2, 3, 4, 5):
        _row(f"c{category}", [o for o in locomo if o.question.category == category])
    _row("c1-4", [o for o in locomo if o.answerable])
    _row("all", locomo)
    probability = np.array([o.probability for o in locomo])
    answerable = np.array([o.answerable for o in locomo])
    caught = np.mean([o.text is None for o in locomo if not o.answerable])
    wrongly = np.mean([o.text is None for o in locomo if o.answerable])
    print(f"\nanswer or abstain: c5 caught {caught:.3f} at {wrongly:.3f} false abstention on c1-4")
    print(f"  AUROC {auroc(probability, answerable):.3f}, ECE {ece(probability, answerable):.3f}")
    exactly = np.quantile(probability[answerable], FALSE_ABSTENTION)
    print(f"  at exactly {FALSE_ABSTENTION:.0%} false abstention: {(probability[~answerable] < exactly).mean():.3f}")
    reliability(probability, answerable)
    foreign = [o for o in held if o.question.category == -1]
    unknown = np.mean([o.text is None for o in foreign])
    print(f"questions of other conversations abstained: {unknown:.3f} (n={len(foreign)})")
    for name in EXAMPLE_NAMES:
        mine = [o for o in held if o.conversation == name]
        right = [official_f1(o.text, o.question.gold, 4) for o in mine if o.answerable]
        refused = np.mean([o.text is None for o in mine if not o.answerable])
        lost = np.mean([o.text is None for o in mine if o.answerable])
        print(f"{name}: F1 {np.mean(right):.3f}, unanswerable caught {refused:.3f}, false abstention {lost:.3f}")
    print(f"\nsufficiency (all gold turns in the last view, c1-4, k={k}):")
    enough = [o for o in wide if _locomo_question(o) and o.answerable]
    for title, drop in (("all signals", ()), ("without question form", FORM)):
        _sufficiency(enough, title, drop)
    seconds = np.array([o.seconds for o in locomo]) * 1000
    print(f"\ntime per question: p50 {np.median(seconds):.1f} ms, p95 {np.quantile(seconds, 0.95):.1f} ms")


def page() -> list[ResultTable]:
    """Return what becomes of ten questions about each example, a fixed random sample."""
    chance = random.Random(20)
    tables = []
    with tempfile.TemporaryDirectory(prefix="evimem-page-") as folder:
        for c in _shipped_examples():
            memory = _ingested(c, Path(folder))
            rows: list[tuple[Cell, ...]] = []
            for question in chance.sample(c.questions, 10):
                answer = memory.ask(question.text)
                said = (answer.text or answer.reason or "").replace("\n", "<br>")
                claim = f"{answer.kind}, {answer.confidence:.2f}"
                rows.append((question.text, question.gold or "(not told)", claim, said))
            columns = ("question", "wanted", "kind, confidence", "text, or why there is none")
            tables.append(ResultTable(c.name, f"Ten answers, {c.name}", columns, tuple(rows)))
    return tables


def ask(c: Conversation, memory: Memory, constants: SpanConstants, budget: Budget) -> list[Outcome]:
    """Ask every question of a conversation; also record the answer it would have given without abstaining."""
    outcomes = []
    judge = Recorder(constants)
    memory._core.judge = judge
    for question in c.questions:
        Recorder.view = Recorder.verdict = Recorder.draft = None
        started = time.perf_counter()
        answer = memory.ask(question.text, budget=budget)
        seconds = time.perf_counter() - started
        verdict, view = Recorder.verdict, Recorder.view
        drafted = Recorder.draft.text if Recorder.draft else _drafted(judge, view, verdict)
        outcomes.append(
            Outcome(
                c.name,
                question,
                view,
                dict(verdict.signals) if verdict else {},
                (verdict.probability or 0.0) if verdict else 0.0,
                verdict.confidence if verdict else 0.0,
                answer.tier.value,
                answer.text,
                drafted,
                seconds,
            )
        )
    return outcomes


def _drafted(judge: Recorder, view: View | None, verdict: Verdict | None) -> str | None:
    if view is None or verdict is None:
        return None
    try:
        next(judge.answer(view, verdict, "direct"))
    except StopIteration as done:
        text: str | None = done.value.text
        return text
    return None


def _row(name: str, outcomes: Sequence[Outcome]) -> None:
    scores = [official_f1(o.text, o.question.gold, o.question.category) for o in outcomes]
    free = [official_f1(o.drafted, o.question.gold, o.question.category) for o in outcomes]
    share = np.mean([o.text is None for o in outcomes])
    print(f"| {name} | {len(outcomes)} | {np.mean(scores):.3f} | {np.mean(free):.3f} | {share:.3f} |")


def _sufficiency(enough: Sequence[Outcome], title: str, drop: Sequence[str]) -> None:
    groups = sorted({o.conversation for o in enough})

    def model(outcomes: Sequence[Outcome]) -> Linear:
        return _fit_sufficient(outcomes, drop)

    guessed = _sigmoid(np.concatenate([_left_out(enough, name, model) for name in groups]))
    order = [o for name in groups for o in enough if o.conversation == name]
    truth = np.array([o.complete for o in order])
    exact = np.zeros(len(order), bool)
    for name in groups:
        inside = np.array([o.conversation == name for o in order])
        exact[inside] = guessed[inside] >= _threshold(guessed[~inside], truth[~inside], PRECISION)
    print(
        f"  {title}: base {truth.mean():.3f}, AUROC {auroc(guessed, truth):.3f}, ECE {ece(guessed, truth):.3f}, "
        f"EXACT precision {truth[exact].mean():.3f} at coverage {exact.mean():.3f}"
    )


def _left_out(outcomes: Sequence[Outcome], name: str, model: Callable[[Sequence[Outcome]], Linear]) -> Array:
    """Return the scores of a conversation by a model fitted to the others."""
    linear = model([o for o in outcomes if o.conversation != name])
    return np.array([linear.score(o.signals) for o in outcomes if o.conversation == name])


def _answerable_left_out(outcomes: Sequence[Outcome], name: str) -> Array:
    """Return the scores of a conversation by a model fitted to the others, as the judge computes them."""
    constants = replace(SPAN, answerable=_fit_answerable([o for o in outcomes if o.conversation != name]))
    return np.array([constants.score(o.signals) for o in outcomes if o.conversation == name])


def _sigmoid(scores: Array) -> Array:
    return 1 / (1 + np.exp(-scores))


def _fit_answerable(outcomes: Sequence[Outcome]) -> Linear:
    weights = [FOREIGN_WEIGHT if o.question.category == -1 else 1.0 for o in outcomes]
    return logistic([o.signals for o in outcomes], [o.answerable for o in outcomes], ANSWERABLE, weights)


def _fit_sufficient(outcomes: Sequence[Outcome], drop: Sequence[str] = ()) -> Linear:
    signs = {name: sign for name, sign in SUFFICIENT.items() if name not in drop}
    return logistic([o.signals for o in outcomes], [o.complete for o in outcomes], signs, [1.0] * len(outcomes))


def _fit_word(outcomes: Sequence[Outcome]) -> Linear:
    """Fit which words of the evidence turns belong to the gold answer, or to the trap of an unanswerable question."""
    names = list(SPAN.word.weights)
    rows, labels = [], []
    for o in outcomes:
        gold = o.question.gold or o.question.trap
        if gold is None or o.view is None or o.question.category == 2:
            continue
        wanted = set(normalized(gold))
        for columns, hits in _words(o.view, o.question.evidence, wanted):
            rows.append(np.stack([columns[name] for name in names], axis=1))
            labels.append(hits)
    return fit_columns(
        np.concatenate(rows).astype(float), np.concatenate(labels), names, {}, np.ones(sum(map(len, labels)))
    )


def _words(
    view: View, evidence: frozenset[str], wanted: set[str]
) -> Iterator[tuple[dict[str, NDArray[np.float32]], Array]]:
    matches = match_sentences(view)
    found = sorted((m for m in matches.ranked if m.shown), key=lambda m: -strength(m))[:SENTENCES]
    top = max((m.score for m in found), default=0.0)
    facts = {item.turn.id: item.facts for item in view.shown}
    for m in found:
        if m.unit.asks or not (said := tokens(m)):
            continue
        gold = m.unit.turn.id in evidence
        hits = [gold and bool(set(normalized(token.text)) & wanted) for token in said]
        yield describe(said, m, asked_of(matches.analysis), facts.get(m.unit.turn.id, ()), top), np.array(hits, float)


def _threshold(guessed: Array, truth: Array, precision: float) -> float:
    """Return the lowest threshold with at least this precision."""
    order = np.argsort(-guessed)
    right = np.cumsum(truth[order]) / np.arange(1, len(order) + 1)
    good = np.flatnonzero(right >= precision)
    return float(guessed[order][good.max()]) if len(good) else 1.0


def auroc(scores: Array, labels: NDArray[np.bool_]) -> float:
    """Return the chance that a positive scores above a negative; ties count half."""
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    positive = int(labels.sum())
    return float((ranks[labels].sum() - positive * (positive + 1) / 2) / (positive * (len(labels) - positive)))


def ece(guessed: Array, truth: NDArray[np.bool_], bins: int = 10) -> float:
    """Return the expected calibration error over equal bins."""
    place = np.minimum((guessed * bins).astype(int), bins - 1)
    inside = [place == b for b in range(bins)]
    return float(sum(i.mean() * abs(guessed[i].mean() - truth[i].mean()) for i in inside if i.any()))


def reliability(guessed: Array, truth: NDArray[np.bool_], bins: int = 10) -> None:
    """Print predicted against observed."""
    place = np.minimum((guessed * bins).astype(int), bins - 1)
    cells = [
        f"{guessed[place == b].mean():.2f}->{truth[place == b].mean():.2f}" for b in range(bins) if (place == b).any()
    ]
    print(f"  predicted->observed: {' '.join(cells)}")


def _real(c: Conversation) -> Conversation:
    """Return a conversation with its answerable questions; examples are not scored for sufficiency."""
    return replace(c, questions=tuple(q for q in c.questions if q.category > 0 and q.gold is not None))


def _locomo_question(o: Outcome) -> bool:
    return o.question.category > 0


def _ingested(c: Conversation, folder: Path) -> Memory:
    embedder = StaticEmbedder()
    store = SqliteStore(folder / f"{c.name}.evimem", embedder.name, embedder.dimension)
    memory = Memory(Core(store, embedder))
    memory.extend(c.turns, strict=True)
    return memory


def _locomo(path: Path) -> list[Conversation]:
    samples = list(read_locomo(path))
    chance = random.Random(7)
    conversations = []
    for sample in samples:
        asked = [OfflineQuestion(q.text, q.answer, q.trap, frozenset(q.evidence), q.category) for q in sample.questions]
        others = [(s, q) for s in samples if s.id != sample.id for q in s.questions if q.category in {1, 2, 4}]
        for other, q in chance.sample(others, FOREIGN):
            text = q.text
            for name, mine in zip(_speakers(other.turns), _speakers(sample.turns), strict=False):
                text = re.sub(rf"\b{name}\b", mine, text)
            asked.append(OfflineQuestion(text, None, None, frozenset(), -1))
        conversations.append(Conversation(sample.id, tuple(sample.turns), tuple(asked)))
    return conversations


def _speakers(turns: Sequence[Turn]) -> list[str]:
    return list(dict.fromkeys(turn.speaker for turn in turns))


def _shipped_examples() -> list[Conversation]:
    return [
        Conversation(
            name,
            tuple(load_example(name)),
            tuple(OfflineQuestion(q.text, q.answer, None, frozenset(q.evidence), 0) for q in load_questions(name)),
        )
        for name in EXAMPLES
    ]


if __name__ == "__main__":
    main()
