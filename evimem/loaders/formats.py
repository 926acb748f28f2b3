"""The formats that are read: one row each, told apart by the content of a file and never by its name.

Files of chat messages, and of turns in evimem's own format (a JSON object a line), are read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..db.connection import check_readable
from ..errors import ImportFailed, StoreError, shown
from ..types.public_value import AnyPath
from ..types.results import UNKNOWN_ROLE
from ..types.values import Turn
from .chat_messages import TIMES, WHO, read_message
from .chatgpt import CHATGPT
from .claude import CLAUDE
from .conversation import MESSAGE_STEP, Conversation, ExportFile, ImportLog, is_zip, open_export_files
from .csv_rows import looks_like_table, read_csv
from .discord import DISCORD, DISCORD_PACKAGE
from .export_walk import Export, read_export
from .gemini import GEMINI, is_activity_page
from .json_lines import MAX_LINE, read_lines, read_values
from .json_stream import Malformed
from .json_values import make_mismatch_error, optional_text, parse_json, parse_time
from .memory_exports import MEM0
from .messenger import MESSENGER
from .sharegpt import read_sharegpt
from .slack import SLACK
from .telegram import TELEGRAM, is_telegram_page
from .transcripts import looks_like_transcript, read_transcript
from .whatsapp import looks_like_whatsapp, read_whatsapp

_KNOWN_BY = frozenset((*WHO, "author", "type", "kind", "parts", "lc"))  # keys of a message
_STRINGS = ("id", "session", "speaker", "text", "caption", "role")
FIELDS = (*_STRINGS, "time", "metadata")


def read_messages(
    path: AnyPath, log: ImportLog | None = None, *, start: datetime | None = None, session: str | None = None
) -> Iterator[Turn]:
    """Yield a turn for each message, in any form that `Memory.remember` takes; those without any text are left out.

    The time of a message is its time, created_at, timestamp or create_time; without one it is a minute after the
    message before, and `start` for the first. The session is the file's name unless given; of several conversations in
    a file, each an object with `messages`, each is a session of its own.
    """
    path, log = Path(path), log or ImportLog()
    session, latest = session or path.stem, None if start is None else start - MESSAGE_STEP
    with open_export_files(path) as parts:
        for where, in_session, message in _read_message_values(parts, session):
            try:
                if isinstance(message, Malformed):
                    raise ValueError(message.why)  # noqa: TRY301, TRY004 - refused with its place
                if not isinstance(message, dict) or _KNOWN_BY.isdisjoint(message):
                    raise make_mismatch_error("a message", message, "an object with role and content")
                said = read_message(message)
                given = next((message[name] for name in TIMES if message.get(name) is not None), None)
                time = said.time or (parse_time(given) if given else None)  # raises, and says why
            except (ValueError, RecursionError) as error:
                log.refuse(where, str(error))
                continue
            if not said.text or said.note not in (None, UNKNOWN_ROLE):
                log.skip("empty message", where)
                continue
            if time is None and latest is None:
                raise ImportFailed(
                    f"the messages have no time ({', '.join(TIMES)}), but every turn needs one: give the time of the "
                    "first (--start 2024-03-12T18:20, or start= in Python)"
                )
            latest = time or (latest and latest + MESSAGE_STEP)
            if latest:
                id_ = said.id or f"{in_session}:{where.rpartition(' ')[2]}"
                yield Turn(id_, in_session, said.speaker, said.text, latest, role=said.role)


def _read_message_values(parts: Iterable[ExportFile], session: str) -> Iterator[tuple[str, str, Any]]:
    """Yield the place, the session and the value of each message."""
    for part in parts:
        for number, value in enumerate(read_values(part, "messages"), start=1):
            chat = value["chat"] if isinstance(value, dict) and "chat" in value else value  # of Open WebUI
            inner = _list_messages(chat) if isinstance(chat, dict) and _KNOWN_BY.isdisjoint(chat) else None
            if not isinstance(inner, list):
                for at, message in enumerate(_flatten_replies([value])):
                    yield f"{part.name} message {number}{f'.{at}' if at else ''}", session, message
                continue
            own = value.get("id") if isinstance(value.get("id"), str) else f"{session}:{number}"
            for at, message in enumerate(_flatten_replies(inner), start=1):
                yield f"{part.name} conversation {number} message {at}", str(own), message


def _list_messages(chat: dict[str, Any]) -> Any:
    """Return the messages of a chat: its list or, where Open WebUI lists none, those that lead to its current one."""
    history = chat.get("history")
    by_id = history.get("messages") if isinstance(history, dict) else None
    if chat.get("messages") or not isinstance(history, dict) or not isinstance(by_id, dict):
        return chat.get("messages")
    found, at = list[Any](), history.get("currentId")
    while isinstance(at, str) and isinstance(one := by_id.get(at), dict) and len(found) < len(by_id):
        found.append(one)
        at = one.get("parentId")
    return found[::-1]


def _flatten_replies(messages: list[Any]) -> Iterator[Any]:
    """Yield messages; of LibreChat's, whose replies stand below them, each with its role, before those below it."""
    left = messages[::-1]
    while left:
        one = left.pop()
        if isinstance(one, dict) and isinstance(is_users := one.get("isCreatedByUser"), bool):
            left += reversed(below) if isinstance(below := one.get("children"), list) else ()
            said = {"content": one.get("content") or one.get("text"), "created_at": one.get("createdAt")}
            one = {"role": "user" if is_users else "assistant", "id": one.get("messageId"), **said}
        yield one


