"""A turn that is forgotten while a question is asked is left out; no call raises UnknownTurn for it."""

import json
from contextlib import suppress
from itertools import count
from threading import Event, Thread

import pytest

import evimem
from evimem.loops import LOOPS
from evimem.testing import ScriptedModel
from tests.sizes import share, sizes

SECRET = "My sister Ana keeps a heron in Porto."
REPLY = json.dumps(
    {
        "tier": "partial", "confidence": 0.3, "reason": "", "next_query": "Ana job ship",
        "requirements": [{"id": "r1", "status": "open", "evidence": [], "why": ""}],
        "gaps": [{"kind": "attribute", "about": "Ana", "text": "her job", "evidence": []}],
        "query": "Ana job", "action": "retrieve", "answer": "Porto", "keywords": ["ana"], "critical": ["e1", "e2"],
        "accepted": False, "calls": [{"tool": "by_words", "of": "Ana", "part": "", "page": 1}], "keep": None,
        "steps": [], "answerable": True, "citations": [{"id": f"e{n}", "quote": ""} for n in range(1, 9)],
    }
)  # fmt: skip


@pytest.mark.parametrize(("loop", "at"), share([(loop, at) for at in (1, 2, 3) for loop in LOOPS], 3, "requests"))
def test_what_is_forgotten_while_a_model_is_waited_for_is_neither_shown_nor_cited_again(tmp_path, loop, at):
    path = tmp_path / "m.evimem"
    shown: list[bool] = []

    def reply(request):
        shown.append("heron" in request.text)
        if len(shown) == at:
            with evimem.open(path) as other:
                other.forget(["t1"])
        return REPLY

    with evimem.open(path, llm=ScriptedModel(then=reply)) as memory:
        said = ["I moved to Porto in May.", SECRET, "Ana works there.", *(f"Ana works on ship {n}." for n in range(8))]
        for n, text in enumerate(said):
            memory.add("Mira", text, time=f"2024-03-{10 + n // 3}T18:20", id=f"t{n}")
        answer = memory.ask("Where does Mira's sister Ana work in Porto?", loop=loop)
    if loop != "mragent":  # whose requests go on with what its tools returned before
        assert not any(shown[at:])
    if len(shown) >= at:
        assert "t1" not in [citation.turn_id for citation in answer.citations]


ASKED = "When did Mira buy a kite in Porto?"
CALLS = {
    **{loop: lambda memory, loop=loop: memory.ask(ASKED, loop=loop) for loop in LOOPS},
    "block": lambda memory: memory.block(ASKED),
    "checked block": lambda memory: memory.block(ASKED, profile=True, check=True),
    "search": lambda memory: memory.search(ASKED, over="both"),
    "search_facts": lambda memory: memory.search_facts(ASKED),
    "facts": lambda memory: memory.facts(about="Mira"),
}


BOUGHT = [f"I bought a {thing} in {place}." for thing in ("kite", "boat") for place in ("Porto", "Leeds", "Oslo")]


@pytest.fixture
def bought(tmp_path):
    """A memory of 24 turns of one minute, and another handle on its file."""
    with evimem.open(tmp_path / "m.evimem") as memory, evimem.open(tmp_path / "m.evimem") as other:
        memory.extend(
            evimem.Turn(f"t{n}", f"s{n // 6}", "Mira" if n % 2 else "Tomas", text, "2024-05-02T10:00")
            for n, text in enumerate(4 * BOUGHT)
        )
        yield memory, other


READINGS = [(reading, call) for call in CALLS for reading in ("contexts", "order", "facts", "read", "expand")]


@pytest.mark.parametrize(("reading", "call"), share(READINGS, 5, "readings"))
def test_a_turn_that_is_forgotten_between_two_readings_of_a_call_is_left_out(bought, reading, call):
    memory, other = bought
    honest = getattr(memory._core.store, reading)

    def and_before_it_one_is_forgotten(ids, *more):
        other.forget([ids[0]] if ids else [])
        return honest(ids, *more)

    setattr(memory._core.store, reading, and_before_it_one_is_forgotten)
    with suppress(evimem.NoModel):
        CALLS[call](memory)


@pytest.mark.parametrize("rounds", sizes(30, nightly=1_000, reduced=0))
def test_calls_beside_a_writer_that_forgets_leave_out_what_is_gone(bought, rounds):
    """215 of 1,640 such calls raised UnknownTurn."""
    memory, writer = bought
    ended = Event()

    def forget():
        for n in count(24):
            oldest = next(writer.turns())
            writer.forget([oldest.id])
            writer.add(oldest.speaker, oldest.text, time=oldest.time, session=oldest.session, id=f"t{n}")
            if ended.is_set():
                return

    thread = Thread(target=forget)
    thread.start()
    try:
        for _ in range(rounds):
            for call in CALLS.values():
                with suppress(evimem.NoModel):
                    call(memory)
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("verb", ["turn", "context", "neighbours", "facts"])
def test_a_turn_that_is_asked_for_by_its_id_is_still_unknown(memory, verb):
    asked = {
        "turn": lambda: memory.turn("gone"),
        "context": lambda: memory.context("gone"),
        "neighbours": lambda: memory.neighbours("gone"),
        "facts": lambda: memory.facts(["gone"]),
    }
    with pytest.raises(evimem.UnknownTurn):
        asked[verb]()
