"""What chat programs export as JSON: ChatGPT, Claude, Telegram, Discord (by DiscordChatExporter) and Slack.

Each is a row: where its conversations stand, what of one is a session, where a message has its time, and what it says.
One walk reads them all. A message without a time has the one before it; one that says nothing, such as a notice of the
program, is skipped. Pictures and files are captions, such as "[picture]" and "[file plan.pdf]".
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import ImportFailed, shown
from ..types.public_value import AnyPath
from .chat_messages import text_of_content
from .conversation import ImportedTurn, Part, Refuse, RefusedItem, elements, parts_of, raise_refused, readable
from .json_values import mismatch_error, time_of

_NAMES = ("conversation_id", "uuid", "id", "name")  # of a conversation
_CONVERSATIONS = r"conversations(?:-\d+)?"
_SECONDS = re.compile(r"\d+(\.\d+)?")
_DAY = r"\d{4}-\d\d-\d\d"
_SPOKEN_BY_CHATGPT = {"text", "multimodal_text"}
_TELEGRAM_FILES = {"photo": "picture", "sticker_emoji": "sticker", "contact_information": "contact", "poll": "poll"}
_SPOKEN_ON_DISCORD = {"Default", "Reply", "0", "19"}
_SPOKEN_ON_SLACK = {None, "bot_message", "slackbot_response", "me_message", "thread_broadcast", "file_share"}
_SLACK_LINK = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")


@dataclass(frozen=True, slots=True)
class _Chat:
    """A conversation: its session, its messages, when it began and was changed, and what is on other branches."""

    session: str
    messages: Sequence[Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    times: Sequence[Any] = ()
    abandoned: Sequence[Any] = ()


class _Said(NamedTuple):
    """What a message says; a `thread` in a chat is a session."""

    id: Any
    speaker: str
    text: str
    caption: str | None = None
    role: str = "user"
    thread: str = ""
    former_id: str = ""


class _Export(NamedTuple):
    """A program's export. A function may raise ValueError, or what comes of a value of another type than it expects.

    Attributes:
        files: The names of its files, without ending; a lone file may have another.
        found: The conversations of a file.
        chat: What of one is a session.
        times: Where a message has its time.
        said: What a message says, given the names of people by their ids.
    """

    files: str
    found: Callable[[Part], Iterable[Any]]
    chat: Callable[[Any, Part, Path], _Chat]
    times: tuple[str, ...]
    said: Callable[[Any, Mapping[str, str]], _Said | None]


def read_export(name: str, path: AnyPath, refuse: Refuse = raise_refused) -> Iterator[ImportedTurn]:
    """Yield the turns of one of `EXPORTS`, one session per conversation; its last turn names those on other branches.

    Raise ImportFailed for a file that is no export; `refuse` is called for a message or a conversation of another form.
    """
    path, export = Path(path), EXPORTS[name]
    with parts_of(path) as parts:
        files = [part for part in parts if re.fullmatch(export.files, part.stem)]
        if not files and len(parts) != 1:
            raise ImportFailed(f"{str(path)!r} holds no file of a {name} export; expected the zip or folder of one")
        names = _slack_users(parts) if name == "slack" else {}
        for part in files or parts:
            for raw in export.found(part):
                known = raw if isinstance(raw, dict) else {}
                called = next((known[key] for key in _NAMES if known.get(key)), part.stem)
                where = f"{part.name} conversation {called!r}"
                try:
                    chat = export.chat(raw, part, path)
                except (KeyError, TypeError, ValueError, AttributeError) as error:
                    refuse(RefusedItem(where, f"not in the form of a conversation of {name} ({error!r})"))
                    continue
                last = None
                for turn in _turns(export, chat, chat.messages, names, where, refuse):
                    if last is not None:
                        yield last
                    last = turn
                if last is not None:  # of what was not shown nothing is missed
                    others = _turns(export, chat, chat.abandoned, names, where, lambda item: None)
                    yield replace(last, abandoned=tuple(others))


def _turns(
    export: _Export, chat: _Chat, messages: Sequence[Any], names: Mapping[str, str], where: str, refuse: Refuse
) -> Iterator[ImportedTurn]:
    begun, *changed = [_moment(value) for value in chat.times] or [None]
    own = (_moment(_given(message, export.times)) for message in messages)
    latest = begun or next((time for time in (*own, *changed) if time), None)

    def read(message: Any) -> ImportedTurn | None:
        nonlocal latest
        given = _given(message, export.times)
        latest = latest if given is None else _time(given)
        said = export.said(message, names)
        if said is None or not (said.text.strip() or said.caption):
            return None
        if latest is None:
            raise ValueError("neither it nor its conversation has a time")
        name, session = f"{chat.session}/{said.id}", f"{chat.session}/{said.thread}" if said.thread else chat.session
        return ImportedTurn(
            name, session, said.speaker, said.text, latest, said.caption, said.role, chat.metadata, said.former_id
        )

    return readable(messages, where, read, refuse)


def _given(message: Any, names: Iterable[str]) -> Any:
    known = message if isinstance(message, dict) else {}
    return next((known[name] for name in names if known.get(name) is not None), None)


def _time(given: Any) -> datetime:
    is_seconds = isinstance(given, str) and _SECONDS.fullmatch(given)
    return time_of(float(given) if is_seconds else given)


def _moment(given: Any) -> datetime | None:
    try:
        return _time(given)
    except ValueError:
        return None


def _labels(*named: tuple[str, Iterable[Any]]) -> str | None:
    """Return what stands for files: `[file plan.pdf]`."""
    return " ".join(f"[{kind} {name or ''}]".replace(" ]", "]") for kind, names in named for name in names) or None


def _held(value: Any, kind: type, part: Part) -> Any:
    if not isinstance(value, kind):
        wanted = "object" if kind is dict else "list"
        raise ImportFailed(f"{part.name!r} holds {shown(value, 40)}; expected a JSON {wanted} there")
    return value


def _conversations(mark: str, part: Part) -> Iterator[Any]:
    """Yield the conversations of a file: a list, a list behind `conversations`, or a single one, which has the mark."""
    if not part.start(4096).lstrip().startswith(b"{"):
        with part.open() as file:
            yield from elements(file, part.name)
        return
    whole = part.whole()
    found = [whole] if mark in whole else whole.get("conversations")
    if not isinstance(found, list):
        raise ImportFailed(f"{part.name!r} has no list of conversations; expected one, or a conversation with {mark!r}")
    yield from found


def _chatgpt_chat(raw: Mapping[str, Any], part: Part, path: Path) -> _Chat:
    nodes: dict[str, Any] = {name: node for name, node in raw["mapping"].items() if isinstance(node, dict)}
    # One without an id goes by its first message, which stays when it is exported again.
    first = next((name for name, node in nodes.items() if node.get("message")), "")
    session = raw.get("conversation_id") or raw.get("id") or first
    at = raw.get("current_node")
    if at not in nodes:
        leaves = [name for name, node in nodes.items() if not node.get("children")]
        newest = max(leaves, key=lambda name: (nodes[name].get("message") or {}).get("create_time") or 0, default=None)
        if newest is None and at is not None:
            raise KeyError(at)
        at = newest
    branch: dict[str, Any] = {}  # from the shown end back: what was edited or answered anew is on other branches
    while at and at not in branch:  # a cyclic mapping ends here
        branch[at] = nodes[at].get("message") if at in nodes else {"id": at}
        at = nodes[at].get("parent") if at in nodes else None
    others = [node["message"] for name, node in nodes.items() if name not in branch and node.get("message")]
    shown_ones = [message for message in reversed(branch.values()) if message]
    times = [raw.get("create_time"), raw.get("update_time")]
    return _Chat(session, shown_ones, {"title": raw["title"]} if raw.get("title") else {}, times, others)


def _chatgpt(message: Any, names: Mapping[str, str]) -> _Said | None:
    if message.keys() == {"id"}:
        raise ValueError("it is missing, and what came before it")
    metadata, content = message.get("metadata") or {}, message.get("content") or {}
    hidden = metadata.get("is_visually_hidden_from_conversation") or message.get("weight") == 0
    role, recipient = message["author"]["role"], message.get("recipient")
    is_spoken = role in ("user", "assistant") and content.get("content_type") in _SPOKEN_BY_CHATGPT
    if hidden or not is_spoken or recipient not in (None, "all"):
        return None
    parts = content.get("parts") or []
    if not isinstance(parts, list):
        raise mismatch_error("parts", parts, "a list of texts and pictures")
    text = text_of_content(parts)
    is_picture = not text.strip() and any(isinstance(part, dict) and "asset_pointer" in part for part in parts)
    return _Said(message["id"], role, text, "[picture]" if is_picture else None, role, former_id=message["id"])


def _claude_chat(raw: Mapping[str, Any], part: Part, path: Path) -> _Chat:
    if not raw["uuid"] or not isinstance(raw["chat_messages"], list):
        raise ValueError("expected uuid and chat_messages")
    times = [raw.get("created_at"), raw.get("updated_at")]
    return _Chat(raw["uuid"], raw["chat_messages"], {"title": raw["name"]} if raw.get("name") else {}, times)


def _claude(message: Any, names: Mapping[str, str]) -> _Said:
    sender, attached = message.get("sender"), [*(message.get("attachments") or ())]
    if sender not in ("human", "assistant"):
        raise mismatch_error("the sender", sender, "human or assistant")
    blocks = [block for block in message.get("content") or () if isinstance(block, dict)]
    said = [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]
    pasted = [one.get("extracted_content") or "" for one in attached if not _is_file(one)]
    texts = ["\n".join(said).strip() or message.get("text") or "", *pasted]
    files = [*attached, *(message.get("files") or message.get("files_v2") or ())]
    caption = _labels(("file", dict.fromkeys(one["file_name"] for one in files if _is_file(one))))
    role = "user" if sender == "human" else "assistant"
    return _Said(message["uuid"], role, "\n\n".join(text for text in texts if text.strip()), caption, role)


def _is_file(attachment: Mapping[str, Any]) -> bool:
    """Return whether it was a file: a long text that is pasted becomes an attachment too, such as paste.txt."""
    name = attachment.get("file_name") or ""
    return bool(name) and not (attachment.get("extracted_content") and name.lower().startswith("paste"))


def _telegram_chats(part: Part) -> list[Any]:
    whole = _held(part.whole(), dict, part)
    if "messages" in whole:
        return [whole]
    holders = [holder for name in ("chats", "left_chats") if isinstance(holder := whole.get(name), dict)]
    return [chat for holder in holders for chat in _held(holder.get("list") or [], list, part)]


def _messenger_chat(raw: Mapping[str, Any], part: Part, path: Path) -> _Chat:
    channel = raw.get("channel")
    named = channel or raw
    session = str(named.get("id") or named.get("name") or part.stem)
    kind = "chat" if channel is None else "channel"
    messages = _held(raw.get("messages") or [], list, part)
    return _Chat(session, messages, {kind: named["name"]} if named.get("name") else {})


def _telegram(message: Any, names: Mapping[str, str]) -> _Said | None:
    if message.get("type") != "message":
        return None
    text = message.get("text") or ""
    pieces = [text] if isinstance(text, str) else text
    kind = next((kind for key, kind in _TELEGRAM_FILES.items() if key in message), message.get("media_type"))
    caption = f"[{str(kind).replace('_', ' ')}]" if kind else None
    if not kind and "file" in message:
        caption = _labels(("file", [message.get("file_name")]))
    speaker = message.get("from") or message.get("from_id") or "deleted account"
    said = "".join(piece if isinstance(piece, str) else piece["text"] for piece in pieces)
    return _Said(message["id"], str(speaker), said, caption)


def _discord(message: Any, names: Mapping[str, str]) -> _Said | None:
    if str(message.get("type", "Default")) not in _SPOKEN_ON_DISCORD:
        return None
    files = [one.get("fileName") for one in message.get("attachments") or ()]
    caption = _labels(("file", files), ("sticker", [one.get("name") for one in message.get("stickers") or ()]))
    author = message["author"]
    speaker = author.get("nickname") or author.get("name") or str(author["id"])
    role = "assistant" if author.get("isBot") else "user"
    return _Said(message["id"], speaker, message.get("content") or "", caption, role)


def _slack_channel(raw: Any, part: Part, path: Path) -> _Chat:
    name = part.folder
    if not name or name == path.name:
        name = path.resolve().parent.name if re.fullmatch(_DAY, path.stem) else path.stem
    return _Chat(name, _held(raw, list, part), {"channel": name})


def _slack_users(parts: Iterable[Part]) -> dict[str, str]:
    listed = [user for part in parts if part.stem == "users" for user in _held(part.whole(), list, part)]
    return {user["id"]: _slack_name(user) or user["id"] for user in listed if isinstance(user, dict) and "id" in user}


def _slack(message: Any, names: Mapping[str, str]) -> _Said | None:
    if message.get("type") != "message" or message.get("subtype") not in _SPOKEN_ON_SLACK:
        return None
    text = html.unescape(_SLACK_LINK.sub(partial(_written_out, names), message.get("text") or ""))
    user = message.get("user") or message.get("bot_id") or ""
    speaker = names.get(user) or _slack_name({"profile": message.get("user_profile"), **message}) or user
    if not speaker:
        raise ValueError("nobody is named who sent it; expected user, username or bot_id")
    is_bot = message.get("bot_id") or message.get("subtype") in ("bot_message", "slackbot_response")
    caption = _labels(("file", [one.get("name") or one.get("title") for one in message.get("files") or ()]))
    return _Said(
        message["ts"], speaker, text, caption, "assistant" if is_bot else "user", message.get("thread_ts") or ""
    )


def _slack_name(user: Mapping[str, Any]) -> str:
    profile = user["profile"] if isinstance(user.get("profile"), dict) else {}
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("username"))
    return next((name for name in (*names, user.get("name")) if isinstance(name, str) and name.strip()), "")


def _written_out(names: Mapping[str, str], link: re.Match[str]) -> str:
    mark, target, label = link.groups()
    if mark == "@":
        return f"@{names.get(target) or label or target}"
    return f"{mark.replace('!', '@')}{label or target}" if mark else label or target


EXPORTS = {
    # The branch that was shown, of user and assistant: no hidden messages, no reasoning, no code.
    "chatgpt": _Export(_CONVERSATIONS, partial(_conversations, "mapping"), _chatgpt_chat, ("create_time",), _chatgpt),
    # Without thoughts and calls of tools; what was pasted without a name is text.
    "claude": _Export(
        _CONVERSATIONS, partial(_conversations, "chat_messages"), _claude_chat, ("created_at", "updated_at"), _claude
    ),
    # The last text of an edited message. Exports of before 2021 have local times without an offset only.
    "telegram": _Export(".*", _telegram_chats, _messenger_chat, ("date_unixtime", "date"), _telegram),
    "discord": _Export(".*", lambda part: [_held(part.whole(), dict, part)], _messenger_chat, ("timestamp",), _discord),
    # A file a day; threads are sessions, mentions and links are written out.
    "slack": _Export(_DAY, lambda part: [part.whole()], _slack_channel, ("ts",), _slack),
}
