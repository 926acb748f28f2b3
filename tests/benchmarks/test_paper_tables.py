"""The papers' tables: what each is made of, by hand, and that one run over a conversation makes all of them."""

from dataclasses import replace

import pytest

from benchmarks.paper_tables import TABLES, Requeried, _approach, _needed, requeries, run_sample, table, tiers
from benchmarks.scoring.run_locomo import QuestionResult
from evimem.loaders.data_sets import LocomoQuestion, LocomoSample
from evimem.loaders.examples import load_example

ONE = QuestionResult(
    sample="a",
    number=1,
    category=4,
    gold=("t1",),
    ranked=("t1",),
    text="tea",
    abstained=False,
    confidence=0.9,
    tier="exact",
    f1=1.0,
    requests=0,
    search_seconds=0.01,
    ask_seconds=0.06,
    tiers=("partial", "exact"),
    covered=(False, True),
    stages=(0.01, 0.03, 0.02),
)
BEES = LocomoQuestion("Which books has Tomas read about bees?", "none", None, ("D1:3",), 4)


def values(row: tuple[object, ...]) -> list[object]:
    return [getattr(cell, "value", cell) for cell in row[1:]]


def test_tiers_are_held_against_what_was_shown_at_each_check():
    unseen = replace(ONE, tiers=("inferrable",), covered=(False,))
    missed = replace(ONE, tiers=("partial",), covered=(True,))
    rows = {row[0]: values(row) for row in tiers({"full": [ONE, unseen, missed]}, ())}
    # 4 checks: two agree; 1 of 2 called sufficient were, and 1 of 2 that were; the one EXACT was, 1 of 2 got it
    assert rows["full, all"] == [4, 0.5, 0.5, 0.5, 1.0, 0.5]
    assert rows["full, 4 single-hop"] == rows["full, all"]
    assert rows["full, 5 adversarial"] == [0, None, None, None, None, None]


def test_each_way_to_ask_again_is_scored_by_iteration():
    found = Requeried("a", "for what is missing", 2, ("t9", "t1"), ("t1",))
    missed = replace(found, way="the question again", ranked=("t9",))
    rows = {row[0]: values(row) for row in requeries({}, [found, replace(found, ranked=("t1",)), missed])}
    assert rows["for what is missing, iteration 2"][:4] == [2, 1.0, 1.0, 1.0]
    assert rows["the question again, iteration 2"] == [1, 0, 0, 0, 0, 0, 0]


def test_one_run_makes_every_table_and_says_that_no_model_was_asked():
    sample = LocomoSample("friends", tuple(load_example("friends"))[:40], (BEES,))
    rows = {name: _approach(name, None, ["strict"]) for name in _needed(TABLES.values())}
    run = run_sample(sample, rows=rows, every=1, again=True)
    made = [table(name, one, "deterministic", run.asked, run.again) for name, one in TABLES.items()]
    assert [one.name for one in made if not one.rows] == []
    assert all("(deterministic)" in one.title and one.columns[0] == "deterministic" for one in made)
    further = table("1", TABLES["1"], "deterministic", run.asked, (), further={"BERTScore": lambda one: 1.0})
    assert {f"{row}: BERTScore" for row in TABLES["1"].rows} <= {row[0] for row in further.rows}
    assert all(set(one.intervals) <= set(one.columns) and one.intervals for one in made)
    assert all(len(row) == len(one.columns) for one in made for row in one.rows)
    assert {one.way for one in run.again if one.iteration == 1} == {"for what is missing", "the question again"}
    reached = max(one.iteration for one in run.again)
    assert reached == max(len(one.tiers) for one in run.asked["full"]) > 1
    assert all(len(one.tiers) == len(one.covered) == one.checks for some in run.asked.values() for one in some)
    assert all(sum(one.stages) == pytest.approx(one.ask_seconds) for some in run.asked.values() for one in some)


KEYS = LocomoQuestion("Where are the keys of Kestrel?", "on the hook", None, ("D1:3",), 4)
SAID = ("Kestrel? All paid, so no worries there.", "Lovely weather.", "Keys for Kestrel on the hook, as agreed.")
