"""Which turns hold the answer: `python -m benchmarks.likely_turns LOCOMO CHATS [CHATS ...]`.

CHATS are folders of labelled chats with their registers.json, LOCOMO the development file. Prints how often a gold turn
is first, and among the first three, of the turns that the offline judge ranks, each register left out, then the
constants fitted on everything, for the table `likely` of evimem/offline/fitted.toml. Questions and evidence in
other languages than English fit nothing: types and words are read in English only.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import evimem
from benchmarks.data_sets import read_locomo
from evimem.flow import Flow
from evimem.judging.evidence import Verdict, View
from evimem.offline.matching import match_sentences
from evimem.offline.offline_judge import OfflineJudge, is_in_english
from evimem.offline.quotation import turn_signals
from evimem.offline.signals import SHIPPED, Linear

from .logistic import logistic
from .recording import data_set
from .scoring.labelled_chats import LabelledChat, read_chats

LOCOMO = "locomo"
LOCOMO_WEIGHT = 0.25  # of a turn of LoCoMo, whose questions outnumber ours
RIDGE = 4.0
FIRST = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """A labelled question and the last view of the loop; `gold` is empty where nothing was told."""

    register: str
    gold: tuple[str, ...]
    evidence: frozenset[str]
    view: View


class Recorder(OfflineJudge):
    """The offline judge, recording its last view."""

    view: View | None = None

    def judge(self, view: View) -> Flow[Verdict]:
        Recorder.view = view
        return OfflineJudge.judge(self, view)


@dataclass(frozen=True, slots=True)
class Shown:
    """A question with the signals of the turns that its last view shows, by id."""

    asked: Asked
    english: bool
    turns: Mapping[str, Mapping[str, float]]

    def ranked(self, model: Linear) -> list[str]:
        return sorted(self.turns, key=lambda turn: -model.score(self.turns[turn]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=data_set("locomo"))
    parser.add_argument("chats", type=data_set("chats"), nargs="+")
    options = parser.parse_args()
    asked = [one for folder in options.chats for chat in read_chats(folder) for one in questions(chat)]
    shown = [_shown(one) for one in (*asked, *locomo(options.locomo)) if one.view.shown]
    hits: list[tuple[bool, bool]] = []
    for register in sorted({one.register for one in asked}):
        model = fit([one for one in shown if one.asked.register != register])
        held = [_hits(one, model) for one in shown if one.asked.register == register and one.asked.gold]
        hits += held
        report(register, held)
    report("all", hits)
    fitted = fit(shown)
    print(dict(fitted.weights), fitted.bias)


def fit(shown: Sequence[Shown]) -> Linear:
    """Fit the model: a turn of the gold evidence against all others; where nothing was told there is none."""
    rows = [(signals, _is_gold(one, turn), one) for one in shown if one.english for turn, signals in one.turns.items()]
    weights = [LOCOMO_WEIGHT if one.asked.register == LOCOMO else 1.0 for _, _, one in rows]
    signs = dict.fromkeys(SHIPPED.likely.weights, 1)
    return logistic([row[0] for row in rows], [row[1] for row in rows], signs, weights, ridge=RIDGE)


def report(name: str, hits: Sequence[tuple[bool, bool]]) -> None:
    first, three = (sum(column) / len(hits) for column in zip(*hits, strict=True))
    print(f"{name:22} {len(hits):4} answerable: gold first {first:.3f}, among the first {FIRST} {three:.3f}")


def questions(chat: LabelledChat) -> Iterator[Asked]:
    """Yield the questions of a chat, each asked of a memory of its turns."""
    found = views(chat.turns, [(question.text, question.asked_at) for question in chat.questions])
    for question, view in zip(chat.questions, found, strict=True):
        if view is not None:
            yield Asked(chat.register, question.gold, frozenset(question.evidence), view)


def locomo(path: Path) -> Iterator[Asked]:
    """Yield every second question of LoCoMo's development conversations."""
    for sample in read_locomo(path):
        half = sample.questions[::2]
        last = max(turn.time for turn in sample.turns).isoformat()
        found = views(sample.turns, [(question.text, last) for question in half])
        for question, view in zip(half, found, strict=True):
            gold = () if question.category == 5 or question.answer is None else (question.answer,)
            if view is not None:
                yield Asked(LOCOMO, gold, frozenset(question.evidence), view)


def views(turns: Sequence[evimem.Turn], questions: Sequence[tuple[str, str | None]]) -> Iterator[View | None]:
    """Yield the last view of each question that the offline judge was shown."""
    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "memory.db") as memory:
        memory.extend(turns)
        memory._core.judge = Recorder()
        for question, asked_at in questions:
            Recorder.view = None
            memory.ask(question, asked_at=None if asked_at is None else datetime.fromisoformat(asked_at))
            yield Recorder.view


def _shown(asked: Asked) -> Shown:
    return Shown(asked, is_in_english(asked.view), turn_signals(asked.view, match_sentences(asked.view)))


def _is_gold(one: Shown, turn: str) -> bool:
    return bool(one.asked.gold) and turn in one.asked.evidence


def _hits(one: Shown, model: Linear) -> tuple[bool, bool]:
    gold = [turn in one.asked.evidence for turn in one.ranked(model)]
    return gold[0], any(gold[:FIRST])


if __name__ == "__main__":
    main()
