"""Messenger and Instagram: the JSON that Facebook exports, of plain and of encrypted chats."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any

from .conversation import ExportFile
from .export_walk import Chat, Export, Outcome, Said, Skipped, file_placeholders, require_type
from .json_values import EPOCH, make_type_error

_FILES = {
    "photos": "picture", "videos": "video", "audio_files": "audio", "gifs": "gif", "files": "file",
    "sticker": "sticker",
}  # fmt: skip


def _repair_encoding(text: Any) -> str:
    """Return a text whose bytes of UTF-8 Facebook wrote as one character each, as it was; another as it is."""
    if not isinstance(text, str):
        raise make_type_error("a text", text, "a string")
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _find_chats(part: ExportFile) -> Iterator[Any]:
    yield require_type(part.read_json(), dict, part)


def _read_chat(raw: Mapping[str, Any], part: ExportFile, path: Path) -> Chat:
    messages = require_type(raw["messages"], list, part)
    if "threadName" in raw:
        name = raw["threadName"]
        numbered = re.fullmatch(r"(.*?)_\d+", name)  # Benjamin_12, as the file is called
        ordered = _sort_by_time(messages, "timestamp")
        return Chat(f"messenger/{name}", ordered, {"chat": numbered[1] if numbered else name})
    title = _repair_encoding(raw.get("title") or "")
    session = raw.get("thread_path") or title or part.folder or part.stem
    ordered = _sort_by_time(messages, "timestamp_ms")
    return Chat(str(session), ordered, {"chat": title} if title else {})


def _sort_by_time(messages: list[Any], key: str) -> list[Any]:
    """Return messages in order; of one moment, which Facebook writes from the newest on, as they were sent."""

    def moment(message: Any) -> float:
        at = message.get(key) if isinstance(message, dict) else None
        return at if isinstance(at, (int, float)) else 0

    is_newest_first = len(messages) > 1 and moment(messages[0]) >= moment(messages[-1])
    return sorted(reversed(messages) if is_newest_first else messages, key=moment)


def _read_message(message: Any, names: Mapping[str, str]) -> Outcome:
    if message.get("is_unsent") or message.get("isUnsent"):
        return Skipped("deleted message")
    if "senderName" in message:
        return _read_encrypted_message(message)
    if message.get("type") not in (None, "Generic", "Share") or message.get("call_duration") is not None:
        return Skipped("notice")
    speaker, text = _repair_encoding(message["sender_name"]), _repair_encoding(message.get("content") or "")
    captions = file_placeholders(
        *((kind, _media_uris(message.get(key))) for key, kind in _FILES.items() if message.get(key))
    )
    share = message.get("share") or {}
    link = _repair_encoding(share.get("link") or "")
    if link and link not in text:
        text = f"{text}\n{link}".strip()
    files = sum(len(_media_uris(message.get(key))) for key in _FILES)
    reactions = ("reaction",) * len(message.get("reactions") or ())
    id_ = f"{message['timestamp_ms']}/{speaker}/{_message_digest(text, captions)}"
    return Said(id_, speaker, text, captions, time=_format_milliseconds(message["timestamp_ms"]),
        omitted=("content of a file",) * files + reactions)  # fmt: skip


def _read_encrypted_message(message: Mapping[str, Any]) -> Outcome:
    """Return a message of an encrypted chat, whose texts are UTF-8 as they should be."""
    if message.get("type") not in ("text", "media", "link", None):
        return Skipped("notice")
    media = [one for one in message.get("media") or () if isinstance(one, dict)]
    caption = file_placeholders(("file", [str(one.get("uri") or "").rpartition("/")[2] for one in media]))
    speaker, text = message["senderName"], message.get("text") or ""
    omitted = ("content of a file",) * len(media) + ("reaction",) * len(message.get("reactions") or ())
    id_ = f"{message['timestamp']}/{speaker}/{_message_digest(text, caption)}"
    return Said(id_, speaker, text, caption, time=_format_milliseconds(message["timestamp"]), omitted=omitted)


def _message_digest(text: str, caption: str | None) -> str:
    """Return a key that tells messages of one sender and millisecond apart."""
    return blake2b(f"{text}\0{caption}".encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _media_uris(value: Any) -> list[str]:
    ones = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
    return [_repair_encoding(one.get("uri") or "").rpartition("/")[2] for one in ones if isinstance(one, dict)]


def _format_milliseconds(milliseconds: Any) -> str:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, (int, float)):
        raise make_type_error("its time", milliseconds, "milliseconds since 1970")
    return (EPOCH + timedelta(milliseconds=milliseconds)).isoformat()


MESSENGER = Export("Messenger", ".*", _find_chats, _read_chat, (), _read_message)
