"""Flows side by side: as each alone, in one thread, and no reply that is under way is thrown away."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.flow import Effect, Embed, Flow, run, run_side_by_side

HERE, ELSEWHERE = Embed(("here",)), Embed(("elsewhere",))
STEPS = st.lists(st.sampled_from(["here", "elsewhere", "fails here", "fails elsewhere", "ends"]), max_size=6)


class EffectError(Exception):
    """What an effect raises."""


def steps_of(steps: list[str], number: int) -> Flow[tuple[int, tuple[object, ...]]]:
    """Perform steps; return what each gave, or that it failed. "ends" lets a failure out."""
    seen: list[object] = []
    for step in steps:
        if step == "ends":
            raise EffectError(number)
        try:
            seen.append((yield Embed((step,))))
        except EffectError as error:
            seen.append(str(error))
    return number, tuple(seen)


def said_by(effect: Effect) -> str:
    assert isinstance(effect, Embed)
    return effect.texts[0]


def waits(effect: Effect) -> bool:
    """Whether an effect waits for others."""
    return "elsewhere" in said_by(effect)


def perform(effect: Effect) -> object:
    said = said_by(effect)
    if "fails" in said:
        raise EffectError(said)
    return said


@contextmanager
def workers(count: int = 4) -> Iterator[Any]:
    """Yield a `start` that hands effects to threads."""
    with ThreadPoolExecutor(count) as pool:
        yield partial(pool.submit, perform)


@given(st.lists(STEPS, max_size=6), st.integers(1, 4))
def test_each_flow_gives_what_it_gives_alone(all_steps, most):
    alone = []
    failed = False
    for number, steps in enumerate(all_steps):
        try:
            alone.append(run(steps_of(steps, number), perform))
        except EffectError:
            failed = True
    flows = [steps_of(steps, number) for number, steps in enumerate(all_steps)]
    with workers() as start:
        if failed:
            with pytest.raises(EffectError):
                run_side_by_side(flows, perform, waits, start, most)
        else:
            assert sorted(run_side_by_side(flows, perform, waits, start, most)) == sorted(alone)


def test_one_thread_performs_what_waits_for_nobody_and_no_more_wait_than_may():
    threads, busy, peak = set[threading.Thread](), 0, 0
    lock = threading.Lock()

    def local(effect: Effect) -> object:
        threads.add(threading.current_thread())
        return perform(effect)

    def slow() -> None:
        nonlocal busy, peak
        with lock:
            busy += 1
            peak = max(peak, busy)
        met.wait(5)
        with lock:
            busy -= 1

    met = threading.Barrier(3)
    flows = [steps_of(["here", "elsewhere", "here"], number) for number in range(9)]
    with ThreadPoolExecutor(16) as pool:
        told = run_side_by_side(flows, local, waits, lambda _: pool.submit(slow), 3)
    assert threads == {threading.current_thread()}
    assert (len(told), peak) == (9, 3)


def test_after_a_failure_none_is_begun_and_those_under_way_end():
    begun: list[int] = []
    go = threading.Event()

    def flow(number: int) -> Flow[int]:
        begun.append(number)
        if number == 1:
            yield HERE
            go.set()
            raise EffectError
        yield ELSEWHERE
        told.append(number)
        return number

    told: list[int] = []
    with ThreadPoolExecutor(4) as pool, pytest.raises(EffectError):
        run_side_by_side(map(flow, range(9)), perform, waits, lambda _: pool.submit(go.wait, 5), 4)
    assert begun == [0, 1]
    assert told == [0], "what another flow waited for was thrown away"


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_leaves_at_once_and_closes_every_flow(interrupt):
    closed: list[str] = []

    def flow(name: str, effect: Effect) -> Flow[None]:
        try:
            yield effect
        finally:
            closed.append(name)

    def interrupted(effect: Effect) -> object:
        raise interrupt

    never: Future[object] = Future()
    flows = [flow("waits", ELSEWHERE), flow("here", HERE), flow("later", HERE)]  # kept: not closed by being collected
    with pytest.raises(interrupt):
        run_side_by_side(flows, interrupted, waits, lambda _: never, 3)
    assert sorted(closed) == ["here", "waits"]
    assert never.cancelled()
