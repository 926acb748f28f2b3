"""Nothing of one user reaches another in results, errors, logs, prompts or files, whatever method is called.

The public methods are found by introspection: one that has no case here fails the gate.
"""

import asyncio
import inspect
import json
import logging
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import pytest

from evimem import AsyncMemory, InvalidQuery, Memory, MemoryPool, ModelError, Turn, TurnConflict, UnknownTurn
from evimem.api.pool import key_of
from evimem.calibration import Labelled
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete, Found, Trace
from tests.replies import SUPPORTED
from tests.sizes import sizes

from .support.world import EMBEDDER, NOON, small_thresholds

LETTERS = "bcdfgklmnprstvwz"
IDS = ("1", "2", "3", "4", "5", "6")  # of every user's turns
SESSIONS = ("s1", "s2")


@dataclass(frozen=True, slots=True)
class Case:
    """A user, a word that only this user's turns hold, and a folder for this user's files."""

    user: str
    canary: str
    folder: Path
    random: Random

    def turn(self) -> Turn:
        pick = self.random.choice
        text = pick(("I like {} tea.", "I moved to {} last week.", "What about {}?", "My {} is old."))
        return Turn(
            pick(IDS), pick(SESSIONS), "Mira", text.format(self.canary), NOON,
            caption=pick((None, f"a {self.canary}")), metadata={"note": self.canary},
        )  # fmt: skip


Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def exported(case: Case) -> Path:
    path = case.folder / "own.jsonl"
    if not path.exists():
        with MemoryPool(case.folder / "aside", embedder=EMBEDDER) as aside, aside.open(case.user) as memory:
            memory.extend([case.turn()])
            memory.export(path)
    return path


CALLS: dict[str, Callable[[Case], Arguments]] = {
    "add": lambda c: (("Mira", f"I saw {c.canary}."), {"time": NOON, "id": c.random.choice(IDS)}),
    "extend": lambda c: (([c.turn(), c.turn(), c.turn()],), {"replace": c.random.random() < 0.3}),
    "update": lambda c: ((c.random.choice(IDS), f"I saw {c.canary} again."), {}),
    "remember": lambda c: (([{"role": "user", "content": f"I saw {c.canary}."}],), {"session": "chat", "time": NOON}),
    "block": lambda c: (("What does Mira like?",), {"tokens": c.random.choice((0, 60, 1_500))}),
    "profile": lambda c: ((), {"tokens": c.random.choice((0, 60, 350))}),
    "search": lambda c: (("I like tea", c.random.randint(1, 9)), {"session": c.random.choice((None, "s1"))}),
    "search_facts": lambda c: (("I like tea", c.random.randint(1, 9)), {"about": c.random.choice((None, "Mira"))}),
    "ask": lambda c: (("What does Mira like?",), {"stream": c.random.random() < 0.3}),
    "forget": lambda c: (((c.random.choice(IDS),),), {}) if c.random.random() < 0.5 else ((), {"session": "s2"}),
    "enrich": lambda c: ((), {}),
    "enrich_batch": lambda c: ((), {}),
    "estimate": lambda c: ((), {"price": (1.0, 2.0)}),
    "calibrate": lambda c: (([Labelled(f"Where is {c.canary}?", True)] * c.random.choice((3, 50)),), {}),
    "calibration": lambda c: ((), {}),
    "rebuild": lambda c: ((), {}),
    "reembed": lambda c: ((EMBEDDER,), {}),
    "turn": lambda c: ((c.random.choice(IDS),), {}),
    "context": lambda c: ((c.random.choice(IDS),), {}),
    "neighbours": lambda c: ((c.random.choice(IDS),), {}),
    "facts": lambda c: ((IDS[:2],), {}),
    "turns": lambda c: ((), {}),
    "now": lambda c: ((), {}),
    "keep_trace": lambda c: ((Trace(f"Where is {c.canary}?", "iris", (Found(1, "anchor", IDS[:1]),)),), {}),
    "trace": lambda c: ((), {}),
    "health": lambda c: ((), {}),
    "check": lambda c: ((), {"repair": c.random.random() < 0.5}),
    "stats": lambda c: ((), {}),
    "backup": lambda c: ((c.folder / f"{c.random.random()}.backup",), {}),
    "export": lambda c: ((c.folder / "export.jsonl",), {}),
    "import_": lambda c: ((exported(c),), {}),
    "close": lambda c: ((), {}),
}


def replied(request: Complete) -> str:
    """Reply as a model that quotes its prompt; now and then with something else."""
    shown = re.findall(r"(?m)^\[(e\d+)\] (.*)", request.prompt)
    said = request.prompt.rpartition("<turn")[2].partition(">")[2].strip().partition("\n")[0]
    fact = {"subject": "I", "predicate": "says", "object": said[:80], "quote": said[:80], "kind": "state", "when": ""}
    verdict = {"tier": "exact", "confidence": 0.99, "requirements": SUPPORTED, "gaps": [], "reason": said}
    quotes = {"steps": [], "answer": " / ".join(text for _, text in shown), "citations": [name for name, _ in shown]}
    replies = {"judge": verdict, "answer": quotes, "extract": {"facts": [fact]}}
    return json.dumps(replies[request.role] if crc32(request.prompt.encode()) % 8 else {"unexpected": True})


