"""The tables of a run over labelled chats, by register and by kind of question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from evimem.types.results import AnswerKind

from .cost_rows import cost_rows
from .estimates import estimate
from .result_file import Cell, ResultTable
from .retrieval_metrics import recall
from .right_answer import spelled
from .run_chats import DEPTH, ChatResult
from .selective import MEASURES, LabelledProbability, measured

_YES_NO = ("yes", "no")
_CLAIMS: tuple[AnswerKind, ...] = ("answer", "quote", "abstained")
_FOUND = ("", "n", "told", "R@10", "BM25", "cites gold", "quote holds", "first line", "ms")
_GIVEN = ("", "given", "right", "yes/no", "given untold", "refused untold", "refused told")
_CALIBRATED = ("", "n", "share that holds", "mean confidence", *MEASURES)
_FOUND_NOTE = (
    "told: questions with an answer; cites gold: of these, answers and quotations that cite a gold turn; quote holds: "
    "of their quotations, and first line: of these, in their first line; ms: processor time of asking",
)
_GIVEN_NOTE = ("given: answers, of the questions with an answer and of those without; right, yes/no: of answers",)
_Measure = Callable[[ChatResult], float]


def chat_tables(results: Sequence[ChatResult], dollars: float | None = None) -> tuple[ResultTable, ...]:
    """Return the tables of a run of at least one question; `dollars` is what its requests cost, if that is known."""
    registers = {name: [one for one in results if one.register == name] for name in _each(results, "register")}
    names = sorted({one.question.kind for one in results})
    kinds = {name: [one for one in results if one.question.kind == name] for name in names}
    tables = []
    for by, groups in (("register", {**registers, "all": results}), ("kind", {**kinds, "all": results})):
        of = "kind of question" if by == "kind" else by
        found, given = ([build(name, some) for name, some in groups.items()] for build in (_found, _given))
        tables += [
            ResultTable(f"evidence-by-{by}", f"Evidence, by {of}", _FOUND, tuple(found), _FOUND_NOTE),
            ResultTable(f"answers-by-{by}", f"Answers, by {of}", _GIVEN, tuple(given), _GIVEN_NOTE),
        ]
    claims = [_calibrated(kind, [one for one in results if one.kind == kind]) for kind in _CLAIMS]
    stated = tuple(filter(None, claims))
    shown = ("share that holds", *MEASURES)
    confidence = ResultTable("confidence", "Confidence, by what is claimed", _CALIBRATED, stated, (), shown)
    asked = any(one.requests or one.failed for one in results)
    cost = ResultTable("cost", "What it cost", ("", "value"), cost_rows(results, dollars))
    return (_overall(results), *tables, *([confidence] if stated else []), *([cost] if asked else []))


def _overall(results: Sequence[ChatResult]) -> ResultTable:
    (found, given) = (build("all", results) for build in (_found, _given))
    columns = dict(zip((*_FOUND, *_GIVEN), (*found, *given), strict=True))
    rows = [(name, columns[name]) for name in (*_FOUND[3:-1], *_GIVEN[1:]) if columns[name] is not None]
    if failed := sum(bool(one.failed) for one in results):
        rows.append(("questions that failed", failed))
    return ResultTable("overall", "Over all questions", ("", "all"), tuple(rows), (), ("all",))


def _each(results: Sequence[ChatResult], name: str) -> list[str]:
    return list(dict.fromkeys(getattr(one, name) for one in results))


def _found(name: str, results: Sequence[ChatResult]) -> tuple[Cell, ...]:
    told = [one for one in results if one.answerable]
    gold = [one for one in told if one.question.evidence]
    quoted = [one for one in told if one.kind == "quote"]
    rates = (
        _rate(gold, lambda one: recall(one.ranked, one.question.evidence, DEPTH)),
        _rate([one for one in gold if one.plain], lambda one: recall(one.plain, one.question.evidence, DEPTH)),
        _rate(told, lambda one: one.cites_gold),
        _rate(quoted, lambda one: one.cites_gold),
        _rate(quoted, lambda one: one.first_line),
    )
    return (name, len(results), len(told), *rates, 1000 * fmean(one.seconds for one in results))


def _given(name: str, results: Sequence[ChatResult]) -> tuple[Cell, ...]:
    told = [one for one in results if one.answerable]
    untold = [one for one in results if not one.answerable]
    given = [one for one in results if one.kind == "answer"]
    return (
        name,
        _rate(told if given else [], lambda one: one.kind == "answer"),
        _rate(given, lambda one: one.right),
        _rate([one for one in given if _is_yes_no(one.text)], lambda one: one.right),
        _rate(untold if given else [], lambda one: one.kind == "answer"),
        _rate(untold, lambda one: one.kind == "abstained"),
        _rate(told, lambda one: one.kind == "abstained"),
    )


def _calibrated(kind: str, results: Sequence[ChatResult]) -> tuple[Cell, ...] | None:
    stated = [
        LabelledProbability(one.chat, one.confidence, one.claim_holds) for one in results if one.confidence is not None
    ]
    if not stated:
        return None
    share = estimate(stated, lambda one: one.label, lambda one: one.conversation)
    return (kind, len(stated), share, fmean(one.probability for one in stated), *measured(stated))


def _rate(results: Sequence[ChatResult], measure: _Measure) -> Cell:
    return estimate(results, measure, lambda one: one.chat)


def _is_yes_no(text: str | None) -> bool:
    return bool(text) and not {*spelled(text or "").split()[:2]}.isdisjoint(_YES_NO)
