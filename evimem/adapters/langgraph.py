"""LangGraph: a store for long-term memory, for `graph.compile(store=EvimemStore(memory))`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import orjson

from ..api.checked_arguments import checked_count, checked_items, checked_kind, checked_text
from ..api.memory import Memory
from ..errors import InvalidQuery, InvalidTurn, MissingExtra, UnknownTurn, shown
from ..text.memory_fence import without_blocks
from ..types.public_value import json_bytes
from ..types.values import Turn

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        PutOp,
        SearchItem,
        SearchOp,
        get_text_at_path,
        tokenize_path,
    )
except ImportError as _error:
    raise MissingExtra("evimem.adapters.langgraph", "langgraph") from _error

STORE_SPEAKER = "langgraph"  # the speaker of an item
_ITEM_FIELDS = {"ns": list, "key": str, "value": dict, "created_at": str}


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


def is_item(turn: Turn) -> bool:
    """Return whether a turn is an item: an application may have metadata of these names of its own."""
    said = turn.metadata
    has_fields = all(isinstance(said.get(name), kind) for name, kind in _ITEM_FIELDS.items())
    if turn.speaker != STORE_SPEAKER or not has_fields:
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


def checked_operation(op: Any) -> Any:
    """Check an operation and return it. Raise InvalidQuery for another type, and for a field of another type."""
    if isinstance(op, (GetOp, PutOp)):
        _check_labels("the namespace", op.namespace)
        checked_kind("the key", op.key, str)
    elif isinstance(op, SearchOp):
        _check_labels("the namespace prefix", op.namespace_prefix)
        checked_text("the query", op.query)
    elif isinstance(op, ListNamespacesOp):
        for condition in checked_items("the match conditions", op.match_conditions or (), "conditions"):
            _check_labels("the path", checked_kind("a match condition", condition, MatchCondition).path)
        if op.max_depth is not None:
            checked_count("max_depth", op.max_depth)
    else:
        raise InvalidQuery(f"{shown(op)} is no operation of a store; expected a get, search, put or list of namespaces")
    if isinstance(op, (SearchOp, ListNamespacesOp)):
        checked_count("the limit", op.limit)
        checked_count("the offset", op.offset)
    if isinstance(op, PutOp) and op.index is not None and op.index is not False:
        _check_labels("the index", op.index)
    return op


def _check_labels(name: str, labels: Any) -> None:
    """Raise InvalidQuery for anything but a list or tuple of strings."""
    if not isinstance(labels, (list, tuple)) or not all(isinstance(label, str) for label in labels):
        raise InvalidQuery(f"{name} is {shown(labels)}; expected strings in a tuple or list")


class EvimemStore(BaseStore):
    """A store whose items are turns: found by their text, replaced in one transaction, durable over restarts.

    An item's text is that of the fields that `index` names, by default of every field; with `index=False` it is found
    by namespace and filter only. Filters go by exact JSON values: 1 is neither 1.0 nor True, and null no missing key.
    A namespace with its key has at most 500 characters as JSON. `list_namespaces` reads every item.

    Reads of a batch see the items before its puts; of two puts to one key the last wins. There is no TTL. Errors
    are those of the memory.

    Args:
        memory: The memory, which may hold conversations too; it stays the caller's, to close.
    """

    __slots__ = ("memory",)

    def __init__(self, memory: Memory) -> None:
        self.memory: Memory = memory

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Perform operations, durably on return. Raise InvalidQuery, and perform none, where one is invalid."""
        asked = [checked_operation(op) for op in checked_items("ops", ops, "operations")]
        results = [None if isinstance(op, PutOp) else self._read(op) for op in asked]
        self._put({item_id(op.namespace, op.key): op for op in asked if isinstance(op, PutOp)}.values())
        return results

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """Perform operations in a thread."""
        return await asyncio.to_thread(self.batch, ops)

    def _read(self, op: Any) -> Any:
        if isinstance(op, GetOp):
            old = self._turn(op.namespace, op.key)
            return None if old is None else Item(**item_fields(old))
        if isinstance(op, SearchOp):
            return list(self._search(op))[op.offset :] if op.limit > 0 else []
        return self._namespaces(op)

    def _turn(self, namespace: tuple[str, ...], key: str) -> Turn | None:
        with suppress(UnknownTurn):
            turn = self.memory.turn(item_id(namespace, key))
            return turn if is_item(turn) else None
        return None

    def _search(self, op: SearchOp) -> Iterator[SearchItem]:
        where: dict[str, Any] = {"ns": {"$prefix": list(op.namespace_prefix)}}
        where |= {"value": op.filter} if op.filter else {}
        if op.query:
            where = where | {"indexed": True}
            found = self.memory.search(op.query, op.offset + op.limit, speaker=STORE_SPEAKER, where=where)
            yield from (SearchItem(**item_fields(hit.turn), score=hit.score) for hit in found if is_item(hit.turn))
        else:  # the newest first, as LangGraph's own stores do
            newest = self.memory.turns(speaker=STORE_SPEAKER, where=where, limit=op.offset + op.limit, newest=True)
            yield from (SearchItem(**item_fields(turn)) for turn in reversed(list(newest)) if is_item(turn))

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        turns = self.memory.turns(speaker=STORE_SPEAKER, where={"ns": {"$prefix": []}})
        every = {tuple(turn.metadata["ns"]) for turn in turns if is_item(turn)}
        conditions = op.match_conditions or ()
        found = {one[: op.max_depth] for one in every if all(_matches(one, condition) for condition in conditions)}
        return sorted(found)[op.offset : op.offset + op.limit]

    def _put(self, ops: Iterable[PutOp]) -> None:
        puts = list(ops)
        self.memory.extend([self._item(op) for op in puts if op.value is not None], strict=True, replace=True)
        for op in puts:
            if op.value is None:
                with suppress(UnknownTurn):  # deleting an absent item is no error
                    self.memory.forget([item_id(op.namespace, op.key)])

    def _item(self, op: PutOp) -> Turn:
        """Return an item as a turn: an assertion by a tool, whose text is searched."""
        value = item_value(op.key, op.value)
        if op.index is False:
            text = ""
        elif op.index is None:
            text = "\n".join(leaves(value))
        else:
            text = "\n".join(one for path in op.index for one in get_text_at_path(value, tokenize_path(path)))
        indexed = bool(without_blocks(text).strip())  # an item that only quotes recalled turns is not
        kept, now = self._turn(op.namespace, op.key), self.memory.now()
        metadata = {
            "ns": list(op.namespace),
            "key": op.key,
            "value": value,
            "indexed": indexed,
            "created_at": kept.metadata["created_at"] if kept else now.isoformat(),
        }
        said = text if indexed else "[not indexed]"
        return Turn(item_id(op.namespace, op.key), "", STORE_SPEAKER, said, now, role="tool", metadata=metadata)


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    size = len(condition.path)
    part = namespace[:size] if condition.match_type == "prefix" else namespace[len(namespace) - size :]
    return len(namespace) >= size and all(said in {"*", one} for said, one in zip(condition.path, part, strict=True))
