"""Claude's data export: conversations.json, or the zip that holds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from ..types.paths import AnyPath
from .conversation import ImportedTurn, Refuse, RefusedItem, raise_refused, readable
from .json_values import mismatch_error, time_of
from .parts import conversations

_ROLES = {"human": "user", "assistant": "assistant"}


def read_claude(path: AnyPath, refuse: Refuse = raise_refused) -> Iterator[ImportedTurn]:
    """Yield the messages of the human and of the assistant, one session per conversation.

    Thoughts and tool calls are skipped; files are captions such as "[file plan.pdf]"; what was pasted without a name is
    text. A message without a time has the one before it. Raise ImportFailed for a file that is no export.
    """
    path = Path(path)
    for conversation in conversations(path, "chat_messages"):
        name = conversation.get("uuid") if isinstance(conversation, dict) else None
        where = f"{path.name} conversation {name!r}"
        if not name or not isinstance(conversation.get("chat_messages"), list):
            refuse(RefusedItem(where, "not in the form of a Claude export; expected uuid and chat_messages"))
            continue
        yield from readable(conversation["chat_messages"], where, _InOrder(conversation).turn, refuse)


class _InOrder:
    """Reads the messages of a conversation in order."""

    def __init__(self, conversation: Mapping[str, Any]) -> None:
        self._session: str = conversation["uuid"]
        self._metadata = {"title": conversation["name"]} if conversation.get("name") else {}
        self._latest: datetime | None = None
        with suppress(ValueError):  # the messages have times of their own
            self._latest = _time(conversation)

    def turn(self, message: Mapping[str, Any]) -> ImportedTurn | None:
        """Return the turn of a message; None where nothing was said. Raise ValueError for another form."""
        self._latest = _time(message) or self._latest
        sender = message.get("sender")
        if sender not in _ROLES:
            raise mismatch_error("the sender", sender, "human or assistant")
        text, caption = _text(message), _files(message)
        if not text and not caption:
            return None
        if self._latest is None:
            raise ValueError("neither it nor its conversation has a time")
        of, role = f"{self._session}/{message['uuid']}", _ROLES[sender]
        return ImportedTurn(of, self._session, role, text, self._latest, caption, role, self._metadata)


def _text(message: Mapping[str, Any]) -> str:
    """Return the blocks of text, else the old field of it; and what was pasted into it."""
    blocks = [block for block in message.get("content") or () if isinstance(block, dict)]
    said = [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]
    pasted = [one.get("extracted_content") for one in message.get("attachments") or () if not _is_file(one)]
    texts = ["\n".join(said).strip() or message.get("text") or "", *(text or "" for text in pasted)]
    return "\n\n".join(text for text in texts if text.strip())


def _is_file(attachment: Mapping[str, Any]) -> bool:
    """Return whether it was a file: a long text that is pasted becomes an attachment too, such as paste.txt."""
    name = attachment.get("file_name") or ""
    return bool(name) and not (attachment.get("extracted_content") and name.lower().startswith("paste"))


def _files(message: Mapping[str, Any]) -> str | None:
    files = [*(message.get("attachments") or ()), *(message.get("files") or message.get("files_v2") or ())]
    names = dict.fromkeys(one["file_name"] for one in files if _is_file(one))
    return " ".join(f"[file {name}]" for name in names) or None


def _time(row: Mapping[str, Any]) -> datetime | None:
    given = row.get("created_at") or row.get("updated_at")
    return time_of(given) if given else None
