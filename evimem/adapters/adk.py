"""Google ADK: a memory service over a pool, `Runner(..., memory_service=EvimemMemoryService(pool))`, a file a user."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from datetime import datetime, tzinfo
from typing import Any

from ..api.async_memory import AsyncMemory
from ..api.checked_arguments import checked_items, checked_kind
from ..api.pool import MemoryPool
from ..errors import InvalidQuery, InvalidTurn, MissingExtra, UnknownTurn, shown
from ..types.values import Turn

try:
    from google.adk.events import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai import types
except ImportError as _error:
    raise MissingExtra("evimem.adapters.adk", "adk") from _error


def turn_of(said: Event | MemoryEntry, time: Any, session: str | None, metadata: dict[str, Any]) -> Turn:
    """Return the turn of an event or entry: said by its author or, without one, by the assistant."""
    role = "user" if said.author == "user" else "assistant"
    speaker = said.author or role
    return Turn(said.id or "", session or "", speaker, text_of(said.content), time, role=role, metadata=metadata)


def entry_of(turn: Turn) -> MemoryEntry:
    """Return a turn as an entry."""
    role, at = "user" if turn.role == "user" else "model", turn.time.isoformat()
    content = types.Content(role=role, parts=[types.Part(text=turn.text or turn.caption)])
    return MemoryEntry(id=turn.id, content=content, author=turn.speaker, timestamp=at, custom_metadata=turn.metadata)


def text_of(content: Any) -> str:
    """Return the text of a content, without thoughts, calls and files."""
    parts = (content.parts if content else None) or []
    return "\n".join(part.text for part in parts if part.text and part.text.strip() and not part.thought)


def time_of(event: Event, zone: tzinfo | None) -> datetime:
    """Return when an event was said, in a zone. Raise InvalidTurn for a timestamp that is no time."""
    try:
        return datetime.fromtimestamp(event.timestamp, zone)
    except (OverflowError, ValueError, OSError) as error:
        raise InvalidTurn(
            f"the timestamp of an event is {shown(event.timestamp)}; expected seconds since 1970 ({error})"
        ) from error


def metadata_of(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the metadata of turns. Raise InvalidQuery for anything but a mapping."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidQuery(f"custom_metadata is {shown(given)}; expected a mapping")
    return dict(given or {})


class EvimemMemoryService(BaseMemoryService):
    """A memory service: messages of sessions, found by their meaning, durable over restarts.

    An event with text is a turn under its id, so that a session may be added again and again; parts that are thoughts,
    calls or files are left out. Users of an app are apart, each in a file of the pool. Content that `delete_memory`
    deletes is erased and does not come back with its session: a turn without content keeps its id.

    Args:
        pool: The pool; it stays the caller's, to close.
        k: How many turns a search returns.

    Methods raise the errors of the pool and of its memories.
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
