"""What was read from a text or, where reading it raised, what is there without it: nothing derived refuses anything."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
_LOG = logging.getLogger("evimem")


@dataclass(frozen=True, slots=True)
class Attempt(Generic[T]):
    """What a reading found; with `error`, the type of the exception that it raised, what stands in its place.

    Of an exception only the type is kept: its words may quote what was read.
    """

    value: T
    error: str | None = None


def attempt(otherwise: T, read: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Attempt[T]:
    """Call a reading; return what it found or, where it raised an exception of any kind, what stands in its place."""
    try:
        return Attempt(read(*args, **kwargs))
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one reading, what was said is not lost for it
        return Attempt(otherwise, type(error).__name__)


def without(otherwise: T, read: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a reading of a question; where it raises, go on without it, and warn of that in the log."""
    found = attempt(otherwise, read, *args, **kwargs)
    if found.error is not None:
        name = getattr(read, "__name__", type(read).__name__)
        _LOG.warning("a question is asked without what %s reads: it raised %s", name, found.error)
    return found.value
