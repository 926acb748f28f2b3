"""HTML read as a stream of texts with the classes of the elements that they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, BinaryIO, NamedTuple

from ..errors import ImportFailed
from .json_values import make_type_error

MAX_TOKEN = 8 << 20  # characters of one tag or text; a file in which none ends sooner is refused


class Event(NamedTuple):
    """The start (`attributes` is set), the end, or a text of a page; `level` is the number of elements around it."""

    tag: str
    level: int
    text: str = ""
    attributes: dict[str, str] | None = None

    @property
    def classes(self) -> frozenset[str]:
        """Return the classes of an element that starts."""
        return frozenset((self.attributes or {}).get("class", "").split())


@dataclass(slots=True)
class _Collected:
    events: list[Event] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = _Collected()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        stack = self.found.stack
        given = {name: value or "" for name, value in attrs}
        self.found.events.append(Event(tag, len(stack), attributes=given))
        # At most 500 elements in each other.
        # These elements have no end.
        if tag not in {"br", "img", "meta", "link", "input", "hr", "source"} and len(stack) < 500:
            stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.found.events.append(Event(tag, len(self.found.stack), attributes=given))

    def handle_endtag(self, tag: str) -> None:
        stack = self.found.stack
        if tag in stack:
            while stack.pop() != tag:
                continue
            self.found.events.append(Event(tag, len(stack)))

    def handle_data(self, data: str) -> None:
        self.found.events.append(Event("", len(self.found.stack), data))


def parse_html(file: BinaryIO, name: str) -> Iterator[Event]:
    """Yield the starts, ends and texts of a page, read chunk by chunk. Raise ImportFailed for an endless token."""
    parser = _Parser()
    for chunk in iter(lambda: file.read(1 << 16), b""):
        try:
            parser.feed(
                chunk.decode("utf-8", "replace") if not _ends_inside_character(chunk) else _decode_whole(chunk, file)
            )
        except AssertionError as error:  # the parser raises it for an invalid declaration
            raise ImportFailed(f"{name!r} has a malformed declaration and is no page of an export") from error
        if len(parser.rawdata) > MAX_TOKEN:
            raise ImportFailed(f"{name!r} has a tag or text of over {MAX_TOKEN >> 20} MiB; it is no page of an export")
        yield from parser.found.events
        parser.found.events.clear()
    try:
        parser.close()
    except AssertionError as error:
        raise ImportFailed(f"{name!r} ends in a malformed declaration and is no page of an export") from error
    yield from parser.found.events


def _ends_inside_character(chunk: bytes) -> bool:
    return chunk[-1] >= 0x80


def _decode_whole(chunk: bytes, file: BinaryIO) -> str:
    """Decode a chunk that ends inside of a character, with the bytes that it lacks."""
    while chunk[-1] >= 0x80 and (more := file.read(1)):
        chunk += more
    return chunk.decode("utf-8", "replace")


def text_of_events(events: list[Event]) -> str:
    """Return the text of a part of a page: a line for each block, "- " before the items of a list."""
    pieces: list[str] = []
    quiet = 0
    for event in events:
        if event.tag in ("script", "style"):
            quiet += 1 if event.attributes is not None else -1
        elif not event.tag:
            pieces.append("" if quiet > 0 else event.text)
        elif event.tag == "br":
            pieces.append("\n")
        elif re.fullmatch("p|div|li|ul|ol|h[1-6]|tr|table|pre|blockquote", event.tag):
            pieces.append("\n- " if event.tag == "li" and event.attributes is not None else "\n")
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in lines if line not in ("", "-")).strip()


def text_of_html(html: Any) -> str:
    """Return the text of a fragment of HTML. Raise ValueError for another type than a string."""
    if not isinstance(html, str):
        raise make_type_error("a fragment of HTML", html, "a string")
    parser = _Parser()
    try:
        parser.feed(html)
        parser.close()
    except AssertionError as error:
        raise ValueError("a fragment of HTML has a malformed declaration") from error
    return text_of_events(parser.found.events)
