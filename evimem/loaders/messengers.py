"""What Telegram, Discord (by DiscordChatExporter) and Slack export: JSON, a chat or channel per session."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import ImportFailed, shown
from ..types.paths import AnyPath
from ..types.values import Turn
from .conversation import Refuse, raise_refused, readable
from .json_values import time_of
from .parts import Part, parts_of

_SPOKEN_ON_DISCORD = {"Default", "Reply", "0", "19"}
_SPOKEN_ON_SLACK = {None, "bot_message", "slackbot_response", "me_message", "thread_broadcast", "file_share"}
_TELEGRAM_FILES = {"photo": "picture", "sticker_emoji": "sticker", "contact_information": "contact", "poll": "poll"}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SLACK_LINK = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")


def read_telegram(path: AnyPath, refuse: Refuse = raise_refused) -> Iterator[Turn]:
    """Yield the messages of result.json: of one chat, or of all. An edited message has its last text; times are UTC.

    Service messages are skipped; pictures and files are captions, such as "[picture]".
    """
    with parts_of(Path(path)) as parts:
        for part in parts:
            whole = _object(part.whole(), part)
            chats = [
                chat
                for holder in (whole.get("chats"), whole.get("left_chats"))
                if isinstance(holder, dict)
                for chat in _list(holder.get("list"), part)
            ]
            for chat in map(partial(_object, part=part), [whole] if "messages" in whole else chats):
                session = str(chat.get("id") or chat.get("name") or part.stem)
                where = f"{part.name} chat {chat.get('name') or session!r}"
                yield from readable(_list(chat.get("messages"), part), where, partial(_telegram, chat, session), refuse)


def _telegram(chat: Mapping[str, Any], session: str, message: Mapping[str, Any]) -> Turn | None:
    if message.get("type") != "message":
        return None
    text, caption = _telegram_text(message), _telegram_file(message)
    if not text.strip() and caption is None:
        return None
    seconds = message.get("date_unixtime")  # exports of before 2021 have local times without an offset only
    time = time_of(int(seconds)) if seconds else time_of(message.get("date"))
    speaker = message.get("from") or message.get("from_id") or "deleted account"
    metadata = {"chat": chat["name"]} if chat.get("name") else {}
    return Turn(f"{session}/{message['id']}", session, str(speaker), text, time, caption, "user", metadata)


def _telegram_text(message: Mapping[str, Any]) -> str:
    text = message.get("text") or ""
    pieces = [text] if isinstance(text, str) else text
    return "".join(piece if isinstance(piece, str) else piece["text"] for piece in pieces)


def _telegram_file(message: Mapping[str, Any]) -> str | None:
    if kind := next((kind for key, kind in _TELEGRAM_FILES.items() if key in message), None):
        return f"[{kind}]"
    if message.get("media_type"):
        return f"[{str(message['media_type']).replace('_', ' ')}]"
    return f"[file {message.get('file_name') or ''}]".replace(" ]", "]") if "file" in message else None


def read_discord(path: AnyPath, refuse: Refuse = raise_refused) -> Iterator[Turn]:
    """Yield the messages of a channel as DiscordChatExporter writes it, or of each file in a zip or folder.

    Joins, pins and calls are skipped; attachments are captions; a bot is an assistant.
    """
    with parts_of(Path(path)) as parts:
        for part in parts:
            whole = _object(part.whole(), part)
            channel = _object(whole.get("channel") or {}, part)
            session = str(channel.get("id") or channel.get("name") or part.stem)
            where = f"{part.name} channel {channel.get('name') or session!r}"
            yield from readable(_list(whole.get("messages"), part), where, partial(_discord, channel, session), refuse)


def _discord(channel: Mapping[str, Any], session: str, message: Mapping[str, Any]) -> Turn | None:
    if str(message.get("type", "Default")) not in _SPOKEN_ON_DISCORD:
        return None
    text = message.get("content") or ""
    named = [("file", one.get("fileName")) for one in message.get("attachments") or ()]
    named += [("sticker", one.get("name")) for one in message.get("stickers") or ()]
    caption = " ".join(f"[{kind} {name}]" for kind, name in named) or None
    if not text.strip() and caption is None:
        return None
    author = message["author"]
    speaker = author.get("nickname") or author.get("name") or str(author["id"])
    role = "assistant" if author.get("isBot") else "user"
    metadata = {"channel": channel["name"]} if channel.get("name") else {}
    return Turn(
        f"{session}/{message['id']}", session, speaker, text, time_of(message["timestamp"]), caption, role, metadata
    )


def read_slack(path: AnyPath, refuse: Refuse = raise_refused) -> Iterator[Turn]:
    """Yield the messages of a Slack export, a zip or folder of days by channel, or of the file of one day.

    Names are those of users.json, else of the message; mentions and links are written out. Times are UTC.
    """
    path = Path(path)
    with parts_of(path) as parts:
        users: dict[str, str] = {}
        days = [part for part in parts if _DAY.fullmatch(part.stem)] or (parts if len(parts) == 1 else [])
        for part in parts:
            if part.stem == "users":
                rows = [_object(user, part) for user in _list(part.whole(), part)]
                users |= {user["id"]: _slack_name(user) or user["id"] for user in rows if "id" in user}
        if not days:
            raise ImportFailed(f"{str(path)!r} holds no CHANNEL/2024-03-12.json; expected the zip of a Slack export")
        lone = path.resolve().parent.name if _DAY.fullmatch(path.stem) else path.stem
        for part in days:
            channel = part.folder if part.folder and part.folder != path.name else lone
            yield from readable(_list(part.whole(), part), part.name, partial(_slack, channel, users), refuse)


def _slack(channel: str, users: Mapping[str, str], message: Mapping[str, Any]) -> Turn | None:
    if message.get("type") != "message" or message.get("subtype") not in _SPOKEN_ON_SLACK:
        return None
    files = [one.get("name") or one.get("title") or "" for one in message.get("files") or ()]
    caption = " ".join(f"[file {name}]".replace(" ]", "]") for name in files) or None
    text = html.unescape(_SLACK_LINK.sub(partial(_written_out, users), message.get("text") or ""))
    if not text.strip() and caption is None:
        return None
    user = message.get("user") or message.get("bot_id") or ""
    speaker = users.get(user) or _slack_name({"profile": message.get("user_profile"), **message}) or user
    if not speaker:
        raise ValueError("nobody is named who sent it; expected user, username or bot_id")
    is_bot = message.get("bot_id") or message.get("subtype") in ("bot_message", "slackbot_response")
    role = "assistant" if is_bot else "user"
    thread = message.get("thread_ts")
    session = f"{channel}/{thread}" if thread else channel
    time = datetime.fromtimestamp(float(message["ts"]), timezone.utc)
    return Turn(f"{channel}/{message['ts']}", session, speaker, text, time, caption, role, {"channel": channel})


def _slack_name(user: Mapping[str, Any]) -> str:
    profile = user.get("profile") or {}
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("username"))
    return next((name for name in (*names, user.get("name")) if isinstance(name, str) and name.strip()), "")


def _written_out(users: Mapping[str, str], link: re.Match[str]) -> str:
    mark, target, label = link.groups()
    if mark == "@":
        return f"@{users.get(target) or label or target}"
    return f"{mark.replace('!', '@')}{label or target}" if mark else label or target


def _object(value: Any, part: Part) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ImportFailed(f"{part.name!r} holds {shown(value, 40)}; expected a JSON object there")
    return value


def _list(value: Any, part: Part) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise ImportFailed(f"{part.name!r} holds {shown(value, 40)}; expected a JSON list there")
    return value or []
