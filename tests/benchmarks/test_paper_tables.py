"""The papers' tables: what each is made of, by hand, and that one run over a conversation makes all of them."""

from dataclasses import replace

import pytest

import evimem
from benchmarks.data_sets import LocomoQuestion, LocomoSample
from benchmarks.endpoints import read_endpoints
from benchmarks.paper_tables import (
    TABLES,
    Requeried,
    _approach,
    _by_memory,
    _needed,
    _swapped,
    asked_again,
    repeated,
    requeries,
    run_sample,
    table,
    tiers,
)
from benchmarks.scoring.robustness import by_judge, robustness
from benchmarks.scoring.run_locomo import QuestionResult
from benchmarks.scoring.sufficiency import failures, pr_auc, reliability, spearman
from evimem import ModelTimeout
from evimem.loaders.examples import load_example
from evimem.loops import VARIANTS
from evimem.testing import ScriptedModel

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
    inferrable=(False, False),
    stages=(0.01, 0.03, 0.02),
)
BEES = LocomoQuestion("Which books has Bartholomew read about bees?", "none", None, ("D1:3",), 4)


def values(row: tuple[object, ...]) -> list[object]:
    return [getattr(cell, "value", cell) for cell in row[1:]]


def test_tiers_are_held_against_what_was_shown_at_each_check():
    unseen = replace(ONE, tiers=("inferrable",), covered=(False,), inferrable=(True,))
    missed = replace(ONE, tiers=("partial",), covered=(True,), inferrable=(False,))
    rows = {row[0]: values(row) for row in tiers({"full": [ONE, unseen, missed]}, ())}
    # 4 checks: two agree; 1 of 2 called sufficient were, and 1 of 2 that were; the one EXACT was, 1 of 2 got it
    assert rows["full, all"] == [4, 0.5, 0.5, 0.5, 1.0, 0.5, 0.75, 1.0]
    assert rows["full, 4 single-hop"] == rows["full, all"]
    assert rows["full, 5 adversarial"] == [0, None, None, None, None, None, None, None]


def test_confidence_is_held_against_what_was_shown_by_rank_precision_and_area():
    sure = replace(ONE, confidences=(0.9, 0.8), covered=(True, False), sample="a")
    unsure = replace(ONE, confidences=(0.75, 0.2), covered=(True, False), sample="b")
    (row, *_) = [row for row in reliability({"full": [sure, unsure]}) if row[0] == "full, all"]
    checks, rank, at_85, at_70, area, chance = values(row)
    assert (checks, at_85, at_70, chance) == (4, 1.0, 2 / 3, 0.5)
    assert rank == pytest.approx(0.4472, abs=1e-4)  # ranks 4, 3, 2, 1 beside 3.5, 1.5, 3.5, 1.5
    assert area == pytest.approx(5 / 6)  # precision 1 at the first, 2/3 at the second of two
    assert spearman([("a", 0.5, True), ("a", 0.5, False)]) is None
    assert pr_auc([("a", 0.5, True), ("a", 0.5, False)]) == 0.5
    assert type(pr_auc([("a", 0.5, True)])) is float, "a result file holds no other"
    assert pr_auc([("a", 0.5, False)]) is None


def test_wrong_answers_are_of_three_kinds():
    said = replace(ONE, wanted="tea", f1=0.0, sufficient=0.9, tier="partial")
    silent = replace(said, text=None, abstained=True, checks=3)
    trapped = replace(ONE, category=5, wanted=None, f1=0.0)
    asked = [said, silent, trapped, replace(ONE, wanted="tea"), replace(trapped, abstained=True)]
    asked += [replace(said, failed="late"), replace(said, correct=True)]
    rows = {row[0]: values(row) for row in failures({"full": asked})}
    assert rows["full, all"] == [3, 1 / 3, 1 / 3, 1 / 3, 1.0, 1.0, 1.0, 1.0]
    assert rows["full, 5 adversarial"] == [1, 0, 0, 1, None, None, None, None]


def test_another_model_is_held_against_the_first_by_two_judges():
    right, wrong = replace(ONE, correct=True, second=True), replace(ONE, correct=False, second=False)
    split = replace(ONE, correct=True, second=False)
    runs = {"full": [right, right, right, right], "full, another model": [right, split, split, wrong]}
    first, other = (values(row) for row in robustness(runs))
    assert first == [1.0, 1.0, None, None, 1.0]
    assert other == [0.75, 0.25, 0.25, 0.75, 0.5]
    rows = {row[0]: values(row) for row in by_judge(runs)}
    assert rows["full, another model, second judge"][0] == 0.25


def test_the_other_query_of_a_model_is_made_without_the_gap(tmp_path):
    sample = LocomoSample("friends", tuple(load_example("friends"))[:40], (BEES,))
    model = ScriptedModel(['{"query": "hives"}', ModelTimeout("late"), ModelTimeout("late")])
    asked = replace(ONE, question=BEES.text, refined=("Tomas book bees", "Tomas library"))
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.extend(sample.turns)
        found = list(asked_again(memory, sample, [asked], model))
    assert [(one.way, one.iteration) for one in found] == [
        (way, n) for n in (1, 2) for way in ("for what is missing", "the question again")
    ]
    assert "<missing>\n- none\n</missing>" in model.requests[0].prompt
    assert f'The search that left it missing: "{BEES.text}"' in model.requests[0].prompt


