"""`where=`: conditions on the metadata of turns, read once, and whether a turn meets them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import ge, gt, le, lt
from types import MappingProxyType
from typing import Any

import orjson

from .public_value import json_bytes

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = MappingProxyType({"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le})
OPERATORS = ("$eq", "$ne", *_ORDERS, "$in", "$prefix")
_MISSING = object()
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_ -]+")
_MOST_PARTS = 32  # texts looked for before a condition is checked: more would cost more than they spare


@dataclass(frozen=True, slots=True)
class Condition:
    """One operator on the value at a path of keys.

    `operand` is a JSON value, and `texts` the canonical JSON of it, of each of its values for "$in".
    """

    path: tuple[str, ...]
    operator: str
    operand: Any = field(hash=False)
    texts: tuple[str, ...]

    @classmethod
    def of(cls, path: tuple[str, ...], operator: str, operand: Any) -> Condition:
        """Return the condition of an operator that takes this operand."""
        wanted = operand if operator == "$in" else [operand]
        return cls(path, operator, operand, tuple(map(canonical, wanted)))

    def meets(self, metadata: Any) -> bool:
        """Whether the value at the path is there and is as wanted; "$ne" is met where it is not there, too."""
        value = metadata
        for key in self.path:
            value = value.get(key, _MISSING) if isinstance(value, Mapping) else _MISSING
        if self.operator == "$ne":
            return value is _MISSING or canonical(value) not in self.texts
        return value is not _MISSING and self._is_met(value)

    def _is_met(self, value: Any) -> bool:
        if self.operator in {"$eq", "$in"}:
            return canonical(value) in self.texts
        if self.operator == "$prefix":
            return _begins_with(value, self.operand)
        return _are_ordered(value, self.operand) and _ORDERS[self.operator](value, self.operand)

    @property
    def orders_numbers(self) -> bool:
        """Whether it compares with a number so small, at a path so plain, that a database compares whole numbers alike.

        Beyond 2**53 a float is no longer next to every whole number.
        """
        return (
            self.operator in _ORDERS
            and not isinstance(self.operand, str)
            and abs(self.operand) <= 2**53
            and all(map(_PLAIN_KEY.fullmatch, self.path))
        )

    @property
    def whole(self) -> str:
        """The canonical JSON of the key and the operand: a part of that of any metadata with this value there."""
        return f"{canonical(self.path[-1])}:{self.texts[0]}"

    @property
    def parts(self) -> tuple[str, ...]:
        """Texts, one of which is in the canonical JSON of any metadata that meets this; an empty one excludes none."""
        key = f"{canonical(self.path[-1])}:"
        if self.operator == "$ne":
            return ("",)
        if self.operator in _ORDERS:
            return (key,)
        if self.operator == "$prefix":
            return (key + self.texts[0][:-1],)  # without the closing quote or bracket
        return tuple(key + text for text in self.texts)


@dataclass(frozen=True, slots=True)
class Where:
    """Conditions on the metadata of a turn, which must meet all of them.

    `text` is what was given, as canonical JSON, which `Where.of` reads again.
    """

    text: str
    conditions: tuple[Condition, ...] = field(compare=False, repr=False)

    @classmethod
    def read(cls, given: Any) -> Where:
        """Read what a caller gave; `Memory.search` says what it means. Raise ValueError for anything else."""
        if not isinstance(given, Mapping) or not given:
            raise ValueError("expected a mapping that is not empty, such as {'topic': 'pets'}")
        try:
            plain = orjson.loads(json_bytes(dict(given)))  # as metadata is kept: a tuple is a list, a date a text
        except (TypeError, ValueError) as error:
            raise ValueError(f"expected a mapping of strings to JSON values ({error})") from error
        return cls(canonical(plain), tuple(_conditions(plain, ())))

    @staticmethod
    def of(text: str) -> Where:
        """Return what `text` of another one says."""
        return _of(text)

    def meets(self, metadata: Any) -> bool:
        """Whether metadata meets every condition."""
        return all(condition.meets(metadata) for condition in self.conditions)

    def parts(self) -> Iterator[tuple[str, ...]]:
        """Yield tuples of texts: the canonical JSON of any metadata that meets this contains one text of each tuple.

        This is a quick test: other metadata may contain them too. Nothing meets an empty tuple.
        """
        left = _MOST_PARTS
        for condition in self.conditions:
            parts = condition.parts
            if len(parts) <= left and "" not in parts:
                left -= len(parts)
                yield parts


def canonical(value: Any) -> str:
    """Return a JSON value as the one text that stands for it: two values are equal if their texts are.

    So 1, 1.0, True and "1" all differ. Metadata is stored as this text.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def meets(metadata: str, where: str) -> bool:
    """Whether metadata, given as its canonical JSON, meets the `text` of conditions: a function for SQL."""
    return _of(where).meets(orjson.loads(metadata))


@lru_cache(maxsize=64)
def _of(text: str) -> Where:
    return Where.read(json.loads(text))


def _conditions(given: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Condition]:
    for key, value in given.items():
        here = (*path, key)
        if key.startswith("$"):
            raise ValueError(f"{key!r} stands where a key of metadata is expected; write {{'key': {{{key!r}: ...}}}}")
        if not isinstance(value, Mapping):
            yield Condition.of(here, "$eq", value)
        elif any(inner.startswith("$") for inner in value):
            yield from (_condition(here, operator, operand) for operator, operand in value.items())
        elif value:
            yield from _conditions(value, here)
        else:
            raise ValueError(f"{key!r} is an empty mapping, which says nothing; write {{{key!r}: {{'$eq': {{}}}}}}")


def _condition(path: tuple[str, ...], operator: str, operand: Any) -> Condition:
    if operator not in OPERATORS:
        raise ValueError(f"there is no operator {operator!r}; expected one of {', '.join(OPERATORS)}")
    if operator in _ORDERS and not _are_ordered(operand, operand):
        raise ValueError(f"{operator} of {path[-1]!r} is {operand!r:.60}; expected a number or a string")
    if operator == "$in" and not isinstance(operand, list):
        raise ValueError(f"$in of {path[-1]!r} is {operand!r:.60}; expected a list of values")
    if operator == "$prefix" and not isinstance(operand, (str, list)):
        raise ValueError(f"$prefix of {path[-1]!r} is {operand!r:.60}; expected a string or a list")
    return Condition.of(path, operator, operand)


def _are_ordered(value: Any, other: Any) -> bool:
    """Whether both are strings or both are numbers, which True and False are not."""
    if isinstance(value, bool) or isinstance(other, bool):
        return False
    return all(isinstance(one, str) for one in (value, other)) or all(
        isinstance(one, (int, float)) for one in (value, other)
    )


def _begins_with(value: Any, prefix: str | Sequence[Any]) -> bool:
    if isinstance(prefix, str):
        return isinstance(value, str) and value.startswith(prefix)
    return isinstance(value, list) and canonical(value[: len(prefix)]) == canonical(prefix)
