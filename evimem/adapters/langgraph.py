"""LangGraph: a store for long-term memory, for `graph.compile(store=EvimemStore(memory))`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from ..doors.checked_arguments import checked_items
from ..doors.memory import Memory
from ..errors import MissingExtra, UnknownTurn
from ..types.values import Turn
from .store_items import STORE, is_item, item_fields, item_id, item_turn, item_value, leaves

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

from .store_operations import checked_operation


class EvimemStore(BaseStore):
    """A store whose items are turns: found by what they say, replaced in one transaction, there after a restart.

    An item's text is that of the fields that `index` names, by default of every field; with `index=False` it is found
    by namespace and filter only. Filters go by exact JSON values: 1 is neither 1.0 nor True, and null no missing key.
    A namespace with its key has at most 500 characters as JSON. `list_namespaces` reads every item.

    Of a batch, reads see what was there before its puts; of two puts to one key the last wins. There is no TTL. Errors
    are those of the memory.

    Args:
        memory: The memory, which may hold conversations too; it stays the caller's, to close.
    """

    __slots__ = ("memory",)

    def __init__(self, memory: Memory) -> None:
        self.memory: Memory = memory

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Perform operations, durably on return. Raise InvalidQuery for what is none, and perform none then."""
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
            found = self.memory.search(op.query, op.offset + op.limit, speaker=STORE, where=where | {"indexed": True})
            yield from (SearchItem(**item_fields(hit.turn), score=hit.score) for hit in found if is_item(hit.turn))
        else:  # the newest first, as LangGraph's own stores do
            newest = self.memory.turns(speaker=STORE, where=where, limit=op.offset + op.limit, newest=True)
            yield from (SearchItem(**item_fields(turn)) for turn in reversed(list(newest)) if is_item(turn))

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        turns = self.memory.turns(speaker=STORE, where={"ns": {"$prefix": []}})
        every = {tuple(turn.metadata["ns"]) for turn in turns if is_item(turn)}
        conditions = op.match_conditions or ()
        found = {one[: op.max_depth] for one in every if all(_matches(one, condition) for condition in conditions)}
        return sorted(found)[op.offset : op.offset + op.limit]

    def _put(self, ops: Iterable[PutOp]) -> None:
        puts = list(ops)
        self.memory.extend([self._item(op) for op in puts if op.value is not None], strict=True, replace=True)
        for op in puts:
            if op.value is None:
                with suppress(UnknownTurn):  # deleting what is not there is no error
                    self.memory.forget([item_id(op.namespace, op.key)])

    def _item(self, op: PutOp) -> Turn:
        value = item_value(op.key, op.value)
        if op.index is False:
            text = ""
        elif op.index is None:
            text = "\n".join(leaves(value))
        else:
            text = "\n".join(one for path in op.index for one in get_text_at_path(value, tokenize_path(path)))
        kept, now = self._turn(op.namespace, op.key), self.memory.now()
        return item_turn(op.namespace, op.key, value, text, kept, now)


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    size = len(condition.path)
    part = namespace[:size] if condition.match_type == "prefix" else namespace[len(namespace) - size :]
    return len(namespace) >= size and all(said in {"*", one} for said, one in zip(condition.path, part, strict=True))
