"""Untrusted JSON: parsed, its values checked before they become a turn, and a message as JSON that can be kept."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from hashlib import blake2b
from math import isfinite
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit
from uuid import UUID

import orjson

from ..errors import describe_safely, shown

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
Json = Any  # a value of `json.loads`

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w.=+-]+)*;base64,([\w+/\s-]*={0,2})\s*")
_EMBEDDED = re.compile(r"data:([\w.+-]+/[\w.+-]+)(?:;[\w.=+-]+)*;base64,([A-Za-z0-9+/_-]{750,}={0,2})")  # half a KB
_DATA_KEYS = frozenset(("data", "bytes", "file_data", "base64", "b64_json", "image", "images", "audio", "blob"))
_TYPES = ("media_type", "mimeType", "mime_type", "mediaType", "image_mimetype", "contentType", "format")
_BESIDE = frozenset((*_TYPES, "transcript"))
_OPAQUE = frozenset(("encrypted_content", "signature", "thoughtSignature", "thought_signature"))  # a provider's own
_ANY = "application/octet-stream"
_BEGINNINGS = (
    (b"\xff\xd8\xff", "image/jpeg"), (b"\x89PNG", "image/png"), (b"GIF8", "image/gif"), (b"%PDF", "application/pdf"),
    (b"ID3", "audio/mpeg"), (b"OggS", "audio/ogg"),
)  # fmt: skip


def parse_json(data: bytes) -> Any:
    """Return a JSON value. Raise ValueError for invalid JSON, NaN, infinities and too deep nesting."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        # It refuses lone surrogates, which truncated emoji leave behind; the standard library reads them.
        if b"\\ud" not in data.lower() and b"\xed" not in data:
            raise ValueError(f"not JSON ({error})") from error
    try:
        return DECODER.decode(data.decode("utf-8", "surrogatepass"))
    except RecursionError as error:
        raise ValueError("not JSON that can be read: it is nested too deeply") from error


def optional_text(row: Mapping[str, Any], name: str) -> str | None:
    """Return an optional string field. Raise ValueError for another type."""
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise make_mismatch_error(name, value, "a string")
    return value


def parse_time(value: object) -> datetime:
    """Return a time given in ISO 8601 (naive stays naive) or in seconds since 1970 (UTC). Raise ValueError else."""
    if isinstance(value, str):
        try:
            # Python 3.10 reads three or six digits of a second only, and no "Z".
            plain = re.sub(r"\.(\d+)", lambda found: f".{found[1][:6]:0<6}", value.strip().replace("Z", "+00:00"))
            return datetime.fromisoformat(plain)
        except ValueError as error:
            raise make_mismatch_error("time", value, "ISO 8601, such as '2024-03-12T18:20'") from error
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return EPOCH + timedelta(seconds=value)
        except OverflowError as error:
            raise make_mismatch_error("time", value, "seconds since 1970, not milliseconds") from error
    raise make_mismatch_error("time", value, "ISO 8601, such as '2024-03-12T18:20', or seconds since 1970")


def make_mismatch_error(what: str, value: object, expected: str) -> ValueError:
    """Return the error for a value of the wrong type or form."""
    given = shown(value, 40) if what == "time" else describe_safely(value)
    return ValueError(f"{what} is {given}; expected {expected}")


def make_type_error(what: str, value: object, expected: str) -> ValueError:
    """Return the error for a value of the wrong type, which is not quoted."""
    return ValueError(f"{what} is a {type(value).__name__}; expected {expected}")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def to_storable_json(value: object, key: str = "", around: Mapping[Any, Any] | None = None) -> Json:
    """Return a value as JSON, media replaced by {digest, bytes, type}. Raise ValueError where it cannot be JSON.

    `key` and `around` are where it stands. Media are bytes, data URLs, and base64 where a form has its data: beside a
    type, among `images`, or 64 K characters of nothing else.
    """
    if isinstance(value, str) and not isinstance(value, Enum):
        return _storable_text(value, key, around or {})
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _media_record(bytes(value), _media_type_beside(around or {}, key))
    if isinstance(value, (list, tuple)):
        return [to_storable_json(each, key, around) for each in value]
    if isinstance(value, Mapping):
        return _storable_mapping(value)
    return _storable_single(value)


def fields_of_object(value: object) -> Mapping[Any, Any] | None:
    """Return the fields of an object, by `model_dump`, `to_dict` or its fields; None for another kind of object."""
    if isinstance(value, type):
        return None
    for name in ("model_dump", "to_dict"):
        if callable(dump := getattr(value, name, None)):
            try:
                held = dump()
            except Exception as error:
                why = f"{name}() raised {type(error).__name__}"
                raise ValueError(f"{describe_safely(value)} cannot be kept as JSON: {why}") from error
            return held if isinstance(held, Mapping) else None
    return {each.name: getattr(value, each.name) for each in fields(value)} if is_dataclass(value) else None


