"""Telegram's exports: result.json of one chat or of all, and the pages messages.html that it writes by default."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .conversation import ExportFile
from .export_walk import Chat, Export, Outcome, Said, Skipped, file_placeholders
from .html_pages import Event, parse_html, text_of_events
from .json_stream import JsonReader
from .json_values import make_type_error

_MEDIA = re.compile("media_(?!wrap)[a-z_]+")
_FILES = {"photo": "picture", "sticker_emoji": "sticker", "contact_information": "contact"}
_PAGE_TIME = re.compile(r"(\d\d)\.(\d\d)\.(\d{4}) (\d\d:\d\d:\d\d)(?: UTC([+-]\d\d:\d\d))?")
_MEDIA_CLASSES = {  # of a page, and the media_type that result.json has for them
    "photo_wrap": "picture", "sticker_wrap": "sticker", "video_file_wrap": "video_file", "animated_wrap": "animation",
    "media_photo": "picture", "media_video": "video_file", "media_contact": "contact",
}  # fmt: skip


def is_telegram_page(start: bytes) -> bool:
    """Return whether a file begins as a page of Telegram's export."""
    return b"<html" in start[:2048].lower() and b'class="history"' in start


def _find_chats(part: ExportFile) -> Iterator[dict[str, Any]]:
    if part.read_beginning(512).lstrip()[:1] == b"<":
        if is_telegram_page(part.read_beginning(1 << 16)):
            yield {"name": None, "pages": True}
        return
    with part.open() as file:
        reader = JsonReader(file, part.name)
        try:
            yield from _read_chats(reader)
        finally:
            reader.close()


def _read_chats(reader: JsonReader) -> Iterator[dict[str, Any]]:
    """Yield the chat that a file is, its messages as they are read, or each of its chats."""
    header: dict[str, Any] = {}
    for key in reader.read_keys():
        if key == "messages" and reader.next_mark() == "[":
            yield from reader.read_elements_under(header, "messages")
        elif key in ("chats", "left_chats") and reader.next_mark() == "{":
            for inner in reader.read_keys():
                if inner == "list" and reader.next_mark() == "[":
                    yield from reader.read_elements()
                else:
                    reader.read_value()
        else:
            header[key] = reader.read_value()


def _read_chat(raw: Mapping[str, Any], part: ExportFile, path: Path) -> Chat:
    if "pages" in raw:
        title = _read_chat_title(part)
        return Chat(title or part.folder or part.stem, _read_page_messages(part), {"chat": title} if title else {})
    session = str(raw.get("id") or raw.get("name") or part.stem)
    messages = raw.get("messages") or []
    if not isinstance(messages, (list, Iterator)):
        raise make_type_error("its messages", messages, "a list")
    return Chat(session, messages, {"chat": raw["name"]} if raw.get("name") else {})


def _read_message(message: Any, names: Mapping[str, str]) -> Outcome:
    if message.get("type") != "message":
        return Skipped("notice")
    text = message.get("text") or ""
    pieces = [text] if isinstance(text, str) else text
    kind = next((kind for key, kind in _FILES.items() if key in message), message.get("media_type"))
    caption = f"[{str(kind).replace('_', ' ')}]" if kind else None
    omitted: tuple[str, ...] = ("content of a file",) if kind and kind != "contact" else ()
    if not kind and "file" in message:
        caption, omitted = file_placeholders(("file", [message.get("file_name")])), ("content of a file",)
    caption = caption or _location_placeholder(message) or _poll_placeholder(message.get("poll"))
    if contact := message.get("contact_information"):
        name = " ".join(str(contact.get(key) or "") for key in ("first_name", "last_name", "phone_number"))
        caption = file_placeholders(("contact", [" ".join(name.split())]))
    speaker = message.get("from") or message.get("from_id") or "deleted account"
    said = "".join(piece if isinstance(piece, str) else piece["text"] for piece in pieces)
    omitted += ("reaction",) * len(message.get("reactions") or ())
    return Said(message["id"], str(speaker), said, caption, omitted=omitted)


def _location_placeholder(message: Mapping[str, Any]) -> str | None:
    """Return the placeholder of a location: its name and address, where known, and its degrees."""
    at = message.get("location_information")
    if not isinstance(at, dict):
        return None
    named = ", ".join(str(message[key]) for key in ("place_name", "address") if message.get(key))
    degrees = f"{at['latitude']}, {at['longitude']}"
    return f"[location {named} ({degrees})]" if named else f"[location {degrees}]"


