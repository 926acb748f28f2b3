"""The type variables of generic functions: `T` for a value that is passed through, `P` for the arguments of a call."""

from __future__ import annotations

from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
