"""Messages of chats, one by one, in the forms of providers and frameworks: speaker, text and time.

A form is known by its shape, never by its package: chat completions and items of Responses (OpenAI), blocks
(Anthropic), `contents` (Gemini), messages of the AI SDK, Ollama, Bedrock, LangChain, LlamaIndex and Pydantic AI, as
mappings, as objects, or as their dumps.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal
from unicodedata import normalize

from ..types.results import UNKNOWN_ROLE
from .json_values import (
    Json,
    fields_of_object,
    file_name_in_url,
    is_media_record,
    make_mismatch_error,
    media_label,
    parse_time,
    to_storable_json,
)

EMPTY_TEXT = "[empty message]"  # of a message that says nothing
TIMES = ("time", "created_at", "timestamp", "create_time", "createdAt")
_ROLES = {
    "user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant",
    "chatbot": "assistant", "chatgpt": "assistant", "agent": "assistant", "bot": "assistant", "gpt": "assistant",
    "system": "system",
    "developer": "system", "tool": "tool", "function": "tool",
}  # fmt: skip
WHO = ("role", "from", "sender", "source")
_UNSPOKEN = frozenset(("thinking", "redacted_thinking", "reasoning", "reasoning_text", "summary_text", "step-start"))
_UNSPOKEN_INSIDE = frozenset(("reasoningContent", "reasoning_content"))
_INSIDE = ("function", "custom", "functionCall", "function_call", "toolUse", "tool_call", "toolInvocation")
_RESULT_INSIDE = ("functionResponse", "function_response", "toolResult", "codeExecutionResult", "code_execution_result")
_GIVEN = (
    "arguments", "args", "input", "tool_kwargs", "revised_prompt", "action", "actions", "operation", "queries", "code",
)  # fmt: skip
_RETURNED = ("output", "outputs", "result", "results", "response", "content", "error", "errorText")
_MEDIA = ("image", "audio", "video", "file", "document", "binary", "screenshot", "container_upload")
_MEDIA_INSIDE = ("inlineData", "inline_data", "fileData", "file_data", "image", "audio", "video", "document", "file")
_NO_WORDS = ("role", "from", "sender", "source", "author", "name", "type", "kind", "part_kind", "block_type", "status",
    "object", "state", "model", "usage", "signature", "encrypted_content", "thoughtSignature", "thought_signature",
    "thinking", "reasoning", "reasoning_content", "annotations", "logprobs", "additional_kwargs", "response_metadata",
    "usage_metadata", "provider_details", "providerMetadata", "finish_reason", "stop_reason", "detail", *TIMES,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message.

    Attributes:
        raw: The message as JSON, its keys in the order given, and media replaced by {digest, bytes, type}.
        role: "user", "assistant", "system" or "tool". A role of no known meaning is "tool": its text is data.
        speaker: Its `name`, else its role as it was given.
        text: Its words, calls, results and media, in order, such as `get_weather({"city": "Porto"})` or
            `[picture, image/jpeg, 3.1 MB]`; without any, its type in brackets. Thoughts are left out.
        time: Its own time, if it has one that can be read.
        id: Its own id: `id` or `messageId`, of an application, the AI SDK, LangChain, or an item of Responses. It may
            name a message within one conversation only, and a copy of the same message may lack it. Ids of text that is
            called (`tool_call_id`, `call_id`), empty ones and placeholders are none.
        said: A digest of its content: equal for the same role, name, words, calls, results and media in any form.
        note: `UNKNOWN_ROLE`, or "no text" where nothing was said in words, else None.
    """

    raw: str
    role: str
    speaker: str
    text: str
    time: datetime | None
    id: str | None
    said: str
    note: str | None


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a message as it reads, and its comparison key."""

    kind: Literal["words", "result", "call", "other"]
    text: str
    key: Json


def read_message(message: object) -> ChatMessage:
    """Return a message. Raise ValueError for a value that neither is nor holds a mapping, or is not JSON."""
    held = message if isinstance(message, Mapping) else fields_of_object(message)
    if held is None:
        raise make_mismatch_error("a message", message, "a mapping with role and content, or an object of a provider")
    try:
        return read_raw_message(json.dumps(to_storable_json(held)))
    except RecursionError as error:
        raise ValueError("a message cannot be kept as JSON: it is nested too deeply") from error


def read_raw_message(raw: str) -> ChatMessage:
    """Return the message of which `raw`, the JSON of a mapping, was kept: its `ChatMessage.raw`."""
    # A list of messages comes again with every exchange: those of up to 2,000 characters are read once.
    return _read_raw_cached(raw) if len(raw) <= 2_000 else _parse_raw_message(raw)


def message_words(message: Any, role: str) -> str:
    """Return the words of a message, without calls, results and media; empty for one of another role."""
    try:
        whole = _unwrap_message(to_storable_json(message))
        pieces = [*_read_pieces(whole)]
        words = "\n".join(one.text for one in pieces if one.kind == "words")
        return words if _role_and_speaker(whole, pieces)[0] == role else ""
    except RecursionError as error:
        raise ValueError("a message cannot be read: it is nested too deeply") from error


def role_of_name(name: str) -> str:
    """Return the role that a name in a transcript says, such as "Assistant"; "user" for that of a person."""
    return _ROLES.get(name.strip().casefold(), "user")


def is_role_name(name: str) -> bool:
    """Return whether a name in a transcript is that of a role."""
    return name.strip().casefold() in _ROLES


def text_of_content(content: Json) -> str:
    """Return the words of a message's content: a string, or parts of which those with text count."""
    return "\n".join(one.text for one in _read_content_pieces(content) if one.kind == "words")


