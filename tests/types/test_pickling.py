"""Every error and every value of the public interface crosses from process to process as it is."""

import importlib
import inspect
import pickle
import pkgutil
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from multiprocessing import get_context
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

import evimem
from evimem.errors import EvimemError
from evimem.testing import ScriptedModel
from evimem.types.public_value import PublicValue

for _module in pkgutil.walk_packages(evimem.__path__, "evimem."):
    if not _module.name.startswith(("evimem.__main__", "evimem.adapters.", "evimem.extract.spacy", "evimem.cli")):
        importlib.import_module(_module.name)


def subclasses(kind: type) -> set[type]:
    """Return a class with all that derive from it; not those that `slots=True` has replaced by another of the name."""
    derived = {kind}.union(*map(subclasses, kind.__subclasses__()))
    ours = (one for one in derived if one.__module__.startswith("evimem."))
    return {one for one in ours if getattr(sys.modules[one.__module__], one.__qualname__) is one}


def sample(kind: Any, depth: int = 0) -> Any:
    """Return a value of a type; three levels down a tuple of any length is empty, as a value may hold its own kind."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is not None:
        return PARTS[origin](inner, depth + 1)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    return made(kind, depth + 1) if is_dataclass(kind) else SAMPLES[kind]


def tuple_of(inner: tuple[Any, ...], depth: int) -> tuple[Any, ...]:
    return () if ... in inner and depth > 3 else tuple(sample(one, depth) for one in inner if one is not ...)


PARTS: dict[Any, Callable[[tuple[Any, ...], int], Any]] = {
    **dict.fromkeys((Union, UnionType), lambda inner, depth: sample(inner[0], depth)),
    **dict.fromkeys((Mapping, dict), lambda inner, depth: {sample(inner[0], depth): sample(inner[1], depth)}),
    **dict.fromkeys((Sequence, list), lambda inner, depth: [sample(inner[0], depth)]),
    frozenset: lambda inner, depth: frozenset({sample(inner[0], depth)}),
    Literal: lambda inner, _: inner[0],
    tuple: tuple_of,
    Callable: lambda *_: len,
}
SAMPLES = {
    str: "pears",
    int: 3,
    float: 0.5,
    bool: True,
    datetime: datetime(2024, 5, 1),
    date: date(2024, 5, 1),
    Any: "any",
    object: None,
}


def made(kind: type, depth: int = 0) -> Any:
    """Return an instance of a dataclass or of an error, with a value for every argument."""
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{one.name: sample(hints[one.name], depth) for one in fields(kind) if one.init})
    hints = get_type_hints(kind.__init__)
    names = inspect.signature(kind).parameters if hints else ()
    positional = [name for name in names if names[name].kind is not inspect.Parameter.KEYWORD_ONLY]
    keywords = {name: sample(hints[name]) for name in names if name not in positional}
    return kind(*[sample(hints[name]) for name in positional] or ["a message"], **keywords)


ERRORS = sorted(subclasses(EvimemError), key=lambda kind: kind.__qualname__)
PUBLIC = {getattr(evimem, name) for name in evimem.__all__ if is_dataclass(getattr(evimem, name))}
CLIENTS = {evimem.EndpointReranker, evimem.OpenAI, evimem.OpenAIEmbedder}  # they hold connections
VALUES = sorted((PUBLIC | subclasses(PublicValue)) - CLIENTS, key=lambda kind: kind.__qualname__)


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_is_pickled_with_its_message_and_attributes(kind):
    error = made(kind)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.args, vars(again)) == (kind, str(error), error.args, vars(error))


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__qualname__)
def test_every_value_is_pickled_and_stays_equal(kind):
    value = made(kind)
    assert pickle.loads(pickle.dumps(value)) == value


def ask_in_vain(path):
    failure = evimem.ModelUnavailable("the server refused with status 503", retryable=True, status=503)
    with evimem.open(path, llm=ScriptedModel(then=failure)) as memory:
        memory.add("Vera", "I live in Rijeka.", time="2024-05-02T10:00")
        memory.add("Vera", "The flat is near the port of Rijeka.", time="2024-05-02T10:01")
        return memory.ask("Where does Vera live?")


def test_an_error_of_a_job_in_another_process_reaches_the_caller_with_its_partial_answer(tmp_path):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        job = pool.submit(ask_in_vain, tmp_path / "m.evimem")
        with pytest.raises(evimem.ModelUnavailable, match="503") as caught:
            job.result(timeout=60)
    assert (caught.value.status, caught.value.partial.kind) == (503, "failed")


def test_an_error_of_a_multiprocessing_pool_reaches_the_caller(tmp_path):
    with get_context("spawn").Pool(1) as pool, pytest.raises(evimem.ModelUnavailable, match="503"):
        pool.apply_async(ask_in_vain, (tmp_path / "m.evimem",)).get(timeout=60)
