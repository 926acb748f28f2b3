"""Fit what an answer without a model claims: `python -m benchmarks.confidence LOCOMO CHATS [CHATS ...]`.

CHATS are folders of labelled chats with their registers.json, LOCOMO the development file. Every question is asked so
that nothing is refused; small models are fitted to the quotations, on all registers but one (and on LoCoMo), and decide
about the questions of that one. `--constants` also prints those fitted
on everything, which evimem/offline/fitted.toml ships. `--keep FILE` saves what was asked, and
reads it again where the file exists.
"""

from __future__ import annotations

import argparse
import pickle
import random
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import evimem
from benchmarks.data_sets import read_locomo
from benchmarks.scoring.svg_plot import Chart
from evimem.calibration import Bin, auroc, ece, reliability
from evimem.loaders.examples import load_example, load_questions
from evimem.loops import Iris
from evimem.offline.offline_judge import MIN_REFUSAL_ABSENT_SHARE, OfflineJudge
from evimem.offline.signals import SHIPPED, Constants, Linear, log_odds
from evimem.types.results import AnswerKind
from evimem.types.trace import Acted

from .logistic import fit_monotone, logistic
from .recording import add_result, data_set, record
from .scoring.charts import reliability_chart
from .scoring.estimates import estimate
from .scoring.labelled_chats import ChatQuestion, LabelledChat, read_chats
from .scoring.result_file import Cell, ResultTable

LOCOMO = "locomo"
FOREIGN = "foreign"  # kind of a question that belongs to another chat, with its speakers' names
# Signals of whether an answer was told, with the sign that each must have. How many of the question's words one passage
# has says nothing: a detail that was never told is asked for in the words of its topic, and answers are often told in
# other words. A question to yes or no names all that it asks for, so what bears on it can be quoted. Other features of
# questions alone tell more on these chats (AUROC .82), but only of how those without an answer were written.
TOLD = {"likely": 1, "other": -1, "meaning_ten": 1, "guess": 0}
HOLDS = {"told": 1, "likely": 1, "spread": -1, "listed": 0, "timed": 0}
FALSE_ABSTENTION = 0.015  # wanted of the answerable questions, slightly below the .02 aimed at for others
EVERY = 3  # so many questions of LoCoMo, one is asked: it has more of them than all chats
OF_FOREIGN = 6  # questions of other chats that each chat is asked
WEIGHT = {LOCOMO: 0.3, FOREIGN: 0.25}  # of a question in a fit, beside 1 of a chat's own
BINS = 8
EXAMPLE, EXAMPLE_EVERY = "friends", 4  # questions about it, of which so many, one is asked
SHARES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
CLAIMS: tuple[AnswerKind, ...] = ("quote", "abstained")
COLUMNS = (
    "register", "refused untold", "refused told", "cites gold", "AUROC told",
    *(f"ECE {kind}" for kind in CLAIMS),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked so that it got a text, with the signals of the last check."""

    register: str
    chat: str
    kind: str
    told: bool
    signals: Mapping[str, float]
    cites_gold: bool
    text: str = ""

    @property
    def weight(self) -> float:
        return WEIGHT.get(self.register, WEIGHT.get(self.kind, 1.0))


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a question: the kind of the answer, its confidence, and whether the claim holds."""

    asked: Asked
    kind: AnswerKind
    confidence: float
    holds: bool
    probability: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=data_set("locomo"))
    parser.add_argument("chats", type=data_set("chats"), nargs="+")
    parser.add_argument("--constants", action="store_true", help="also print the constants fitted on everything")
    parser.add_argument("--keep", type=Path, help="read what was asked from this file, or save it there")
    add_result(parser)
    options = parser.parse_args()
    if options.keep and options.keep.is_file():
        asked: list[Asked] = pickle.loads(options.keep.read_bytes())
    else:
        chats = [chat for folder in options.chats for chat in read_chats(folder)]
        asked = [*_of_chats(chats), *_of_locomo(options.locomo)]
        if options.keep:
            options.keep.write_bytes(pickle.dumps(asked))
    registers = [one for one in dict.fromkeys(a.register for a in asked) if one != LOCOMO]
    held = [d for name in registers for d in decide(fit(_without(asked, name)), _of(asked, name))]
    own = [d for d in held if d.asked.kind != FOREIGN]
    tables = [by_register(registers, own), refusing(own), others(held)]
    record("confidence", options, tables, [*options.chats, options.locomo], dict(charts(own)))
    if options.constants:
        print(as_toml(fit(asked)))