EXPECTED = (UnknownTurn, TurnConflict, InvalidQuery, ModelError)  # ids and traces that are not there; the odd model
OF_THE_DOOR = {"end_worker"}  # ends a thread: takes nothing, returns nothing
NO_TEXT = {"rekey"}  # takes a key, returns nothing
OF_THE_POOL = {"open", "open_async", "reembed", "erase", "erase_async", "close", "count", "bytes"}


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_every_public_method_has_a_case():
    assert public(Memory) - NO_TEXT == set(CALLS)
    assert public(AsyncMemory) - OF_THE_DOOR - NO_TEXT == set(CALLS)
    assert public(MemoryPool) == OF_THE_POOL


def call(pool: MemoryPool, case: Case, name: str) -> object:
    """Call a method of a user's memory; return its result and how many turns there are, or its error."""
    args, options = CALLS[name](case)
    with pool.open(case.user) as memory:
        result = getattr(memory, name)(*args, **options)
        if inspect.isgenerator(result):
            result = list(result)
        if name == "search":
            there = sum(options["session"] in (None, turn.session) for turn in memory.turns())
            assert len(result) == min(args[1], there), "a search returned fewer turns than it could"
        return result


async def call_async(pool: MemoryPool, case: Case, name: str) -> object:
    args, options = CALLS[name](case)
    async with pool.open_async(case.user) as memory:
        result = getattr(memory, name)(*args, **options)
        return [event async for event in result] if inspect.isasyncgen(result) else await result


def outcome(pool: MemoryPool, case: Case, name: str) -> str:
    """Return the error of a call, or its result and the files it wrote, as one text."""
    try:
        if case.random.random() < 0.1:
            result: object = asyncio.run(call_async(pool, case, name))
        else:
            result = call(pool, case, name)
    except EXPECTED as error:
        return f"{error} {vars(error)} {error.__cause__}"
    files = [path.read_bytes() for path in case.folder.iterdir() if path.is_file() and path.suffix != ".jsonl"]
    for path in case.folder.glob("*.backup"):
        path.unlink()
    return f"{result!r} {files!r}"


def cases(folder: Path, random: Random, count: int) -> list[Case]:
    made = []
    for number in range(count):
        canary = "".join(random.choice(LETTERS) + random.choice("aeiou") for _ in range(6))
        own = folder / f"own-{number}"
        own.mkdir()
        user = f"{'Tenant' if number % 2 else 'tenant'}-{number // 2}"  # in pairs that differ by case alone
        made.append(Case(user, canary, own, random))
    return made


@pytest.mark.parametrize("count", sizes(800, nightly=20_000, reduced=200))
def test_no_call_returns_text_of_another_user(disk, seed, count, caplog, tell):
    random = Random(seed)
    users = cases(disk, random, min(20, count // 20))
    canaries = re.compile("|".join(case.canary for case in users), re.IGNORECASE)
    model = ScriptedModel(then=replied)
    caplog.set_level(logging.DEBUG)
    names = sorted(CALLS) + ["extend", "search"] * 6
    reached, own = Counter[str](), 0
    with small_thresholds(), MemoryPool(disk / "pool", capacity=4, embedder=EMBEDDER, llm=model) as pool:
        for number in range(count):
            case, name = random.choice(users), random.choice(names) if number >= len(CALLS) else names[number]
            model.requests.clear()
            caplog.clear()
            let_out = f"{outcome(pool, case, name)} {model.requests} {caplog.text}"
            foreign = {word.lower() for word in canaries.findall(let_out)} - {case.canary}
            assert not foreign, f"seed {seed}, call {number}: {name}() of {case.user!r} let out {foreign}"
            reached[name] += len(let_out)
            own += case.canary in let_out
            if random.random() < 0.005:
                told = f"{pool.erase(case.user)!r} {caplog.text}"
                assert not canaries.findall(told), f"erase() of {case.user!r} let out {canaries.findall(told)}"
    assert reached.keys() == CALLS.keys()
    assert own > (count - len(CALLS)) / 4, (
        f"users were hardly shown what they said themselves, in {own} of {count} calls"
    )
    for case in users:
        for file in (disk / "pool").rglob(f"{key_of(case.user)}*"):
            foreign = {word.lower().decode() for word in re.findall(canaries.pattern.encode(), file.read_bytes())}
            assert foreign <= {case.canary}
    tell(f"{count} calls of {len(CALLS)} methods by {len(users)} users: 0 foreign words let out")