def replace_media_by_names(value: Json) -> Json:
    """Return a kept message as it can be sent: parts that are media are text parts that name them."""
    if isinstance(value, list):
        return [_replace_part_by_name(each) for each in value]
    return {key: replace_media_by_names(each) for key, each in value.items()} if isinstance(value, dict) else value


def contains_media(value: Json) -> bool:
    """Return whether media of a kept message, which cannot be sent, stand in a value."""
    return any(map(is_media_record, _iter_nested_values(value)))


def _replace_part_by_name(part: Json) -> Json:
    if not isinstance(part, dict) or not contains_media(part):
        return part
    within = replace_media_by_names(part)
    if not contains_media(within):
        return within
    text = "\n".join(piece.text for piece in _read_content_pieces([part]))
    if "type" not in part:
        return {"text": text}
    return {"type": "input_text" if str(part["type"]).startswith("input_") else "text", "text": text}


def _parse_raw_message(raw: str) -> ChatMessage:
    message = _unwrap_message(json.loads(raw))
    pieces = [piece for piece in _read_pieces(message) if piece.text.strip()]
    role, speaker = _role_and_speaker(message, pieces)
    spoken = [piece for piece in pieces if piece.kind != "other" or not piece.text.startswith("[")]
    content = [piece for piece in pieces if piece.kind in ("words", "result")]
    words = normalize("NFC", "\n".join(piece.text for piece in content)).replace("\r\n", "\n").strip()
    keys = [piece.key for kind in ("call", "other") for piece in pieces if piece.kind == kind]
    nothing = None if pieces else _distinguishing_part(message)
    name = speaker if role != "tool" and speaker.casefold() not in _ROLES else ""
    # Results in a message of a user who also speaks are quoted lines, which are not their own words.
    mark = "> " if role == "user" else ""
    shown = [(piece, "\n".join(f"{mark}{line}" for line in piece.text.splitlines())) for piece in pieces]
    kind = _part_type(message)
    stand_in = f"[{kind}]" if kind and kind != "message" and not message.get("role") else EMPTY_TEXT
    compared = [role, name, _parse_if_json(words) if role == "tool" else words, keys, nothing]
    return ChatMessage(
        raw,
        role,
        speaker,
        "\n".join(quoted if piece.kind == "result" else piece.text for piece, quoted in shown) or stand_in,
        _read_message_time(message),
        _read_message_id(message),
        blake2b(json.dumps(compared, sort_keys=True).encode(), digest_size=15).hexdigest(),
        "no text" if not spoken else UNKNOWN_ROLE if _lacks_role(message) else None,
    )


_read_raw_cached = lru_cache(maxsize=2_048)(_parse_raw_message)


