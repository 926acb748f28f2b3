"""Requests, prompts and own time of `iris` with a scripted model: `python -m benchmarks.model_calls [LOCOMO.json]`.

The scripted judge replies EXACT iff every gold turn of the question is shown, else PARTIAL. It never gives a query, so
the loop composes each one. Without a file, only the loop's own time at 10,000 turns of generated chat is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a second thread would only spin, which counts as processor time

import evimem
from evimem.embedding import count_tokens
from evimem.llm.quoting import escape
from evimem.loaders.locomo_format import read_locomo
from evimem.testing import ScriptedModel
from evimem.types.model import Complete, Reply

from .speed import QUESTIONS, chat

TURNS = 10_000
ROUNDS = 13
UNGATED = evimem.Budget(gate=False)
ADVERSARIAL = 5  # LoCoMo's category of questions that the conversation does not answer


class GoldJudge:
    """Judges by the gold turns of the current question, and measures the evidence that it is shown."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts
        self.gold: Sequence[str] = ()
        self.shown: list[int] = []
        self.whole: list[int] = []
        self.complete = False
        self.whole_view = False

    def __call__(self, request: Complete) -> str:
        evidence = request.prompt.partition("<evidence>")[2].partition("</evidence>")[0]
        if request.role == "answer":
            self.whole_view = bool(self.gold) and all(self._texts[turn] in evidence for turn in self.gold)
            self.shown.append(count_tokens(evidence))
            self.whole.append(count_tokens(request.system) + count_tokens(request.prompt))
            reply = {"steps": [], "answer": "something", "citations": [{"id": "e1", "quote": ""}]}
        else:
            self.complete = bool(self.gold) and all(self._texts[turn] in evidence for turn in self.gold)
            tier, confidence = ("exact", 0.95) if self.complete else ("partial", 0.45)
            gaps = [] if self.complete else [{"kind": "attribute", "about": "", "text": "not all of it is there"}]
            reply = {
                "tier": tier,
                "confidence": confidence,
                "requirements": [],
                "gaps": gaps,
                "next_query": "",
                "reason": "",
            }
        return json.dumps(reply)


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


def locomo(path: Path, *, gate: bool) -> None:
    """Print the requests and prompt sizes of every question of a LoCoMo file."""
    skipped: list[tuple[bool, bool]] = []
    requests: list[int] = []
    complete: list[bool] = []
    shown: list[int] = []
    whole: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        for number, sample in enumerate(read_locomo(path)):
            judge = GoldJudge({turn.id: escape(turn.text) for turn in sample.turns})
            with evimem.open(Path(folder) / f"{number}.evimem", llm=ScriptedModel(then=judge)) as memory:
                memory.extend(sample.turns, strict=True)
                for question in sample.questions:
                    judge.gold = question.evidence
                    judge.complete = judge.whole_view = False
                    answer = memory.ask(question.text, budget=evimem.Budget(gate=gate))
                    requests.append(answer.usage.requests)
                    complete.append(judge.complete or judge.whole_view)
                    if any(event.kind == "action" and event.action == "spare" for event in answer.trace):
                        skipped.append((judge.whole_view, question.category == ADVERSARIAL))
            shown += judge.shown
            whole += judge.whole
    print(f"{len(requests)} questions, {'gated by the offline judge' if gate else 'every check judged by the model'}")
    print(f"requests: mean {statistics.mean(requests):.2f}, most {max(requests)} (k+1 = 4)")
    print(f"all gold turns in view at the last check: {statistics.mean(complete):.3f}")
    if skipped:
        right = statistics.mean(whole for whole, _ in skipped)
        print(
            f"{len(skipped)} judge requests skipped by the gate "
            f"({sum(trap for _, trap in skipped)} of adversarial questions); "
            f"all gold turns in view in {right:.3f} of them"
        )
    print(f"tokens of evidence in the answer prompt: {spread(shown)}; of the whole prompt: {spread(whole)}")


def own_time() -> None:
    """Print the time of a question without the model: three iterations at 10,000 turns of generated chat.

    Compare processor times: unlike wall-clock times they hardly depend on other load.
    """
    model = TimedModel(then=GoldJudge({}))
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
    given = parser.parse_args()
    if given.locomo:
        for gate in (False, True):
            locomo(given.locomo, gate=gate)
    own_time()


if __name__ == "__main__":
    main()
