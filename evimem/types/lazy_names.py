"""Names of a package that are imported at first use, so that a process loads what it calls."""

from collections.abc import Callable, Mapping
from importlib import import_module
from sys import modules as loaded
from typing import Any


def lazily(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package: `places` are the modules of its names, relative to it."""

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f".{places[name]}", package), name)
        setattr(loaded[package], name, value)
        return value

    return get
