"""Run LoCoMo: ingest each conversation into its own memory, then search for and ask every question."""

from __future__ import annotations

import hashlib
import re
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import evimem
from benchmarks.data_sets import LocomoQuestion, LocomoSample
from evimem.api.memory import Memory
from evimem.errors import ModelError
from evimem.text.terms import terms
from evimem.types.results import Answer
from evimem.types.trace import Acted, Event, Judged, Queried

from ..span import read_spans
from .answer_f1 import ADVERSARIAL, official_f1
from .answer_judge import UNMARKED, AnswerMark, added, mark_answer
from .asking import Approach, Asker
from .g_eval import HIGHEST, LOWEST, Grade, grade_answer
from .mailbox import Mailbox
from .model_facts import FactsRead, read_facts
from .processes import mapped
from .stages import Stages

_WORD, _SYMBOL = re.compile(r"\w+"), re.compile(r"[^\w\s]")
DEPTH = 20  # turns of each ranking that are scored


@dataclass(frozen=True, slots=True)
class IngestResult:
    """The ingestion of one conversation: counts and seconds of a processor, and the facts that a model read besides.

    `kept` is whether an earlier run had ingested it: then the seconds are of finding that out.
    """

    sample: str
    turns: int
    facts: int
    seconds: float
    kept: bool = False
    read: FactsRead = field(default_factory=FactsRead)


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """The result of one question. `ranked` holds the turns of a search for it, best first; `text` is the answer.

    `confidence` is the judge's last probability that the memory holds an answer, whatever was answered then, and
    `sufficient` that it has seen all the evidence; `complete` is whether all gold turns were shown. `checks` counts its
    verdicts; `quote` is the cited text, or the reason for abstaining. `failed` is why the model gave no answer, empty
    if it did; `correct` is a judge's mark, where one was asked: where there is no answer, an abstention alone is
    correct, unasked. `grade` is G-Eval's, from 1 to 5, and `weighted` whether probabilities made it; unasked it is 5
    for that abstention, and 1 for any other and for an answer where there is none. `second` is another judge's mark.

    `tiers` and `confidences` hold what each check says after the clamps, `covered` whether all gold turns were
    shown to it, `inferrable` whether at least the words of the answer stand in what was shown, and `refined` the
    query of each further iteration, empty where it had none. `search_seconds`, `ask_seconds` and the `stages` of
    the latter (searching, judging, answering) are processor time, of asking with the wait for the model, so that
    other work on the machine hardly moves them. `context` is the length of what the answer is written from, in
    tokens.
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
    grade: float | None = None
    weighted: bool = False
    tiers: tuple[str, ...] = ()
    covered: tuple[bool, ...] = ()
    refined: tuple[str, ...] = ()
    stages: tuple[float, ...] = ()
    confidences: tuple[float, ...] = ()
    second: bool | None = None
    context: float = 0.0
    inferrable: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """All results of one run. `wide` has those of questions asked again, unranked, with `DEPTH` turns a search path.

    `dollars` is what its requests cost, those that failed or extracted facts included; None where no price is known.
    """

    ingested: tuple[IngestResult, ...]
    asked: tuple[QuestionResult, ...]
    wide: tuple[QuestionResult, ...] = ()
    dollars: float | None = None


def run_locomo(
    samples: Iterable[LocomoSample],
    how: Approach = Approach(),
    *,
    limit: int | None = None,
    wide: bool = False,
    asker: Asker | None = None,
    processes: int = 1,
) -> Run:
    """Run samples in temporary memories; `limit` takes only the first questions of each.

    With `wide`, the answerable questions are asked a second time, with more evidence. A question that the model fails
    is a result that says so. With several `processes`, as many samples run at a time, and `asker` only hears of each
    sample that ended: a model's connections and a checkpoint are of one process.
    """
    some, asker = list(samples), asker or Asker()
    apart = min(processes, len(some)) > 1
    runs = mapped(
        partial(_run, how=how, limit=limit, wide=wide, asker=None if apart else asker),
        some,
        processes,
        lambda ran: asker.report(len(ran.asked) + len(ran.wide)) if apart else None,
    )
    ingests, asked, again = (
        [one for run in runs for one in getattr(run, name)] for name in ("ingested", "asked", "wide")
    )
    return Run(tuple(ingests), tuple(asked), tuple(again), asker.dollars)


def _run(sample: LocomoSample, how: Approach, limit: int | None, asker: Asker | None, *, wide: bool) -> Run:
    asker = asker or Asker()
    more = replace(how, budget=replace(how.budget, k=DEPTH))
    with ingested(sample, how, asker) as (memory, report):
        some = replace(sample, questions=sample.questions[:limit])
        barred = report.read.barred
        asked = ask_all(memory, some, how, asker, barred=barred)
        again = ask_all(memory, _answerable(sample, limit), more, asker, ranked=False, barred=barred) if wide else []
    return Run((report,), tuple(asked), tuple(again))


@contextmanager
def ingested(sample: LocomoSample, how: Approach, asker: Asker) -> Iterator[tuple[Memory, IngestResult]]:
    """Open a memory of a conversation, whose facts the model has extracted if the approach says so.

    It is temporary, but for facts that an endpoint was paid for: with a checkpoint they are extracted once.
    """
    with ExitStack() as stack:
        if how.enrich and asker.checkpoint and not isinstance(how.llm, Mailbox):
            folder = asker.checkpoint.memories
            folder.mkdir(parents=True, exist_ok=True)
        else:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evimem-locomo-")))
        of = sample.id if how.embedder is None else f"{sample.id} {how.embedder.name}"
        name = hashlib.sha256(of.encode()).hexdigest()[:16]
        memory = stack.enter_context(evimem.open(folder / f"{name}.evimem", llm=how.llm, embedder=how.embedder))
        if how.spans:
            read_spans(memory)
        report = _ingest(memory, sample)
        if how.enrich:
            read = read_facts(memory, how.llm)
            report = replace(report, read=read, facts=memory.stats().facts)
        yield memory, report


def question_count(samples: Iterable[LocomoSample], limit: int | None, *, wide: bool) -> int:
    """Return how many questions a run asks."""
    return sum(len(one.questions[:limit]) + (len(_answerable(one, limit).questions) if wide else 0) for one in samples)


def _answerable(sample: LocomoSample, limit: int | None) -> LocomoSample:
    questions = tuple(one for one in sample.questions[:limit] if one.category != ADVERSARIAL and one.evidence)
    return replace(sample, questions=questions)


def _ingest(memory: Memory, sample: LocomoSample) -> IngestResult:
    started = time.thread_time()
    report = memory.extend(sample.turns, strict=True)
    facts = memory.stats().facts  # reads them
    taken = time.thread_time() - started
    return IngestResult(sample.id, len(sample.turns), facts, taken, kept=not report.added)


def ask_all(
    memory: Memory,
    sample: LocomoSample,
    how: Approach,
    asker: Asker,
    name: str = "",
    *,
    ranked: bool = True,
    barred: str = "",
) -> list[QuestionResult]:
    """Ask every question of a sample; a checkpoint keeps its results by the name of the approach.

    Unless they are `ranked`, there is no search for the question beside what asking searches for. What is `barred` is
    searched for only, and fails with that reason.
    """

    def ask(one: tuple[int, LocomoQuestion]) -> QuestionResult:
        searched = _searched(memory, sample.id, *one, ranked=ranked)
        return replace(searched, failed=barred) if barred else _ask(memory, searched, one[1], how)

    def give_up(one: tuple[int, LocomoQuestion], why: str) -> QuestionResult:
        return _unanswered(sample.id, *one, why)

    keyed = ((f"{sample.id} {name or how.budget.k} {n}", (n, one)) for n, one in enumerate(sample.questions, start=1))
    return asker.each(keyed, ask, _restored, give_up)


def _searched(memory: Memory, sample: str, number: int, question: LocomoQuestion, *, ranked: bool) -> QuestionResult:
    """Return what is known of a question before it is asked."""
    base = _unanswered(sample, number, question, "")
    if not ranked:
        return base
    started = time.thread_time()
    hits = memory.search(question.text, DEPTH)
    taken = time.thread_time() - started
    return replace(base, ranked=tuple(hit.turn.id for hit in hits), search_seconds=taken)


def _ask(memory: Memory, base: QuestionResult, question: LocomoQuestion, how: Approach) -> QuestionResult:
    stages = Stages()
    try:
        answer = memory.ask(question.text, how.loop, budget=how.budget, on_event=stages.hear)
        taken = stages.ended()
        mark, grade = _marked(how, how.marks, question, answer.text), _graded(how, question, answer.text)
        second = _marked(how, how.second, question, answer.text)
    except ModelError as error:
        return replace(base, failed=str(error) or type(error).__name__)
    judged = [event for event in answer.trace if isinstance(event, Judged)]
    covered = list(_covered(answer, question))
    return replace(
        base,
        text=answer.text,
        abstained=answer.abstained,
        confidence=judged[-1].own_probability if judged else 0.0,
        tier=answer.tier.value,
        f1=official_f1(answer.text, question.answer, question.category),
        requests=answer.usage.requests,
        ask_seconds=sum(taken),
        quote=" ... ".join(citation.quote for citation in answer.citations) or answer.reason or "",
        sufficient=judged[-1].confidence if judged else 0.0,
        complete=bool(covered) and covered[-1][1],
        checks=len(judged),
        input_tokens=answer.usage.input_tokens,
        output_tokens=answer.usage.output_tokens,
        cost=added(added(added(answer.usage.cost, mark.cost), second.cost), grade.cost if grade else None),
        correct=mark.correct,
        second=second.correct,
        grade=grade.value if grade else None,
        weighted=bool(grade and grade.weighted),
        tiers=tuple(event.final_tier.value for event in judged),
        confidences=tuple(event.final_confidence for event in judged),
        covered=tuple(whole for event, whole in covered if isinstance(event, Judged)),
        inferrable=tuple(_inferrable(answer, question, memory)),
        refined=_refined(answer),
        stages=taken,
        context=_context(answer, memory),
    )


def _context(answer: Answer, memory: Memory) -> float:
    """Return the tokens of the turns that the answer is written from, as MGRetrieval's paper estimates them.

    A word counts 1.1, any other character but a space .35.
    """
    shown = [event for event in answer.trace if isinstance(event, Acted) and event.action == "show"]
    texts = [memory.turn(turn_id).text for turn_id in shown[-1].detail["turns"]] if shown else []
    return sum(1.1 * len(_WORD.findall(text)) + 0.35 * len(_SYMBOL.findall(text)) for text in texts)


def _covered(answer: Answer, question: LocomoQuestion) -> Iterator[tuple[Event, bool]]:
    """Yield each view of the evidence and each verdict, with whether the view shows all gold turns."""
    whole = False
    for event in answer.trace:
        if isinstance(event, Acted) and event.action == "show":
            whole = set(question.evidence) <= set(event.detail["turns"])
            yield event, whole
        elif isinstance(event, Judged):
            yield event, whole


def _inferrable(answer: Answer, question: LocomoQuestion, memory: Memory) -> Iterator[bool]:
    """Yield, for each verdict, whether every word of the answer stands in the shown turns or the question."""
    wanted = set(terms(question.answer or "")) - set(terms(question.text))
    there = False
    for event in answer.trace:
        if isinstance(event, Acted) and event.action == "show":
            shown = {term for turn_id in event.detail["turns"] for term in terms(memory.turn(turn_id).text)}
            there = bool(wanted) and wanted <= shown
        elif isinstance(event, Judged):
            yield there


def _refined(answer: Answer) -> tuple[str, ...]:
    """Return the refined query of each iteration from the second on; empty where it searched for the question alone."""
    made = {event.iteration: event for event in answer.trace if isinstance(event, Queried) and event.path == "refined"}
    last = max((event.iteration for event in answer.trace if isinstance(event, Judged)), default=0)
    return tuple(made[number].query if number in made else "" for number in range(2, last + 1))


def _marked(how: Approach, judge: Any, question: LocomoQuestion, text: str | None) -> AnswerMark:
    if not how.rubric or judge is None:
        return UNMARKED
    if question.answer is None or text is None:
        return AnswerMark(question.answer is None and text is None)
    return mark_answer(judge, how.rubric, question.text, question.answer, text)


def _graded(how: Approach, question: LocomoQuestion, text: str | None) -> Grade | None:
    if not how.grade:
        return None
    if question.answer is None or text is None:
        return Grade(float(HIGHEST if question.answer is None and text is None else LOWEST), weighted=False)
    return grade_answer(how.marks, question.text, question.answer, text)


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
    found: Any = {name: tuple(value) if isinstance(value, list) else value for name, value in kept.items()}
    return QuestionResult(**found)
