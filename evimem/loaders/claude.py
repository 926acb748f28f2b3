"""Claude's export: conversations with the text of attachments, the memories kept of a user, and projects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .conversation import ExportFile
from .export_walk import Chat, Export, Outcome, Said, file_placeholders, find_conversations
from .json_stream import read_list_elements
from .json_values import make_mismatch_error

# The parts of a message that are no words, by their type.
_OMITTED = {
    "thinking": "thoughts", "redacted_thinking": "thoughts", "tool_use": "tool call or result",
    "tool_result": "tool call or result", "server_tool_use": "tool call or result", "image": "content of a file",
}  # fmt: skip


def _find_conversations(part: ExportFile) -> Iterator[Any]:
    """Yield conversations, projects and sets of memories: each kind has files of its own."""
    if part.stem.startswith("conversations") or _part_begins_with(part, b'"chat_messages"'):
        yield from find_conversations("chat_messages", part)
    elif part.read_beginning(4096).lstrip().startswith(b"["):
        with part.open() as file:
            yield from read_list_elements(file, part.name)
    else:
        yield part.read_json()


def _part_begins_with(part: ExportFile, mark: bytes) -> bool:
    return mark in part.read_beginning(1 << 16)


def _read_conversation(raw: Mapping[str, Any], part: ExportFile, path: Path) -> Chat:
    times = [raw.get("created_at"), raw.get("updated_at")]
    if "conversations_memory" in raw or "project_memories" in raw:
        projects = raw.get("project_memories") or {}
        memories = [{"id": "memory", "memory": raw.get("conversations_memory") or ""}]
        memories += [{"id": id_, "memory": text, "project": id_} for id_, text in projects.items()]
        return Chat("memories", memories, {"kind": "memory"}, times, is_about=True)
    if "prompt_template" in raw or "docs" in raw:
        own = [{"id": key, "instructions": raw.get(key) or ""} for key in ("description", "prompt_template")]
        own = [one for one in own if one["instructions"]]
        metadata = {"kind": "project", "project": raw.get("name") or ""}
        return Chat(f"project/{raw['uuid']}", [*own, *(raw.get("docs") or ())], metadata, times, is_about=True)
    if not raw["uuid"] or not isinstance(raw["chat_messages"], list):
        raise ValueError("expected uuid and chat_messages")
    omitted = ("summary",) if raw.get("summary") else ()
    named = {"title": raw["name"]} if raw.get("name") else {}
    return Chat(raw["uuid"], raw["chat_messages"], named, times, omitted=omitted)


def _read_message(message: Any, names: Mapping[str, str]) -> Outcome:
    if "memory" in message:
        project = {"project": message["project"]} if "project" in message else {}
        return Said(message["id"], "assistant", message["memory"], None, "assistant", metadata=project)
    if "instructions" in message:
        return Said(message["id"], "user", message["instructions"])
    if "content" in message and "filename" in message:
        document = (message["filename"] or "document", message["content"] or "")
        return Said(message.get("uuid") or message["filename"], "user", "", attached=(document,))
    sender, attached = message.get("sender"), [*(message.get("attachments") or ())]
    if sender not in ("human", "assistant"):
        raise make_mismatch_error("the sender", sender, "human or assistant")
    blocks = [block for block in message.get("content") or () if isinstance(block, dict)]
    said = [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]
    pasted = [one.get("extracted_content") or "" for one in attached if not _is_file_attachment(one)]
    texts = ["\n".join(said).strip() or message.get("text") or "", *pasted]
    files = [*attached, *(message.get("files") or message.get("files_v2") or ())]
    named = [one for one in files if _is_file_attachment(one)]
    caption = file_placeholders(("file", dict.fromkeys(one["file_name"] for one in named)))
    role = "user" if sender == "human" else "assistant"
    documents = tuple((one["file_name"], one["extracted_content"]) for one in named if one.get("extracted_content"))
    omitted = [_OMITTED.get(str(block.get("type")), "other content") for block in blocks
        if block.get("type") not in {"text", "token_budget", "flag"}]  # fmt: skip
    extracted = {name for name, _ in documents}
    omitted += ["content of a file" for name in {one["file_name"] for one in named} - extracted]
    text = "\n\n".join(text for text in texts if text.strip())
    return Said(message["uuid"], role, text, caption, role, attached=documents, omitted=tuple(omitted))


def _is_file_attachment(attachment: Mapping[str, Any]) -> bool:
    """Return whether it was a file: a long text that is pasted becomes an attachment too, such as paste.txt."""
    name = attachment.get("file_name") or ""
    return bool(name) and not (attachment.get("extracted_content") and name.lower().startswith("paste"))


_FILES = r"conversations(?:-\d+)?|memories|projects|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
CLAUDE = Export("Claude", _FILES, _find_conversations, _read_conversation, ("created_at", "updated_at"), _read_message)
