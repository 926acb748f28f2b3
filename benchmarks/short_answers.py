"""Short answers over labelled chats: `python -m benchmarks.short_answers DIR [--locomo FILE] [--registers NAME ...]`.

DIR holds NAME.turns.jsonl and NAME.questions.jsonl; which register a conversation is of says `registers.json` beside
them, or else that of benchmarks/chats. Prints, per register and form, how many short answers were given and right.
`--without` asks each question of up to three memories of 15 turns that do not hold its evidence: every short answer
there is false. `--fit` needs two registers: it fits the firmness of bound values on all registers but one and reports
the one left out, then prints the constants fitted on all, for evimem/offline/verified/firmness.py.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import evimem
from benchmarks.logistic import logistic
from benchmarks.offline import Recorder
from benchmarks.recording import data_set
from evimem.extract import RuleExtractor
from evimem.judging.evidence import View
from evimem.loaders.locomo_format import read_locomo
from evimem.offline.constants import SHIPPED, Linear
from evimem.offline.verified import NotStated, ShortAnswer, short_answer
from evimem.offline.verified.asked_form import asked_form
from evimem.offline.verified.firmness import FIRMNESS, named_checks
from evimem.offline.verified.short_answer import bound_values

from .scoring.labelled_chats import ChatQuestion, LabelledChat, read_chats
from .scoring.right_answer import is_right

REGISTERS = Path(__file__).with_name("chats") / "registers.json"
LOCOMO_WEIGHT = 0.25  # of a value of LoCoMo, whose questions outnumber ours
SMALL = 15  # turns of a memory without the evidence of a question
MEMORIES = 3  # of these a question is asked of
BARS = (0.3, 0.4, 0.5, 0.6, 0.7)
_EXTRACTOR = RuleExtractor()


@dataclass(frozen=True, slots=True)
class Asked:
    """A labelled question and the last view of the loop; `gold` is empty where nothing was told."""

    register: str
    kind: str
    question: str
    gold: tuple[str, ...]
    evidence: frozenset[str]
    view: View


@dataclass(frozen=True, slots=True)
class Labelled:
    """A bound value with whether it is right."""

    asked: Asked
    text: str
    signals: Mapping[str, float]
    right: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=data_set("chats"))
    parser.add_argument("--locomo", type=data_set("locomo"))
    parser.add_argument("--registers", nargs="+", metavar="NAME", help="of all registers, only these")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--without", action="store_true", help="ask of small memories without the evidence")
    parser.add_argument("--wrong", action="store_true", help="also print the wrong answers")
    options = parser.parse_args()
    own = options.folder / REGISTERS.name
    read = read_chats(options.folder, own if own.is_file() else REGISTERS)
    ask = without_evidence if options.without else questions
    wanted = options.registers or [chat.register for chat in read]
    asked = [one for chat in read if chat.register in wanted for one in ask(chat)]
    if options.fit:
        fit([*asked, *(locomo(options.locomo) if options.locomo else ())])
    else:
        report(asked, wrong=options.wrong)


def report(asked: Sequence[Asked], *, wrong: bool) -> None:
    """Print how many short answers are given and right, per register, kind of question and form of answer."""
    counts: dict[str, Counter[str]] = {}
    for one in asked:
        one.view.memo.clear()
        found = short_answer(one.view, _EXTRACTOR)
        names = [f"register {one.register}", f"kind {one.kind}", "all"]
        if isinstance(found, ShortAnswer):
            names.append(f"form {found.form.split(':')[0]}")
        for name in names:
            count = counts.setdefault(name, Counter())
            count["answerable" if one.gold else "unanswerable"] += 1
            count["not stated, rightly" if not one.gold else "not stated"] += isinstance(found, NotStated)
            if isinstance(found, ShortAnswer):
                count["given" if one.gold else "given to unanswerable"] += 1
                count["right"] += is_right(found.text, one.gold)
        if wrong and isinstance(found, ShortAnswer) and not is_right(found.text, one.gold):
            print(f"{one.question} [{' | '.join(one.gold) or '-'}] {found.text} {found.form} {found.support:.2f}")
    for name in sorted(counts):
        print(f"{name:24}", ", ".join(f"{value} {what}" for what, value in counts[name].items()))


def fit(asked: Sequence[Asked]) -> None:
    """Report the firmest value of each question with its register left out, then print the constants."""
    labelled = [row for one in asked for row in rows(one)]
    for register in sorted({one.register for one in asked}):
        model = _fitted([row for row in labelled if row.asked.register != register])
        best: dict[str, Labelled] = {}
        for row in (row for row in labelled if row.asked.register == register):
            kept = best.setdefault(row.asked.question, row)
            if model.score(row.signals) > model.score(kept.signals):
                best[row.asked.question] = row
        for bar in BARS:
            given = [row for row in best.values() if model.probability(row.signals) >= bar]
            right, traps = sum(row.right for row in given), sum(not row.asked.gold for row in given)
            print(f"{register:12} from {bar}: {len(given):3} given, {right:3} right, {traps} of unanswerable")
    shipped = _fitted(labelled)
    print({name: round(weight, 3) for name, weight in shipped.weights.items()}, round(shipped.bias, 3))


def rows(one: Asked) -> Iterator[Labelled]:
    """Yield the bound values of a question; one is right only in a turn of the gold evidence."""
    form = asked_form(one.view.analysis)
    if not form.weights or form.compares:
        return
    one.view.memo.clear()
    for bound in bound_values(one.view, form, _EXTRACTOR):
        cited = not one.evidence or bound.passage.turn.id in one.evidence
        text = bound.value.text
        yield Labelled(one, text, named_checks(form, bound), cited and is_right(text, one.gold))


def _fitted(labelled: Sequence[Labelled]) -> Linear:
    values = Counter(id(row.asked) for row in labelled)
    weights = [
        (LOCOMO_WEIGHT if row.asked.register == "locomo" else 1.0) / max(3, values[id(row.asked)]) ** 0.5
        for row in labelled
    ]
    signs = dict.fromkeys(FIRMNESS.weights, 0)
    return logistic([row.signals for row in labelled], [row.right for row in labelled], signs, weights)


def questions(chat: LabelledChat) -> Iterator[Asked]:
    """Yield the questions of a chat, each asked of a memory of its turns."""
    found = views(chat.turns, [(question.text, question.asked_at) for question in chat.questions])
    for question, view in zip(chat.questions, found, strict=True):
        if view is not None:
            yield Asked(chat.register, question.kind, question.text, question.gold, frozenset(question.evidence), view)


def without_evidence(chat: LabelledChat) -> Iterator[Asked]:
    """Yield the questions of a chat, each asked of a few small memories that do not hold its evidence."""
    chance = random.Random(chat.name)
    parts = [chat.turns[start : start + SMALL] for start in range(0, len(chat.turns), SMALL)]
    beside: dict[int, list[ChatQuestion]] = {}
    for question in chat.questions:
        empty = [n for n, part in enumerate(parts) if not {turn.id for turn in part}.intersection(question.evidence)]
        for number in chance.sample(empty, min(MEMORIES, len(empty))):
            beside.setdefault(number, []).append(question)
    for number, some in beside.items():
        for question, view in zip(some, views(parts[number], [(q.text, q.asked_at) for q in some]), strict=True):
            if view is not None:
                yield Asked(chat.register, question.kind, question.text, (), frozenset(question.evidence), view)


def locomo(path: Path) -> Iterator[Asked]:
    """Yield every second question of LoCoMo's development conversations."""
    for sample in read_locomo(path):
        half = sample.questions[::2]
        last = max(turn.time for turn in sample.turns).isoformat()
        found = views(sample.turns, [(question.text, last) for question in half])
        for question, view in zip(half, found, strict=True):
            gold = () if question.category == 5 or question.answer is None else (question.answer,)
            if view is not None:
                evidence = frozenset(question.evidence)
                yield Asked("locomo", f"c{question.category}", question.text, gold, evidence, view)


def views(turns: Sequence[evimem.Turn], questions: Sequence[tuple[str, str | None]]) -> Iterator[View | None]:
    """Yield the last view of each question that the offline judge was shown."""
    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "memory.db") as memory:
        memory.extend(turns)
        memory._core.judge = Recorder(SHIPPED)
        for question, asked_at in questions:
            Recorder.view = None
            memory.ask(question, asked_at=None if asked_at is None else datetime.fromisoformat(asked_at))
            yield Recorder.view


if __name__ == "__main__":
    main()
