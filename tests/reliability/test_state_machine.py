"""Any sequence of operations on a pool of users' memories leaves in each exactly what a dict would hold.

Two pools over one folder stand for two processes.
"""

from random import Random

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.sizes import REDUCED, SEED, sizes

from .support.machine import Machine
from .support.pools import REACHED

DAY = (  # what every known-bad behaviour shows under, in an order that leaves each something to spoil
    "add", "add_many", "search_a_word", "a_model_reads", "search_within", "add", "add_many",
    "add_while_the_embedder_is_down", "search_a_word", "a_model_reads", "forget_some", "search_a_word", "open_again",
    "add_many", "forget_a_session", "add", "search_within", "keep_a_trace", "a_model_reads", "forget_some",
    "open_again", "search_a_word", "add_many", "open_again", "back_up_and_restore", "a_model_reads", "erase_a_user",
    "add_many", "open_in_a_new_process", "a_model_fails", "clock_jumps", "export_forget_and_import", "rebuild",
    "search_a_word", "change_the_embedder", "search_a_word",
)  # fmt: skip
GIVEN = {"open_again": {"which": 0}, "clock_jumps": {"seconds": -86_400.0}}
PARTS = [0, 1, *(pytest.param(part, marks=pytest.mark.nightly) for part in (2, 3))]
OPTIONS = {"add_many": {"count": 9}, "search_within": {"k": 2}, "a_model_fails": {"mood": "malformed", "hours": 1}}


@pytest.mark.parametrize("number", range(1 if REDUCED else 4))
def test_a_day_of_mixed_operations_leaves_what_dicts_would_hold(number):
    machine, random = Machine(), Random(number)
    machine.users = ("\u00e1na", "a\u0301na", "ana%")
    machine.start(number=number)
    try:
        for name in DAY:
            given = GIVEN.get(name) or {"number": random.getrandbits(32)}
            getattr(machine, name)(**given, **OPTIONS.get(name, {}))
            machine.every_memory_holds_its_model(thorough=True)
    finally:
        machine.teardown()


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("count", sizes(40, nightly=2_500, reduced=0))
def test_memories_of_a_pool_hold_what_dicts_would_hold(count, part, tell):
    """In parts, which may run in parallel."""
    profile = settings(
        max_examples=count,
        stateful_step_count=50,
        deadline=None,
        database=None,
        derandomize=False,
        phases=[Phase.generate, Phase.shrink] if count > 1_000 else [Phase.generate],
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    REACHED.clear()
    run_state_machine_as_test(seed(f"{SEED}/{part}")(Machine), settings=profile)
    checks, turns = REACHED["checks"], REACHED["turns at a check"] / REACHED["checks"]
    assert turns > 10, f"the memories held {turns:.1f} turns on average: too few to say anything"
    for what in ("forgotten", "replaced", "read by a model", "given up", "imported", "embedded anew", "processes"):
        assert REACHED[what] > checks / 4_000, f"too few: {REACHED}"
    tell(f"{count} machines, {checks} steps, {turns:.0f} turns held, {dict(REACHED)}: 0 differences")
