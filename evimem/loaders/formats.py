"""The formats that are read: one row each, told apart by what a file holds and never by its name.

Files of chat messages, and of turns in evimem's own format (a JSON object a line), are read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ..db.connection import check_readable
from ..errors import ImportFailed, StoreError, shown
from ..types.public_value import AnyPath
from ..types.values import Turn
from .chat_exports import read_export
from .chat_messages import TIMES, WHO, read_message
from .conversation import Conversation, Part, Refuse, RefusedItem, is_zip, parts_of, raise_refused
from .json_values import mismatch_error, parse, text_of, time_of
from .whatsapp import looks_like_whatsapp, read_whatsapp

_STEP = timedelta(minutes=1)  # between messages without a time: keeps their order, means nothing else
_KNOWN_BY = frozenset((*WHO, "author", "type", "kind", "parts", "lc"))  # keys of a message
MAX_LINE = 8 << 20  # bytes: room for a turn of 1 MiB with every character escaped
_STRINGS = ("id", "session", "speaker", "text", "caption", "role")
FIELDS = (*_STRINGS, "time", "metadata")

_START = 1 << 20  # bytes of a file in which its form is sought
_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*)"(\s*:)?|[\[\]{},]', re.DOTALL)


def read_messages(
    path: AnyPath, *, start: datetime | None = None, session: str | None = None, refuse: Refuse = raise_refused
) -> Iterator[Turn]:
    """Yield a turn for each message, in any form that `Memory.remember` takes; those without any text are skipped.

    The time of a message is its time, created_at, timestamp or create_time; without one it is a minute after the
    message before, and `start` for the first. The session is the file's name unless given.
    """
    path = Path(path)
    session, latest = session or path.stem, None if start is None else start - _STEP
    for number, message in enumerate(_messages(path), start=1):
        try:
            if not isinstance(message, dict) or _KNOWN_BY.isdisjoint(message):
                raise mismatch_error("a message", message, "an object with role and content")
            said = read_message(message)
            time = said.time
            if time is None and (
                given := next((message[name] for name in TIMES if message.get(name) is not None), None)
            ):
                time = time_of(given)  # raises, and says why
            if time is None and latest is None:
                raise ImportFailed(
                    f"the messages have no time ({', '.join(TIMES)}), but every turn needs one: give the time of the "
                    "first (--start 2024-03-12T18:20, or start= in Python)"
                )
            latest = time or (latest and latest + _STEP)
        except ValueError as error:
            refuse(RefusedItem(f"{path.name} message {number}", str(error)))
            continue
        if said.text and said.note is None and latest:
            yield Turn(said.id or f"{session}:{number}", session, said.speaker, said.text, latest, role=said.role)


def _messages(path: Path) -> list[Any]:
    data = path.read_bytes()
    try:
        value = parse(data)
    except ValueError as whole:
        try:
            value = [parse(line) for line in data.splitlines() if line.strip()]
        except ValueError:
            why = f"{str(path)!r} is {whole}; expected a list of messages, or one message per line"
            raise ImportFailed(why) from whole
    if isinstance(value, dict):
        value = value.get("messages", [value])
    if not isinstance(value, list):
        raise ImportFailed(f"{str(path)!r} holds {shown(value, 40)}; expected a list of messages with role and content")
    return value


def read_turns(path: AnyPath, refuse: Refuse = raise_refused) -> Iterator[Turn]:
    """Yield the turn of each line; the file is read line by line.

    A line has `speaker`, `text` and `time`, and may have `id`, `session`, `caption`, `role` and `metadata`. Empty
    lines are skipped.
    """
    path = Path(path)
    with path.open("rb") as file:
        for number, line in enumerate(lines_of(file), start=1):
            if line.strip():
                try:
                    turn = turn_of(line)
                except ValueError as error:
                    refuse(RefusedItem(f"{path.name} line {number}", str(error)))
                else:
                    yield turn


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield each line; of one that is too long, only the beginning, which is long enough to be refused."""
    byte_order_mark = b"\xef\xbb\xbf"
    while line := file.readline(MAX_LINE + 1):
        yield line.removeprefix(byte_order_mark)
        while len(line) > MAX_LINE and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE + 1)  # the rest of it is skipped


