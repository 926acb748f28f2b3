"""A `contextmanager` whose cleanup also runs when a signal handler raises while the block is entered or left."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from functools import partial, wraps
from types import TracebackType
from typing import Any, Generic, cast

from ..types.type_variables import P, T

_ENDED = object()


def safe_context(function: Callable[P, Iterator[T]]) -> Callable[P, AbstractContextManager[T]]:
    """Make a context manager of a generator function, as `contextlib.contextmanager` does.

    Python runs signal handlers between bytecodes, also in the first ones of an `__exit__` that is written in Python.
    A `KeyboardInterrupt` there leaves the generator of a `contextmanager` suspended, with the locks and transactions
    it holds, for as long as anybody keeps the traceback. Here the only owner of the generator is the `with` statement,
    so that the generator is closed as soon as the statement ends, however it ends.
    """

    @wraps(function)
    def enter(*args: P.args, **kwargs: P.kwargs) -> AbstractContextManager[T]:
        return cast(AbstractContextManager[T], _Block(cast(Generator[T, None, None], function(*args, **kwargs))))

    return enter


def _resume_at_exit(
    owned: weakref.ref[Generator[Any, None, None]],
    kind: type[BaseException] | None,
    error: BaseException | None,
    trace: TracebackType | None,
) -> bool:
    """Resume a generator at the end of its block; return whether it suppressed the exception.

    It is given weakly, because a traceback keeps the arguments of every function it passes through.
    """
    generator = owned()
    if generator is None and isinstance(error, GeneratorExit):
        return False  # a cycle is collected: references are cleared before its generators are closed, each by itself
    if generator is None:
        raise RuntimeError("a block is left twice")
    if error is None:
        if next(generator, _ENDED) is not _ENDED:
            raise RuntimeError("a context manager yielded twice")
        return False
    try:
        generator.throw(error)
    except StopIteration as end:
        return end is not error
    except BaseException as raised:
        # Python turns a StopIteration that leaves a generator into a RuntimeError.
        turned = isinstance(error, StopIteration) and isinstance(raised, RuntimeError) and raised.__cause__ is error
        if turned or raised is error:
            return False  # the `with` statement raises it again, with its own traceback
        raise
    raise RuntimeError("a context manager yielded twice")


class _Method:
    """A method of the instance: a `with` statement reads it from the class, `ExitStack` calls it with the instance."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, block: object | None, owner: type | None = None) -> Any:
        return self if block is None else getattr(block, self._name)

    def __call__(self, block: object, *args: Any) -> Any:
        return getattr(block, self._name)(*args)


class _Block(Generic[T]):
    """A generator as a context manager. Entering calls C code only; leaving, `_resume_at_exit`, which owns nothing."""

    __slots__ = ("_enter", "_exit")
    __enter__ = _Method("_enter")
    __exit__ = _Method("_exit")

    def __init__(self, generator: Generator[T, None, None]) -> None:
        self._enter = generator.__next__
        self._exit = partial(_resume_at_exit, weakref.ref(generator))
        vars(self._exit)["generator"] = generator  # the reference that keeps it alive until the block has ended
