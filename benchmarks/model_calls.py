"""Requests, prompts and own time of `iris` with a scripted model: `python -m benchmarks.model_calls [LOCOMO.json]`.

The scripted judge replies EXACT iff every gold turn of the question is shown, each requirement supported by them, else
PARTIAL. It never gives a query, so the loop composes each one. `--chats DIR` asks labelled chats in the same way.
Without either, only the loop's own time at 10,000 turns of generated chat is measured.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a second thread would only spin, which counts as processor time

import evimem
from evimem.testing import ScriptedModel
from evimem.types.model import Complete, Reply
from evimem.types.trace import Found, Judged

from .gold_model import Asked, Conversation, GoldJudge, conversations
from .speed import QUESTIONS, chat

TRAPS = frozenset(("adversarial", "attribution_trap"))  # kinds of question about another person than the gold turns
TURNS = 10_000
ROUNDS = 13
UNGATED = evimem.Budget(gate=False)


@dataclass(frozen=True, slots=True)
class Row:
    """One question: what kind it is of, what was asked of the model, and the answer."""

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
    conversations: Iterable[Conversation], budget: evimem.Budget, *, counted: bool = False, traps: bool = False
) -> Iterator[Row]:
    """Ask every question of each conversation in a memory of its own; with `traps`, the judge sees through them."""
    with tempfile.TemporaryDirectory() as folder:
        for number, one in enumerate(conversations):
            judge = GoldJudge(one.turns, counted=counted)
            with evimem.open(Path(folder) / f"{number}.evimem", llm=ScriptedModel(then=judge)) as memory:
                memory.extend(one.turns, strict=True)
                for asked in one.questions:
                    judge.gold, judge.asked, judge.trap = asked.gold, [], traps and asked.kind in TRAPS
                    answer = memory.ask(asked.text, budget=budget, asked_at=asked.asked_at)
                    yield Row(asked.kind, tuple(judge.asked), answer, frozenset(asked.gold))


def report(rows: Sequence[Row]) -> None:
    """Print requests, tokens by role, gold in view by check and kind, downgrades, and what each path found."""
    requests = [row.answer.usage.requests for row in rows]
    print(f"{len(rows)} questions; requests: mean {statistics.mean(requests):.2f}, most {max(requests)}")
    print_tokens(rows)
    print_checks(rows)
    print_downgrades(rows)
    print_paths(rows)


def print_tokens(rows: Sequence[Row]) -> None:
    """Print the tokens of a question by role."""
    for role in ("judge", "answer"):
        sent = [sum(one.sent for one in row.asked if one.role == role) for row in rows]
        each = [one.sent for row in rows for one in row.asked if one.role == role]
        shown = [one.evidence for row in rows for one in row.asked if one.role == role]
        mean = statistics.mean(sent)
        print(f"  {role}: {mean:.0f} tokens a question; of a request {spread(each)}; evidence {spread(shown)}")
    whole = [sum(one.sent for one in row.asked) for row in rows]
    print(f"  all: {statistics.mean(whole):.0f} tokens a question, {spread(whole)}")


def print_checks(rows: Sequence[Row]) -> None:
    """Print, by kind of question, how often all gold turns are in view after each check, and in the answer's page."""
    kinds = sorted({row.kind for row in rows})
    for kind in [*kinds, "all"]:
        asked = [row for row in rows if row.gold and kind in (row.kind, "all")]
        if not asked:
            continue
        checks = [[one.complete for one in row.asked if one.role == "judge"] for row in asked]
        after = [sum(any(seen[:n]) for seen in checks) / len(asked) for n in (1, 2, 3)]
        answered = [row.asked[-1].complete for row in asked if row.asked[-1].role == "answer"]
        mean = statistics.mean(row.answer.usage.requests for row in asked)
        seen = ", ".join(f"{share:.3f}" for share in after)
        page = sum(answered) / max(1, len(answered))
        print(
            f"  {kind} ({len(asked)}): all gold in view by check {seen}; when answering {page:.3f}; {mean:.2f} requests"
        )


def print_downgrades(rows: Sequence[Row]) -> None:
    """Print how often evidence that is all there is not believed to be exact."""
    judged = [(event, row) for row in rows for event in row.answer.trace if isinstance(event, Judged)]
    exact = [(event, row) for event, row in judged if event.tier is evimem.Tier.EXACT]
    lowered = [(event, row) for event, row in exact if event.final_tier is not event.tier]
    print(f"  exact: {len(exact)}, of them downgraded: {len(lowered)} ({len(lowered) / max(1, len(exact)):.3f})")
    questions = {id(row): row for _, row in exact}
    last = {id(row): (event, row) for event, row in judged}
    ended = [
        (event, row) for event, row in last.values() if id(row) in questions and event.final_tier is not event.tier
    ]
    kinds = ", ".join(f"{kind} {count}" for kind, count in Counter(row.kind for _, row in ended).most_common())
    print(f"  questions that end downgraded: {len(ended)} of {len(questions)}: {kinds or 'none'}")
    for event, row in ended if os.environ.get("SHOW_DOWNGRADES") else ():
        print("   ", row.answer.trace.question, [gap.text for gap in event.gaps][:2])


def print_paths(rows: Sequence[Row]) -> None:
    """Print how many turns each path brought in each iteration, and how many of them are gold."""
    brought: Counter[tuple[int, str]] = Counter()
    gold: Counter[tuple[int, str]] = Counter()
    for row in rows:
        for event in row.answer.trace:
            if isinstance(event, Found):
                brought[event.iteration, event.path] += len(event.turns)
                gold[event.iteration, event.path] += len(row.gold.intersection(event.turns))
    for (iteration, path), count in sorted(brought.items()):
        print(f"  iteration {iteration}, {path}: {gold[iteration, path]} gold of {count} new turns")


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
            answer = memory.ask(f"{QUESTIONS[number % len(QUESTIONS)][:-1]} beside thing{number}?", budget=UNGATED)
            seconds.append(time.perf_counter() - began - model.seconds)
            work.append(time.process_time() - busy - model.work)
            if answer.usage.requests != 4:
                raise SystemExit(f"expected three checks and an answer, got {answer.usage}")
    for name, values in (("time", seconds), ("processor time", work)):
        late = sorted(1000 * one for one in values[len(QUESTIONS) :])
        half, most = late[len(late) // 2], late[int(0.95 * len(late))]
        print(f"own {name} per question, three iterations, {TURNS} turns: p50 {half:.1f} ms, p95 {most:.1f} ms")


def spread(values: Sequence[int]) -> str:
    """Return the median and the extremes."""
    ordered = sorted(values)
    return f"p50 {ordered[len(ordered) // 2]}, p95 {ordered[int(0.95 * len(ordered))]}, most {ordered[-1]}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", nargs="?", type=Path)
    parser.add_argument("--chats", type=Path, help="a folder of labelled chats")
    parser.add_argument("--counted", action="store_true", help="names are not mapped by the judge: counts decide")
    parser.add_argument("--traps", action="store_true", help="the judge says where gold turns are about another person")
    parser.add_argument("--without", nargs="*", default=[], help="parts of the loop to leave out")
    given = parser.parse_args()
    budget = evimem.Budget(gate=False, without=frozenset(given.without))
    if given.locomo:
        report(list(ask_all(conversations(given.locomo), budget, counted=given.counted, traps=given.traps)))
    if given.chats:
        report(list(ask_all(conversations(given.chats), budget, counted=given.counted, traps=given.traps)))
    if not given.locomo and not given.chats:
        own_time()


if __name__ == "__main__":
    main()
