"""The knowledge of a language, as data: word lists and tables in `<code>/*.toml`, read when first named."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_HERE = Path(__file__).parent  # not importlib.resources: its import takes 18 ms


@dataclass(frozen=True)
class Language:
    """The knowledge of one language. Names are `file.key`: `people.honorifics` is `honorifics` in `people.toml`.

    In a file, a list of single words is one string of words; entries with spaces are an array.
    """

    code: str

    def words(self, name: str) -> tuple[str, ...]:
        """Return a list in its order. Raise KeyError for one that the language does not have."""
        return _read_words(self.code, name)

    def __getitem__(self, name: str) -> frozenset[str]:
        """Return a list as a set, made once. Raise KeyError for one that the language does not have."""
        return _word_set(self.code, name)

    def table(self, name: str) -> Mapping[str, Any]:
        """Return a table, its values as TOML gives them. Raise KeyError for one that the language does not have."""
        value = _read_value(self.code, name)
        if not isinstance(value, Mapping):
            raise KeyError(f"{name!r} of language {self.code!r} is a list; use words()")
        return value

    def lists(self, name: str) -> Mapping[str, tuple[str, ...]]:
        """Return a table whose values are lists of words. Raise KeyError for one that the language does not have."""
        return MappingProxyType({key: _as_words(value) for key, value in self.table(name).items()})

    def any_of_source(self, *names: str) -> str:
        """Return the source of a pattern for any word or phrase of these lists, with any space between its words.

        The words are taken as they are. Raise KeyError for a list that the language does not have.
        """
        found = (re.escape(word).replace(r"\ ", r"\s+") for name in names for word in self.words(name))
        return f"(?:{'|'.join(found)})"

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The names of its files, sorted."""
        return tuple(sorted(path.stem for path in (_HERE / self.code).glob("*.toml")))


@cache
def _load_file(code: str, name: str) -> Mapping[str, Any]:
    text = (_HERE / code / f"{name}.toml").read_text(encoding="utf-8")
    return MappingProxyType(tomllib.loads(text))


def _read_value(code: str, name: str) -> Any:
    file, _, key = name.partition(".")
    value: Any = _load_file(code, file)
    for part in key.split("."):
        if part not in value:
            raise KeyError(f"language {code!r} has no {name!r}; it has {', '.join(value)}")
        value = value[part]
    return MappingProxyType(value) if isinstance(value, dict) else value


@cache
def _read_words(code: str, name: str) -> tuple[str, ...]:
    value = _read_value(code, name)
    if isinstance(value, Mapping):
        raise KeyError(f"{name!r} of language {code!r} is a table; use table() or lists()")
    return _as_words(value)


@cache
def _word_set(code: str, name: str) -> frozenset[str]:
    return frozenset(_read_words(code, name))


def _as_words(value: str | list[str]) -> tuple[str, ...]:
    return tuple(value.split()) if isinstance(value, str) else tuple(value)


ENGLISH = Language("en")
