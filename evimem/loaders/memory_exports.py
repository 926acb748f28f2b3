"""Exports of mem0: memories that a model wrote of a user, without the messages that they come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .conversation import ExportFile
from .export_walk import Chat, Export, Outcome, Said
from .json_stream import JsonReader
from .json_values import make_type_error


def _find_memories(part: ExportFile) -> Iterator[Any]:
    """Yield the memories of a file: a list, or a list behind `results` or `memories`."""
    with part.open() as file:
        reader = JsonReader(file, part.name)
        try:
            if reader.next_mark() == "[":
                yield from reader.read_elements_under({}, "memories")
            else:
                for key in reader.read_keys():
                    if key in ("results", "memories") and reader.next_mark() == "[":
                        yield from reader.read_elements_under({}, "memories")
                    else:
                        reader.read_value()
        finally:
            reader.close()


def _read_memories(raw: Mapping[str, Any], part: ExportFile, path: Path) -> Chat:
    return Chat("memories", raw["memories"], {"kind": "memory"})


def _read_memory(message: Any, names: Mapping[str, str]) -> Outcome:
    text = next((message[key] for key in ("memory", "text", "data") if message.get(key)), "")
    if not isinstance(message["id"], str):
        raise make_type_error("the id of a memory", message["id"], "a string")
    metadata = message.get("metadata") or {}
    owners = {
        key: message[key] for key in ("user_id", "agent_id", "run_id", "app_id") if isinstance(message.get(key), str)
    }
    categories = {"categories": message["categories"]} if message.get("categories") else {}
    own = {**metadata, **owners, **categories}
    time = message.get("updated_at") or message.get("created_at")
    return Said(message["id"], "assistant", text, None, "assistant", owners.get("user_id", ""), metadata=own, time=time)


MEM0 = Export("mem0", ".*", _find_memories, _read_memories, ("updated_at", "created_at"), _read_memory)
