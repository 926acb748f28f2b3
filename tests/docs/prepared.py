"""What a page presupposes in the folder of its reader, made before its blocks run."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import evimem
from evimem.loaders.examples import load_example


def friends(path: str = "friends.evimem") -> None:
    """Make the memory that `evimem demo --keep friends.evimem` leaves."""
    Path(path).parent.mkdir(exist_ok=True)
    with evimem.open(path) as memory:
        memory.extend(load_example("friends"))
        memory.enrich()


def export(path: str) -> None:
    """Write an export of ChatGPT with one conversation of two messages."""
    nodes: dict[str, Any] = {"root": {"id": "root", "parent": None, "children": ["ask"], "message": None}}
    said = (("ask", "root", "user", "How do I prune a pear?"), ("reply", "ask", "assistant", "In February."))
    for name, parent, role, text in said:
        body = {"id": name, "author": {"role": role}, "create_time": 1_700_000_000.5, "recipient": "all"}
        body |= {"content": {"content_type": "text", "parts": [text]}, "metadata": {}}
        nodes[name] = {"id": name, "parent": parent, "children": [], "message": body}
    nodes["ask"]["children"] = ["reply"]
    chat = {"conversation_id": "c1", "title": "Pears", "create_time": 1_700_000_000, "mapping": nodes}
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("conversations.json", json.dumps([chat | {"current_node": "reply"}]))


def users(path: str) -> None:
    """Write turns of two users, a line each, with the field `user`."""
    said = [
        {"user": user, "speaker": user, "text": "I moved.", "time": "2024-03-12T18:20"} for user in ("mira", "tomas")
    ]
    Path(path).write_text("".join(json.dumps(one) + "\n" for one in said), encoding="utf-8")


PREPARED: Mapping[str, Callable[[], Any]] = {
    "docs/importing.md": lambda: export("export.zip"),
    "docs/operations.md": lambda: (friends("mira.evimem"), users("chats.jsonl")),
}
