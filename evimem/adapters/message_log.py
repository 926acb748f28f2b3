"""A session of a memory as a log of messages: each comes back as it was given, in the order in which it was added.

Media do not: their data is not kept, and a text such as `[picture, image/jpeg, 3.1 MB]` stands in their place.
`Memory.remember` is for whole lists that grow; a log is given only new messages, and two equal messages are two.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import uuid4

from ..loaders.chat_messages import ChatMessage, contains_media, read_message, replace_media_by_names
from ..text.memory_fence import without_blocks
from ..types.values import Turn

LANGCHAIN_KEY = "langchain"  # the key under which one of its messages stands, which are none of a chat API


def new_turns(messages: Iterable[ChatMessage], session: str, now: datetime, newest: Iterable[Turn]) -> list[Turn]:
    """Return new turns for messages. `newest` is the session's last turn, if any.

    A turn is never earlier than the one before it, though the clock be set back. Recalled text is not stored as
    something that was said: of a message that is nothing but a block, the turn has a stand-in for a text.
    """
    time = max([now, *(turn.time for turn in newest)])
    return [
        Turn(
            uuid4().hex,
            session,
            message.speaker,
            _said(message),
            time,
            role=message.role,
            metadata={"message": message.raw},
        )
        for message in messages
    ]


def message_of(turn: Turn) -> Any:
    """Return the message of a turn; one that came another way is a message with its words.

    It is never a system message or one of a tool: a prompt takes it as said in the conversation.
    """
    kept = kept_message(turn)
    sent = None if kept is None else replace_media_by_names(kept)
    if sent is not None and LANGCHAIN_KEY not in sent and not contains_media(sent):
        return sent
    role = "assistant" if turn.role == "assistant" else "user"
    return {"role": role, "content": turn.text or turn.caption or ""}


def kept_message(turn: Turn) -> dict[str, Any] | None:
    """Return the message that a turn was made of; None for a turn that came another way, or was updated.

    An application may have metadata of that name of its own: a kept message is of the role of its turn and says what
    it does, or more, where the turn has only its words or a stand-in for them.
    """
    raw = turn.metadata.get("message")
    try:
        kept = json.loads(raw) if isinstance(raw, str) else None
        if isinstance(kept, dict) and LANGCHAIN_KEY not in kept:
            message = read_message(kept)
            said = without_blocks(_said(message))  # which is how it was stored
            text = turn.text.strip()
            says_so = text in said or (text.startswith("[") and text.endswith("]") and said.startswith("["))
            return kept if message.role == turn.role and says_so else None
    except (ValueError, RecursionError):
        return None
    return kept if isinstance(kept, dict) else None


def _said(message: ChatMessage) -> str:
    return message.text if without_blocks(message.text).strip() else "[recalled from memory]"
