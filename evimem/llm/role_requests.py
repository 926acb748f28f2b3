"""Requests from prompt files: what stands above the line --- is the system's, what stands below it holds the data."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from string import Template
from typing import Any

from ..types.model import Complete, ModelRole
from .prompts import load

LINE = "\n---\n"


def request(role: ModelRole, prompt: str, schema: Mapping[str, Any], **values: object) -> Complete:
    """Return the request that a prompt file makes with these values. Values never reach the system part."""
    system, user = _parts(prompt)
    return Complete(role, system, Template(user).substitute(values), schema)


@cache
def _parts(prompt: str) -> tuple[str, str]:
    system, line, user = load(prompt).template.partition(LINE)
    if not line:
        raise ValueError(f"prompt {prompt!r} has no line '---' between its instructions and its data")
    return system.strip(), user.strip()
