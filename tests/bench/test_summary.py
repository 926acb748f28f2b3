from dataclasses import replace

import pytest

from evimem.bench.run_locomo import IngestResult, QuestionResult, Run, question_count, run_locomo
from evimem.bench.summary import summarize
from evimem.calibration.curves import Point
from evimem.cli import plain_view
from evimem.cli.views.bench_view import answers_page, summary_page
from evimem.loaders.examples import load_example, load_questions
from evimem.loaders.locomo_format import LocomoQuestion, LocomoSample

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


def test_figures_are_means_over_the_questions_they_are_about():
    summary = summarize(Run((IngestResult("a", 100, 200, 0.5),), (ONE, TRAP, UNGROUNDED)))
    assert [(row.name, row.questions, row.with_gold) for row in summary.rows] == [
        ("open-domain", 1, 0),
        ("single-hop", 1, 1),
        ("adversarial", 1, 1),
    ]
    assert (summary.overall.recall_5, summary.overall.hit_10, summary.overall.all_10) == (0.75, 1, 0.5)
    assert summary.overall.f1 == 0.5
    assert summary.answerable.f1 == 0.25


def test_catching_traps_is_reported_with_what_it_costs():
    summary = summarize(Run((), (ONE, TRAP, replace(TRAP, abstained=False), UNGROUNDED)))
    assert (summary.caught, summary.false_abstentions) == (0.5, 0.5)


def test_a_category_without_evidence_has_no_recall_rather_than_zero():
    (row,) = summarize(Run((), (UNGROUNDED,))).rows
    assert row.recall_10 is None


def test_the_page_shows_every_category_and_the_price():
    shown = plain_view.text_of(summary_page(summarize(Run((IngestResult("a", 100, 200, 0.5),), (ONE, TRAP)))))
    for part in ("single-hop", "adversarial", "caught 100.0% at 0.0% false", "200 turns/s", "search  p50 2.0 ms"):
        assert part in shown


@pytest.fixture(scope="module")
def sample():
    questions = tuple(
        LocomoQuestion(one.text, one.answer, None if one.answer else "trap", one.evidence, 4 if one.answer else 5)
        for one in load_questions("friends")
    )
    return LocomoSample("friends", tuple(load_example("friends")), questions)


def test_a_run_searches_and_asks_every_question_of_a_sample(sample):
    counted = []
    run = run_locomo([sample, sample], limit=5, progress=counted.append)
    assert [one.turns for one in run.ingested] == [183, 183]
    assert [(one.sample, one.number) for one in run.asked] == [("friends", number) for number in range(1, 6)] * 2
    assert sum(counted) == 10
    assert all(len(set(one.ranked)) == 20 for one in run.asked)
    assert run.asked[0].f1 == 1.0


def test_nothing_of_the_conversations_is_left_behind(sample, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run_locomo([sample], limit=1)
    assert list(tmp_path.iterdir()) == []


def test_a_run_tells_what_was_seen_and_how_often_it_was_judged(sample):
    asked = run_locomo([sample], limit=8).asked
    assert all(1 <= one.checks <= 3 for one in asked)
    assert asked[0].complete
    assert asked[0].question == "When did Mira adopt her puppy?"
    assert asked[0].quote == "last Friday"
    assert 0 < asked[0].sufficient <= 1


def test_more_evidence_is_asked_for_where_there_is_an_answer(sample):
    run = run_locomo([sample], limit=75, wide=True)
    assert len(run.asked) == 75
    assert len(run.wide) == sum(one.category != 5 and bool(one.gold) for one in run.asked)
    assert question_count([sample], 75, wide=True) == len(run.asked) + len(run.wide)
    assert sum(one.complete for one in run.wide) >= sum(one.complete for one in run.asked if one.category != 5)


def test_the_probabilities_are_held_against_what_came_true():
    right = replace(ONE, complete=True, sufficient=0.9)
    wrong = replace(ONE, complete=False, sufficient=0.4, tier="partial")
    summary = summarize(Run((), (right, right, wrong, replace(TRAP, confidence=0.1))))
    assert summary.answering is not None
    assert (summary.answering.base, summary.answering.auroc) == (0.75, 1.0)
    assert summary.sufficiency is not None
    assert summary.sufficiency.questions == 3
    assert summary.sufficiency.marked == Point(0.0, pytest.approx(2 / 3), 0.0)
    assert summary.sufficiency.ece == pytest.approx((2 * 0.1 + 0.4) / 3)
    assert "Quality of the probabilities" in plain_view.text_of(summary_page(summary))


def test_where_all_questions_are_of_a_kind_a_probability_is_worth_nothing():
    assert summarize(Run((), (ONE, ONE))).answering is None


def test_answers_are_shown_as_they_came(sample):
    asked = run_locomo([sample], limit=30).asked
    shown = plain_view.text_of(answers_page(asked, 20))
    assert shown.count("? ") >= 20
    assert "20 answers, unedited" in shown
    assert plain_view.text_of(answers_page(asked[:3], 20)).count("wanted") == 3