def _unwrap_message(whole: dict[str, Json]) -> dict[str, Json]:
    """Return the message in a dump of LangChain, in a choice or candidate, or in a whole reply: its first of these."""
    inside: dict[str, Json] = {}
    for name in ("choices", "candidates"):
        whole = next((one for one in _as_list(whole.get(name)) if isinstance(one, dict)), whole)
    if whole.get("object") == "response":
        return {"role": "assistant", "content": whole.get("output")}
    if whole.get("lc") and isinstance(whole.get("kwargs"), dict):
        path = whole.get("id")
        inside = {"type": path[-1] if isinstance(path, list) and path else None, **whole["kwargs"]}
    elif isinstance(whole.get("data"), dict) and isinstance(whole.get("type"), str) and "content" in whole["data"]:
        inside = {"type": whole["type"], **whole["data"]}
    elif isinstance(whole.get("message"), dict) and "role" in whole["message"]:
        inside = whole["message"]
    elif isinstance(whole.get("content"), dict) and isinstance(whole["content"].get("parts"), list):
        inside = {**whole, **whole["content"]}
    return inside or whole


def _role_and_speaker(message: Mapping[str, Json], pieces: Sequence[_Piece]) -> tuple[str, str]:
    """Return the role, and who speaks: the name, else the role, as it was given where its meaning is not known."""
    author = message.get("author")
    said = [author.get("role") if isinstance(author, dict) else None, *(message.get(name) for name in WHO)]
    given = next((one.strip() for one in said if isinstance(one, str) and one.strip()), "")
    kind = str(message.get("type") or "")
    role = _ROLES.get(given.casefold() if given else kind.casefold().removesuffix("chunk").removesuffix("message"))
    named = given or role
    if role is None and not given:
        assists = kind.endswith("_call") or kind in ("reasoning", "mcp_approval_request")
        role = _role_by_parts(message) or ("assistant" if assists else "tool")
    if role == "user" and pieces and all(piece.kind == "result" for piece in pieces):
        role = given = "tool"
    name = message.get("name") if named else None  # of a call without a role, it is that of the called tool
    speaker = name.strip() if isinstance(name, str) else ""
    return role or "tool", speaker or role or given


def _lacks_role(message: Mapping[str, Json]) -> bool:
    """Return whether a message has no role and no type that tells it, or a role of no known meaning."""
    author = message.get("author")
    said = [author.get("role") if isinstance(author, dict) else None, *(message.get(name) for name in WHO)]
    given = next((one.strip() for one in said if isinstance(one, str) and one.strip()), "")
    if given:
        return given.casefold() not in _ROLES
    return _part_type(message) in ("", "message", "text") and _role_by_parts(message) is None


def _role_by_parts(message: Mapping[str, Json]) -> str | None:
    """Return the role of a request or response of Pydantic AI, which has none itself, or that Gemini takes for none."""
    if message.get("kind") == "response":
        return "assistant"
    parts = _as_list(message.get("parts"))
    kinds = {part.get("part_kind") for part in parts if isinstance(part, dict)}
    if parts and not any(kinds):
        return "user"
    order = (("user-prompt", "user"), ("tool-return", "tool"), ("retry-prompt", "tool"), ("system-prompt", "system"))
    return next((role for kind, role in order if kind in kinds), None)


def _read_pieces(message: Mapping[str, Json]) -> Iterator[_Piece]:
    kind = _part_type(message)
    parts = _as_list(message.get("parts")) or _as_list(message.get("blocks"))
    if not message.get("role") and (_is_result_type(kind) or kind.endswith("_call") or kind == "mcp_approval_request"):
        yield from _read_content_pieces([message])
        return
    if kind in _UNSPOKEN:
        return
    # A request of Pydantic AI repeats the system prompt beside the messages.
    own = [part for part in parts if not (isinstance(part, dict) and part.get("part_kind") == "system-prompt")]
    said = [*_read_content_pieces(own or parts)] or [*_read_content_pieces(message.get("content"), loose=True)]
    if not said and any(message.get(name) for name in WHO):
        said = [*_read_content_pieces(message.get("text"))]
    called = [] if any(piece.kind == "call" for piece in said) else [*_read_tool_calls(message)]
    attached = _as_list(message.get("experimental_attachments"))
    beside = [
        *_read_content_pieces(message.get("refusal")),
        *_read_content_pieces([{"type": "audio", "audio": message["audio"]}] if message.get("audio") else []),
        *(_describe_media(one, "image") for one in _as_list(message.get("images"))),
        *_read_content_pieces([{"type": "file", **one} for one in attached if isinstance(one, dict)]),
    ]
    found = [*said, *beside, *called]
    if not any(piece.text.strip() for piece in found):
        texts = _words_of_value({key: each for key, each in message.items() if key not in ("content", "instructions")})
        found = [_Piece("words", "\n".join(texts), None)] if texts else []
        if texts and not message.get("role") and kind:
            found = [_Piece("other", f"{kind}: {', '.join(texts)}", _distinguishing_part(message))]
    yield from found


