"""ChatGPT's export: the branch that was shown of each conversation, custom instructions and saved memories."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from .chat_messages import text_of_content
from .conversation import ExportFile
from .export_walk import Chat, Export, Outcome, Said, Skipped, file_placeholders, find_conversations
from .json_values import make_mismatch_error

CONVERSATIONS = r"conversations(?:-\d+)?"
_INSTRUCTIONS, _MEMORIES = "custom instructions", "saved memories"
# A mark stands between two characters of private use, its parts divided by a third; one with words that are shown has
# them as its second part, as in entity["city","Paris"]. Copies lack these characters.
_MARK = re.compile("([ \t]*)\ue200([a-z_]+)\ue202?([^\ue200\ue201]*)\ue201")
_BARE_MARK = re.compile(r"[ \t]*\b(?:file)?cite(?:turn\d+[a-z]+\d+)+\b")
_SOURCE = re.compile(r"[ \t]*【[^【】\n]{0,40}†[^【】\n]{0,200}】")


def remove_citation_marks(text: str) -> tuple[str, int]:
    """Return a text without marks that point to sources, and how many there were; names inside of marks stay."""

    def replace_mark(found: re.Match[str]) -> str:
        space, kind, inner = found.groups()
        if kind == "entity" and (name := re.match(r'\["[^"]*","((?:[^"\\]|\\.)*)"', inner)):
            return f"{space}{name[1]}"
        return space + inner.split("\ue202")[0] if kind in ("url", "link_title") else ""

    text, marks = _MARK.subn(replace_mark, text)
    text, bare = _BARE_MARK.subn("", text)
    text, sources = _SOURCE.subn("", text)
    return text, marks + bare + sources


def _read_conversation(raw: Mapping[str, Any], part: ExportFile, path: Path) -> Chat:
    nodes: dict[str, Any] = {name: node for name, node in raw["mapping"].items() if isinstance(node, dict)}
    # One without an id goes by its first message, which stays when it is exported again.
    first = next((name for name, node in nodes.items() if node.get("message")), "")
    session = raw.get("conversation_id") or raw.get("id") or first
    at = raw.get("current_node")
    if at not in nodes:
        leaves = [name for name, node in nodes.items() if not node.get("children")]
        newest = max(leaves, key=lambda name: (nodes[name].get("message") or {}).get("create_time") or 0, default=None)
        if newest is None and at is not None:
            raise ValueError("its current node is missing")
        at = newest
    branch: dict[str, Any] = {}  # from the shown end back: edited messages and newer answers are on other branches
    while at and at not in branch:  # a cyclic mapping ends here
        branch[at] = nodes[at].get("message") if at in nodes else {"id": at}
        at = nodes[at].get("parent") if at in nodes else None
    others = [node["message"] for name, node in nodes.items() if name not in branch and node.get("message")]
    shown_ones = [message for message in reversed(branch.values()) if message]
    times = [raw.get("create_time"), raw.get("update_time")]
    return Chat(session, shown_ones, {"title": raw["title"]} if raw.get("title") else {}, times, others)


def _read_message(message: Any, names: Mapping[str, str]) -> Outcome:
    if message.keys() == {"id"}:
        raise ValueError("it is missing, and what came before it")
    metadata, content = message.get("metadata") or {}, message.get("content") or {}
    role, recipient, kind = message["author"]["role"], message.get("recipient"), content.get("content_type")
    if kind == "user_editable_context":
        return [*_read_custom_instructions(content, metadata.get("user_context_message_data") or {})]
    if kind == "model_editable_context":
        return [*_read_memories(content.get("model_set_context") or "")]
    if role == "assistant" and recipient == "bio":
        text = _plain_text(content)
        return Said(message["id"], role, text, None, role, former_id="", metadata={"kind": "memory"})
    if left_out := _reason_left_out(message, role, content, metadata):
        return Skipped(left_out)
    parts = content.get("parts") or []
    if not isinstance(parts, list):
        raise make_mismatch_error("parts", parts, "a list of texts and pictures")
    text, marks = remove_citation_marks(text_of_content(parts)) if role == "assistant" else (text_of_content(parts), 0)
    pictures = sum(isinstance(part, dict) and "asset_pointer" in part for part in parts)
    files = [one.get("name") for one in metadata.get("attachments") or () if isinstance(one, dict)]
    caption = file_placeholders(("file", files)) or ("[picture]" if pictures and not text.strip() else None)
    omitted = ("citation mark",) * marks + ("content of a file",) * max(pictures, len(files))
    return Said(message["id"], role, text, caption, role, former_id=message["id"], omitted=omitted)


def _reason_left_out(
    message: Mapping[str, Any], role: Any, content: Mapping[str, Any], metadata: Mapping[str, Any]
) -> str | None:
    """Return why a message is not read; None for one that was said."""
    kind = content.get("content_type")
    is_of_tool = role not in ("user", "assistant", "system") or message.get("recipient") not in (None, "all")
    reasons = (
        (metadata.get("is_visually_hidden_from_conversation") or message.get("weight") == 0, "hidden message"),
        (kind in {"thoughts", "reasoning_recap"}, "thoughts"),
        (role == "system", "system message"),
        (is_of_tool or kind in ("code", "execution_output"), "tool call or result"),
        (kind not in {"text", "multimodal_text"}, "other content"),
    )
    return next((reason for holds, reason in reasons if holds), None)


def _plain_text(content: Mapping[str, Any]) -> str:
    parts = content.get("parts")
    return text_of_content(parts) if isinstance(parts, list) else content.get("text") or ""


def _read_custom_instructions(content: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[Said]:
    """Yield the user's own instructions about themselves and about replies, without the program's words around it."""
    for own, wrapped in (("about_user_message", "user_profile"), ("about_model_message", "user_instructions")):
        text = given.get(own) or content.get(wrapped) or ""
        fenced = re.search(r"```(.*?)```", text, flags=re.DOTALL)
        if text := (fenced[1] if fenced else text).strip():
            kind = {"kind": "instructions"}
            yield Said(own, "user", text, thread=_INSTRUCTIONS, metadata=kind, is_shared=True)


def _read_memories(text: str) -> Iterator[Said]:
    """Yield each of the memories that a conversation began with; every conversation repeats them."""
    pieces = re.split(r"^\d+\. \[(\d{4}-\d\d-\d\d)\]\.? *", text, flags=re.MULTILINE)
    for day, memory in zip(pieces[1::2], pieces[2::2], strict=True):
        if memory.strip():
            said = Said(day, "assistant", memory.strip(), None, "assistant", _MEMORIES, is_shared=True)
            yield replace(said, time=f"{day}T00:00:00+00:00", metadata={"kind": "memory"})


CHATGPT = Export(
    "ChatGPT",
    CONVERSATIONS,
    partial(find_conversations, "mapping"),
    _read_conversation,
    ("create_time",),
    _read_message,
)
