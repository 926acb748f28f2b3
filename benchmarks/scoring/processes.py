"""Work on several things at a time, each in a process of its own: what needs no network is bound by one processor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def mapped(work: Callable[[T], R], items: Sequence[T], processes: int, ended: Callable[[R], None]) -> list[R]:
    """Return the result of each item in their order; `ended` hears of each one.

    With one process, or one item, all is done in this one.
    """
    if min(processes, len(items)) <= 1:
        return _heard(map(work, items), ended)
    with ProcessPoolExecutor(min(processes, len(items)), mp_context=get_context("spawn")) as pool:
        return _heard(pool.map(work, items), ended)


def _heard(results: Iterable[R], ended: Callable[[R], None]) -> list[R]:
    found = []
    for result in results:
        ended(result)
        found.append(result)
    return found
