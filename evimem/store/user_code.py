"""Code of the caller that runs while the store reads: what it raises is its own, and no sign of a damaged file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from ..protocols import Extractor
from ..types.values import Fact, Turn

P = ParamSpec("P")
T = TypeVar("T")


class _Outburst(Exception):
    """What a guest raised, past those who take a ValueError for damage."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


@contextmanager
def guests() -> Iterator[None]:
    """Let what guests raise in a block leave it as they raised it."""
    try:
        yield
    except _Outburst as outburst:
        raise outburst.error from None


def guest(function: Callable[P, T]) -> Callable[P, T]:
    """Return the same function as a guest, for a block of `guests`."""

    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            raise _Outburst(error) from error

    return called


@dataclass(frozen=True, slots=True)
class GuestExtractor:
    """The same extractor as a guest."""

    name: str
    extract: Callable[[Turn], tuple[Fact, ...]]

    @classmethod
    def of(cls, extractor: Extractor) -> GuestExtractor:
        """Make a guest of an extractor."""
        return cls(extractor.name, guest(extractor.extract))
