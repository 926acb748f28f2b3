"""Google ADK: a memory service over a pool, `Runner(..., memory_service=EvimemMemoryService(pool))`, a file a user."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

from ..doors.async_memory import AsyncMemory
from ..doors.checked_arguments import checked_items, checked_kind
from ..doors.pool import MemoryPool
from ..errors import InvalidQuery, InvalidTurn, MissingExtra, UnknownTurn
from ..types.values import Turn

try:
    from google.adk.events import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
except ImportError as _error:
    raise MissingExtra("evimem.adapters.adk", "adk") from _error

from .adk_turns import entry_of, metadata_of, text_of, time_of, turn_of


class EvimemMemoryService(BaseMemoryService):
    """A memory service: what was said in sessions, found by what it means, there after a restart.

    An event with text is a turn under its id, so that a session may be added again and again; parts that are thoughts,
    calls or files are left out. Users of an app are apart, each in a file of the pool. What `delete_memory` deletes is
    erased and does not come back with its session: a turn without content keeps its id.

    Args:
        pool: The pool; it stays the caller's, to close.
        k: How many turns a search returns.

    Each method raises what the methods of the pool and of its memories raise.
    """

    def __init__(self, pool: MemoryPool, k: int = 10) -> None:
        self._pool = pool
        self._k = k

    def memory_of(self, app_name: str, user_id: str) -> AbstractAsyncContextManager[AsyncMemory]:
        """Open the memory of a user for an `async with` block, to ask it, or to forget more than one entry."""
        names = [checked_kind("app_name", app_name, str), checked_kind("user_id", user_id, str)]
        return self._pool.open_async(json.dumps(names))

    async def add_session_to_memory(self, session: Any) -> None:
        """Store the events of a session that are not stored yet."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Store events that are not stored yet; `custom_metadata` is the metadata of their turns."""
        kept = metadata_of(custom_metadata)
        said = [checked_kind("an event", one, Event) for one in checked_items("events", events, "events")]
        async with self.memory_of(app_name, user_id) as memory:
            zone = (await memory.now()).tzinfo
            turns = [turn_of(one, time_of(one, zone), session_id, kept) for one in said if text_of(one.content)]
            for status in (await memory.extend(turns)).statuses:
                if status.outcome == "refused" and not await _is_held(memory, status.id):
                    raise InvalidTurn(f"an event of the session cannot be stored: {status.reason}")

    async def add_memory(
        self, *, app_name: str, user_id: str, memories: Sequence[Any], custom_metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Store entries: said by their author or, without one, by the assistant; now, or at their time."""
        kept = metadata_of(custom_metadata)
        said = [checked_kind("an entry", one, MemoryEntry) for one in checked_items("memories", memories, "entries")]
        async with self.memory_of(app_name, user_id) as memory:
            now = await memory.now()
            turns = [turn_of(one, one.timestamp or now, None, kept | one.custom_metadata) for one in said]
            await memory.extend(turns, strict=True)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the turns that are the best evidence for a query, best first."""
        asked = checked_kind("query", query, str).strip()
        async with self.memory_of(app_name, user_id) as memory:
            hits = await memory.search(asked, self._k, where={"deleted": {"$ne": True}}) if asked else []
        return SearchMemoryResponse(memories=[entry_of(hit.turn) for hit in hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Erase the text of an entry with everything derived from it. Raise UnknownTurn where there is none."""
        if memory_id is None:
            raise InvalidQuery("memory_id is None; expected the id of an entry, as search_memory returns it")
        async with self.memory_of(app_name, user_id) as memory:
            old = await memory.turn(memory_id)
            empty = Turn(old.id, "", "tool", "[deleted]", old.time, role="tool", metadata={"deleted": True})
            await memory.extend([empty], strict=True, replace=True)


async def _is_held(memory: AsyncMemory, id: str) -> bool:
    with suppress(UnknownTurn):
        return bool(await memory.turn(id))  # stored already with other content, or deleted
    return False
