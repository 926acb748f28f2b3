"""`safe_context` is `contextlib.contextmanager`, but for whom the generator belongs to."""

import gc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from evimem.db.safe_context import safe_context

LOG: list[str] = []


@pytest.fixture(autouse=True)
def _empty_log():
    LOG.clear()


def noting(value: str) -> Iterator[str]:
    LOG.append("enter")
    try:
        yield value
    except KeyError:
        LOG.append("suppress")
    finally:
        LOG.append("leave")


def twice() -> Iterator[None]:
    yield
    yield


@pytest.mark.parametrize("make", [safe_context, contextmanager])
def test_a_block_gets_the_value_and_is_left_once(make):
    with make(noting)("x") as value:
        LOG.append(value)
    assert LOG == ["enter", "x", "leave"]


@pytest.mark.parametrize("make", [safe_context, contextmanager])
@pytest.mark.parametrize("error", [ValueError("a"), StopIteration("b"), RuntimeError("c"), KeyboardInterrupt("d")])
def test_an_exception_goes_through_as_it_was_raised(make, error):
    with pytest.raises(type(error)) as caught, make(noting)("x"):
        raise error
    assert caught.value is error
    assert LOG == ["enter", "leave"]


@pytest.mark.parametrize("make", [safe_context, contextmanager])
def test_the_generator_may_suppress_an_exception(make):
    with make(noting)("x"):
        raise KeyError
    assert LOG == ["enter", "suppress", "leave"]


@pytest.mark.parametrize("make", [safe_context, contextmanager])
def test_a_generator_that_yields_twice_is_an_error(make):
    with pytest.raises(RuntimeError), make(twice)():
        pass


def test_an_exit_stack_enters_and_leaves_it():
    with ExitStack() as stack:
        assert stack.enter_context(safe_context(noting)("x")) == "x"
    assert LOG == ["enter", "leave"]


@pytest.mark.parametrize("make", [safe_context, contextmanager])
def test_a_block_of_a_generator_that_is_collected_in_a_cycle_is_left_quietly(make):
    def within() -> Iterator[str]:
        with make(noting)("x") as value:
            yield value

    cycle: list[object] = [within()]
    next(cycle[0])
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert LOG == ["enter", "leave"]
