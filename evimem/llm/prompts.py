"""Prompts are files, one per model call: prompts/<name>.md, instructions above a line `---`, $field templates below."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Any

from ..types.model import Complete, ModelRole

SEPARATOR = "\n---\n"
# Of a reply with a model's thoughts. Replies have about 150 tokens; what is cut is asked for once more with more room.
MOST_TOKENS = {
    "judge": 2_000,
    "decide": 2_000,
    "keywords": 1_000,
    "consider": 2_000,
    "explore": 2_000,
    "answer": 2_000,
    "extract": 4_000,
    "entities": 500,
    "refine": 500,
    "chain": 1_500,
}


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
    return Complete(role, parts.system, parts.user.substitute(values), schema, MOST_TOKENS[prompt])


@cache
def reply_form(prompt: str) -> Mapping[str, Any]:
    """Return the example of a reply that a prompt ends with; a model that repeats it has not replied."""
    form: dict[str, Any] = json.loads(load(prompt).template.strip().rpartition("\n")[2])
    return MappingProxyType(form)


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
