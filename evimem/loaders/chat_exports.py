"""The data exports of ChatGPT and Claude: conversations.json, or the zip that holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
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
        name = conversation.get("conversation_id") or conversation.get("id") if isinstance(conversation, dict) else None
        where = f"{path.name} conversation {name!r}"
        try:
            turns = _shown_branch(conversation, where, refuse)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            refuse(RefusedItem(where, f"not in the form of a ChatGPT export ({error!r})"))
        else:
            yield from turns


def _shown_branch(conversation: Mapping[str, Any], where: str, refuse: Refuse) -> list[ImportedTurn]:
    """Return the turns of the branch that was shown; the last one names those of the others."""
    found = conversation["mapping"].items()
    nodes: dict[str, Any] = {name: node for name, node in found if isinstance(node, dict)}
    # One without an id goes by its first message, which stays when it is exported again.
    first = next((name for name, node in nodes.items() if node.get("message")), "")
    session = conversation.get("conversation_id") or conversation.get("id") or first
    metadata = {"title": conversation["title"]} if conversation.get("title") else {}
    begun = _time(conversation)

    def turns(names: Iterable[str], refuse: Refuse) -> Iterator[ImportedTurn]:
        messages = [message for name in names if (message := nodes[name].get("message"))]
        times = _times([_time(message) for message in messages], begun, _time(conversation, "update_time"))
        read = partial(_chatgpt, session, metadata, times)
        return readable(messages, where, read, refuse)

    branch = _branch(nodes, conversation.get("current_node"), where, refuse)
    shown = list(turns(branch, refuse))
    others = turns(
        [name for name in nodes if name not in branch], lambda item: None
    )  # what was not shown is not missed
    if shown and (abandoned := tuple(others)):
        shown[-1] = replace(shown[-1], abandoned=abandoned)
    return shown


def _branch(nodes: Mapping[str, Any], current: Any, where: str, refuse: Refuse) -> list[str]:
    """Return the nodes from the root to the current one; edited and regenerated messages are on other branches."""
    names = dict[str, None]()
    at = current if current in nodes else _newest_leaf(nodes)
    if at is None and current is not None:
        raise KeyError(current)
    while at and at not in names:  # a cyclic mapping ends here
        if at not in nodes:
            refuse(RefusedItem(f"{where} message {at!r}", "it is missing, and what came before it"))
            break
        names[at] = None
        at = nodes[at].get("parent")
    return list(reversed(names))


def _chatgpt(session: str, metadata: Mapping[str, Any], times: Iterator[datetime | None], message: Any) -> ImportedTurn:
    time, role = next(times), message["author"]["role"]
    text, caption = _shown_text(message), _pictures(message)
    if time is None and (text or caption):
        raise ValueError("neither it nor its conversation has a time")
    said = time or datetime.min
    of, former = f"{session}/{message['id']}", message["id"]
    return ImportedTurn(of, session, role, text, said, caption, role, metadata, former_id=former)


def _times(own: list[datetime | None], *of_conversation: datetime | None) -> Iterator[datetime | None]:
    """Yield a time for each message: its own, else the one before it, the conversation's, or the next."""
    latest = next((time for time in (of_conversation[0], *own, *of_conversation) if time), None)
    for time in own:
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
        messages = conversation["chat_messages"]
        of_conversation = (_time(conversation, name) for name in ("created_at", "updated_at"))
        times = _times([_time(message, "created_at") for message in messages], *of_conversation)
        yield from readable(messages, where, partial(_claude, conversation, times), refuse)


def _claude(conversation: Mapping[str, Any], times: Iterator[datetime | None], message: Any) -> ImportedTurn:
    time, sender = next(times), message.get("sender")
    if given := message.get("created_at") or message.get("updated_at"):
        time = time_of(given)
    if sender not in _ROLES:
        raise mismatch_error("the sender", sender, "human or assistant")
    text, caption = _text(message), _files(message)
    if time is None and (text or caption):
        raise ValueError("neither it nor its conversation has a time")
    session, role = conversation["uuid"], _ROLES[sender]
    metadata = {"title": conversation["name"]} if conversation.get("name") else {}
    of = f"{session}/{message['uuid']}"
    return ImportedTurn(of, session, role, text, time or datetime.min, caption, role, metadata)


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