SETTINGS = """
[models.judge]
model = "a"
key = "FIRST_KEY"
[models.answer]
model = "b"
base_url = "http://localhost:1/v1"
[models.second_judge]
model = "j"
key = "FIRST_KEY"
[backbone]
model = "c"
key = "FIRST_KEY"
[embedder]
model = "own/embedder"
dimension = 8
base_url = "http://localhost:2/v1"
"""


def test_settings_give_each_role_a_model_and_endpoint_and_every_row_its_embedder(tmp_path):
    (tmp_path / "papers.toml").write_text(SETTINGS)
    served = read_endpoints(tmp_path / "papers.toml", {"FIRST_KEY": "none"})
    by_role = {role: (one.model, one.base_url) for role, one in served.llm._models.items()}
    assert by_role == dict.fromkeys(("judge", "extract", "decide"), ("a", None)) | {
        "answer": ("b", "http://localhost:1/v1")
    }
    rows = {name: _approach(name, served.llm, ["strict"]) for name in TABLES["10"].rows}
    ways = _swapped(rows, served)
    assert ways["full, another embedder"] is None, "no [other_embedder] is named"
    other = ways["full, another model"]
    assert (other.llm.model, other.marks, other.second.model, other.embedder.dimension) == ("c", served.llm, "j", 8)
    assert other.loop is VARIANTS["full"]
    assert len(_by_memory({name: how for name, how in ways.items() if how})) == 2
    assert _swapped(rows, None) == rows


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[models.answer]\nmodel = 'b'", "no \\[models.judge\\]"),
        ("[models.judge]\nmodel = 'a'\nkey = 'NONE_SUCH'", "NONE_SUCH, which is not set"),
        ("[models.judge]\nmodel = 'a'\nurl = 'x'", "has url; expected base_url"),
        ("[models.writer]\nmodel = 'a'", "models.writer"),
    ],
)
def test_settings_that_make_no_sense_say_so(tmp_path, text, why):
    (tmp_path / "papers.toml").write_text(text)
    with pytest.raises(ValueError, match=why):
        read_endpoints(tmp_path / "papers.toml", {})


def test_repeated_runs_are_their_mean_and_deviation():
    asked = {"full": [replace(ONE, f1=0.4)], "full, run 2": [replace(ONE, f1=0.6)]}
    rows = {row[0]: row[1:] for row in repeated(asked, "deterministic", 2).rows}
    assert rows["full: official F1, mean"][0] == pytest.approx(0.5)
    assert rows["full: official F1, deviation"][0] == pytest.approx(0.1414, abs=1e-4)
    assert rows["full: J, mean"][0] is None


def test_each_way_to_ask_again_is_scored_by_iteration():
    found = Requeried("a", "for what is missing", 2, ("t9", "t1"), ("t1",))
    missed = replace(found, way="the question again", ranked=("t9",))
    rows = {row[0]: values(row) for row in requeries({}, [found, replace(found, ranked=("t1",)), missed])}
    assert rows["for what is missing, iteration 2"][:4] == [2, 1.0, 1.0, 1.0]
    assert rows["the question again, iteration 2"] == [1, 0, 0, 0, 0, 0, 0]


def test_one_run_makes_every_table_and_says_that_no_model_was_asked():
    sample = LocomoSample("friends", tuple(load_example("friends"))[:40], (BEES,))
    deterministic = {name: one for name, one in TABLES.items() if not one.two_judges}
    rows = {name: _approach(name, None, ["strict"]) for name in _needed(deterministic.values())}
    run = run_sample(sample, rows=rows, every=1, again=True)
    made = [table(name, one, "deterministic", run.asked, run.again) for name, one in deterministic.items()]
    assert [one.name for one in made if not one.rows] == []
    assert all("(deterministic)" in one.title and one.columns[0] == "deterministic" for one in made)
    further = table("1", TABLES["1"], "deterministic", run.asked, (), further={"BERTScore": lambda one: 1.0})
    assert {f"{row}: BERTScore" for row in TABLES["1"].rows} <= {row[0] for row in further.rows}
    assert all(set(one.intervals) <= set(one.columns) for one in made)
    assert [one.name for one in made if not one.intervals] == ["table-memr3-iterations"], "it counts"
    assert all(len(row) == len(one.columns) for one in made for row in one.rows)
    assert {one.way for one in run.again if one.iteration == 1} == {"for what is missing", "the question again"}
    reached = max(one.iteration for one in run.again)
    assert reached == max(len(one.tiers) for one in run.asked["full"]) > 1
    assert all(len(one.tiers) == len(one.covered) == one.checks for some in run.asked.values() for one in some)
    assert all(sum(one.stages) == pytest.approx(one.ask_seconds) for some in run.asked.values() for one in some)


KEYS = LocomoQuestion("Where are the keys of Kestrel?", "on the hook", None, ("D1:3",), 4)
SAID = ("Kestrel? All paid, so no worries there.", "Lovely weather.", "Keys for Kestrel on the hook, as agreed.")