def _poll_placeholder(poll: Any) -> str | None:
    if not isinstance(poll, dict):
        return None if poll is None else "[poll]"
    answers = ", ".join(str(one.get("text") or "") for one in poll.get("answers") or ())
    return f"[poll {poll['question']}{f' ({answers})' if answers else ''}]" if poll.get("question") else "[poll]"


def _read_chat_title(part: ExportFile) -> str:
    """Return the name of the chat, which stands at the head of each page."""
    with part.open() as file:
        within = False
        for event in parse_html(file, part.name):
            if "page_header" in event.classes:
                within = True
            elif "history" in event.classes:
                return ""
            elif within and not event.tag and event.text.strip():
                return event.text.strip()
    return ""


def _read_page_messages(part: ExportFile) -> Iterator[dict[str, Any]]:
    """Yield the messages of a page in the form of result.json."""
    speaker = ""
    with part.open() as file:
        events: list[Event] = []
        level = -1
        for event in parse_html(file, part.name):
            if level < 0 and event.tag == "div" and "message" in event.classes:
                events, level = [event], event.level
            elif level >= 0 and event.attributes is None and event.tag == "div" and event.level <= level:
                message = _read_page_message(events, speaker)
                speaker = message.get("from") or speaker
                level = -1
                yield message
            elif level >= 0:
                events.append(event)


def _read_page_message(events: list[Event], speaker: str) -> dict[str, Any]:
    top, *inner = events
    found: dict[str, Any] = {"id": (top.attributes or {}).get("id", "").removeprefix("message")}
    if "service" in top.classes:
        return {**found, "type": "service"}
    texts: list[str] = []
    is_forwarded = False
    for at, event in enumerate(inner):
        if event.attributes is None:
            continue
        classes = event.classes
        if "forwarded" in classes:
            is_forwarded = True
        elif "date" in classes and "title" in event.attributes and "date" not in found and not is_forwarded:
            found["date"] = _parse_page_time(event.attributes["title"])
        elif "from_name" in classes and not is_forwarded:
            found["from"] = text_of_events(_events_inside(inner, at)).split("\n")[0]
        elif event.tag == "div" and "text" in classes:
            texts.append(text_of_events(_events_inside(inner, at)))
        else:
            # A file, place or poll of a page takes at most 200 tags and texts.
            found |= _read_page_media(inner[at : at + 200], event)
    return {"from": speaker, **found, "type": "message", "text": "\n".join(texts)}


def _read_page_media(events: list[Event], event: Event) -> dict[str, Any]:
    """Return the fields of result.json for a file, place, contact or poll that begins here; else nothing."""
    given = event.attributes or {}
    if "media_location" in event.classes or "media_live_location" in event.classes or "media_venue" in event.classes:
        lines = text_of_events(_events_inside(events, 0)).split("\n")
        at = re.search(r"(-?\d+\.\d+),(-?\d+\.\d+)", given.get("href", "") + " " + " ".join(lines).replace(", ", ","))
        degrees = {"latitude": at[1], "longitude": at[2]} if at else {"latitude": "?", "longitude": "?"}
        is_named = "media_venue" in event.classes
        return {"location_information": degrees, **({"place_name": lines[0]} if is_named else {})}
    if "media_poll" in event.classes:
        lines = text_of_events(_events_inside(events, 0)).split("\n")
        return {"poll": {"question": lines[0], "answers": [{"text": one.removeprefix("- ")} for one in lines[2:]]}}
    media = next((one for one in event.classes if one in _MEDIA_CLASSES or _MEDIA.fullmatch(one)), None)
    if media == "media_file":
        name = next((one.text.strip() for one in events[1:20] if not one.tag and one.text.strip()), None)
        return {"file": "file", "file_name": name}
    return {"media_type": _MEDIA_CLASSES.get(media, media.removeprefix("media_"))} if media else {}


def _events_inside(events: list[Event], at: int) -> list[Event]:
    """Return the events inside of the element that the event at a place starts."""
    level = events[at].level
    for end in range(at + 1, len(events)):
        if events[end].attributes is None and events[end].tag and events[end].level <= level:
            return events[at + 1 : end]
    return events[at + 1 :]


def _parse_page_time(title: str) -> str:
    """Return a time of a page in ISO 8601; any other text as it is, to be refused where it is read."""
    found = _PAGE_TIME.fullmatch(title.strip())
    if found is None:
        return title
    day, month, year, clock, offset = found.groups()
    return f"{year}-{month}-{day}T{clock}{offset or ''}"


TELEGRAM = Export("Telegram", ".*", _find_chats, _read_chat, ("date_unixtime", "date"), _read_message)
