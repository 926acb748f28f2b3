"""Run LoCoMo: ingest each conversation into its own memory, then search for and ask every question."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import evimem

from ..doors.memory import Memory
from ..loaders.locomo_format import LocomoQuestion, LocomoSample
from ..types.budget import Budget
from ..types.trace import Acted, Judged
from .answer_f1 import ADVERSARIAL, official_f1

DEPTH = 20  # turns of each ranking that are scored


@dataclass(frozen=True, slots=True)
class IngestResult:
    """The ingestion of one conversation: counts and wall-clock seconds."""

    sample: str
    turns: int
    facts: int
    seconds: float


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """The result of one question. `ranked` holds the turns of a search for it, best first; `text` is the answer.

    `confidence` is the judge's last probability that the memory holds an answer, whatever was answered then, and
    `sufficient` that it has seen all the evidence; `complete` is whether all gold turns
    were shown. `checks` counts its verdicts; `quote` is the cited text, or the reason for abstaining.
    """

    sample: str
    number: int
    category: int
    gold: tuple[str, ...]
    ranked: tuple[str, ...]
    text: str | None
    abstained: bool
    confidence: float
    tier: str
    f1: float
    requests: int
    search_seconds: float
    ask_seconds: float
    question: str = ""
    wanted: str | None = None
    quote: str = ""
    sufficient: float = 0.0
    complete: bool = False
    checks: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """All results of one run. `wide` holds those of questions asked again with `DEPTH` turns per search path."""

    ingested: tuple[IngestResult, ...]
    asked: tuple[QuestionResult, ...]
    wide: tuple[QuestionResult, ...] = ()


Progress = Callable[[int], None]


def run_locomo(
    samples: Iterable[LocomoSample],
    *,
    llm: Any = None,
    loop: str = "iris",
    budget: Budget = Budget(),
    limit: int | None = None,
    wide: bool = False,
    progress: Progress = lambda count: None,
) -> Run:
    """Run samples in temporary memories; `limit` takes only the first questions of each.

    With `wide`, the answerable questions are asked a second time, with more evidence.
    """
    ingested: list[IngestResult] = []
    asked: list[QuestionResult] = []
    again: list[QuestionResult] = []
    with tempfile.TemporaryDirectory(prefix="evimem-locomo-") as folder:
        for number, sample in enumerate(samples):
            with evimem.open(Path(folder) / f"{number}.evimem", llm=llm) as memory:
                ingested.append(_ingest(memory, sample))
                for one in _ask_all(memory, sample, loop, budget, limit):
                    asked.append(one)
                    progress(1)
                if wide:
                    answerable = _answerable(sample, limit)
                    for one in _ask_all(memory, answerable, loop, replace(budget, k=DEPTH), None):
                        again.append(one)
                        progress(1)
    return Run(tuple(ingested), tuple(asked), tuple(again))


def question_count(samples: Iterable[LocomoSample], limit: int | None, *, wide: bool) -> int:
    """Return how many questions a run asks."""
    return sum(len(one.questions[:limit]) + (len(_answerable(one, limit).questions) if wide else 0) for one in samples)


def _answerable(sample: LocomoSample, limit: int | None) -> LocomoSample:
    questions = tuple(one for one in sample.questions[:limit] if one.category != ADVERSARIAL and one.evidence)
    return replace(sample, questions=questions)


def _ingest(memory: Memory, sample: LocomoSample) -> IngestResult:
    started = time.perf_counter()
    report = memory.extend(sample.turns, strict=True)
    return IngestResult(sample.id, report.added, report.facts, time.perf_counter() - started)


def _ask_all(
    memory: Memory, sample: LocomoSample, loop: str, budget: Budget, limit: int | None
) -> Iterator[QuestionResult]:
    for number, question in enumerate(sample.questions[:limit], start=1):
        yield _ask(memory, sample.id, number, question, loop, budget)


def _ask(
    memory: Memory, sample: str, number: int, question: LocomoQuestion, loop: str, budget: Budget
) -> QuestionResult:
    started = time.perf_counter()
    hits = memory.search(question.text, DEPTH)
    searched = time.perf_counter()
    answer = memory.ask(question.text, loop, budget=budget)
    ended = time.perf_counter()
    judged = [event for event in answer.trace if isinstance(event, Judged)]
    shown = [event.detail["turns"] for event in answer.trace if isinstance(event, Acted) and event.action == "show"]
    return QuestionResult(
        sample=sample,
        number=number,
        category=question.category,
        gold=question.evidence,
        ranked=tuple(hit.turn.id for hit in hits),
        text=answer.text,
        abstained=answer.abstained,
        confidence=judged[-1].probability if judged else 0.0,
        tier=answer.tier.value,
        f1=official_f1(answer.text, question.answer, question.category),
        requests=answer.usage.requests,
        search_seconds=searched - started,
        ask_seconds=ended - searched,
        question=question.text,
        wanted=question.answer,
        quote=" ... ".join(citation.quote for citation in answer.citations) or answer.reason or "",
        sufficient=judged[-1].confidence if judged else 0.0,
        complete=bool(shown) and set(question.evidence) <= set(shown[-1]),
        checks=len(judged),
        input_tokens=answer.usage.input_tokens,
        output_tokens=answer.usage.output_tokens,
        cost=answer.usage.cost,
    )