def read_turns(path: AnyPath, log: ImportLog | None = None) -> Iterator[Turn]:
    """Yield the turn of each line; the file is read line by line.

    A line has `speaker`, `text` and `time`, and may have `id`, `session`, `caption`, `role` and `metadata`. Empty
    lines are skipped.
    """
    path, log = Path(path), log or ImportLog()
    with path.open("rb") as file:
        for number, line in enumerate(read_lines(file), start=1):
            if line.strip():
                try:
                    turn = parse_turn(line)
                except ValueError as error:
                    log.refuse(f"{path.name} line {number}", str(error))
                else:
                    yield turn


def parse_turn(line: bytes, *, beside: str | None = None) -> Turn:
    """Return the turn of a line, with one more field that is left out. Raise ValueError for a line that is none."""
    if len(line) > MAX_LINE:
        raise ValueError(f"longer than {MAX_LINE >> 20} MiB; a turn has at most 1 MiB of text: split it")
    row = parse_json(line)
    if not isinstance(row, dict):
        raise make_mismatch_error("a line", row, "an object with speaker, text and time")
    if beside is not None:
        row.pop(beside, None)
    if unknown := sorted(set(row) - set(FIELDS)):
        known = f"known are {', '.join(FIELDS)}; put others into metadata"
        raise ValueError(f"unknown field {shown(unknown[0], 40)}; {known}")
    if not row.get("speaker"):
        raise ValueError("no speaker; expected an object with speaker, text and time")
    fields: dict[str, Any] = {name: optional_text(row, name) for name in _STRINGS}
    fields["text"] = fields["text"] or ""
    metadata = row.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise make_mismatch_error("metadata", metadata, "an object")
    return Turn(**fields, time=parse_time(row.get("time")), metadata=metadata)


class Format(NamedTuple):
    """How a file of a format is read, and known: by all of the keys of one of `marks`, or by `is_begun`.

    A key is named by its place: "[].role" is that of an element of a list. `takes` are the options of its reader.
    """

    read: Callable[..., Iterator[Turn]]
    looks: str
    marks: tuple[str, ...] = ()
    is_begun: Callable[[bytes], bool] | None = None
    takes: tuple[str, ...] = ()


def _export_reader(export: Export) -> Callable[..., Iterator[Turn]]:
    return partial(read_export, export)


_TABLE = {  # the first that fits counts
    "turns": Format(read_turns, "lines of turns with speaker, text and time", ("speaker",)),
    "messages": Format(
        read_messages,
        "chat messages with role and content",
        ("[].role", "messages[].role", "role content", "[].messages[].role", "[].chat.messages"),
        takes=("start", "session"),
    ),
    "chatgpt": Format(
        _export_reader(CHATGPT),
        "a ChatGPT export (mapping)",
        ("[].mapping", "mapping", "conversations[].mapping"),
        takes=("start",),
    ),
    "claude": Format(
        _export_reader(CLAUDE),
        "a Claude export (chat_messages)",
        (
            "[].chat_messages",
            "chat_messages",
            "conversations[].chat_messages",
            "[].conversations_memory",
            "conversations_memory",
            "[].prompt_template",
            "prompt_template docs",
        ),
        takes=("start",),
    ),
    "whatsapp": Format(
        read_whatsapp,
        "a WhatsApp chat (a date, a time, a name and a colon)",
        is_begun=lambda start: looks_like_whatsapp(start[:8192]),
        takes=("date_order", "session"),
    ),
    "telegram": Format(
        _export_reader(TELEGRAM),
        "Telegram's result.json or messages.html",
        ("messages[].id messages[].type messages[].date", "chats.list", "left_chats.list"),
        is_telegram_page,
    ),
    "slack": Format(_export_reader(SLACK), "a Slack export (type and ts)", ("[].type [].ts",)),
    "discord": Format(
        _export_reader(DISCORD),
        "DiscordChatExporter's JSON (channel, messages)",
        ("messages[].author messages[].timestamp", "guild channel"),
    ),
    "discord-package": Format(
        _export_reader(DISCORD_PACKAGE),
        "Discord's own package (ID, Timestamp, Contents)",
        ("[].ID [].Timestamp [].Contents",),
        lambda start: start.startswith(b"ID,Timestamp,Contents"),
    ),
    "messenger": Format(
        _export_reader(MESSENGER),
        "Facebook's JSON of Messenger or Instagram (sender_name, timestamp_ms)",
        ("messages[].sender_name messages[].timestamp_ms", "messages[].senderName messages[].timestamp"),
    ),
    "gemini": Format(
        _export_reader(GEMINI),
        "Google Takeout's history of Gemini (MyActivity)",
        ("[].title [].time [].products", "[].title [].time [].header"),
        is_activity_page,
    ),
    "mem0": Format(
        _export_reader(MEM0),
        "memories of mem0 (memory, id)",
        ("[].id [].memory", "results[].id results[].memory", "memories[].id memories[].memory"),
        takes=("start",),
    ),
    "sharegpt": Format(
        read_sharegpt,
        "ShareGPT (from and value)",
        (
            "[].conversations[].from [].conversations[].value",
            "conversations[].from conversations[].value",
            "[].conversations[].role [].conversations[].content",
            "conversations[].role conversations[].content",
            "[].items[].from [].items[].value",
            "items[].from items[].value",
            "[][].from [][].value",
        ),
        takes=("start",),
    ),
    "csv": Format(
        read_csv,
        "CSV with a header (speaker, text, time)",
        is_begun=looks_like_table,
        takes=("start", "session", "date_order", "columns"),
    ),
    "transcript": Format(
        read_transcript,
        'a transcript ("Name: text", or Markdown)',
        is_begun=looks_like_transcript,
        takes=("start", "session"),
    ),
}
FORMATS = tuple(_TABLE)


