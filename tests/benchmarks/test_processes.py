"""Conversations in processes of their own: the same results, in the same order."""

from dataclasses import fields, replace

from benchmarks.data_sets import LocomoQuestion, LocomoSample
from benchmarks.scoring.asking import Asker
from benchmarks.scoring.run_locomo import QuestionResult, run_locomo
from evimem.loaders.examples import load_example

TIMES = dict.fromkeys(("search_seconds", "ask_seconds"), 0.0) | {"stages": ()}
ADOPTED = LocomoQuestion("When did Mira adopt her puppy?", "last Friday", None, ("D1:3",), 2)
SAMPLE = LocomoSample("one", tuple(load_example("friends"))[:12], (ADOPTED,))


def test_several_processes_find_what_one_finds():
    samples = [SAMPLE, replace(SAMPLE, id="two", turns=SAMPLE.turns[:6])]
    counted: list[int] = []
    apart = run_locomo(samples, wide=True, processes=2, asker=Asker(progress=counted.append))
    here = run_locomo(samples, wide=True)
    for name in ("asked", "wide"):
        assert [untimed(one) for one in getattr(apart, name)] == [untimed(one) for one in getattr(here, name)]
    assert [one.sample for one in apart.ingested] == ["one", "two"]
    assert counted == [2, 2]


def untimed(one: QuestionResult) -> QuestionResult:
    assert {field.name for field in fields(one)} > TIMES.keys()
    return replace(one, **TIMES)
