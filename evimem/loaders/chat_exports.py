"""The data exports of ChatGPT and Claude: conversations.json, or the zip that holds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ..types.public_value import AnyPath
from .chat_messages import text_of_content
from .conversation import ImportedTurn, Refuse, RefusedItem, conversations, raise_refused, readable
from .json_values import mismatch_error, time_of

_SPOKEN = {"text", "multimodal_text"}
_SPEAKERS = {"user", "assistant"}
_ROLES = {"human": "user", "assistant": "assistant"}


def read_chatgpt(path: AnyPath, refuse: Refuse = raise_refused) -> Iterator[ImportedTurn]:
    """Yield the messages of user and assistant on the branch that was shown, one session per conversation.

    System and tool messages, hidden messages, and the model's reasoning and code are skipped. Times are UTC. The last
    turn of a conversation names the turns that its export holds on other branches. Raise ImportFailed for a file that
    is no export; `refuse` is called for a message or a conversation of another form.
    """
    path = Path(path)
    for conversation in conversations(path, "mapping"):
        where = f"{path.name} conversation {_name(conversation)}"
        bad: list[RefusedItem] = []
        try:
            turns = _Branches(conversation, where, bad.append).turns()
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            bad = [RefusedItem(where, f"not in the form of a ChatGPT export ({error!r})")]
            turns = []
        for item in bad:
            refuse(item)
        yield from turns


class _Branches:
    """Reads the messages of a conversation; the places of those that cannot be read go to `refuse`."""

    def __init__(self, conversation: Mapping[str, Any], where: str, refuse: Refuse) -> None:
        self._conversation = conversation
        nodes = conversation["mapping"].items()
        self._nodes: Mapping[str, Any] = {name: node for name, node in nodes if isinstance(node, dict)}
        # One without an id goes by its first message, which stays when it is exported again.
        first = (name for name, node in self._nodes.items() if node.get("message"))
        self._session: str = conversation.get("conversation_id") or conversation.get("id") or next(first, "")
        self._metadata = {"title": conversation["title"]} if conversation.get("title") else {}
        self._where = where
        self._refuse = refuse

    def turns(self) -> list[ImportedTurn]:
        """Return the turns of the branch that was shown."""
        branch = self._branch()
        shown = list(self._read([self._nodes[name] for name in branch], self._refuse))
        others = [node for name, node in self._nodes.items() if name not in set(branch)]
        if shown and others:
            abandoned = tuple(self._read(others, lambda item: None))  # a message that was not shown is not missed
            shown[-1] = replace(shown[-1], abandoned=abandoned)
        return shown

    def _branch(self) -> list[str]:
        """Return the nodes from the root to the current one; edited and regenerated messages are on other branches."""
        names = dict[str, None]()
        current = self._conversation.get("current_node")
        at = current if current in self._nodes else _newest_leaf(self._nodes)
        if at is None and current is not None:
            raise KeyError(current)
        while at and at not in names:  # a cyclic mapping ends here
            if at not in self._nodes:
                self._refuse(RefusedItem(f"{self._where} message {at!r}", "it is missing, and what came before it"))
                break
            names[at] = None
            at = self._nodes[at].get("parent")
        return list(reversed(names))

    def _read(self, nodes: list[Any], refuse: Refuse) -> Iterator[ImportedTurn]:
        messages = [node.get("message") for node in nodes if node.get("message")]
        times = _times(messages, self._conversation)
        for message, time in zip(messages, times, strict=True):
            try:
                turn = self._turn(message, time)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                name = repr(message.get("id")) if isinstance(message, dict) else "without an id"
                refuse(RefusedItem(f"{self._where} message {name}", f"not in the form of a message ({error!r})"))
            else:
                if turn.text.strip() or turn.caption:
                    yield turn

    def _turn(self, message: Mapping[str, Any], time: datetime | None) -> ImportedTurn:
        text, caption, role = _shown_text(message), _pictures(message), message["author"]["role"]
        if time is None and (text or caption):
            raise ValueError("neither it nor its conversation has a time")
        said = time or datetime.min
        of, former = f"{self._session}/{message['id']}", message["id"]
        return ImportedTurn(of, self._session, role, text, said, caption, role, self._metadata, former_id=former)


def _times(messages: list[Any], conversation: Mapping[str, Any]) -> list[datetime | None]:
    """Return a time for each message: its own, else the one before it, the next, or the conversation's."""
    own = [_time(message) for message in messages]
    known = (*own, _time(conversation), _time(conversation, "update_time"))
    before = _time(conversation) or next((time for time in known if time), None)
    return list(_filled(own, before))


def _filled(times: list[datetime | None], latest: datetime | None) -> Iterator[datetime | None]:
    for time in times:
        latest = time or latest
        yield latest


def _time(row: Any, name: str = "create_time") -> datetime | None:
    try:
        return time_of(row[name])
    except (KeyError, TypeError, ValueError):
        return None  # messages and conversations without a time are common


def _newest_leaf(nodes: Mapping[str, Any]) -> str | None:
    leaves = [name for name, node in nodes.items() if not node.get("children")]
    return max(leaves, key=lambda name: (nodes[name].get("message") or {}).get("create_time") or 0, default=None)


def _is_shown(message: Mapping[str, Any]) -> bool:
    metadata, content = message.get("metadata") or {}, message.get("content") or {}
    hidden = metadata.get("is_visually_hidden_from_conversation") or message.get("weight") == 0
    to_tool = message.get("recipient") not in (None, "all")
    spoken = message["author"]["role"] in _SPEAKERS and content.get("content_type") in _SPOKEN
    return spoken and not hidden and not to_tool


def _shown_text(message: Mapping[str, Any]) -> str:
    if not _is_shown(message):
        return ""
    parts = message["content"].get("parts") or []
    if not isinstance(parts, list):
        raise mismatch_error("parts", parts, "a list of texts and pictures")
    return text_of_content(parts)


def _pictures(message: Mapping[str, Any]) -> str | None:
    """Return what stands for the pictures of a message that has no words."""
    if not _is_shown(message) or _shown_text(message).strip():
        return None
    parts = message["content"].get("parts") or ()
    return "[picture]" if any(isinstance(part, dict) and "asset_pointer" in part for part in parts) else None


def _name(conversation: object) -> str:
    name = conversation.get("conversation_id") or conversation.get("id") if isinstance(conversation, dict) else None
    return repr(name)


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
            self._latest = _claude_time(conversation)

    def turn(self, message: Mapping[str, Any]) -> ImportedTurn | None:
        """Return the turn of a message; None where nothing was said. Raise ValueError for another form."""
        self._latest = _claude_time(message) or self._latest
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


def _claude_time(row: Mapping[str, Any]) -> datetime | None:
    given = row.get("created_at") or row.get("updated_at")
    return time_of(given) if given else None