def read_conversation(path: Path, name: str | None, log: ImportLog, **options: Any) -> Conversation:
    """Return the conversation of a file, with the options of its format. Raise ImportFailed: see `load`."""
    _check_file(path)
    name = name or detect_format(path)
    if name not in _TABLE:
        raise ImportFailed(f"there is no format {name!r}; expected one of {', '.join(FORMATS)}")
    row = _TABLE[name]
    return Conversation(row.read(path, log=log, **{each: options.get(each) for each in row.takes}), log)


def detect_format(path: AnyPath) -> str:
    """Return which of `FORMATS` a file has, or the zip or folder of an export. Raise ImportFailed if none."""
    path = Path(path)
    _check_file(path)
    with open_export_files(path) as parts:
        found = next((name for part in parts if (name := _detect_part_format(part))), None)
        if found:
            return found
        start = (
            parts[0].read_beginning(4096).lstrip() if len(parts) == 1 and path.is_file() and not is_zip(path) else None
        )
    if start is None:
        what = f"holds {len(parts)} file(s) of text or JSON, none in a form that is known"
    elif start.startswith(b'{"evimem"'):
        raise ImportFailed(f"{str(path)!r} is an evimem export; read it with `evimem import` (Memory.import_)")
    else:
        kind = "an object or list of JSON" if start.startswith((b"{", b"[")) else "text" if start else "nothing"
        what = f"holds {kind}, in no form that is known"
    looked = ", ".join(row.looks for row in _TABLE.values())
    raise ImportFailed(f"{str(path)!r} {what}; expected one of: {looked}; if it is one of them, name it with --format")


def _check_file(path: Path) -> None:
    """Raise ImportFailed for a pipe or a device, which would wait for ever or have no end, and for a database."""
    if path.is_dir():
        return
    if path.exists() and not path.is_file():
        raise ImportFailed(f"{str(path)!r} is no regular file; expected one: save what is to be read, and name that")
    try:
        check_readable(path)
    except StoreError as error:
        raise ImportFailed(f"{error}, or open a memory with evimem.open") from error


def _detect_part_format(part: ExportFile) -> str | None:
    # Detect the format in the first megabyte.
    start = part.read_beginning(1 << 20)
    if not start.lstrip().startswith((b"{", b"[")) or looks_like_whatsapp(start[:8192]):
        begun = (name for name, row in _TABLE.items() if row.is_begun is not None and row.is_begun(start))
        return next(begun, None)
    keys: set[str] = set()
    for key in _find_json_keys(start):
        keys.add(key)
        fits = (name for name, row in _TABLE.items() if any(keys.issuperset(mark.split()) for mark in row.marks))
        if (found := next(fits, None)) is not None:
            return found
    return "messages" if "messages" in keys else None


def _find_json_keys(start: bytes) -> Iterator[str]:
    """Yield the places of the keys in the beginning of JSON, each once, down to the fourth level."""
    path: list[str] = []
    key, seen = "", set[str]()
    for token in re.finditer(rb'"((?:[^"\\]|\\.)*)"(\s*:)?|[\[\]{},]', start, flags=re.DOTALL):
        mark = token.group()
        if mark in (b"{", b"["):
            path.append(f"{key}[]" if mark == b"[" else key)
            key = ""
        elif mark in (b"}", b"]"):
            key = ""
            if path:
                path.pop()
        elif token[2] and len(path) <= 4:
            key = token[1].decode("utf-8", "replace")
            place = ".".join(part for part in (*path, key) if part)
            if place not in seen:
                seen.add(place)
                yield place
