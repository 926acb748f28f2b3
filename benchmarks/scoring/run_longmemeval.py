"""Run LongMemEval: a memory a question, searched for evidence and asked at the date of the question (L3)."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import evimem
from benchmarks.data_sets import LongMemEvalCase
from evimem.errors import ModelError
from evimem.types.values import Turn

from .answer_judge import UNMARKED, AnswerMark, added, longmemeval_rubric, mark_answer
from .asking import Approach, Asker
from .longmemeval_retrieval import Scores, scores, session_scores
from .right_answer import is_right

CUTS = (5, 10)
TURN_CUTS = (5, 10, 50)
_DEPTH = 200  # turns of both sides that are searched for, of which those of the user are ranked


@dataclass(frozen=True, slots=True)
class LongMemEvalResult:
    """The result of one question. `has_target` is whether any turn of the user is marked as evidence (L2).

    `sessions` and `turns` hold any, all and nDCG by cut-off. `agrees` is whether the answer agrees with the expected
    one by the rule of our chats, which is no judge of the benchmark; `correct` is a model's mark, where one was asked.
    """

    case: str
    kind: str
    answerable: bool
    has_target: bool
    sessions: dict[str, tuple[float, float, float]]
    turns: dict[str, tuple[float, float, float]]
    text: str | None
    abstained: bool
    agrees: bool
    ask_seconds: float
    cost: float | None = None
    failed: str = ""
    correct: bool | None = None
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


_UNASKED = LongMemEvalResult(
    case="",
    kind="",
    answerable=True,
    has_target=False,
    sessions={},
    turns={},
    text=None,
    abstained=False,
    agrees=False,
    ask_seconds=0.0,
)


def run_longmemeval(
    cases: Iterable[LongMemEvalCase], how: Approach = Approach(), asker: Asker | None = None
) -> list[LongMemEvalResult]:
    """Ask each question of a temporary memory of its own haystack; the cases are read one after another."""
    asker = asker or Asker()

    def ask(case: LongMemEvalCase) -> LongMemEvalResult:
        with tempfile.TemporaryDirectory(prefix="evimem-longmemeval-") as folder:
            return _ask(Path(folder), case, how)

    def give_up(case: LongMemEvalCase, why: str) -> LongMemEvalResult:
        return replace(_UNASKED, case=case.id, kind=case.kind, answerable=case.answerable, failed=why)

    # A few cases at a time: a haystack may have a million tokens, and all of them do not fit into memory.
    results: list[LongMemEvalResult] = []
    rest = iter(cases)
    while batch := list(islice(rest, asker.workers)):
        results += asker.each([(case.id, case) for case in batch], ask, _restored, give_up)
    return results


def _ask(folder: Path, case: LongMemEvalCase, how: Approach) -> LongMemEvalResult:
    failed, answer, mark = "", None, UNMARKED
    with evimem.open(folder / "case.evimem", llm=how.llm) as memory:
        memory.extend(case.turns, strict=True)
        hits = memory.search(case.question, _DEPTH, asked_at=case.asked_at)
        started = time.perf_counter()
        try:
            answer = memory.ask(case.question, how.loop, asked_at=case.asked_at, budget=how.budget)
            mark = _marked(how, case, answer.text)
        except ModelError as error:
            failed = str(error) or type(error).__name__
        seconds = time.perf_counter() - started
    corpus = UserTurns.of(case)
    ranking = corpus.places([hit.turn.id for hit in hits])
    return LongMemEvalResult(
        case=case.id,
        kind=case.kind,
        answerable=case.answerable,
        has_target=bool(corpus.gold),
        sessions={str(k): _plain(session_scores(ranking, corpus.gold, corpus.ids, k)) for k in CUTS},
        turns={str(k): _plain(scores(ranking, corpus.gold, corpus.ids, k)) for k in TURN_CUTS},
        text=answer.text if answer else None,
        abstained=answer.abstained if answer else False,
        agrees=bool(answer and answer.text and case.answerable and is_right(answer.text, (case.answer,))),
        ask_seconds=seconds,
        cost=added(answer.usage.cost if answer else None, mark.cost),
        failed=failed,
        correct=mark.correct,
        requests=answer.usage.requests if answer else 0,
        input_tokens=answer.usage.input_tokens if answer else 0,
        output_tokens=answer.usage.output_tokens if answer else 0,
    )


def _marked(how: Approach, case: LongMemEvalCase, text: str | None) -> AnswerMark:
    if not how.rubric:
        return UNMARKED
    if text is None:
        return AnswerMark(not case.answerable)
    rubric = longmemeval_rubric(case.kind, answerable=case.answerable)
    return mark_answer(how.marks, rubric, case.question, case.answer, text)


@dataclass(frozen=True, slots=True)
class UserTurns:
    """The corpus of the benchmark's retrieval: turns of the user only.

    As in its code, a turn of an evidence session that is no evidence itself counts as of another session.
    """

    ids: tuple[str, ...]
    gold: frozenset[str]
    turn_ids: tuple[str, ...]

    @classmethod
    def of(cls, case: LongMemEvalCase) -> UserTurns:
        """Return the corpus of a case."""
        said = [turn for turn in case.turns if turn.role == "user"]
        marked = frozenset(case.evidence)
        sessions = {turn.session for turn in said if turn.id in marked}
        ids = tuple(_benchmark_id(turn, marked, sessions) for turn in said)
        gold = frozenset(id_ for id_, turn in zip(ids, said, strict=True) if turn.id in marked)
        return cls(ids, gold, tuple(turn.id for turn in said))

    def places(self, ranked: Sequence[str]) -> list[int]:
        """Return the places of ranked turns in the corpus, then those of the turns that were not found."""
        place = {turn_id: number for number, turn_id in enumerate(self.turn_ids)}
        found = [place[turn_id] for turn_id in ranked if turn_id in place]
        return list(dict.fromkeys((*found, *range(len(self.ids)))))


def _benchmark_id(turn: Turn, marked: frozenset[str], sessions: set[str]) -> str:
    number = turn.id.rpartition(":")[2]
    other = turn.session in sessions and turn.id not in marked
    return f"other-{turn.session}_{number}" if other else f"{turn.session}_{number}"


def _plain(found: Scores) -> tuple[float, float, float]:
    return (found.any, found.all, found.ndcg)


def _restored(kept: Any) -> LongMemEvalResult:
    cuts = {name: {k: tuple(three) for k, three in kept[name].items()} for name in ("sessions", "turns")}
    return LongMemEvalResult(**{**kept, **cuts})
