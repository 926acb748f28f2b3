"""The synthetic set, and the whole harness on it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from benchmarks.data_sets import LocomoQuestion, LocomoSample, LongMemEvalCase
from benchmarks.scoring.charts import locomo_charts
from benchmarks.scoring.chat_tables import chat_tables
from benchmarks.scoring.labelled_chats import LabelledChat
from benchmarks.scoring.locomo_tables import locomo_tables
from benchmarks.scoring.longmemeval_tables import longmemeval_tables
from benchmarks.scoring.provenance import provenance
from benchmarks.scoring.readme_report import render
from benchmarks.scoring.result_file import ResultFile, write_result
from benchmarks.scoring.run_chats import run_chats
from benchmarks.scoring.run_locomo import run_locomo
from benchmarks.scoring.run_longmemeval import run_longmemeval
from benchmarks.scoring.synthetic import _tables, synthetic_chat

VALUES = [value for form in _tables()["attributes"].values() for value in form["values"]]


def test_a_seed_writes_one_conversation():
    assert synthetic_chat(3) == synthetic_chat(3)
    assert synthetic_chat(3).turns != synthetic_chat(4).turns


@pytest.mark.parametrize("depth", [1, 4])
def test_gold_is_what_it_says(depth):
    chat = synthetic_chat(1, turns=300, people=4, depth=depth)
    said = {turn.id: turn for turn in chat.turns}
    assert len(chat.turns) == 300
    assert [turn.time for turn in chat.turns] == sorted(turn.time for turn in chat.turns)
    kinds = Counter(one.kind for one in chat.questions)
    assert {*kinds} == {
        "fact", "update", "never told", "false premise", *(f"chain of {n}" for n in range(2, depth + 1)),
    }  # fmt: skip
    for one in chat.questions:
        assert bool(one.evidence) == (one.answer is not None)
        if one.answer:
            assert one.answer in said[one.evidence[-1]].text
        if one.kind.startswith("chain"):
            assert len(one.evidence) == int(one.kind.split()[-1])
            first, *others = [said[turn] for turn in one.evidence]
            assert first.speaker in one.text
            for before, turn in zip([first, *others], others, strict=False):
                assert turn.speaker in before.text


def test_a_false_premise_names_a_person_and_a_value_that_this_person_never_told():
    chat = synthetic_chat(1, turns=300, people=4, depth=1)
    supposed = [one for one in chat.questions if one.kind == "false premise"]
    assert len({next(turn.speaker for turn in chat.turns if turn.speaker in one.text) for one in supposed}) == 4
    for one in supposed:
        own = " ".join(turn.text for turn in chat.turns if turn.speaker in one.text)
        value = next(value for value in VALUES if value in one.text)
        assert (one.answer, value in own) == (None, False)


CATEGORIES = {"fact": 4, "update": 4, "chain of 2": 1, "never told": 5, "false premise": 5}


def as_locomo(chat: LabelledChat) -> LocomoSample:
    asked = (LocomoQuestion(q.text, q.answer, None, q.evidence, CATEGORIES[q.kind]) for q in chat.questions)
    return LocomoSample(chat.name, chat.turns, tuple(asked))


def as_longmemeval(chat: LabelledChat) -> Iterator[LongMemEvalCase]:
    turns = tuple(replace(turn, role="user") for turn in chat.turns)
    for number, q in enumerate(chat.questions):
        told = (q.answer or "never told", chat.turns[-1].time, q.kind, q.answer is not None, turns, q.evidence)
        yield LongMemEvalCase(f"{chat.name}.{number}", q.text, *told)


def test_the_whole_harness_runs_on_it(tmp_path):
    chats = [synthetic_chat(seed, turns=40, people=1, depth=2) for seed in (1, 2)]
    run = run_locomo([as_locomo(chats[0])])
    cases = [next(as_longmemeval(chat)) for chat in chats]
    every = {
        "chats": chat_tables(run_chats(chats)),
        "locomo": locomo_tables(run),
        "longmemeval": longmemeval_tables(run_longmemeval(cases)),
    }
    (tmp_path / "results").mkdir()
    for name, tables in every.items():
        charts = locomo_charts(run) if name == "locomo" else {}
        write_result(ResultFile(name, provenance([name]), {}, tables, charts), tmp_path / f"results/{name}.json")
    named = [f"{name}.json: {one.name}" for name, tables in every.items() for one in tables]
    blocks = [f"<!-- results/{one} -->\n<!-- end -->" for one in (*named, "locomo.json: chart risk-coverage")]
    page = render("\n".join(blocks), tmp_path)
    assert page.text.count("| ---") >= len(named)
    assert [*page.charts] == ["plots/risk-coverage.svg"]
    overall = dict(every["chats"][0].rows)
    assert overall["R@10"].value > 0.8
    by_kind = next(one for one in every["chats"] if one.name == "evidence-by-kind")
    assert {row[0] for row in by_kind.rows} >= {"fact", "never told", "false premise", "chain of 2", "all"}
