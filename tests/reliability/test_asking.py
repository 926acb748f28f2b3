"""Asking writes nothing, and ends whatever a model replies: with what was found by then, and the reason."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

import evimem
from evimem import Budget, Memory, StoreReadOnly, Turn
from evimem.loops import LOOPS
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete, Found, Stopped
from tests.copies import copied

from .support.world import EMBEDDER, EXTRACTOR, NOON

READS = re.compile(r"(SELECT|WITH|BEGIN|COMMIT|PRAGMA (query_only|page_count|page_size|user_version))\b")
MOST = 30_000  # characters of a request: what is shown of evidence is bounded, however long turns are
QUESTION = "When did Mira adopt the puppy number 17?"


def insatiable(request: Complete) -> str:
    """Reply as a model that always asks for more, and for a million hits."""
    if request.role == "answer":
        return json.dumps({"steps": [], "answer": "in March", "citations": ["e1", "other-user:1", "t999999"]})
    number = len(request.prompt)
    gap = {"kind": "entity", "about": f"somebody {number}", "text": f"more about {number}"}
    wish = {"tier": "partial", "confidence": 0.4, "requirements": [], "gaps": [gap] * 100, "reason": ""}
    wish["action"], wish["query"] = "retrieve", f"puppy {number} {'more ' * 1_000}"
    wish["answer"], wish["accepted"], wish["critical"] = "in March", False, [f"e{n}" for n in range(1_000)]
    wish["calls"] = [{"tool": "events_between", "of": f"20{n:02}", "part": ""} for n in range(99)]
    wish["keywords"] = [f"k{n}" for n in range(1_000)]
    orders = {"k": 10**6, "iterations": 10**6, "budget": {"iterations": 10**6}, "continue": True, "tokens": 10**9}
    return json.dumps({**wish, **orders, "next_query": f"puppy {number} {'more ' * 1_000}"})


def opened(path: Path, **options: object) -> Memory:
    return evimem.open(path, embedder=EMBEDDER, extractor=EXTRACTOR, **options)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A memory of 100 turns, some of them long."""
    turns = [f"We adopted a puppy, number {number}, said Mira. {'It barks. ' * (number % 50)}" for number in range(100)]
    turns[17] += "and so on " * 10_000
    path = tmp_path_factory.mktemp("asking") / "m.evimem"
    with opened(path) as memory:
        memory.extend(
            [Turn(f"t{n}", f"s{n // 9}", "Mira", text, NOON + timedelta(hours=n)) for n, text in enumerate(turns)]
        )
    return path


@pytest.fixture
def path(template, disk):
    return copied(template, disk / "m.evimem")


@pytest.mark.parametrize("loop", sorted(LOOPS))
@pytest.mark.parametrize("iterations", [1, 6])
def test_a_model_that_is_never_satisfied_is_stopped(path, loop, iterations):
    model = ScriptedModel(then=insatiable)
    with opened(path, llm=model) as memory:
        answer = memory.ask(QUESTION, loop, budget=Budget(iterations=iterations))
        assert len(model.requests) <= iterations + 1 + (loop == "mgretrieval"), (
            "a question goes on for as long as the model likes"
        )
        assert max(len(request.prompt) for request in model.requests) < MOST, "a request grows without bound"
        found = [event for event in answer.trace if isinstance(event, Found)]
        assert max(len(event.turns) for event in found) < 100
        assert {citation.turn_id for citation in answer.citations} <= {turn.id for turn in memory.turns()}
        assert any(event.turns for event in found), "the best evidence so far"
        if loop != "single_pass":
            assert [event.reason for event in answer.trace if isinstance(event, Stopped)]
        assert answer.text or answer.reason


@pytest.mark.parametrize("loop", sorted(LOOPS))
def test_no_statement_of_a_question_writes(path, loop):
    with opened(path, llm=ScriptedModel(then=insatiable)) as memory:
        memory.stats()  # reads the facts of what came since
        statements: list[str] = []
        db = memory._core.store.db._handle()
        db.exec_trace = lambda _, sql, __: statements.append(sql) is None
        memory.ask(QUESTION, loop)
        memory.search(QUESTION)
        assert len(statements) > 20
        assert [sql for sql in statements if not READS.match(sql.strip())] == []


def test_nothing_can_be_written_inside_a_read(path):
    """The connection refuses writes, so that no loop can make any."""
    with opened(path) as memory:
        db = memory._core.store.db
        for statement in ("UPDATE turn SET text = ''", "DELETE FROM turn", "DROP TABLE fact", "PRAGMA user_version=7"):
            with db.reading(), pytest.raises(StoreReadOnly):
                db.execute(statement)
        assert memory.stats().turns == 100
        memory.forget(turns=["t1"])
        assert memory.stats().turns == 99