def _read_tool_calls(message: Mapping[str, Json]) -> Iterator[_Piece]:
    more = message.get("additional_kwargs")
    places = (message, more if isinstance(more, dict) else {})
    lists = [place.get(name) for place in places for name in ("tool_calls", "toolInvocations")]
    one = message.get("function_call")
    found = next((each for each in lists if isinstance(each, list) and each), [one] if isinstance(one, dict) else [])
    for call in found:
        if isinstance(call, dict):
            yield _read_tool_call(call) or _describe_unknown_part(call)


def _read_content_pieces(content: Json, *, loose: bool = False) -> Iterator[_Piece]:
    """Yield the pieces of a content: a text, parts, or another value; a `loose` mapping of no type is a value."""
    if content is None:
        return
    if isinstance(content, list):
        for part in content:
            yield from _read_part_pieces(part) if isinstance(part, dict) else _read_content_pieces(part)
    elif isinstance(content, dict) and (
        not loose or _part_type(content) or is_media_record(content) or "text" in content
    ):
        yield from _read_part_pieces(content)
    elif content != {}:
        text = content if isinstance(content, str) else _dump_json(content)
        yield _Piece("words", text, None)


def _read_part_pieces(part: dict[str, Json]) -> Iterator[_Piece]:
    kind = _part_type(part)
    if kind in _UNSPOKEN or part.get("thought") is True or part.keys() & _UNSPOKEN_INSIDE:
        return
    if isinstance(part.get("content"), list) and not _is_result_type(kind):
        yield from _read_content_pieces(part["content"])
        return
    if shaped := _read_part(part, kind):
        yield shaped
        return
    code = part.get("executableCode") or part.get("executable_code")  # of Gemini
    text = next((part[name] for name in ("text", "refusal", "transcript", "content") if part.get(name)), None)
    if isinstance(text, dict) and isinstance(text.get("value"), str):  # of a thread of OpenAI
        text = text["value"]
    if isinstance(text, str):
        yield _Piece("words", text, None)
    elif isinstance(code, dict) and _has_text_field(code, "code"):
        yield _Piece("words", code["code"], None)
    elif text is not None:
        yield from _read_content_pieces(text)
    elif not part.keys() <= {"type", "text", "annotations", "cache_control"}:
        yield _describe_unknown_part(part)


def _read_part(part: dict[str, Json], kind: str) -> _Piece | None:
    """Return the result, the call or the media that a part is."""
    returned = next((part[name] for name in _RESULT_INSIDE if isinstance(part.get(name), dict)), None)
    if returned or _is_result_type(kind):
        return _read_tool_result(returned or part)
    media = next((name for name in _MEDIA_INSIDE if isinstance(part.get(name), dict)), "")
    is_one = media or any(word in kind for word in _MEDIA) or (contains_media(part) and "text" not in part)
    return _read_tool_call(part) or (_describe_media(part, kind or media) if is_one else None)


