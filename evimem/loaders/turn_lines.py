"""evimem's own input format: one turn per line, as a JSON object."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import shown
from ..types.paths import AnyPath
from ..types.values import Turn
from .conversation import Refuse, RefusedItem, raise_refused
from .json_values import mismatch_error, parse, text_of, time_of

MAX_LINE = 8 << 20  # bytes: room for a turn of 1 MiB with every character escaped
_STRINGS = ("id", "session", "speaker", "text", "caption", "role")
FIELDS = (*_STRINGS, "time", "metadata")


def read_turns(path: AnyPath, refuse: Refuse = raise_refused) -> Iterator[Turn]:
    """Yield the turn of each line; the file is read line by line.

    A line has `speaker`, `text` and `time`, and may have `id`, `session`, `caption`, `role` and `metadata`. Empty
    lines are skipped.
    """
    path = Path(path)
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file), start=1):
            if line.strip():
                try:
                    turn = _turn(line)
                except ValueError as error:
                    refuse(RefusedItem(f"{path.name} line {number}", str(error)))
                else:
                    yield turn


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield each line; of one that is too long, only the beginning, which is long enough to be refused."""
    byte_order_mark = b"\xef\xbb\xbf"
    while line := file.readline(MAX_LINE + 1):
        yield line.removeprefix(byte_order_mark)
        while len(line) > MAX_LINE and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE + 1)  # the rest of it is skipped


def _turn(line: bytes) -> Turn:
    if len(line) > MAX_LINE:
        raise ValueError(f"longer than {MAX_LINE >> 20} MiB; a turn has at most 1 MiB of text: split it")
    row = parse(line)
    if not isinstance(row, dict):
        raise mismatch_error("a line", row, "an object with speaker, text and time")
    _check_names(row)
    fields: dict[str, Any] = {name: text_of(row, name) for name in _STRINGS}
    fields["text"] = fields["text"] or ""
    metadata = row.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise mismatch_error("metadata", metadata, "an object")
    return Turn(**fields, time=time_of(row.get("time")), metadata=metadata)


def _check_names(row: dict[str, Any]) -> None:
    if unknown := sorted(set(row) - set(FIELDS)):
        raise ValueError(
            f"unknown field {shown(unknown[0], 40)}; known are {', '.join(FIELDS)}; put others into metadata"
        )
    if not row.get("speaker"):
        raise ValueError("no speaker; expected an object with speaker, text and time")
