"""Prompts are files, one a model call: prompts/<name>.md, with $field templates."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template


@cache
def load(name: str) -> Template:
    """Return a prompt's template: from the wheel, or from prompts/ beside the package in a checkout."""
    packed = files("evimem") / "_prompts" / f"{name}.md"
    path = packed if packed.is_file() else Path(__file__).parents[2] / "prompts" / f"{name}.md"
    return Template(path.read_text(encoding="utf-8"))


def fill(name: str, **values: object) -> str:
    """Return a prompt with its fields filled; a missing field raises KeyError."""
    return load(name).substitute(values)
