"""User callbacks that run while the store reads: what they raise propagates unchanged, never as StoreCorrupt.

The store takes a ValueError or KeyError in a decoding block for a damaged row. Exceptions of callbacks are wrapped
while they pass through such blocks, and unwrapped at the edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class _CallbackError(Exception):
    """Carries an exception of a user callback past handlers that would take it for damage."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


@contextmanager
def unwrap_callback_errors() -> Iterator[None]:
    """Re-raise exceptions of callbacks wrapped with `as_callback` as the callbacks raised them."""
    try:
        yield
    except _CallbackError as wrapped:
        raise wrapped.error from None


def as_callback(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function with its exceptions wrapped, to be called inside `unwrap_callback_errors`."""

    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            raise _CallbackError(error) from error

    return called
