"""How breaks replace what they break: never by a bare assignment, which a rename would make a change of nothing."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import apsw

from evimem.db.connection import Connection

PATCHED: list[str] = []  # what was replaced in this process


def put(owner: Any, name: str, value: Any) -> None:
    """Replace an attribute until the process ends.

    Raise AttributeError if there is none of that name, ValueError if it already equals the value, and TypeError if the
    value is a function that cannot be called as the one it replaces.
    """
    place = f"{getattr(owner, '__qualname__', None) or getattr(owner, '__name__', owner)}.{name}"
    if not hasattr(owner, name):
        raise AttributeError(f"{place} does not exist; was it renamed?")
    before = getattr(owner, name)
    if before == value:
        raise ValueError(f"{place} is {value!r} already; the break changes nothing")
    if inspect.isfunction(before) and inspect.isfunction(value):
        _check_callable_as(before, value, place)
    setattr(owner, name, value)
    PATCHED.append(place)


def put_default(function: Any, name: str, value: Any) -> None:
    """Replace the default of a keyword-only argument until the process ends."""
    defaults = function.__kwdefaults__
    if name not in defaults:
        raise AttributeError(f"{function.__qualname__} has no keyword-only argument {name!r}; was it renamed?")
    put(function, "__kwdefaults__", {**defaults, name: value})


def put_property(owner: type, name: str, value: property) -> None:
    """Replace an attribute that instances of a class set for themselves."""
    if not re.search(rf"self\.{name}(: .*)? = ", inspect.getsource(owner)):
        raise AttributeError(f"no method of {owner.__qualname__} sets self.{name}; was it renamed?")
    setattr(owner, name, value)
    PATCHED.append(f"{owner.__qualname__}.{name}")


def changed(owner: Any, name: str, change: Callable[[Any], Any]) -> None:
    """Let a function return something else than it does."""
    honest = getattr(owner, name)
    put(owner, name, lambda *given, **named: change(honest(*given, **named)))


def opened_with(change: Callable[[apsw.Connection], object]) -> None:
    """Change every SQLite handle after it is opened."""
    honest = Connection._open

    def opened(self: Connection) -> apsw.Connection:
        db = honest(self)
        change(db)
        return db

    put(Connection, "_open", opened)


def _check_callable_as(before: Any, value: Any, place: str) -> None:
    parameters = inspect.signature(before).parameters.values()
    positional = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    keywords = {one.name: one for one in parameters if one.kind is one.KEYWORD_ONLY}
    try:
        inspect.signature(value).bind(*positional, **keywords)
    except TypeError as error:
        expected = inspect.signature(before)
        raise TypeError(f"{place} takes {expected}; the break's takes {inspect.signature(value)}: {error}") from error
