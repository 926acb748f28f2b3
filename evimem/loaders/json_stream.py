"""JSON read from a file value by value: memory is bounded by the largest value, not by the file."""

from __future__ import annotations

import io
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

from ..errors import ImportFailed
from .json_values import DECODER

MAX_ELEMENT = 64 << 20  # bytes of one value (one conversation): bounds the memory used for a hostile file
MAX_DEPTH = 200  # levels of lists and objects in each other; the deepest export seen has about twenty
_CHUNK_CHARACTERS = 1 << 20  # characters that are read at a time
_SPACE = re.compile(r"\s*")


class Malformed(NamedTuple):
    """A value of a list, or a line, that cannot be read, and why."""

    why: str


class JsonReader:
    """Reads the JSON of a file from its beginning: a value, or the elements or members of one.

    Every method raises ImportFailed for text that is no JSON, truncated, too large or too deep; `name` is the file's.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._text = io.TextIOWrapper(file, "utf-8-sig")
        self._name = name
        self._buffer = ""
        self._at = 0

    def close(self) -> None:
        """Leave the file to its opener, who closes it."""
        with suppress(ValueError):  # its opener has closed it already
            self._text.detach()

    def next_mark(self) -> str:
        """Return the next character that is no space, which is not consumed; empty at the end."""
        while True:
            found = _SPACE.match(self._buffer, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._buffer) or not self._read_more(_CHUNK_CHARACTERS):
                return self._buffer[self._at : self._at + 1]

    def read_value(self) -> Any:
        """Read a whole value; a `Malformed` for one of too many levels."""
        self.next_mark()
        while True:
            value, end = self._decode_value()
            if end < len(self._buffer):  # else it may go on
                self._at = end
                return value
            if end - self._at > MAX_ELEMENT:
                raise ImportFailed(
                    f"{self._name!r} has an element of over {MAX_ELEMENT >> 20} MiB; split the file by conversation"
                )
            if not self._read_more(max(_CHUNK_CHARACTERS, end - self._at)):
                return self._read_last_value()

    def _decode_value(self) -> tuple[Any, int]:
        """Return the value that the buffer goes on with, and its end: that of the buffer where it is cut short."""
        try:
            value, end = DECODER.raw_decode(self._buffer, self._at)
        except RecursionError as error:
            raise ImportFailed(f"{self._name!r} has a value that is nested too deeply") from error
        except json.JSONDecodeError as error:
            # A token of JSON, but for strings, has at most 12 characters: longer text was not merely cut.
            if error.pos < len(self._buffer) - 12 and not error.msg.startswith("Unterminated"):
                raise self._malformed_error(str(error)) from error
            return None, len(self._buffer)
        except ValueError as error:  # NaN, and the like
            raise self._malformed_error(str(error)) from error
        return (
            Malformed(f"it has over {MAX_DEPTH} levels, nested too deeply") if is_nested_too_deep(value) else value
        ), end

    def read_elements(self) -> Iterator[Any]:
        """Yield each element of a list."""
        for _ in self._iter_items("[", "]"):
            yield self.read_value()

    def read_elements_under(self, holder: Mapping[str, Any], key: str) -> Iterator[dict[str, Any]]:
        """Yield a mapping that has the elements of a list under a key; those that were not taken are passed over."""
        inner = self.read_elements()
        yield {**holder, key: inner}
        deque(inner, maxlen=0)

    def read_keys(self) -> Iterator[str]:
        """Yield each key of an object, of which the caller then reads the value."""
        for _ in self._iter_items("{", "}"):
            key = self.read_value()
            if not isinstance(key, str) or self.next_mark() != ":":
                raise self._malformed_error("a key is expected")
            self._at += 1
            yield key

    def _iter_items(self, opening: str, closing: str) -> Iterator[None]:
        if (mark := self.next_mark()) != opening:
            wanted = "list" if opening == "[" else "object"
            raise ImportFailed(f"{self._name!r} has {mark!r} where a JSON {wanted} is expected")
        self._at += 1
        if self.next_mark() != closing:
            while True:
                yield
                mark = self.next_mark()
                self._at += 1
                if mark == closing:
                    return
                if not mark:
                    raise self._truncated_error()
                if mark != ",":
                    raise self._malformed_error(f"{mark!r} stands where a comma is expected")
        self._at += 1

    def _read_last_value(self) -> Any:
        try:
            value, self._at = DECODER.raw_decode(self._buffer, self._at)
        except ValueError as error:
            raise self._truncated_error() from error
        return Malformed("nested too deeply") if is_nested_too_deep(value) else value

    def _read_more(self, count: int) -> bool:
        try:
            more = self._text.read(count)
        except UnicodeDecodeError as error:
            raise self._malformed_error("it is not UTF-8") from error
        if more:
            self._buffer, self._at = self._buffer[self._at :] + more, 0
        return bool(more)

    def _malformed_error(self, why: str) -> ImportFailed:
        return ImportFailed(f"{self._name!r} holds what is not JSON ({why}); export or download it again")

    def _truncated_error(self) -> ImportFailed:
        return ImportFailed(f"{self._name!r} is truncated; export or download it again")


def read_list_elements(file: BinaryIO, name: str) -> Iterator[Any]:
    """Yield the elements of the JSON list in a file. Raise ImportFailed if it is no list, damaged or truncated."""
    reader = JsonReader(file, name)
    try:
        yield from reader.read_elements()
    finally:
        reader.close()


def is_nested_too_deep(value: Any) -> bool:
    """Return whether a value has more levels than `MAX_DEPTH`."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for one in level
            if isinstance(one, (dict, list))
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True
