"""Read the elements of a large JSON list one at a time, so that the file need not fit into memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import ImportFailed
from .json_values import parse
from .parts import Part, parts_of

MAX_ELEMENT = 64 << 20  # bytes of one element (one conversation): bounds the memory used for a hostile file
_CONVERSATIONS = re.compile(r"conversations(?:-\d+)?")
_CHUNK = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NO_SPACE = re.compile(rb"\S")
_QUOTE_OR_BRACKET = re.compile(rb'["\[\]{},]')
_QUOTE_OR_ESCAPE = re.compile(rb'["\\]')


def elements(file: BinaryIO, name: str) -> Iterator[Any]:
    """Yield the elements of the JSON list in a file. Raise ImportFailed if it is no list, damaged or truncated."""
    for number, data in enumerate(_split(file, name), start=1):
        try:
            element = parse(data)
        except ValueError as error:
            raise ImportFailed(f"{name!r}: element {number} of its list is {error}") from error
        yield element


def conversations(path: Path, mark: str) -> Iterator[Any]:
    """Yield the raw conversations of a chat program's export: of its file, or of each that a zip or folder holds.

    They are a list, a list behind `conversations`, or a single one, which has the key `mark`.
    """
    with parts_of(path) as parts:
        named = [part for part in parts if _CONVERSATIONS.fullmatch(part.stem)] or parts[:1]
        if len(parts) != 1 and not _CONVERSATIONS.fullmatch(named[0].stem if named else ""):
            raise ImportFailed(f"{str(path)!r} holds no conversations.json; expected the zip or folder of an export")
        for part in named:
            yield from _of_part(part, mark)


def _of_part(part: Part, mark: str) -> Iterator[Any]:
    if not part.start(4096).lstrip().startswith(b"{"):
        with part.open() as file:
            yield from elements(file, part.name)
        return
    whole = part.whole()
    found = [whole] if mark in whole else whole.get("conversations")
    if not isinstance(found, list):
        raise ImportFailed(f"{part.name!r} has no list of conversations; expected one, or a conversation with {mark!r}")
    yield from found


def _split(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the bytes of each element, found by scanning for brackets and commas outside of strings."""
    cursor = _Cursor(file, name)
    if cursor.skip_space() != b"[":
        raise ImportFailed(f"{name!r} begins with {cursor.peek()!r}; expected a JSON list")
    cursor.skip(1)
    while cursor.skip_space() not in (b"]", b""):
        yield cursor.element()
        if cursor.skip_space() == b",":
            cursor.skip(1)
    if cursor.skip_space() != b"]":
        raise ImportFailed(f"{name!r} is truncated: its list is never closed; export or download it again")


class _Cursor:
    """A position in a file, with the bytes read from there on."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._buffer = bytearray(file.read(_CHUNK).removeprefix(_BYTE_ORDER_MARK))
        self._at = 0

    def peek(self) -> bytes:
        return bytes(self._buffer[self._at : self._at + 20])

    def skip(self, count: int) -> None:
        self._at += count

    def skip_space(self) -> bytes:
        """Skip white space; return the byte that follows, or no byte at the end of the file."""
        if self._at >= _CHUNK:
            del self._buffer[: self._at]
            self._at = 0
        found = self._find(_NO_SPACE, self._at)
        self._at = found.start() if found else len(self._buffer)
        return found.group() if found else b""

    def element(self) -> bytes:
        """Return the bytes up to the comma or bracket that ends an element of the outer list."""
        at, depth = self._at, 0
        while found := self._find(_QUOTE_OR_BRACKET, at):
            mark, at = found.group(), found.end()
            if mark == b'"':
                at = self._end_of_string(at)
            elif mark in b"[{":
                depth += 1
            elif depth == 0:
                return self._take(at - 1)
            elif mark in b"]}":
                depth -= 1
        return self._take(len(self._buffer))

    def _take(self, end: int) -> bytes:
        taken = bytes(self._buffer[self._at : end])
        self._at = end
        return taken

    def _end_of_string(self, at: int) -> int:
        while found := self._find(_QUOTE_OR_ESCAPE, at):
            if found.group() == b'"':
                return found.end()
            at = found.end() + 1
        return len(self._buffer)

    def _find(self, pattern: re.Pattern[bytes], at: int) -> re.Match[bytes] | None:
        while not (found := pattern.search(self._buffer, at)):
            at = max(at, len(self._buffer))
            if not self._more():
                return None
        return found

    def _more(self) -> bool:
        if len(self._buffer) - self._at > MAX_ELEMENT:
            raise ImportFailed(
                f"{self._name!r} has an element of over {MAX_ELEMENT >> 20} MiB; split the file by conversation"
            )
        chunk = self._file.read(_CHUNK)
        self._buffer += chunk
        return bool(chunk)
