"""`facts(about=...)`: what is known of a person or thing, and what replaced what."""

from datetime import datetime, timedelta

import pytest

import evimem

SAID = (
    ("Mira", "I live in Leeds."),
    ("Tomas", "Mira adopted a puppy yesterday."),
    ("Tomas", "I live in Ghent."),
    ("Mira", "I live in Porto."),
)


@pytest.fixture
def path(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        for number, (speaker, text) in enumerate(SAID):
            memory.add(speaker, text, time=datetime(2024, 3, 12) + timedelta(days=number), id=f"t{number}")
    return tmp_path / "m.evimem"


def test_a_profile_holds_what_was_said_by_and_about_somebody_and_what_replaced_what(path):
    with evimem.open(path) as memory:
        known = memory.facts(about="mira")
        assert [fact.turn_id for fact in known] == ["t3", "t1", "t0"]
        now, adopted, earlier = known
        assert earlier.replaced_by == now.id
        assert (now.replaced_by, adopted.replaced_by) == (None, None)
        assert adopted.event is not None
        assert memory.facts(about="Mira", current=True) == (now, adopted)
        assert memory.facts(about="Mir") == ()
        assert {fact.turn_id for fact in memory.facts(about="puppy")} == {"t1"}
        memory.forget(turns=["t3"])
        assert [fact.turn_id for fact in memory.facts(about="Mira", current=True)] == ["t1", "t0"]


def test_what_somebody_says_of_other_things_is_no_part_of_their_profile(path):
    with evimem.open(path) as memory:
        before = memory.facts(about="Mira")
        memory.add("Mira", "Juno loves cheese.", time="2024-04-01")
        assert memory.facts(about="Juno") != ()
        assert memory.facts(about="Mira") == before


PASSING = (
    "I did it.", "I said that Mr. Tomas came.", "I love it.", "I have no idea.", "I had the operation last Monday.",
)  # fmt: skip
LASTING = (
    "I live in Porto.", "My sister is called Ruth.", "I have two cats.", "I hate running.", "I bought a red bike.",
)  # fmt: skip


@pytest.mark.parametrize(("said", "lasts"), [*((one, 0) for one in PASSING), *((one, 1) for one in LASTING)])
def test_a_profile_has_what_lasts_and_not_what_was_done(memory, said, lasts):
    memory.add("Mira", said, time="2024-03-12")
    assert (memory.facts(about="Mira") != ()) == lasts


def test_the_facts_of_turns_can_be_the_current_ones_alone(path):
    with evimem.open(path) as memory:
        assert [fact.turn_id for fact in memory.facts(["t0", "t3"])] == ["t0", "t3"]
        assert [fact.turn_id for fact in memory.facts(["t0", "t3"], current=True)] == ["t3"]
        assert memory.facts([]) == ()
