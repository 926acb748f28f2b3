"""Requests, prompts and own time of `iris` with a scripted model: `python -m benchmarks.model_calls [LOCOMO.json]`.

The scripted judge replies EXACT iff every gold turn of the question is shown, each requirement supported by them, else
PARTIAL. It never gives a query, so the loop composes each one. `--chats DIR` asks labelled chats in the same way.
Without either, only the loop's own time at 10,000 turns of generated chat is measured.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a second thread would only spin, which counts as processor time

import evimem
from evimem.loops import Iris
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete, Found, Judged, Reply

from .gold_model import Asked, Conversation, GoldJudge, conversations
from .recording import add_result, data_set, record
from .scoring.bootstrap import percentile
from .scoring.estimates import estimate
from .scoring.result_file import Cell, ResultTable
from .speed import QUESTIONS, chat

TRAPS = frozenset(("adversarial", "attribution_trap"))  # kinds of question about another person than the gold turns
TURNS = 10_000
ROUNDS = 13
ORDINALS = ("first", "second", "third")  # checks


@dataclass(frozen=True, slots=True)
class Row:
    """One question: its conversation, what kind it is of, what was asked of the model, and the answer."""

    conversation: str
    kind: str
    asked: tuple[Asked, ...]
    answer: evimem.Answer
    gold: frozenset[str]


class TimedModel(ScriptedModel):
    """A scripted model that measures its own wall-clock and processor time."""

    seconds = 0.0
    work = 0.0

    def complete(self, request: Complete) -> Reply:
        """Reply, and add up the time."""
        began, busy = time.perf_counter(), time.process_time()
        reply = super().complete(request)
        self.seconds += time.perf_counter() - began
        self.work += time.process_time() - busy
        return reply


def ask_all(
    conversations: Iterable[Conversation],
    loop: Iris,
    budget: evimem.Budget,
    *,
    counted: bool = False,
    traps: bool = False,
) -> Iterator[Row]:
    """Ask every question of each conversation in a memory of its own; with `traps`, the judge sees through them."""
    with tempfile.TemporaryDirectory() as folder:
        for number, one in enumerate(conversations):
            judge = GoldJudge(one.turns, counted=counted)
            with evimem.open(Path(folder) / f"{number}.evimem", llm=ScriptedModel(then=judge)) as memory:
                memory.extend(one.turns, strict=True)
                for asked in one.questions:
                    judge.begin(asked.gold)
                    judge.trap = traps and asked.kind in TRAPS
                    answer = memory.ask(asked.text, loop, budget=budget, asked_at=asked.asked_at, on_event=judge.hear)
                    yield Row(one.name, asked.kind, tuple(judge.asked), answer, frozenset(asked.gold))


def tables(runs: Mapping[str, Sequence[Row]]) -> list[ResultTable]:
    """Return requests and tokens by data set, gold in view by check and kind, and what each path found."""
    summary = {name: of_data_set(rows) for name, rows in runs.items()}
    named = next(iter(summary.values()))
    return [
        ResultTable(
            "requests",
            "Requests and tokens of `iris` with a scripted judge",
            ("", *runs),
            tuple((name, *(one[name] for one in summary.values())) for name in named),
        ),
        ResultTable(
            "checks",
            "All gold in view, by check and kind of question",
            ("by check", *ORDINALS, "requests", "questions"),
            tuple(row for name, rows in runs.items() for row in by_kind(name, rows)),
        ),
        ResultTable(
            "paths",
            "Gold turns of the new turns that a path brought",
            ("path", *(f"{name}, {what}" for name in runs for what in ("gold", "new"))),
            tuple(by_path(runs)),
        ),
    ]


def of_data_set(rows: Sequence[Row]) -> dict[str, Cell]:
    """Return the figures of a data set by name."""
    found: dict[str, Cell] = {"requests a question": mean(rows, requests), "most requests": max(map(requests, rows))}
    for role in ("judge", "answer"):
        found[f"input tokens a question: {role}"] = mean(rows, lambda row, role=role: sent(row, role))
    found["all"] = mean(rows, sent)
    found["all, p50"] = percentile([sent(row) for row in rows], 0.5)
    each = [(one.role, one.sent) for row in rows for one in row.asked]
    for role in ("judge", "answer"):
        found[f"tokens of a request, p95: {role}"] = percentile([many for of, many in each if of == role], 0.95)
    known = [row for row in rows if row.gold]
    for at, name in enumerate(ORDINALS, start=1):
        found[f"all gold in view by the {name} check"] = mean(known, lambda row, at=at: seen_by(row, at))
    judged = [event for row in rows for event in row.answer.trace if isinstance(event, Judged)]
    exact = [event for event in judged if event.tier is evimem.Tier.EXACT]
    lowered = sum(event.final_tier is not event.tier for event in exact)
    ended = sum(ends_lowered(row) for row in rows)
    found |= {"exact verdicts": len(exact), "of them lowered": lowered, "questions that end lowered": ended}
    return found | {"questions": len(rows)}


def ends_lowered(row: Row) -> bool:
    """Whether the last verdict is exact evidence that is not believed."""
    judged = [event for event in row.answer.trace if isinstance(event, Judged)]
    return bool(judged) and judged[-1].tier is evimem.Tier.EXACT and judged[-1].final_tier is not judged[-1].tier


def by_kind(name: str, rows: Sequence[Row]) -> Iterator[tuple[Cell, ...]]:
    """Yield, by kind of question, how often all gold turns are in view after each check."""
    known = [row for row in rows if row.gold]
    for kind in sorted({row.kind for row in known}):
        some = [row for row in known if row.kind == kind]
        seen = (mean(some, lambda row, at=at: seen_by(row, at)) for at in range(1, len(ORDINALS) + 1))
        yield (f"{name}, {kind}", *seen, mean(some, requests), len(some))


def by_path(runs: Mapping[str, Sequence[Row]]) -> Iterator[tuple[Cell, ...]]:
    """Yield how many turns each path brought in each iteration, and how many of them are gold."""
    counts = {(name, what): Counter[str]() for name in runs for what in ("gold", "new")}
    for name, rows in runs.items():
        brought = [(row.gold, event) for row in rows for event in row.answer.trace if isinstance(event, Found)]
        for gold, event in brought:
            path = f"iteration {event.iteration}, {event.path}"
            counts[name, "new"][path] += len(event.turns)
            counts[name, "gold"][path] += len(gold.intersection(event.turns))
    for path in sorted({path for count in counts.values() for path in count}):
        yield (path, *(count[path] for count in counts.values()))


def requests(row: Row) -> int:
    """Return how often the model was asked."""
    return row.answer.usage.requests


def sent(row: Row, role: str | None = None) -> int:
    """Return the tokens that were sent for a question, of one role or of all."""
    return sum(one.sent for one in row.asked if role in (None, one.role))


def seen_by(row: Row, check: int) -> bool:
    """Whether all gold turns were in view at one of the first checks."""
    return any(one.complete for one in [one for one in row.asked if one.role == "judge"][:check])


def mean(rows: Sequence[Row], measure: Callable[[Row], float]) -> Cell:
    """Return the mean of a measure with its interval over conversations."""
    return estimate(rows, measure, lambda row: row.conversation)


def _some(given: Iterable[Conversation], every: int) -> Iterator[Conversation]:
    """Yield conversations with every Nth question."""
    yield from (replace(one, questions=one.questions[::every]) for one in given)


def own_time() -> None:
    """Print the time of a question without the model: three iterations at 10,000 turns of generated chat.

    Compare processor times: unlike wall-clock times they hardly depend on other load.
    """
    model = TimedModel(then=GoldJudge(()))
    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem", llm=model) as memory:
        memory.extend(chat(TURNS, 22), strict=True)
        seconds, work = [], []
        for number in range(ROUNDS * len(QUESTIONS)):
            model.seconds = model.work = 0.0
            began, busy = time.perf_counter(), time.process_time()
            answer = memory.ask(f"{QUESTIONS[number % len(QUESTIONS)][:-1]} beside thing{number}?")
            seconds.append(time.perf_counter() - began - model.seconds)
            work.append(time.process_time() - busy - model.work)
            if answer.usage.requests != 4:
                raise SystemExit(f"expected three checks and an answer, got {answer.usage}")
    for name, values in (("time", seconds), ("processor time", work)):
        late = sorted(1000 * one for one in values[len(QUESTIONS) :])
        half, most = late[len(late) // 2], late[int(0.95 * len(late))]
        print(f"own {name} per question, three iterations, {TURNS} turns: p50 {half:.1f} ms, p95 {most:.1f} ms")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", nargs="?", type=data_set("locomo"))
    parser.add_argument("--chats", type=data_set("chats"), help="a folder of labelled chats")
    parser.add_argument("--counted", action="store_true", help="names are not mapped by the judge: counts decide")
    parser.add_argument("--traps", action="store_true", help="the judge says where gold turns are about another person")
    parser.add_argument("--without", nargs="*", default=[], help="parts of the loop to leave out")
    parser.add_argument("--tokens", type=int, default=evimem.Budget().tokens, help="tokens of evidence shown at most")
    add_result(parser)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask every Nth question (default: all)")
    given = parser.parse_args()
    loop, budget = Iris(without=given.without), evimem.Budget(tokens=given.tokens)
    paths = {"LoCoMo": given.locomo, "chats": given.chats}
    runs = {
        name: list(
            ask_all(_some(conversations(path), given.every), loop, budget, counted=given.counted, traps=given.traps)
        )
        for name, path in paths.items()
        if path is not None
    }
    if runs:
        record("model_calls", given, tables(runs), list(filter(None, paths.values())))
    else:
        own_time()


if __name__ == "__main__":
    main()
