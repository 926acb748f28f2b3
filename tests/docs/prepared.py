"""What a page presupposes in the folder of its reader, made before its blocks run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import evimem
from evimem.loaders.examples import load_example, load_questions


def friends(path: str = "friends.evimem") -> None:
    """Make the memory that `evimem demo --keep friends.evimem` leaves."""
    Path(path).parent.mkdir(exist_ok=True)
    with evimem.open(path) as memory:
        memory.extend(load_example("friends"))
        memory.enrich()


def messages(path: str) -> None:
    """Write a list of chat messages with times."""
    said = [
        {"role": "user", "content": "I moved to Porto last month.", "created_at": "2024-03-12T18:20"},
        {"role": "assistant", "content": "How is it?", "created_at": "2024-03-12T18:21"},
    ]
    Path(path).write_text(json.dumps(said), encoding="utf-8")


PREPARED: Mapping[str, Callable[[], Any]] = {
    "docs/block.md": friends,
    "docs/answers.md": friends,
    "docs/guides/move-to-postgresql.md": lambda: (friends(), Path("users").mkdir()),
}
