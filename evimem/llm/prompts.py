"""Prompts are files, one per model call: prompts/<name>.md, instructions above a line `---`, $field templates below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from ..types.model import Complete, ModelRole

SEPARATOR = "\n---\n"


@dataclass(frozen=True, slots=True)
class PromptParts:
    """A prompt file's instructions for the system role, and its template for the user role."""

    system: str
    user: Template


def prompt_request(role: ModelRole, prompt: str, schema: Mapping[str, Any], **values: object) -> Complete:
    """Return the request that a prompt file makes with these values. Raise KeyError for a missing one.

    Values are filled into the user part only: retrieved text must never reach the instructions.
    """
    parts = _parts(prompt)
    return Complete(role, parts.system, parts.user.substitute(values), schema)


@cache
def load(name: str) -> Template:
    """Return a prompt's template: from the wheel, or from prompts/ next to the package in a checkout."""
    packed = files("evimem") / "_prompts" / f"{name}.md"
    path = packed if packed.is_file() else Path(__file__).parents[2] / "prompts" / f"{name}.md"
    return Template(path.read_text(encoding="utf-8"))


@cache
def _parts(prompt: str) -> PromptParts:
    system, line, user = load(prompt).template.partition(SEPARATOR)
    if not line:
        raise ValueError(f"prompt {prompt!r} has no line '---' between its instructions and its data")
    return PromptParts(system.strip(), Template(user.strip()))
