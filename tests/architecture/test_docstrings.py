"""The public names are documented: what they are, every parameter, every exception raised in their bodies."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from enum import Enum
from typing import Any

import pytest

import evimem

SEE = re.compile(r"[Ss]ee `([\w.]+)`")
MADE_BY_EVIMEM = (evimem.Memory, evimem.AsyncMemory)  # by open() and open_async(), which document their parameters
NAMES = [name for name in evimem.__all__ if not name.startswith("__")]


def public() -> Iterator[tuple[str, Any]]:
    """Every public name that is a class or function, and every public method and property of the classes."""
    for name in NAMES:
        value = getattr(evimem, name)
        yield name, value
        if inspect.isclass(value):
            for attribute, member in vars(value).items():
                wrapped = getattr(member, "__func__", getattr(member, "fget", None) or member)
                if not attribute.startswith("_") and inspect.isfunction(wrapped):
                    yield f"{name}.{attribute}", wrapped


def undocumented(name: str, value: Any) -> str | None:
    """What a public name lacks, as a sentence; None if it lacks nothing."""
    text = inspect.getdoc(value) if not inspect.isclass(value) else vars(value).get("__doc__")
    if not text or (is_dataclass(value) and text.startswith(f"{name}(")):
        return f"{name} has no docstring"
    whole = text + "".join(inspect.getdoc(seen) or "" for seen in _seen(text))
    if inspect.isclass(value):
        whole += inspect.getdoc(value.__init__) or ""
    missing = [parameter for parameter in _parameters(value) if not re.search(rf"\b{parameter}\b", whole)]
    missing += [error for error in _raised(value) if error not in text]
    return f"{name} does not mention {', '.join(missing)}" if missing else None


def _seen(text: str) -> list[Any]:
    """What a docstring refers to: "see `Memory.search`"."""
    found: list[Any] = []
    for dotted in SEE.findall(text):
        value: Any = evimem
        for part in dotted.split("."):
            value = getattr(value, part, None)
        found += [] if value is None else [value]
    return found


def _parameters(value: Any) -> list[str]:
    """The parameters of a function, the fields of a value, and of a class that users construct its parameters."""
    if is_dataclass(value):
        return [name for name in value.__dataclass_fields__ if not name.startswith("_")]
    if inspect.isclass(value) and (issubclass(value, (Exception, Enum)) or value in MADE_BY_EVIMEM):
        return []
    return [name for name in inspect.signature(value).parameters if name not in {"self", "cls"}]


def _raised(value: Any) -> list[str]:
    """The exception classes that a function raises in its own body."""
    if inspect.isclass(value):
        return []
    body = ast.parse(textwrap.dedent(inspect.getsource(value)))
    raised = [node.exc for node in ast.walk(body) if isinstance(node, ast.Raise) and node.exc is not None]
    names = [error.func if isinstance(error, ast.Call) else error for error in raised]
    return [name.id for name in names if isinstance(name, ast.Name) and name.id[0].isupper()]


def test_every_public_name_says_what_it_does_with_every_parameter_and_exception() -> None:
    assert [lack for name, value in public() if (lack := undocumented(name, value))] == []


def _silent() -> None:
    pass


def _forgetful(k: int) -> None:
    """Take something."""


def _reticent(k: int) -> None:
    """Take k, 1 or more."""
    if k < 1:
        raise ValueError(k)


def _complete(k: int) -> None:
    """Take k; raise ValueError below 1."""
    if k < 1:
        raise ValueError(k)


@pytest.mark.parametrize(
    ("function", "lack"),
    [
        (_silent, "f has no docstring"),
        (_forgetful, "f does not mention k"),
        (_reticent, "f does not mention ValueError"),
        (_complete, None),
    ],
)
def test_what_a_docstring_lacks_is_found(function: Callable[..., None], lack: str | None) -> None:
    assert undocumented("f", function) == lack