def fit(asked: Sequence[Asked]) -> Constants:
    """Fit the models and the two thresholds."""
    answerable = _fit_told(asked)
    names = list(dict.fromkeys(a.chat for a in asked))
    left_out: dict[int, float] = {}
    for name in names:
        held = replace(SHIPPED, answerable=_fit_told([a for a in asked if a.chat != name]))
        left_out.update((id(a), held.score(a.signals)) for a in asked if a.chat == name)
    own = [a for a in asked if a.kind != FOREIGN]
    mapped = [a for n, a in enumerate(own) if a.register != LOCOMO or n % 3 == 0]
    calibrated = fit_monotone([left_out[id(a)] for a in mapped], [a.told for a in mapped], BINS)
    chats = [a for a in own if a.register != LOCOMO]
    told = sorted(
        calibrated(left_out[id(a)]) if a.signals["absent"] >= MIN_REFUSAL_ABSENT_SHARE else 1.0 for a in chats if a.told
    )
    abstain_below = round(told[int(FALSE_ABSTENTION * len(told))], 3)
    signals = {id(a): {**a.signals, "told": log_odds(calibrated(left_out[id(a)]))} for a in own}
    kept = [a for a in own if calibrated(left_out[id(a)]) >= abstain_below]
    holds = logistic(
        [signals[id(a)] for a in kept], [a.told and a.cites_gold for a in kept], HOLDS, [a.weight for a in kept]
    )
    return replace(
        SHIPPED,
        answerable=answerable,
        calibrated=calibrated,
        abstain_below=abstain_below,
        holds=holds,
    )


def decide(constants: Constants, asked: Iterable[Asked]) -> Iterator[Decided]:
    """Yield what becomes of questions, as the judge and the loop decide."""
    for one in asked:
        told = constants.probability(one.signals)
        signals = {**one.signals, "told": log_odds(told)}
        if told < constants.abstain_below and one.signals["absent"] >= MIN_REFUSAL_ABSENT_SHARE:
            yield Decided(one, "abstained", 1 - told, not one.told, told)
        else:
            yield Decided(one, "quote", constants.holds.probability(signals), one.told and one.cites_gold, told)


def by_register(registers: Sequence[str], own: Sequence[Decided]) -> ResultTable:
    """Return the table of registers that fitted nothing."""
    rows = tuple(_row(name, [d for d in own if name in (d.asked.register, "all")]) for name in (*registers, "all"))
    return ResultTable("by-register", "Answers without a model, each register left out", COLUMNS, rows)


def refusing(own: Sequence[Decided]) -> ResultTable:
    """Return the share of questions without an answer below the threshold that refuses a share of the others."""
    ordered = sorted(d.probability for d in own if d.asked.told)
    cells: list[Cell] = []
    for share in SHARES:
        below = ordered[int(share * len(ordered))]
        caught = [d for d in own if not d.asked.told]
        cells.append(estimate(caught, lambda d, below=below: d.probability < below, _chat))  # type: ignore[misc]
    columns = ("of answerable questions", *(f"{share:.2f}" for share in SHARES))
    return ResultTable("refusing", "Refused", columns, (("of questions without an answer", *cells),))


def others(held: Sequence[Decided]) -> ResultTable:
    """Return what becomes of other chats' questions."""
    foreign = [d for d in held if d.asked.kind == FOREIGN]
    rows: tuple[tuple[Cell, ...], ...] = (
        ("questions of other chats refused", estimate(foreign, lambda d: d.kind == "abstained", _chat), len(foreign)),
    )
    return ResultTable("others", "Besides", ("", "value", "n"), rows)


def charts(own: Sequence[Decided]) -> Iterator[tuple[str, Chart]]:
    """Yield predicted against observed for each kind of claim, by name."""
    for kind, claim in zip(CLAIMS, ("it holds the answer", "nothing was told"), strict=True):
        some = [d for d in own if d.kind == kind]
        bins = _bins(some)
        note = f"{len(some)} of {len(own)} questions, each register left out, ECE {ece(bins):.3f}"
        title = {"quote": "Quotations", "abstained": "Refusals"}[kind]
        yield f"claims-{kind}", reliability_chart(f"{title}: {claim}", bins, note)


def _chat(one: Decided) -> str:
    return one.asked.chat


def _row(name: str, some: Sequence[Decided]) -> tuple[Cell, ...]:
    told, untold = [d for d in some if d.asked.told], [d for d in some if not d.asked.told]
    return (
        name,
        estimate(untold, lambda d: d.kind == "abstained", _chat),
        estimate(told, lambda d: d.kind == "abstained", _chat),
        estimate(told, lambda d: d.kind != "abstained" and d.asked.cites_gold, _chat),
        auroc([d.probability for d in some], [d.asked.told for d in some]),
        *(ece(bins) if (bins := _bins([d for d in some if d.kind == kind])) else None for kind in CLAIMS),
    )


