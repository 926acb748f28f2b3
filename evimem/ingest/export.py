"""A memory as lines of JSON, and back: every turn verbatim, in order of arrival, with the facts found in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from ..db.atomic_files import replace_with
from ..errors import ImportFailed
from ..types.values import Fact, TimeSpan, Turn

T = TypeVar("T")
FORMAT = 1
_HEADER = "evimem"
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def export_lines(pairs: Iterable[tuple[Turn, tuple[Fact, ...]]]) -> Iterator[bytes]:
    """Yield a header, one line a turn with its facts, and a last line that tells a whole file from a cut one."""
    yield _line({_HEADER: FORMAT})
    count = 0
    for turn, facts in pairs:
        count += 1
        yield _line({"turn": _plain(turn), "facts": [_plain(replace(fact, replaced_by=None)) for fact in facts]})
    yield _line({"end": count})


def write_export(
    path: Path, pairs: Iterable[tuple[Turn, tuple[Fact, ...]]], progress: Callable[[int], None] = lambda turns: None
) -> None:
    """Write an export; a crash leaves no file that looks whole."""
    with replace_with(path) as file:
        for line in export_lines(_counted(pairs, progress)):
            file.write(line)


def _counted(pairs: Iterable[T], progress: Callable[[int], None]) -> Iterator[T]:
    for pair in pairs:
        yield pair
        progress(1)


def is_export(path: Path) -> bool:
    """Say whether a file begins as an export does."""
    with path.open("rb") as file:
        return file.read(len(_HEADER) + 4).startswith(b'{"' + _HEADER.encode() + b'"')


def read_export(path: Path) -> Iterator[tuple[Turn, tuple[Fact, ...]]]:
    """Yield what `write_export` wrote. Raise ImportFailed, with the line, for anything else."""
    ended, count = None, 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            fields = _fields(path, number, line)
            if number == 1:
                _check_header(path, fields)
            elif "end" in fields:
                ended = fields["end"]
            else:
                count += 1
                yield _pair(path, number, fields)
    if ended != count:
        raise ImportFailed(
            f"{str(path)!r} is cut short: {count} turns of {ended if ended is not None else 'an unknown number'}"
        )


def _line(value: dict[str, Any]) -> bytes:
    # The standard library and not orjson, for lone surrogates: they are no UTF-8, so that they are escaped. But two of
    # them that make a pair would be read back as one character: they stand as the bytes that json.loads takes for them.
    line = _dumps(value, ensure_ascii=False)
    try:
        return line.encode()
    except UnicodeEncodeError:
        return line.encode("utf-8", "surrogatepass") if _PAIR.search(line) else _dumps(value).encode()


def _dumps(value: dict[str, Any], *, ensure_ascii: bool = True) -> str:
    return json.dumps(value, separators=(",", ":"), default=datetime.isoformat, ensure_ascii=ensure_ascii) + "\n"


def _plain(value: Turn | Fact) -> dict[str, Any]:
    return {name: part for name, part in asdict(value).items() if part not in (None, {})}


def _fields(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise ImportFailed(f"{str(path)!r} line {number} is not JSON ({error}); expected an evimem export") from error
    if not isinstance(fields, dict):
        raise ImportFailed(f"{str(path)!r} line {number} is {type(fields).__name__}; expected a JSON object")
    return fields


def _check_header(path: Path, fields: dict[str, Any]) -> None:
    if fields.get(_HEADER) != FORMAT:
        raise ImportFailed(
            f"{str(path)!r} begins with {str(fields)[:60]!r}; expected the header of an export of format {FORMAT} "
            "(for other files use `evimem ingest`)"
        )


def _pair(path: Path, number: int, fields: dict[str, Any]) -> tuple[Turn, tuple[Fact, ...]]:
    try:
        turn = Turn(**fields["turn"])
        facts = tuple(_fact(fact) for fact in fields["facts"])
    except (KeyError, TypeError, ValueError) as error:
        raise ImportFailed(f"{str(path)!r} line {number} is not a turn with facts: {error!r}") from error
    return turn, facts


def _fact(fields: dict[str, Any]) -> Fact:
    event = fields.pop("event", None)
    if event is not None:
        start, end = (event.get(name) for name in ("start", "end"))
        event = TimeSpan(_time(start), _time(end), event["granularity"], event["text"])
    return Fact(event=event, span=tuple(fields.pop("span")), **fields)


def _time(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(value)
