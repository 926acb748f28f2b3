"""Slack's export: a folder a channel, a file a day; threads are sessions, mentions and links are written out."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .conversation import ExportFile
from .export_walk import Chat, Export, Outcome, Said, Skipped, file_placeholders, require_type

_DAY = r"\d{4}-\d\d-\d\d"
_SPOKEN = {None, "bot_message", "slackbot_response", "me_message", "thread_broadcast", "file_share"}


def _read_channel(raw: Any, part: ExportFile, path: Path) -> Chat:
    name = part.folder
    if not name or name == path.name:
        name = path.resolve().parent.name if re.fullmatch(_DAY, path.stem) else path.stem
    return Chat(name, require_type(raw, list, part), {"channel": name})


def _read_user_names(parts: Sequence[ExportFile]) -> dict[str, str]:
    listed = [user for part in parts if part.stem == "users" for user in require_type(part.read_json(), list, part)]
    named = [user for user in listed if isinstance(user, dict) and isinstance(user.get("id"), str)]
    return {user["id"]: _user_name(user) or user["id"] for user in named}


def _read_message(message: Any, names: Mapping[str, str]) -> Outcome:
    if message.get("subtype") == "tombstone":
        return Skipped("deleted message")
    if message.get("type") != "message" or message.get("subtype") not in _SPOKEN:
        return Skipped("notice")
    text = message.get("text") or ""
    # The text of a message that has words in blocks only.
    if not text.strip() or text.strip() == "This content can't be displayed.":
        own = _blocks_text(message.get("blocks"), names)
        beside = (_attachment_text(one, names) for one in message.get("attachments") or () if isinstance(one, dict))
        text = "\n".join(one for one in (own, *beside) if one.strip())
    else:
        text = _replace_markup(text, names)
    user = message.get("user") or message.get("bot_id") or ""
    speaker = names.get(user) or _user_name({"profile": message.get("user_profile"), **message}) or user
    if not speaker:
        raise ValueError("no sender is named; expected user, username or bot_id")
    is_bot = message.get("bot_id") or message.get("subtype") in ("bot_message", "slackbot_response")
    files = [one.get("name") or one.get("title") for one in message.get("files") or ()]
    omitted = ("content of a file",) * len(files) + ("reaction",) * len(message.get("reactions") or ())
    role = "assistant" if is_bot else "user"
    thread = message.get("thread_ts") or ""
    return Said(message["ts"], speaker, text, file_placeholders(("file", files)), role, thread, omitted=omitted)


def _blocks_text(blocks: Any, names: Mapping[str, str]) -> str:
    """Return the words of a message's blocks, a line a block."""
    texts = (_block_text(one, names, 0) for one in blocks or () if isinstance(one, dict))
    return "\n".join(text.strip("\n") for text in texts if text.strip())


def _block_text(block: Mapping[str, Any], names: Mapping[str, str], level: int) -> str:
    """Return the words of a block or an element of one, whatever its type."""
    # At most 20 blocks in each other.
    if level > 20:
        raise ValueError("its blocks are nested too deeply")
    kind = str(block.get("type") or "")
    if kind == "user":
        return f"@{names.get(str(block.get('user_id')), block.get('user_id') or '')}"
    if kind in ("channel", "usergroup", "broadcast"):
        return "@#"[kind == "channel"] + str(block.get(f"{kind}_id") or block.get("range") or "")
    if kind == "emoji":
        return _emoji_text(block)
    if kind == "link":
        return str(block.get("text") or block.get("url") or "")
    if kind in ("image", "video"):
        title = block.get("title")
        return str((title.get("text") if isinstance(title, dict) else title) or block.get("alt_text") or "")
    own = block.get("text")
    if isinstance(own, dict):
        own = _replace_markup(str(own.get("text") or ""), names)
    elif kind in ("mrkdwn", "markdown"):
        own = _replace_markup(str(own or ""), names)
    inner = [*_inner_blocks(block)]
    is_line = kind in ("rich_text_section", "rich_text_quote", "rich_text_preformatted")
    said = ("" if is_line else "\n").join(_block_text(one, names, level + 1) for one in inner)
    return "\n".join(one for one in (own if isinstance(own, str) else "", said) if one)


def _inner_blocks(block: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in ("elements", "fields"):
        yield from (one for one in block.get(key) or () if isinstance(one, dict))


def _emoji_text(block: Mapping[str, Any]) -> str:
    codes = str(block.get("unicode") or "")
    try:
        return "".join(chr(int(code, 16)) for code in codes.split("-")) if codes else f":{block.get('name')}:"
    except (ValueError, OverflowError):
        return f":{block.get('name')}:"


def _attachment_text(one: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Return the words of a bot's attachments."""
    said = [one.get("pretext"), one.get("title"), one.get("text")]
    said += [f"{field.get('title') or ''}: {field.get('value') or ''}" for field in one.get("fields") or ()]
    texts = [_replace_markup(str(text), names) for text in said if text]
    return "\n".join(texts) or _blocks_text(one.get("blocks"), names) or str(one.get("fallback") or "")


def _user_name(user: Mapping[str, Any]) -> str:
    profile = user["profile"] if isinstance(user.get("profile"), dict) else {}
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("username"))
    return next((name for name in (*names, user.get("name")) if isinstance(name, str) and name.strip()), "")


def _replace_markup(text: str, names: Mapping[str, str]) -> str:
    return html.unescape(re.sub(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>", partial(_expand_link, names), text))


def _expand_link(names: Mapping[str, str], link: re.Match[str]) -> str:
    mark, target, label = link.groups()
    if mark == "@":
        return f"@{names.get(target) or label or target}"
    return f"{mark.replace('!', '@')}{label or target}" if mark else label or target


def _find_channels(part: ExportFile) -> Iterable[Any]:
    yield part.read_json()


SLACK = Export("Slack", _DAY, _find_channels, _read_channel, ("ts",), _read_message, _read_user_names)
