"""Export: a memory as lines of JSON, every turn verbatim in order of arrival, with the facts found in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from ..db.atomic_files import changing, replace_with, sweep
from ..db.file_header import check_replaceable
from ..types.values import Fact, TimeSpan, Turn

T = TypeVar("T")
FORMAT = 1
HEADER = "evimem"  # the key of the first line; its value is the format
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def export_lines(pairs: Iterable[tuple[Turn, tuple[Fact, ...]]]) -> Iterator[bytes]:
    """Yield a header, one line a turn with its facts, and a last line with their number, which a cut file lacks."""
    yield _line({HEADER: FORMAT})
    count = 0
    for turn, facts in pairs:
        count += 1
        yield _line({"turn": _plain(turn), "facts": [_plain(fact) for fact in facts]})
    yield _line({"end": count})


def write_export(
    path: Path, pairs: Iterable[tuple[Turn, tuple[Fact, ...]]], progress: Callable[[int], None] = lambda turns: None
) -> None:
    """Write an export, readable by its owner only; after a crash there is no file that looks whole.

    Call `progress` with 1 after each turn. Raise StoreError where the path is that of a database or of what is no file,
    DiskFull or StoreReadOnly where the system refuses the write.
    """
    check_replaceable(path)
    with changing(repr(str(path)), "there is no export"):
        sweep(path)  # temporary files of exports that were killed hold the same turns
        with replace_with(path) as file:
            for line in export_lines(_counted(pairs, progress)):
                file.write(line)


def _counted(pairs: Iterable[T], progress: Callable[[int], None]) -> Iterator[T]:
    for pair in pairs:
        yield pair
        progress(1)


def _line(value: dict[str, Any]) -> bytes:
    # orjson refuses lone surrogates; the standard library escapes them. A high and a low one side by side would be read
    # back from their escapes as one character, so such a line is written as the bytes that json.loads reads as two.
    line = _dumps(value, ensure_ascii=False)
    try:
        return line.encode()
    except UnicodeEncodeError:
        return line.encode("utf-8", "surrogatepass") if _PAIR.search(line) else _dumps(value).encode()


def _dumps(value: dict[str, Any], *, ensure_ascii: bool = True) -> str:
    return json.dumps(value, separators=(",", ":"), default=datetime.isoformat, ensure_ascii=ensure_ascii) + "\n"


def _plain(value: Turn | Fact | TimeSpan) -> dict[str, Any]:
    """Return the fields that hold something. `replaced_by` is left out: an import decides it again."""
    parts = {one.name: getattr(value, one.name) for one in fields(value) if one.name != "replaced_by"}
    return {
        name: _plain(part) if isinstance(part, TimeSpan) else part
        for name, part in parts.items()
        if part not in (None, {})
    }
