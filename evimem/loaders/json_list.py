"""The elements of a large JSON list, one at a time, so that a file need not fit into memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from ..errors import ImportFailed
from .values import parse

MAX_ELEMENT = 64 << 20  # bytes of one element, which is one conversation
_CHUNK = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_QUOTE_OR_BRACKET = re.compile(rb'["\[\]{},]')
_QUOTE_OR_ESCAPE = re.compile(rb'["\\]')


def elements(file: BinaryIO, name: str) -> Iterator[Any]:
    """Yield the elements of the list that a file holds. Raise ImportFailed for another file, or one cut short."""
    for number, data in enumerate(_split(file, name), start=1):
        try:
            element = parse(data)
        except ValueError as error:
            raise ImportFailed(f"{name!r}: element {number} of its list is {error}") from error
        yield element


def _split(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the bytes of each element: a scan for brackets and commas outside of strings."""
    cursor = _Cursor(file, name)
    if cursor.skip_space() != b"[":
        raise ImportFailed(f"{name!r} begins with {cursor.peek()!r}; expected a JSON list")
    cursor.take(1)
    while cursor.skip_space() not in (b"]", b""):
        yield cursor.element()
        if cursor.skip_space() == b",":
            cursor.take(1)
    if cursor.skip_space() != b"]":
        raise ImportFailed(f"{name!r} is cut short: its list is never closed; export or download it again")


class _Cursor:
    """A place in a file, with what has been read of it and not yet taken."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._buffer = bytearray(file.read(_CHUNK).removeprefix(_BYTE_ORDER_MARK))

    def peek(self) -> bytes:
        return bytes(self._buffer[:20])

    def take(self, count: int) -> bytes:
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def skip_space(self) -> bytes:
        """Drop white space; return the byte that follows, none at the end of the file."""
        while True:
            rest = self._buffer.lstrip()
            if rest or not self._more():
                self._buffer = rest
                return bytes(rest[:1])

    def element(self) -> bytes:
        """Take everything up to the comma or bracket that ends an element of the outer list."""
        at, depth = 0, 0
        while found := self._find(_QUOTE_OR_BRACKET, at):
            mark, at = found.group(), found.end()
            if mark == b'"':
                at = self._end_of_string(at)
            elif mark in b"[{":
                depth += 1
            elif depth == 0:
                return self.take(at - 1)
            elif mark in b"]}":
                depth -= 1
        return self.take(len(self._buffer))

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
        if len(self._buffer) > MAX_ELEMENT:
            raise ImportFailed(
                f"{self._name!r} has an element of over {MAX_ELEMENT >> 20} MiB; split the file by conversation"
            )
        chunk = self._file.read(_CHUNK)
        self._buffer += chunk
        return bool(chunk)
