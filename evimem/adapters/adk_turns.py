"""Events and entries of Google ADK as turns, and turns as entries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any

from google.adk.events import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from ..errors import InvalidQuery, InvalidTurn, shown
from ..types.values import Turn


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
    """Return what was said in a content, without thoughts, calls and files."""
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
    """Return the metadata of turns. Raise InvalidQuery for what is no mapping."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidQuery(f"custom_metadata is {shown(given)}; expected a mapping")
    return dict(given or {})
