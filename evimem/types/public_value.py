"""The common methods of returned values: `to_dict` for programs, and a short repr for people; JSON of any value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from datetime import date, time
from enum import Enum
from html import escape
from os import PathLike
from reprlib import Repr
from typing import Any

import orjson

AnyPath = str | PathLike[str]  # of a file, or as a string the address of a server
_SHORT = Repr()

_PLAIN = frozenset((str, int, float, bool, type(None)))


def is_server(path: object) -> bool:
    """Return whether a path is the address of a PostgreSQL server."""
    return isinstance(path, str) and path.startswith(("postgresql://", "postgres://"))


def json_bytes(value: Any, *, sort_keys: bool = False) -> bytes:
    """Return a value as JSON; a date or time is its ISO 8601 text. Raise TypeError for a value that JSON cannot hold.

    orjson never reads a time here: one whose `tzinfo` raises makes it access memory that is not its own.
    """
    options = orjson.OPT_PASSTHROUGH_DATETIME | (orjson.OPT_SORT_KEYS if sort_keys else 0)
    return orjson.dumps(value, default=_text, option=options)


def _text(value: Any) -> str:
    if isinstance(value, (date, time)):  # a datetime is a date
        return value.isoformat()
    raise TypeError(f"a {type(value).__name__} is no JSON value")


_SHORT.maxstring = _SHORT.maxother = 80  # characters of a text or value in a field that a repr shows
_SHORT.maxtuple = _SHORT.maxlist = _SHORT.maxdict = 3


@dataclass(frozen=True, slots=True, repr=False)
class PublicValue:
    """The base of the dataclasses that evimem returns."""

    def to_dict(self) -> dict[str, Any]:
        """Return every field as plain JSON values: times as ISO 8601 texts, values in values as dicts.

        The keys are the names of the fields, and stay the same between versions.
        """
        return {one.name: plain(getattr(self, one.name)) for one in fields(self)}

    def _repr_html_(self) -> str:
        """Return a notebook's view of it: its text, escaped."""
        return f"<pre>{escape(str(self))}</pre>"

    def __repr__(self) -> str:
        """Name the fields that are set. A long one is cut: a turn of a megabyte prints a line."""
        held = ((one, getattr(self, one.name)) for one in fields(self))
        told = (f"{one.name}={_SHORT.repr(value)}" for one, value in held if _is_set(one, value))
        return f"{type(self).__name__}({', '.join(told)})"


def plain(value: Any) -> Any:
    """Return a value as JSON has it. One that JSON cannot hold stays as it is, and is refused where it is written."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, PublicValue):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    if isinstance(value, (date, time)):  # a datetime is a date
        return value.isoformat()
    return value.value if isinstance(value, Enum) else value


def _is_set(one: Field[Any], held: Any) -> bool:
    default = one.default if one.default_factory is MISSING else one.default_factory()
    return default is MISSING or held != default
