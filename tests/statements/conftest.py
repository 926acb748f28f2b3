"""A chat that a question does not exhaust in one search, and a function to ask of it with scripted replies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete, Trace
from tests.ways import way

PUPPY = "We adopted a puppy last Friday, his name is Biscuit."


def verdict(tier: str = "exact", confidence: float = 0.9, **fields: Any) -> str:
    needs = supported(6, "e1") if tier == "exact" else []  # what is not supported keeps evidence from being exact
    empty = {"requirements": needs, "gaps": [], "next_query": "", "reason": ""}
    return json.dumps({"tier": tier, "confidence": confidence, **empty, **fields})


def gap(kind: str, text: str, about: str = "Mira") -> dict[str, str]:
    return {"kind": kind, "about": about, "text": text}


def partial(query: str = "", text: str = "no date is given") -> str:
    return verdict("partial", 0.4, next_query=query, gaps=[gap("time", text)])


def draft(answer: str = "8 March 2024", *labels: str, steps: Sequence[str] = ()) -> str:
    cited = [{"id": label, "quote": ""} for label in labels or ("e1",)]
    return json.dumps({"steps": list(steps), "answer": answer, "citations": cited})


def events(trace: Trace, kind: str) -> list[Any]:
    return [event for event in trace if event.kind == kind]


def supported(count: int, *labels: str) -> list[dict[str, Any]]:
    """The first requirements, each supported by these items."""
    return [{"id": f"r{n}", "status": "supported", "evidence": list(labels), "why": ""} for n in range(1, count + 1)]


def decision(action: str = "retrieve", query: str = "", **fields: Any) -> str:
    tier, confidence = ("exact", 0.9) if action == "answer" else ("partial", 0.4)
    empty = {"requirements": [], "gaps": [], "reason": "", "draft": "", "tier": tier, "confidence": confidence}
    return json.dumps({"action": action, "query": query, **empty, **fields})


SMALL = 1_500  # tokens of a page of "iris" that has no room for all of the chat


class Chat:
    """A memory that is asked with replies in order."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.requests: list[Complete] = []
        with evimem.open(path) as memory:
            self.texts = {turn.id: turn.text for turn in memory.turns()}

    def ask(self, question: str, *replies: Any, then: Any = None, loop: str = "iris", **given: Any) -> evimem.Answer:
        model = ScriptedModel(replies, then=then)
        self.requests = model.requests
        room = {"tokens": SMALL} if loop == "iris" else {}
        with evimem.open(self.path, llm=model) as memory:
            return memory.ask(question, **way(loop, **{**room, **given}))


@pytest.fixture(scope="session")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("statements") / "chat.evimem"
    with evimem.open(path) as memory:
        for day in range(1, 31):
            heron, bread = (
                f"On walk {day} I saw heron number {day} by the mill.",
                f"I baked loaf number {day} and it was too salty.",
            )
            memory.add("Mira", heron, time=f"2024-03-{day:02}T08:00", session="walks")
            memory.add("Noah", bread, time=f"2024-03-{day:02}T09:00", session="walks")
        memory.add("Mira", PUPPY, time="2024-03-12T18:20", session="puppy", id="puppy")
        memory.add("Noah", "Does he sleep through?", time="2024-03-12T18:21", session="puppy", id="sleep")
    return path


@pytest.fixture
def chat(path: Path) -> Chat:
    return Chat(path)


@pytest.fixture
def remembered(tmp_path: Path) -> Iterator[Callable[..., evimem.Memory]]:
    """A function from some sentences to a memory of them, each its own turn."""
    opened: list[evimem.Memory] = []

    def build(*said: tuple[str, str, str], name: str = "m") -> evimem.Memory:
        memory = evimem.open(tmp_path / f"{name}.evimem")
        opened.append(memory)
        for number, (speaker, text, time) in enumerate(said, 1):
            memory.add(speaker, text, time=time, session="D1", id=f"D1:{number}")
        return memory

    yield build
    for memory in opened:
        memory.close()
