"""JSON in either of two forms: a list, or a value a line. Memory is bounded by the largest value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from .conversation import ExportFile
from .json_stream import JsonReader, Malformed, is_nested_too_deep
from .json_values import parse_json

MAX_LINE = 8 << 20  # bytes: room for a turn of 1 MiB with every character escaped


def read_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield each line; of one that is too long, only the beginning, which is long enough to be refused."""
    byte_order_mark = b"\xef\xbb\xbf"
    while line := file.readline(MAX_LINE + 1):
        yield line.removeprefix(byte_order_mark)
        while len(line) > MAX_LINE and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE + 1)  # the rest of it is skipped


def read_values(part: ExportFile, list_key: str = "") -> Iterator[Any]:
    """Yield the elements of a list, also of one behind `list_key` in an object, or the value of each line.

    A line that is none is a `Malformed`. Raise ImportFailed for a file in which no value begins.
    """
    start = part.read_beginning(1 << 16).lstrip()
    if start.startswith(b"{") and _is_json_lines(part):
        with part.open() as file:
            yield from (_parse_line(line) for line in read_lines(file) if line.strip())
        return
    with part.open() as file:
        reader = JsonReader(file, part.name)
        try:
            if reader.next_mark() == "[":
                yield from reader.read_elements()
            elif not list_key:
                yield reader.read_value()
            else:
                yield from _elements_under_key(reader, list_key)
        finally:
            reader.close()


def _elements_under_key(reader: JsonReader, list_key: str) -> Iterator[Any]:
    """Yield the elements of the list behind a key, or else the object itself."""
    rest: dict[str, Any] = {}
    is_found = False
    for key in reader.read_keys():
        if key == list_key and reader.next_mark() == "[":
            is_found = True
            yield from reader.read_elements()
        else:
            rest[key] = reader.read_value()
    if not is_found:
        yield rest


def _is_json_lines(part: ExportFile) -> bool:
    """Return whether the first line is a value by itself, and something follows it."""
    with part.open() as file:
        first = file.readline(MAX_LINE + 1).removeprefix(b"\xef\xbb\xbf")
        try:
            parse_json(first)
        except ValueError:
            return False
        return any(line.strip() for line in read_lines(file))


def _parse_line(line: bytes) -> Any:
    if len(line) > MAX_LINE:
        return Malformed(f"longer than {MAX_LINE >> 20} MiB; split it")
    try:
        value = parse_json(line)
    except ValueError as error:
        return Malformed(str(error))
    return Malformed("nested too deeply") if is_nested_too_deep(value) else value
