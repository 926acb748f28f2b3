"""Run LoCoMo: ingest each conversation into its own memory, then search for and ask every question."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import evimem

from ..doors.memory import Memory
from ..errors import ModelError
from ..loaders.locomo_format import LocomoQuestion, LocomoSample
from ..types.trace import Acted, Judged
from .answer_f1 import ADVERSARIAL, official_f1
from .answer_judge import UNMARKED, AnswerMark, added, mark_answer
from .asking import Approach, Asker

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
    `sufficient` that it has seen all the evidence; `complete` is whether all gold turns were shown. `checks` counts its
    verdicts; `quote` is the cited text, or the reason for abstaining. `failed` is why the model gave no answer, empty
    if it did; `correct` is a judge's mark, where one was asked: where there is no answer, an abstention alone is
    correct, unasked.
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
    failed: str = ""
    correct: bool | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """All results of one run. `wide` holds those of questions asked again with `DEPTH` turns per search path."""

    ingested: tuple[IngestResult, ...]
    asked: tuple[QuestionResult, ...]
    wide: tuple[QuestionResult, ...] = ()


def run_locomo(
    samples: Iterable[LocomoSample],
    how: Approach = Approach(),
    *,
    limit: int | None = None,
    wide: bool = False,
    asker: Asker | None = None,
) -> Run:
    """Run samples in temporary memories; `limit` takes only the first questions of each.

    With `wide`, the answerable questions are asked a second time, with more evidence. A question that the model fails
    is a result that says so.
    """
    asker = asker or Asker()
    more = replace(how, budget=replace(how.budget, k=DEPTH))
    ingested: list[IngestResult] = []
    asked: list[QuestionResult] = []
    again: list[QuestionResult] = []
    with tempfile.TemporaryDirectory(prefix="evimem-locomo-") as folder:
        for number, sample in enumerate(samples):
            with evimem.open(Path(folder) / f"{number}.evimem", llm=how.llm) as memory:
                ingested.append(_ingest(memory, sample))
                if how.enrich:
                    memory.enrich()
                asked += _ask_all(memory, replace(sample, questions=sample.questions[:limit]), how, asker)
                if wide:
                    again += _ask_all(memory, _answerable(sample, limit), more, asker)
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


def _ask_all(memory: Memory, sample: LocomoSample, how: Approach, asker: Asker) -> list[QuestionResult]:
    def ask(one: tuple[int, LocomoQuestion]) -> QuestionResult:
        return _ask(memory, sample.id, *one, how)

    def give_up(one: tuple[int, LocomoQuestion], why: str) -> QuestionResult:
        return _unanswered(sample.id, *one, why)

    keyed = ((f"{sample.id} {how.budget.k} {n}", (n, one)) for n, one in enumerate(sample.questions, start=1))
    return asker.each(keyed, ask, _restored, give_up)


def _ask(memory: Memory, sample: str, number: int, question: LocomoQuestion, how: Approach) -> QuestionResult:
    started = time.perf_counter()
    hits = memory.search(question.text, DEPTH)
    searched = time.perf_counter()
    base = replace(
        _unanswered(sample, number, question, ""),
        ranked=tuple(hit.turn.id for hit in hits),
        search_seconds=searched - started,
    )
    try:
        answer = memory.ask(question.text, how.loop, budget=how.budget)
        mark = _marked(how, question, answer.text)
    except ModelError as error:
        return replace(base, failed=str(error) or type(error).__name__)
    ended = time.perf_counter()
    judged = [event for event in answer.trace if isinstance(event, Judged)]
    shown = [event.detail["turns"] for event in answer.trace if isinstance(event, Acted) and event.action == "show"]
    return replace(
        base,
        text=answer.text,
        abstained=answer.abstained,
        confidence=judged[-1].own_probability if judged else 0.0,
        tier=answer.tier.value,
        f1=official_f1(answer.text, question.answer, question.category),
        requests=answer.usage.requests,
        ask_seconds=ended - searched,
        quote=" ... ".join(citation.quote for citation in answer.citations) or answer.reason or "",
        sufficient=judged[-1].confidence if judged else 0.0,
        complete=bool(shown) and set(question.evidence) <= set(shown[-1]),
        checks=len(judged),
        input_tokens=answer.usage.input_tokens,
        output_tokens=answer.usage.output_tokens,
        cost=added(answer.usage.cost, mark.cost),
        correct=mark.correct,
    )


def _marked(how: Approach, question: LocomoQuestion, text: str | None) -> AnswerMark:
    if not how.rubric:
        return UNMARKED
    if question.answer is None or text is None:
        return AnswerMark(question.answer is None and text is None)
    return mark_answer(how.llm, how.rubric, question.text, question.answer, text)


def _unanswered(sample: str, number: int, question: LocomoQuestion, why: str) -> QuestionResult:
    """Return the result of a question that has no answer, which counts as a wrong one, not as an abstention."""
    return QuestionResult(
        sample=sample,
        number=number,
        category=question.category,
        gold=question.evidence,
        ranked=(),
        text=None,
        abstained=False,
        confidence=0.0,
        tier="none",
        f1=0.0,
        requests=0,
        search_seconds=0.0,
        ask_seconds=0.0,
        question=question.text,
        wanted=question.answer,
        failed=why,
    )


def _restored(kept: Any) -> QuestionResult:
    return QuestionResult(**{**kept, "gold": tuple(kept["gold"]), "ranked": tuple(kept["ranked"])})
