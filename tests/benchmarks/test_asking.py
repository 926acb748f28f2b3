"""Long runs: results in order, kept and resumed, within a sum, and no failure ends one."""

from dataclasses import dataclass
from threading import Barrier
from typing import Any

import pytest

from benchmarks.scoring.asking import Asker, Checkpoint
from benchmarks.scoring.spending import PaidModel, Spending
from evimem.errors import ImportFailed, ReplyError
from evimem.types.trace import Complete, Reply


@dataclass(frozen=True)
class Result:
    text: str
    failed: str = ""


def restored(kept: Any) -> Result:
    return Result(**kept)


def given_up(question: str, why: str) -> Result:
    return Result(question, why)


def each(asker: Asker, questions: str, ask: Any = Result) -> list[Result]:
    return asker.each([(one, one) for one in questions], ask, restored, given_up)


def test_questions_are_asked_at_the_same_time_and_come_in_their_order():
    together = Barrier(3, timeout=10)

    def ask(question: str) -> Result:
        together.wait()
        return Result(question)

    counted: list[int] = []
    assert [one.text for one in each(Asker(workers=3, progress=counted.append), "abc", ask)] == list("abc")
    assert sum(counted) == 3


def test_what_was_answered_is_not_asked_again_and_what_failed_is(tmp_path):
    path = tmp_path / "kept.jsonl"
    each(
        Asker(checkpoint=Checkpoint(path, {"loop": "iris"})), "ab", lambda q: Result(q, failed="no" if q == "b" else "")
    )
    asked: list[str] = []

    def ask(question: str) -> Result:
        asked.append(question)
        return Result(question)

    found = each(Asker(checkpoint=Checkpoint(path, {"loop": "iris"})), "abc", ask)
    assert ([one.text for one in found], asked) == (list("abc"), ["b", "c"])
    each(Asker(checkpoint=Checkpoint(path, {"loop": "memr3"})), "a", ask)
    assert asked == ["b", "c", "a"]  # results of other settings are not used


def test_a_line_that_a_kill_cut_is_left_out(tmp_path):
    path = tmp_path / "kept.jsonl"
    each(Asker(checkpoint=Checkpoint(path, {})), "ab")
    path.write_bytes(path.read_bytes()[:-7])
    found = Checkpoint(path, {})
    assert (found.get("a"), found.get("b")) == ({"text": "a", "failed": ""}, None)
    each(Asker(checkpoint=found), "ab")
    assert len(path.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "content", [b"my notes, without an end of line", b"one\ntwo", b"SQLite format 3\0\n" + bytes(99)]
)
def test_another_file_whose_last_line_has_no_end_stays_as_it_is(tmp_path, content):
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(ImportFailed):
        Checkpoint(path, {})
    assert path.read_bytes() == content


class Priced:
    """A model at half a dollar a request, of which the second reply cannot be read, and costs as much."""

    model, judge_model, concurrency = "m", None, 4

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, request: Complete) -> Reply:
        self.asked += 1
        reply = Reply("tea", cost=0.5)
        if self.asked == 2:
            raise ReplyError("answer", "no JSON", reply.text, reply)
        return reply


def test_what_is_left_is_not_asked_once_the_money_is_spent_by_failures_too(tmp_path):
    path = tmp_path / "kept.jsonl"

    def run(dollars: float) -> tuple[list[Result], int]:
        model, spending = Priced(), Spending(dollars)
        paid = PaidModel(model, spending)
        asker = Asker(checkpoint=Checkpoint(path, {}), spending=spending)
        return each(asker, "abcd", lambda q: Result(paid.complete(Complete("answer", "", q)).text)), model.asked

    found, asked = run(1.0)
    assert ([bool(one.failed) for one in found], asked) == ([False, True, True, True], 2)
    assert "1.00 of 1.00 dollars" in found[2].failed
    assert run(1.0)[1] == 0  # the next run goes on counting
    assert run(1.5)[1] == 1


def test_whatever_a_question_meets_ends_no_run():
    def ask(question: str) -> Result:
        return Result({"a": "tea", "c": "milk"}[question])

    assert [one.failed for one in each(Asker(), "abc", ask)] == ["", "KeyError: 'b'", ""]