def turn_of(line: bytes, *, beside: str | None = None) -> Turn:
    """Return the turn of a line, with one more field that is left out. Raise ValueError for a line that is none."""
    if len(line) > MAX_LINE:
        raise ValueError(f"longer than {MAX_LINE >> 20} MiB; a turn has at most 1 MiB of text: split it")
    row = parse(line)
    if not isinstance(row, dict):
        raise mismatch_error("a line", row, "an object with speaker, text and time")
    if beside is not None:
        row.pop(beside, None)
    if unknown := sorted(set(row) - set(FIELDS)):
        known = f"known are {', '.join(FIELDS)}; put others into metadata"
        raise ValueError(f"unknown field {shown(unknown[0], 40)}; {known}")
    if not row.get("speaker"):
        raise ValueError("no speaker; expected an object with speaker, text and time")
    fields: dict[str, Any] = {name: text_of(row, name) for name in _STRINGS}
    fields["text"] = fields["text"] or ""
    metadata = row.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise mismatch_error("metadata", metadata, "an object")
    return Turn(**fields, time=time_of(row.get("time")), metadata=metadata)


class Format(NamedTuple):
    """How a file of a format is read, and known: by all of the keys of one of `marks`, or by how its lines begin.

    A key is named by its place: "[].role" is that of an element of a list. `takes` are the options of its reader.
    """

    read: Callable[..., Iterator[Turn]]
    looks: str
    marks: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


_TABLE = {  # the first that fits counts
    "turns": Format(read_turns, "lines of turns with speaker, text and time", ("speaker",)),
    "messages": Format(
        read_messages,
        "chat messages with role and content",
        ("[].role", "messages[].role", "role content"),
        ("start", "session"),
    ),
    "chatgpt": Format(
        partial(read_export, "chatgpt"),
        "a ChatGPT export (mapping)",
        ("[].mapping", "mapping", "conversations[].mapping"),
    ),
    "claude": Format(
        partial(read_export, "claude"),
        "a Claude export (chat_messages)",
        ("[].chat_messages", "chat_messages", "conversations[].chat_messages"),
    ),
    "whatsapp": Format(read_whatsapp, "a WhatsApp chat (a date, a time, a name and a colon)", (), ("date_order",)),
    "telegram": Format(
        partial(read_export, "telegram"),
        "Telegram's result.json",
        ("messages[].id messages[].type messages[].date", "chats.list", "left_chats.list"),
    ),
    "slack": Format(partial(read_export, "slack"), "a Slack export (type and ts)", ("[].type [].ts",)),
    "discord": Format(
        partial(read_export, "discord"),
        "DiscordChatExporter's JSON (channel, messages)",
        ("messages[].author messages[].timestamp", "guild channel"),
    ),
}
FORMATS = tuple(_TABLE)


def read(path: Path, name: str | None, refuse: Refuse, **options: Any) -> Conversation:
    """Return the conversation of a file, with the options of its format. Raise ImportFailed: see `load`."""
    _check_file(path)
    name = name or detect(path)
    if name not in _TABLE:
        raise ImportFailed(f"there is no format {name!r}; expected one of {', '.join(FORMATS)}")
    row = _TABLE[name]
    return Conversation(row.read(path, refuse=refuse, **{each: options[each] for each in row.takes}))


def detect(path: AnyPath) -> str:
    """Return which of `FORMATS` a file has, or the zip or folder of an export. Raise ImportFailed if none."""
    path = Path(path)
    _check_file(path)
    with parts_of(path) as parts:
        found = next((name for part in parts if (name := _of_part(part))), None)
        if found:
            return found
        start = parts[0].start(4096).lstrip() if len(parts) == 1 and path.is_file() and not is_zip(path) else None
    if start is None:
        what = f"holds {len(parts)} file(s) of text or JSON, none in a form that is known"
    elif start.startswith(b'{"evimem"'):
        raise ImportFailed(f"{str(path)!r} is an evimem export; read it with `evimem import` (Memory.import_)")
    else:
        what = f"begins with {shown(start[:20], 40)}"
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


def _of_part(part: Part) -> str | None:
    start = part.start(_START)
    if looks_like_whatsapp(start[:8192]):
        return "whatsapp"
    if not start.lstrip().startswith((b"{", b"[")):
        return None
    keys: set[str] = set()
    for key in _keys(start):
        keys.add(key)
        fits = (name for name, row in _TABLE.items() if any(keys.issuperset(mark.split()) for mark in row.marks))
        if (found := next(fits, None)) is not None:
            return found
    return "messages" if "messages" in keys else None


def _keys(start: bytes) -> Iterator[str]:
    """Yield the places of the keys in the beginning of JSON, each once, down to the third level."""
    path: list[str] = []
    key, seen = "", set[str]()
    for token in _TOKEN.finditer(start):
        mark = token.group()
        if mark in (b"{", b"["):
            path.append(f"{key}[]" if mark == b"[" else key)
            key = ""
        elif mark in (b"}", b"]"):
            key = ""
            if path:
                path.pop()
        elif token[2] and len(path) <= 3:
            key = token[1].decode("utf-8", "replace")
            place = ".".join(part for part in (*path, key) if part)
            if place not in seen:
                seen.add(place)
                yield place