def _read_tool_call(part: Mapping[str, Json]) -> _Piece | None:
    """Return a call of a tool as one would write it, with its result where that stands in it; else None."""
    kind = _part_type(part)
    inside = next((part[name] for name in _INSIDE if isinstance(part.get(name), dict)), None)
    called = part if inside is None else inside
    name = next((called[key] for key in ("name", "toolName", "tool_name") if _has_text_field(called, key)), None)
    given = next((called[key] for key in _GIVEN if called.get(key) is not None), None)
    if name is None and kind.startswith("tool-") and "toolCallId" in part:
        name = kind.removeprefix("tool-")
    hosted = kind.endswith("_call") and kind not in ("function_call", "tool_call")
    if name is None and hosted:
        name = kind
    if name is None or (given is None and inside is None and not kind.endswith(("call", "tool_use", "invocation"))
            and "toolCallId" not in part):  # fmt: skip
        return None
    if hosted:  # one that is not known gives its words
        given = (
            ", ".join(_words_of_value({key: part[key] for key in part if key not in _RETURNED}))
            if given is None
            else given
        )
        given = _remove_nulls(given) or None
    text = f"{name}({given if isinstance(given, str) else '' if given is None else _dump_json(given)})"
    key = [name, _remove_nulls(_parse_if_json(given)) or {}]
    results = [called[key_] for key_ in _RETURNED if called.get(key_) not in (None, "", [])] if called is part else []
    results = results or [called[key_] for key_ in ("result",) if called.get(key_) is not None]
    if results:
        returned = _tool_result_text(results[0])
        return _Piece("call", f"{text} -> {returned}", [*key, _parse_if_json(returned)])
    return _Piece("call", text, key)


def _read_tool_result(part: Mapping[str, Json]) -> _Piece:
    found = next((part[name] for name in _RETURNED if part.get(name) not in (None, "", [])), None)
    return _Piece("result", ", ".join(_words_of_value(part)) if found is None else _tool_result_text(found), None)


def _tool_result_text(value: Json) -> str:
    """Return the result of a tool as text: its text, its parts, else its JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(text for each in value if (text := _tool_result_text(each)))
    if isinstance(value, dict):
        if _has_text_field(value, "type") and "value" in value:  # of the AI SDK
            return _tool_result_text(value["value"])
        if _part_type(value) or "text" in value or is_media_record(value):
            return "\n".join(piece.text for piece in _read_part_pieces(value))
        if len(value) == 1 and (only := next(iter(value))) in (*_RETURNED, "text", "json"):
            return _tool_result_text(value[only])
    return _dump_json(value)


def _describe_media(part: Json, kind: str = "") -> _Piece:
    """Return media by digest, size and type, or by the name in their URL; with a transcript that stands beside them."""
    data = next((one for one in _iter_nested_values(part) if is_media_record(one)), None)
    dicts = [one for one in _iter_nested_values(part) if isinstance(one, dict) and not is_media_record(one)]
    texts = {name: one[name] for one in reversed(dicts) for name in one if _has_text_field(one, name)}
    said = [texts[name] for name in ("transcript", "text", "caption", "alt_text", "description") if name in texts]
    typed = next((texts[name] for name in ("media_type", "mimeType", "mime_type", "mediaType", "contentType")
        if name in texts), "")  # fmt: skip
    if "data" in texts and (typed == "text/plain" or (not typed and kind == "document")):
        said.append(texts["data"])
    hinted = next((name for name in ("image", "audio", "video") if name in kind.casefold()), "")
    hinted = hinted or ("image" if "screenshot" in kind else "")
    url = next((texts[name] for name in ("url", "uri", "image_url", "file_url", "fileUri", "file_uri", "image", "data",
        "file_id", "fileId", "path") if name in texts), part if isinstance(part, str) else "")  # fmt: skip
    name = next(
        (texts[one] for one in ("filename", "fileName", "file_name", "title") if one in texts), file_name_in_url(url)
    )
    type_ = data["type"] if data is not None and data["type"] != "application/octet-stream" else typed or hinted
    label = media_label(type_ if "/" in type_ or not hinted else hinted, None if data is None else data["bytes"], name)
    key = [data["digest"]] if data is not None else [url.partition("?")[0], *said]
    return _Piece("other", "\n".join((label, *said)) if not said else "\n".join((*said, label)), key)


def _describe_unknown_part(part: Mapping[str, Json]) -> _Piece:
    """Return a part of no known shape with the text found in it, or its type."""
    kind, texts = _part_type(part) or "part", [*_words_of_value(part)]
    return _Piece("other", f"{kind}: {', '.join(texts)}" if texts else f"[{kind}]", _distinguishing_part(part))


def _words_of_value(value: Json) -> list[str]:
    """Return the words of a value, not ids, types and states, with the numbers beside them; else nothing."""
    found = [*_iter_leaves(value)]
    return [text for text, _ in found] if any(spoken for _, spoken in found) else []


def _iter_leaves(value: Json, key: str = "") -> Iterator[tuple[str, bool]]:
    """Yield strings, and numbers with their key; and whether it is a string."""
    if isinstance(value, dict) and not is_media_record(value):
        for name, each in value.items():
            if name not in _NO_WORDS and not _is_id_key(name):
                yield from _iter_leaves(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from _iter_leaves(each, key)
    elif isinstance(value, str) and value.strip():
        yield value, True
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and key:
        yield f"{key} {json.dumps(value)}", False


def _remove_nulls(value: Json, without: Callable[[str], bool] = lambda key: False) -> Json:
    """Return a value without its null fields, and those whose names say so."""
    if isinstance(value, dict):
        return {
            key: _remove_nulls(each, without) for key, each in value.items() if each is not None and not without(key)
        }
    return [_remove_nulls(each, without) for each in value] if isinstance(value, list) else value


def _distinguishing_part(value: Json) -> Json:
    """Return the distinguishing part of a value."""
    return _remove_nulls(value, lambda key: _is_id_key(key) or key in ("status", "state", *TIMES))


def _parse_if_json(value: Json) -> Json:
    """Return the JSON in a string, or the value."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value.strip() if isinstance(value, str) else value


