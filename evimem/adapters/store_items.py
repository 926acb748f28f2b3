"""Items of a store of keys and values as turns: where each lies, what it says, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from ..errors import InvalidTurn, shown
from ..text.memory_fence import without_blocks
from ..types.json_bytes import json_bytes
from ..types.values import Turn

NOT_INDEXED = "[not indexed]"
STORE = "langgraph"  # the speaker of an item
_FIELDS = {"ns": list, "key": str, "value": dict, "created_at": str}


def item_id(namespace: Sequence[str], key: str) -> str:
    """Return the id of an item's turn."""
    return json.dumps([*namespace, key], ensure_ascii=False)


def item_value(key: str, given: Any) -> dict[str, Any]:
    """Return the value of an item as it is kept. Raise InvalidTurn for one that JSON cannot say."""
    try:
        value = orjson.loads(json_bytes(given))
    except (TypeError, ValueError) as error:
        raise InvalidTurn(f"the value of {shown(key)} cannot be kept ({error}); expected JSON values") from error
    if not isinstance(value, dict):
        raise InvalidTurn(f"the value of {shown(key)} is {shown(given)}; expected a mapping of strings to JSON values")
    return value


def item_turn(namespace: Sequence[str], key: str, value: Any, text: str, kept: Turn | None, now: datetime) -> Turn:
    """Return an item as a turn: an assertion by a tool, whose `text` is searched. `kept` is what it replaces.

    An item without text, and one that only quotes what was recalled, is not found by a query.
    """
    indexed = bool(without_blocks(text).strip())
    metadata = {
        "ns": list(namespace),
        "key": key,
        "value": value,
        "indexed": indexed,
        "created_at": kept.metadata["created_at"] if kept else now.isoformat(),
    }
    said = text if indexed else NOT_INDEXED
    return Turn(item_id(namespace, key), "", STORE, said, now, role="tool", metadata=metadata)


def is_item(turn: Turn) -> bool:
    """Return whether a turn is an item: an application may have metadata of these names of its own."""
    said = turn.metadata
    if turn.speaker != STORE or not all(isinstance(said.get(name), kind) for name, kind in _FIELDS.items()):
        return False
    return turn.id == item_id(said["ns"], said["key"])


def item_fields(turn: Turn) -> dict[str, Any]:
    """Return the fields of an item; its times are aware."""
    return {
        "namespace": tuple(turn.metadata["ns"]),
        "key": turn.metadata["key"],
        "value": turn.metadata["value"],
        "created_at": datetime.fromisoformat(turn.metadata["created_at"]).astimezone(),
        "updated_at": turn.time.astimezone(),
    }


def leaves(value: Any) -> Iterator[str]:
    """Yield every value inside a JSON value as text, without keys and nulls."""
    if isinstance(value, (Mapping, list, tuple)):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from leaves(one)
    elif value is not None:
        yield str(value)
