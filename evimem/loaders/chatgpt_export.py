"""ChatGPT's data export: conversations.json, or the zip that holds it."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import ImportFailed
from ..types.paths import AnyPath
from ..types.values import Turn
from .chat_messages import text_of_content
from .conversation import Refuse, RefusedItem, raise_refused
from .json_list import elements
from .json_values import time_of
from .unpacked import unpacked

_MEMBER = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
_SPOKEN = {"text", "multimodal_text"}
_SPEAKERS = {"user", "assistant"}


def read_chatgpt(path: AnyPath, refuse: Refuse = raise_refused) -> Iterator[Turn]:
    """Yield the messages of user and assistant on the branch that was shown, one session per conversation.

    System and tool messages, hidden messages, and the model's reasoning and code are skipped. Times are UTC.
    Raise ImportFailed for a file that is no export; `refuse` is called for a conversation of another form.
    """
    path = Path(path)
    for conversation in conversations(path):
        try:
            turns = list(_turns(conversation))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            refuse(
                RefusedItem(
                    f"{path.name} conversation {_name(conversation)}",
                    f"not in the form of a ChatGPT export ({error!r})",
                )
            )
        else:
            yield from turns


def conversations(path: Path) -> Iterator[Any]:
    """Yield the raw conversations of an export, zipped or not."""
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            yield from elements(file, path.name)
        return
    with _archive(path) as archive:
        members = sorted(name for name in archive.namelist() if _MEMBER.fullmatch(name))
        if not members:
            raise ImportFailed(f"{str(path)!r} holds no conversations.json; expected the zip of a ChatGPT export")
        for member in members:
            with unpacked(archive, member) as file:
                yield from elements(file, f"{path.name}/{member}")


def _archive(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise ImportFailed(f"{str(path)!r} is a damaged zip ({error}); download the export again") from error


def _turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    session = conversation.get("conversation_id") or conversation["id"]
    metadata = {"title": conversation["title"]} if conversation.get("title") else {}
    latest = conversation.get("create_time")
    for message in _branch(conversation):
        latest = message.get("create_time") or latest
        text = _shown_text(message)
        if text.strip():
            role = message["author"]["role"]
            yield Turn(message["id"], session, role, text, time_of(latest), role=role, metadata=metadata)


def _branch(conversation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the messages from the root to the current node; edited and regenerated ones are on other branches."""
    nodes, messages, seen = conversation["mapping"], [], set[str]()
    at = conversation.get("current_node") or _newest_leaf(nodes)
    while at and at not in seen:
        seen.add(at)  # a cyclic mapping ends here
        messages.append(nodes[at].get("message"))
        at = nodes[at].get("parent")
    return [message for message in reversed(messages) if message]


def _newest_leaf(nodes: Mapping[str, Any]) -> str | None:
    leaves = [name for name, node in nodes.items() if not node.get("children")]
    return max(leaves, key=lambda name: (nodes[name].get("message") or {}).get("create_time") or 0, default=None)


def _shown_text(message: Mapping[str, Any]) -> str:
    metadata, content = message.get("metadata") or {}, message.get("content") or {}
    hidden = metadata.get("is_visually_hidden_from_conversation") or message.get("weight") == 0
    to_tool = message.get("recipient") not in (None, "all")
    if hidden or to_tool or message["author"]["role"] not in _SPEAKERS or content.get("content_type") not in _SPOKEN:
        return ""
    return text_of_content(content.get("parts"))


def _name(conversation: object) -> str:
    name = conversation.get("conversation_id") or conversation.get("id") if isinstance(conversation, dict) else None
    return repr(name)