def _read_message_id(message: Mapping[str, Json]) -> str | None:
    given = next((message[name] for name in ("id", "messageId") if message.get(name) is not None), None)
    if isinstance(given, bool) or not isinstance(given, (str, int)):
        return None
    return None if (found := str(given).strip()) in ("", "__fake_id__") else found


def _read_message_time(message: Mapping[str, Json]) -> datetime | None:
    """Return the time that a message, or the first of its parts that has one, has of its own."""
    parts = [part for part in _as_list(message.get("parts")) if isinstance(part, dict)]
    for place in (message, *parts):
        given = next((place[name] for name in TIMES if place.get(name) is not None), None)
        # since 1970, or milliseconds: in text, which no other form of a time is
        if isinstance(given, str) and re.fullmatch(r"\d{9,13}(?:\.\d+)?", given.strip()):
            given = float(given)
        try:
            if isinstance(given, (int, float)) and abs(given) >= 1e11:  # milliseconds: as seconds, the year 5138
                given = given / 1000
            return parse_time(given)
        except (ValueError, OverflowError):
            continue
    return None


def _part_type(value: Mapping[str, Json]) -> str:
    found = next(
        (value[name] for name in ("part_kind", "block_type", "type", "kind") if _has_text_field(value, name)), ""
    )
    return str(found)


def _is_result_type(kind: str) -> bool:
    return kind.endswith(("result", "_output", "-return", "_response", "retry-prompt"))


def _is_id_key(key: str) -> bool:
    return key == "id" or key.endswith(("_id", "Id"))


def _has_text_field(value: Mapping[str, Json], name: str) -> bool:
    return isinstance(value.get(name), str) and bool(value[name])


def _as_list(value: Json) -> list[Any]:
    return value if isinstance(value, list) else []


def _dump_json(value: Json) -> str:
    return json.dumps(_label_media(value), ensure_ascii=False)


def _label_media(value: Json) -> Json:
    if is_media_record(value):
        return media_label(value["type"], value["bytes"])
    if isinstance(value, dict):
        return {key: _label_media(each) for key, each in value.items()}
    return [_label_media(each) for each in value] if isinstance(value, list) else value


def _iter_nested_values(value: Json) -> Iterator[Json]:
    yield value
    if isinstance(value, (dict, list)) and not is_media_record(value):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _iter_nested_values(each)


def last_user_text(messages: Iterable[object]) -> str:
    """Return the words of the last message of the user that has any. Raise ValueError for none, or no messages."""
    for message in reversed([*messages]):
        if not isinstance(message, (str, bytes)) and (
            fields_of_object(message) is not None or isinstance(message, Mapping)
        ):
            words = message_words(message, "user")
            if words.strip():
                return words
    raise ValueError("there is no message of the role user with text; expected one, the newest is the question")
