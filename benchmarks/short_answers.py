"""Short answers over labelled chats: `python -m benchmarks.short_answers DIR [--locomo FILE] [--registers NAMES]`.

DIR holds NAME.turns.jsonl and NAME.questions.jsonl; a register is a name with its conversations, as in `REGISTERS`.
Prints, per register and form, how many short answers were given and right. `--fit` fits the firmness of bound values on
all registers but one and reports the one left out, then prints the constants fitted on all, for
evimem/offline/verified/firmness.py.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import evimem
from benchmarks.offline import Recorder, logistic
from evimem.bench.answer_f1 import f1, normalized
from evimem.extract import RuleExtractor
from evimem.judging.evidence import View
from evimem.loaders.locomo_format import read_locomo
from evimem.offline.constants import SHIPPED, Linear
from evimem.offline.verified import NotStated, ShortAnswer, short_answer
from evimem.offline.verified.asked_form import asked_form
from evimem.offline.verified.firmness import FIRMNESS, named_checks
from evimem.offline.verified.short_answer import bound_values
from evimem.times.lexicon import SIMPLE_NUMBERS

REGISTERS = {
    "long": "uk-renovation webshop bakery estate",
    "bursts": "flatmates-lagos cousins-texas mates-melbourne nurses-glasgow",
    "groups": "family-porto-york ops-channel parents-class3b book-club",
    "assistants": "companion-retiree tutor-maths sales-crm job-hunt",
    "letters": "letters-grandmother landlord-tenant mentor-junior band-of-two-translators",
    "languages": "fr-collegues es-asistente ja-kazoku hi-padosi",
}
LOCOMO_WEIGHT = 0.25  # of a value of LoCoMo, whose questions outnumber ours
BARS = (0.3, 0.4, 0.5, 0.6, 0.7)
_EXTRACTOR = RuleExtractor()
_NUMBER = re.compile(r"\d+(?:\.\d+)?$")
_YEAR = re.compile(r"20\d\d$")


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
    parser.add_argument("folder", type=Path)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--registers", default=",".join(REGISTERS), help="names, with commas between")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--wrong", action="store_true", help="also print the wrong answers")
    options = parser.parse_args()
    asked = [one for name in options.registers.split(",") for one in chats(options.folder, name)]
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
                count["right"] += is_right(one.gold, found.text)
        if wrong and isinstance(found, ShortAnswer) and not is_right(one.gold, found.text):
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
        yield Labelled(one, text, named_checks(form, bound), cited and is_right(one.gold, text))


def is_right(gold: Sequence[str], text: str) -> bool:
    """Return whether an accepted form is contained in an answer, or F1 is at least .6 with the same numbers."""
    said = _normalized(text)
    if gold and _normalized(gold[0])[:1] in (["yes"], ["no"]):
        return said[:1] == _normalized(gold[0])[:1]
    return any(_contains(said, _normalized(one)) or _alike(said, _normalized(one)) for one in gold)


def _contains(said: list[str], wanted: list[str]) -> bool:
    return bool(wanted) and any(said[at : at + len(wanted)] == wanted for at in range(len(said) - len(wanted) + 1))


def _alike(said: list[str], wanted: list[str]) -> bool:
    numbers = {word for word in wanted if _NUMBER.match(word) and not _YEAR.match(word)}
    return numbers <= set(said) and f1(" ".join(said), " ".join(wanted)) >= 0.6


def _normalized(text: str) -> list[str]:
    digits = re.sub(r"(\d)(?:st|nd|rd|th)\b", r"\1", text.lower()).replace("-", " ")
    return [str(SIMPLE_NUMBERS.get(word, word)) for word in normalized(digits)]


def _fitted(labelled: Sequence[Labelled]) -> Linear:
    values = Counter(id(row.asked) for row in labelled)
    weights = [
        (LOCOMO_WEIGHT if row.asked.register == "locomo" else 1.0) / max(3, values[id(row.asked)]) ** 0.5
        for row in labelled
    ]
    signs = dict.fromkeys(FIRMNESS.weights, 0)
    return logistic(labelled, [row.right for row in labelled], signs, weights)  # type: ignore[arg-type]


def chats(folder: Path, register: str) -> Iterator[Asked]:
    """Yield the questions of a register, each asked of a memory of its conversation."""
    for name in REGISTERS[register].split():
        turns = [
            evimem.Turn(
                row["id"], row.get("session", ""), row["speaker"], row["text"], datetime.fromisoformat(row["time"]),
                caption=row.get("caption"), role=row.get("role"),
            )
            for row in _lines(folder / f"{name}.turns.jsonl")
        ]  # fmt: skip
        questions = list(_lines(folder / f"{name}.questions.jsonl"))
        for row, view in zip(
            questions, views(turns, [(q["question"], q.get("asked_at")) for q in questions]), strict=True
        ):
            gold = () if row["answer"] is None else (row["answer"], *row.get("accept", ()))
            if view is not None:
                yield Asked(register, row["kind"], row["question"], gold, frozenset(row["evidence"]), view)


def locomo(path: Path) -> Iterator[Asked]:
    """Yield every second question of LoCoMo's development conversations."""
    for sample in read_locomo(path):
        questions = sample.questions[::2]
        last = max(turn.time for turn in sample.turns).isoformat()
        found = views(sample.turns, [(question.text, last) for question in questions])
        for question, view in zip(questions, found, strict=True):
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


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


if __name__ == "__main__":
    main()
