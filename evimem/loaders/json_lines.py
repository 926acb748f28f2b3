"""JSON in either of two forms: a list, or a value a line. Memory is bounded by the largest value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from .conversation import Part
from .json_stream import JsonReader, Malformed, is_too_deep
from .json_values import parse

MAX_LINE = 8 << 20  # bytes: room for a turn of 1 MiB with every character escaped


def lines_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield each line; of one that is too long, only the beginning, which is long enough to be refused."""
    byte_order_mark = b"\xef\xbb\xbf"
    while line := file.readline(MAX_LINE + 1):
        yield line.removeprefix(byte_order_mark)
        while len(line) > MAX_LINE and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE + 1)  # the rest of it is skipped


def values_of(part: Part, list_key: str = "") -> Iterator[Any]:
    """Yield the elements of a list, also of one behind `list_key` in an object, or the value of each line.

    A line that is none is a `Malformed`. Raise ImportFailed for a file in which no value begins.
    """
    start = part.start(1 << 16).lstrip()
    if start.startswith(b"{") and _is_lines(part):
        with part.open() as file:
            yield from (_value(line) for line in lines_of(file) if line.strip())
        return
    with part.open() as file:
        reader = JsonReader(file, part.name)
        try:
            if reader.next_mark() == "[":
                yield from reader.elements()
            elif not list_key:
                yield reader.value()
            else:
                yield from _behind(reader, list_key)
        finally:
            reader.close()


def _behind(reader: JsonReader, list_key: str) -> Iterator[Any]:
    """Yield the elements of the list behind a key, or else the object itself."""
    rest: dict[str, Any] = {}
    is_found = False
    for key in reader.members():
        if key == list_key and reader.next_mark() == "[":
            is_found = True
            yield from reader.elements()
        else:
            rest[key] = reader.value()
    if not is_found:
        yield rest


def _is_lines(part: Part) -> bool:
    """Return whether the first line is a value by itself, and something follows it."""
    with part.open() as file:
        first = file.readline(MAX_LINE + 1).removeprefix(b"\xef\xbb\xbf")
        try:
            parse(first)
        except ValueError:
            return False
        return any(line.strip() for line in lines_of(file))


def _value(line: bytes) -> Any:
    if len(line) > MAX_LINE:
        return Malformed(f"longer than {MAX_LINE >> 20} MiB; split it")
    try:
        value = parse(line)
    except ValueError as error:
        return Malformed(str(error))
    return Malformed("nested too deeply") if is_too_deep(value) else value
