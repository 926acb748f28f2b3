from dataclasses import replace

import pytest

from benchmarks.data_sets import LocomoQuestion, LocomoSample
from benchmarks.scoring.asking import Asker
from benchmarks.scoring.locomo_tables import locomo_tables
from benchmarks.scoring.run_locomo import QuestionResult, Run, question_count, run_locomo
from benchmarks.scoring.selective import answering, sufficiency
from evimem.calibration import Point
from evimem.loaders.examples import load_example, load_questions

ONE = QuestionResult(
    sample="a",
    number=1,
    category=4,
    gold=("t1", "t2"),
    ranked=("t9", "t1", "t3"),
    text="tea",
    abstained=False,
    confidence=0.9,
    tier="exact",
    f1=0.5,
    requests=0,
    search_seconds=0.002,
    ask_seconds=0.05,
)
TRAP = replace(ONE, category=5, text=None, abstained=True, f1=1.0, gold=("t9",))
UNGROUNDED = replace(ONE, category=3, gold=(), text=None, abstained=True, f1=0.0)


def cells(table, column="all"):
    return {row[0]: row[table.columns.index(column)] for row in table.rows}


def tables(*asked, ingested=()):
    return {one.name: one for one in locomo_tables(Run(ingested, asked))}


def test_figures_are_means_over_the_questions_they_are_about():
    found = tables(ONE, TRAP, UNGROUNDED)
    retrieval, answers = found["retrieval"], found["answers"]
    assert [cells(retrieval)[name].value for name in ("R@5", "Hit@10", "All@10")] == [0.75, 1, 0.5]
    assert cells(retrieval, "3 open-domain")["R@10"] is None  # without evidence it has no recall, rather than zero
    assert [cells(answers, name)["questions"] for name in answers.columns[1:]] == [3, 0, 0, 1, 1, 1, 2]
    assert [cells(answers, name)["official F1"].value for name in ("all", "1 to 4")] == [0.5, 0.25]
    assert cells(answers, "1 to 4")["official F1, where answered"].value == 0.5


@pytest.fixture(scope="module")
def sample():
    questions = tuple(
        LocomoQuestion(one.text, one.answer, None if one.answer else "trap", one.evidence, 4 if one.answer else 5)
        for one in load_questions("friends")
    )
    return LocomoSample("friends", tuple(load_example("friends")), questions)


def test_a_run_searches_and_asks_every_question_of_a_sample(sample):
    counted = []
    run = run_locomo([sample, sample], limit=5, asker=Asker(progress=counted.append))
    assert [one.turns for one in run.ingested] == [183, 183]
    assert [(one.sample, one.number) for one in run.asked] == [("friends", number) for number in range(1, 6)] * 2
    assert sum(counted) == 10
    assert all(len(set(one.ranked)) == 20 for one in run.asked)
    assert run.asked[0].ranked[:1] == run.asked[0].gold
    assert 0 < run.asked[0].f1 < 1, "a quotation has the words of the answer, and others"


def test_nothing_of_the_conversations_is_left_behind(sample, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run_locomo([sample], limit=1)
    assert list(tmp_path.iterdir()) == []


def test_more_evidence_is_asked_for_where_there_is_an_answer(sample):
    asked_in_vain = [one for one in sample.questions if one.category == 5]
    few = replace(sample, questions=(*sample.questions[50:56], *asked_in_vain[:4]))
    run = run_locomo([few], wide=True)
    assert len(run.asked) == 10
    assert len(run.wide) == sum(one.category != 5 and bool(one.gold) for one in run.asked) < 10
    assert question_count([few], None, wide=True) == len(run.asked) + len(run.wide)
    assert sum(one.complete for one in run.wide) >= sum(one.complete for one in run.asked if one.category != 5)


def test_the_probabilities_are_held_against_what_came_true():
    right = replace(ONE, complete=True, sufficient=0.9)
    wrong = replace(ONE, complete=False, sufficient=0.4, tier="partial")
    asked = (right, right, wrong, replace(TRAP, confidence=0.1))
    told, seen = answering(asked), sufficiency(asked)
    assert (told.base, told.auroc) == (0.75, 1.0)
    assert (seen.questions, seen.marked) == (3, Point(0.0, pytest.approx(2 / 3), 0.0))
    assert seen.ece == pytest.approx((2 * 0.1 + 0.4) / 3)
    assert len(tables(*asked)["probabilities"].rows) == 2