def _bins(some: Sequence[Decided]) -> tuple[Bin, ...]:
    return reliability([d.confidence for d in some], [d.holds for d in some])


def as_toml(constants: Constants) -> str:
    """Return the fitted constants for evimem/offline/fitted.toml."""
    knots = "".join(f"  [{score}, {probability}],\n" for score, probability in constants.calibrated.knots)
    parts = [
        f"abstain_below = {constants.abstain_below}",
        f"calibrated = [\n{knots}]",
    ]
    for name in ("answerable", "holds"):
        model: Linear = getattr(constants, name)
        parts += [f"[{name}]", f"bias = {model.bias}", f"[{name}.weights]"]
        parts += [f"{signal} = {weight}" for signal, weight in model.weights.items()]
    parts += ["[fitted_on]", *(f"{name} = {mean}" for name, mean in example_means().items())]
    return "\n".join(parts)


def example_means() -> dict[str, float]:
    """Return the mean of each signal that is fitted over, for questions about a shipped example; about 0 to 1."""
    questions = tuple(
        ChatQuestion(one.text, one.answer, (), one.evidence, one.kind)
        for one in load_questions(EXAMPLE)[::EXAMPLE_EVERY]
    )
    asked = list(_asked(EXAMPLE, LabelledChat(EXAMPLE, EXAMPLE, tuple(load_example(EXAMPLE)), questions), questions))
    names = {*TOLD, *HOLDS} - {"told"}
    return {name: round(fmean(one.signals[name] for one in asked), 3) for name in sorted(names)}


def _fit_told(asked: Sequence[Asked]) -> Linear:
    weights = [a.weight for a in asked]
    return logistic([a.signals for a in asked], [a.told for a in asked], TOLD, weights)


def _of_chats(chats: Sequence[LabelledChat]) -> Iterator[Asked]:
    chance = random.Random(7)
    for chat in chats:
        others = [(c, q) for c in chats if c.register != chat.register for q in c.questions if q.answer is not None]
        foreign = [_renamed(c, chat, q) for c, q in chance.sample(others, OF_FOREIGN)]
        yield from _asked(chat.register, chat, (*chat.questions, *foreign))


def _of_locomo(path: Path) -> Iterator[Asked]:
    for sample in read_locomo(path):
        questions = tuple(
            ChatQuestion(q.text, None if q.category == 5 else q.answer, (), q.evidence, f"c{q.category}")
            for q in sample.questions[::EVERY]
        )
        yield from _asked(LOCOMO, LabelledChat(sample.id, LOCOMO, sample.turns, questions), questions)


def _renamed(other: LabelledChat, chat: LabelledChat, question: ChatQuestion) -> ChatQuestion:
    """Return a question of another chat, asked about the speakers of this one."""
    text = question.text
    for name, mine in zip(_speakers(other), _speakers(chat), strict=False):
        text = re.sub(rf"\b{re.escape(name)}\b", mine, text)
    return ChatQuestion(text, None, (), (), FOREIGN, question.asked_at)


def _speakers(chat: LabelledChat) -> list[str]:
    return list(dict.fromkeys(turn.speaker for turn in chat.turns))


def _asked(register: str, chat: LabelledChat, questions: Sequence[ChatQuestion]) -> Iterator[Asked]:
    with tempfile.TemporaryDirectory(prefix="evimem-confidence-") as folder, evimem.open(Path(folder) / "m") as memory:
        memory.extend(chat.turns, strict=True)
        memory._core.judge = OfflineJudge(extractor=memory._core.extractor)
        for question in questions:
            answer = memory.ask(question.text, loop=Iris(without={"abstention"}), asked_at=question.asked_at)
            acted = [event for event in answer.trace if isinstance(event, Acted)]
            measured = [event.detail for event in acted if event.action == "measure"]
            if not measured:
                continue
            yield Asked(
                register,
                chat.name,
                question.kind,
                question.answer is not None,
                dict(measured[-1]),
                any(citation.turn_id in question.evidence for citation in answer.citations),
                f"{question.text} | {question.answer} | {answer.text}",
            )


def _without(asked: Sequence[Asked], register: str) -> list[Asked]:
    return [a for a in asked if a.register != register]


def _of(asked: Sequence[Asked], register: str) -> list[Asked]:
    return [a for a in asked if a.register == register]


if __name__ == "__main__":
    main()
