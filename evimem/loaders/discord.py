"""Discord: channels by DiscordChatExporter, and the package of one's own messages that Discord itself sends."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from ..errors import ImportFailed
from .conversation import UNREADABLE, ExportFile
from .export_walk import Chat, Export, Outcome, Said, Skipped, file_placeholders, require_type
from .json_stream import JsonReader, read_list_elements

_SPOKEN = {"Default", "Reply", "0", "19", "ChatInputCommand", "ContextMenuCommand", "20", "23"}
_SPACED_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d+)?(\+00:00)?")


def _find_channel(part: ExportFile) -> Iterator[Any]:
    with part.open() as file:
        reader = JsonReader(file, part.name)
        try:
            header: dict[str, Any] = {}
            for key in reader.read_keys():
                if key == "messages" and reader.next_mark() == "[":
                    yield from reader.read_elements_under(header, "messages")
                else:
                    header[key] = reader.read_value()
        finally:
            reader.close()


def _read_channel(raw: Mapping[str, Any], part: ExportFile, path: Path) -> Chat:
    channel = raw.get("channel")
    named = channel or raw
    session = str(named.get("id") or named.get("name") or part.stem)
    kind = "chat" if channel is None else "channel"
    return Chat(session, raw["messages"], {kind: named["name"]} if named.get("name") else {})


def _read_message(message: Any, names: Mapping[str, str]) -> Outcome:
    if str(message.get("type", "Default")) not in _SPOKEN:
        return Skipped("notice")
    files = [one.get("fileName") for one in message.get("attachments") or ()]
    caption = file_placeholders(
        ("file", files), ("sticker", [one.get("name") for one in message.get("stickers") or ()])
    )
    author = message["author"]
    speaker = author.get("nickname") or author.get("name") or str(author["id"])
    role = "assistant" if author.get("isBot") else "user"
    text = message.get("content") or (message.get("forwardedMessage") or {}).get("content") or ""
    embeds = [one for one in message.get("embeds") or () if isinstance(one, dict)]
    omitted = ("content of a file",) * len(files)
    if author.get("isBot") or not text.strip():  # an embed is the text of a bot; a person's is the preview of a link
        text = "\n\n".join(one for one in (text, *map(_embed_text, embeds)) if one.strip())
    else:
        omitted += ("link preview",) * len(embeds)
    omitted += ("reaction",) * len(message.get("reactions") or ())
    return Said(message["id"], speaker, text, caption, role, omitted=omitted)


def _embed_text(embed: Mapping[str, Any]) -> str:
    """Return the words of an embed in the order in which they are shown."""
    fields = [f"{one.get('name') or ''}: {one.get('value') or ''}" for one in embed.get("fields") or ()]
    author, footer = ((embed.get(key) or {}) for key in ("author", "footer"))
    said = (author.get("name"), embed.get("title"), embed.get("description"), *fields, footer.get("text"))
    return "\n".join(str(one) for one in said if one)


def _find_package_channel(part: ExportFile) -> Iterator[Any]:
    """Yield the one channel of a file of messages; it lists the newest first."""
    with part.open() as file:
        if part.read_beginning(512).lstrip().startswith(b"["):
            messages = [*read_list_elements(file, part.name)]
        else:
            rows = csv.DictReader(TextIOWrapper(file, "utf-8-sig", errors="replace", newline=""))
            try:
                messages = [dict(row) for row in rows]
            except csv.Error as error:
                raise ImportFailed(f"{part.name!r} is no CSV of messages ({error})") from error
    yield {"messages": messages}


def _read_package_channel(raw: Mapping[str, Any], part: ExportFile, path: Path) -> Chat:
    messages = sorted(raw["messages"], key=_package_sort_key)
    folder = part.folder if part.folder != path.name else path.resolve().parent.name
    return Chat((folder or part.stem).removeprefix("c"), messages)


def _package_sort_key(message: Any) -> tuple[str, int]:
    """Return the key that orders messages: their time, then their id, which grows with the time."""
    known = message if isinstance(message, dict) else {}
    id_ = str(known.get("ID") or "")
    return str(known.get("Timestamp") or ""), int(id_) if id_.isdecimal() and len(id_) < 40 else 0


def _read_package_message(message: Any, names: Mapping[str, str]) -> Outcome:
    given = str(message["Timestamp"]).strip()
    spaced = _SPACED_TIME.fullmatch(given)  # UTC, which older packages leave out
    time = f"{spaced[1]}T{spaced[2]}{spaced[3] or ''}+00:00" if spaced else given
    urls = str(message.get("Attachments") or "").split()
    caption = file_placeholders(("file", [url.partition("?")[0].rpartition("/")[2] for url in urls]))
    omitted = ("content of a file",) * len(urls)
    return Said(str(message["ID"]), names.get("me", "me"), message.get("Contents") or "", caption, time=time,
        omitted=omitted)  # fmt: skip


def _read_account_name(parts: Sequence[ExportFile]) -> Mapping[str, str]:
    """Return the name of the account whose package it is."""
    for part in parts:
        if part.stem == "user" and part.folder.casefold() in ("account", "konto", "compte", "cuenta"):
            with suppress(*UNREADABLE, ImportFailed):
                user = require_type(part.read_json(), dict, part)
                name = user.get("global_name") or user.get("username")
                return {"me": name} if isinstance(name, str) and name else {}
    return {}


DISCORD = Export("Discord", ".*", _find_channel, _read_channel, ("timestamp",), _read_message)
DISCORD_PACKAGE = Export(
    "Discord's own",
    "messages",
    _find_package_channel,
    _read_package_channel,
    (),
    _read_package_message,
    _read_account_name,
)
