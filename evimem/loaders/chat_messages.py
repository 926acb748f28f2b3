"""Messages of a chat API, one by one: who said what and when, and the message itself as it was given."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any

from .json_values import mismatch_error, text_of
from .openai_messages import ROLES, own_time, text_of_content

_ROLE_OF_TYPE = {"function_call": "assistant", "function_call_output": "tool", "reasoning": "assistant"}


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message.

    Attributes:
        raw: The message as JSON, its keys in the order given.
        role: Its role, "developer" as "system" and "function" as "tool".
        speaker: Its `name`, else its role.
        text: Its text or, where it has none, what stands for it, such as `get_weather({"city": "Porto"})`.
        time: Its own time, if it has one.
    """

    raw: str
    role: str
    speaker: str
    text: str
    time: datetime | None


def read_message(message: object) -> ChatMessage:
    """Return a message. Raise ValueError for what is none, or is not JSON."""
    if not isinstance(message, Mapping):
        raise mismatch_error("a message", message, "a mapping with role and content, such as message.model_dump()")
    whole = dict(message)
    role = whole.get("role") or _ROLE_OF_TYPE.get(str(whole.get("type")))
    if not isinstance(role, str):
        raise mismatch_error("the role of a message", role, "system, user, assistant or tool")
    role = ROLES.get(role, role)
    text = text_of_content(whole.get("content") or whole.get("output"))
    return ChatMessage(
        as_json(whole),
        role,
        _name(whole) or role,
        text if text.strip() else _rendered(whole),
        own_time(whole),
    )


def message_ids(messages: Sequence[ChatMessage], session: str) -> list[str]:
    """Return an id for each message of a list: a digest of the session, the message and its occurrence in the list."""
    seen: Counter[str] = Counter()
    ids = []
    for message in messages:
        content = json.dumps([session, json.loads(message.raw)], sort_keys=True)
        digest = blake2b(content.encode(), digest_size=15).hexdigest()
        ids.append(f"{digest}-{seen[digest]}" if seen[digest] else digest)
        seen[digest] += 1
    return ids


def _name(message: Mapping[str, Any]) -> str:
    """Return who speaks, where that is said; the name of a call without a role is that of what is called."""
    return (text_of(message, "name") or "").strip() if message.get("role") else ""


def as_json(message: Mapping[str, Any]) -> str:
    """Return a message as JSON from which an equal one is read. Raise ValueError for one that would differ."""
    try:
        raw = json.dumps(message, allow_nan=False)
        comes_back = json.loads(raw) == message
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"a message cannot be kept as JSON: {error}") from error
    if not comes_back:
        raise ValueError("a message would not come back as it was given; expected keys that are strings, and no tuples")
    return raw


def _rendered(message: Mapping[str, Any]) -> str:
    """Return what stands for a message without text: its calls, its refusal, or the kinds of its parts."""
    refusal = message.get("refusal")
    calls = message.get("tool_calls") or [message.get("function_call") or message]
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    found = [
        *(_call(call) for call in (calls if isinstance(calls, list) else [])),
        *(f"[{part.get('type') or 'part'}]" for part in parts if isinstance(part, dict)),
    ]
    if isinstance(refusal, str) and refusal.strip():
        return refusal
    return "\n".join(text for text in found if text) or "[no text]"


def _call(call: Any) -> str:
    """Return a call as one would write it; empty for anything else."""
    if not isinstance(call, dict):
        return ""
    called = next((call[key] for key in ("function", "custom") if isinstance(call.get(key), dict)), call)
    arguments = called.get("arguments", called.get("input"))
    if not isinstance(called.get("name"), str) or arguments is None:
        return ""
    return f"{called['name']}({arguments if isinstance(arguments, str) else json.dumps(arguments)})"