def is_media_record(value: object) -> bool:
    """Return whether this is the record of media."""
    return isinstance(value, dict) and value.keys() == {"digest", "bytes", "type"}


def media_label(type_: str, size: int | None = None, name: str = "") -> str:
    """Return how media read in a text: `[picture, image/jpeg, 3.1 MB]`."""
    kind = {"image": "picture", "audio": "audio", "video": "video"}.get(type_.partition("/")[0], "file")
    known = [name, type_ if "/" in type_ and type_ != _ANY else "", "" if size is None else _format_size(size)]
    return f"[{', '.join((kind, *(one for one in known if one)))}]"


def file_name_in_url(url: str) -> str:
    """Return the name of the file that a URL ends in, without its signature; empty for none."""
    try:
        name = unquote(urlsplit(url).path.rpartition("/")[2])
    except ValueError:
        return ""
    return name if "." in name and len(name) <= 80 and name.isprintable() else ""


def _storable_single(value: object) -> Json:
    if isinstance(value, Enum):
        return to_storable_json(value.value)
    if value is None or isinstance(value, int) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, (date, UUID, Decimal)):
        return value.isoformat() if isinstance(value, date) else str(value)
    held = fields_of_object(value)
    if held is None:
        raise ValueError(f"{describe_safely(value)} cannot be kept as JSON")
    return _storable_mapping(held)


def _storable_mapping(value: Mapping[Any, Any]) -> dict[str, Json]:
    if is_media_record(value):
        return dict(value)
    if wrong := [key for key in value if not isinstance(key, str)]:
        raise ValueError(f"a message would not come back with the key {shown(wrong[0])}; expected strings as keys")
    return {str(key): to_storable_json(each, key, value) for key, each in value.items()}


def _storable_text(text: str, key: str, around: Mapping[Any, Any]) -> Json:
    if len(text) < 4:
        return text
    if text.startswith("data:") and (url := _DATA_URL.fullmatch(text)):
        return _decode_media(url[2], url[1] or _media_type_beside(around, key), text)
    if _is_base64_media(text, key, around):
        return _decode_media(text, _media_type_beside(around, key), text)
    if len(text) <= 750 or ";base64," not in text:
        return text

    def label_media(found: re.Match[str]) -> str:
        data = _decode_media(found[2], found[1], found[0])
        return media_label(data["type"], data["bytes"]) if is_media_record(data) else found[0]

    return _EMBEDDED.sub(label_media, text)


def _is_base64_media(text: str, key: str, around: Mapping[Any, Any]) -> bool:
    if key in _OPAQUE or around.get("type") in ("text", "redacted_thinking"):
        return False
    if key == "result" and around.get("type") == "image_generation_call":
        return True
    # 65,536 characters of base64 alone are no text, whatever their key.
    if len(text) >= (1 << 16) and key not in ("content", "text") and re.fullmatch(r"[A-Za-z0-9+/_-]+={0,2}", text):
        return True
    of_form = key in _DATA_KEYS and (not _BESIDE.isdisjoint(around) or len(text) >= 64 or key == "images")
    return of_form and len(text.rstrip()) % 4 != 1 and re.fullmatch(r"[A-Za-z0-9+/_\s-]{4,}={0,2}\s*", text) is not None


def _decode_media(data: str, type_: str, given: str) -> Json:
    plain = "".join(data.split()).rstrip("=")
    try:
        found = b64decode(plain + "=" * (-len(plain) % 4), altchars=b"-_" if "-" in plain or "_" in plain else None)
    except ValueError:
        return given  # looked like data, and is none
    return _media_record(found, type_)


def _media_record(data: bytes, type_: str) -> dict[str, Json]:
    known = next((name for beginning, name in _BEGINNINGS if data.startswith(beginning)), None)
    known = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(data[8:12]) if data.startswith(b"RIFF") else known
    said = type_ if "/" in type_ else known or type_ or _ANY
    return {"digest": blake2b(data, digest_size=15).hexdigest(), "bytes": len(data), "type": said}


def _media_type_beside(around: Mapping[Any, Any], key: str) -> str:
    """Return the type of media that stands beside them, or that of their key; empty for neither."""
    said = next((around[name] for name in _TYPES if isinstance(around.get(name), str)), "")
    of_key = {"images": "image", "image": "image", "audio": "audio"}.get(key, "")
    if "/" in said or not said:
        return said or of_key or ("image" if around.get("type") == "image_generation_call" else "")
    return f"{'image' if said in ('png', 'jpeg', 'jpg', 'gif', 'webp') else 'audio'}/{said}" if said.isalnum() else ""


def _format_size(count: int) -> str:
    for unit, least in (("MB", 10**6), ("kB", 10**3)):
        if count >= least:
            return f"{count / least:.1f} {unit}"
    return f"{count} bytes"
