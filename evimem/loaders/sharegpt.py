"""Conversations in the form of ShareGPT (from and value): a list of them or one a line, mostly without times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from .conversation import MESSAGE_STEP, ExportFile, ImportedTurn, ImportLog
from .export_walk import Chat, Export, Outcome, Said, Skipped, read_export
from .json_lines import read_values
from .json_values import make_mismatch_error

_ROLES = {"human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant", "chatgpt": "assistant",
    "bing": "assistant", "bard": "assistant", "model": "assistant"}  # fmt: skip
_SKIPPED = {"system": "system message", "tool": "tool call or result", "function_call": "tool call or result",
    "observation": "tool call or result", "function_response": "tool call or result"}  # fmt: skip


def read_sharegpt(path: Path, log: ImportLog | None = None, *, start: datetime | None = None) -> Iterator[ImportedTurn]:
    """Yield the turns of each conversation. Messages without a time are a minute apart, from `start` on."""

    def chat(raw: Mapping[str, Any], part: ExportFile, path: Path) -> Chat:
        messages = next(
            (raw[key] for key in ("conversations", "items", "conversation") if isinstance(raw.get(key), list)), None
        )
        if messages is None:
            raise make_mismatch_error("a conversation", None, "an object with a list of conversations")
        given = raw.get("id")
        text = repr(messages)[:100_000].encode("utf-8", "surrogatepass")
        session = str(given) if given else blake2b(text, digest_size=8).hexdigest()
        numbered = (
            {"n": number, "of": one, "at": None if start is None else (start + number * MESSAGE_STEP).isoformat()}
            for number, one in enumerate(messages)
        )
        omitted = ("system message",) if raw.get("system") else ()
        return Chat(session, numbered, {"title": raw["title"]} if raw.get("title") else {}, omitted=omitted)

    def found(part: ExportFile) -> Iterator[Any]:
        for value in read_values(part):
            yield from ([{"conversations": value}] if isinstance(value, list) else [value])

    yield from read_export(Export("ShareGPT", ".*", found, chat, (), _read_message), path, log)


def _read_message(message: Any, names: Mapping[str, str]) -> Outcome:
    one = message["of"]
    sender, text = one["from"] if "from" in one else one["role"], one["value"] if "value" in one else one.get("content")
    if sender in _SKIPPED:
        return Skipped(_SKIPPED[sender])
    if sender not in _ROLES:
        raise make_mismatch_error("the sender", sender, "human or gpt")
    time = next((one[key] for key in ("timestamp", "time", "created_at") if one.get(key) is not None), message["at"])
    role = _ROLES[sender]
    return Said(message["n"], role, text or "", None, role, time=time)
