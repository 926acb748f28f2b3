"""The figures of a run over labelled chats, by register and by kind of question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from ..calibration.curves import ece, reliability
from ..types.answer import AnswerKind
from .bootstrap import ConfidenceInterval, cluster_bootstrap
from .retrieval_metrics import recall
from .right_answer import spelled
from .run_chats import DEPTH, ChatResult

_YES_NO = ("yes", "no")
_CLAIMS: tuple[AnswerKind, ...] = ("answer", "quote", "abstained")


@dataclass(frozen=True, slots=True)
class Rate:
    """A mean over `count` questions, with its 95 % interval by a bootstrap over conversations."""

    value: float
    interval: ConfidenceInterval
    count: int


@dataclass(frozen=True, slots=True)
class ChatScores:
    """The figures of a group of questions; None for a mean of nothing.

    `recall` and `plain_recall` are R@10 of search and of BM25. Of the short answers, `right` is the share that is right
    and `right_yes_no` that of those to yes or no; `given` is the share of answerable questions that get a short answer,
    `false` that of unanswerable ones. `cites_gold` is the share of answerable questions whose answer or quotation cites
    a gold turn, `quote_holds` that of their quotations. `refused` and `wrongly_refused` are the shares of
    unanswerable and of answerable questions that are abstained from. `ece` is the expected calibration error of the
    confidence by kind of answer. `seconds` is the mean processor time of a question.
    """

    name: str
    questions: int
    answerable: int
    recall: Rate | None
    plain_recall: Rate | None
    right: Rate | None
    right_yes_no: Rate | None
    given: Rate | None
    false: Rate | None
    cites_gold: Rate | None
    quote_holds: Rate | None
    refused: Rate | None
    wrongly_refused: Rate | None
    ece: dict[str, float]
    seconds: float


@dataclass(frozen=True, slots=True)
class ChatSummary:
    """The figures by register, by kind of question, and over all."""

    registers: tuple[ChatScores, ...]
    kinds: tuple[ChatScores, ...]
    overall: ChatScores


def summarize_chats(results: Sequence[ChatResult]) -> ChatSummary:
    """Return the figures of a run of at least one question."""
    registers = dict.fromkeys(one.register for one in results)
    kinds = dict.fromkeys(one.question.kind for one in results)
    return ChatSummary(
        tuple(_scores(name, [one for one in results if one.register == name]) for name in registers),
        tuple(_scores(name, [one for one in results if one.question.kind == name]) for name in sorted(kinds)),
        _scores("all", results),
    )


def _scores(name: str, results: Sequence[ChatResult]) -> ChatScores:
    told = [one for one in results if one.answerable]
    untold = [one for one in results if not one.answerable]
    gold = [one for one in told if one.question.evidence]
    short = [one for one in results if one.kind == "answer"]
    claims = {kind: [one for one in results if one.kind == kind] for kind in _CLAIMS}
    return ChatScores(
        name=name,
        questions=len(results),
        answerable=len(told),
        recall=_rate(gold, lambda one: recall(one.ranked, one.question.evidence, DEPTH)),
        plain_recall=_rate(gold, lambda one: recall(one.plain, one.question.evidence, DEPTH)),
        right=_rate(short, lambda one: one.right),
        right_yes_no=_rate([one for one in short if _is_yes_no(one.text)], lambda one: one.right),
        given=_rate(told, lambda one: one.kind == "answer"),
        false=_rate(untold, lambda one: one.kind == "answer"),
        cites_gold=_rate(told, lambda one: one.cites_gold),
        quote_holds=_rate([one for one in told if one.kind == "quote"], lambda one: one.cites_gold),
        refused=_rate(untold, lambda one: one.kind == "abstained"),
        wrongly_refused=_rate(told, lambda one: one.kind == "abstained"),
        ece={kind: _ece(some) for kind, some in claims.items() if some},
        seconds=fmean(one.seconds for one in results),
    )


def _rate(results: Sequence[ChatResult], measure: Callable[[ChatResult], float]) -> Rate | None:
    if not results:
        return None
    chats = dict.fromkeys(one.chat for one in results)
    clusters = [[float(measure(one)) for one in results if one.chat == chat] for chat in chats]
    return Rate(fmean(value for cluster in clusters for value in cluster), cluster_bootstrap(clusters), len(results))


def _ece(results: Sequence[ChatResult]) -> float:
    return ece(reliability([one.confidence for one in results], [one.claim_holds for one in results]))


def _is_yes_no(text: str | None) -> bool:
    return bool(text) and not {*spelled(text or "").split()[:2]}.isdisjoint(_YES_NO)
