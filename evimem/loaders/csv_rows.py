"""Rows of CSV with a header: whose columns are known by their names, or named by the caller."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from ..errors import ImportFailed, shown
from ..types.values import Turn
from .chat_messages import role_of_name
from .conversation import MESSAGE_STEP, ExportFile, ImportLog, open_export_files
from .date_orders import NumericDate, check_date_order, decide_date_order
from .json_values import parse_time

# Names of columns by the field that they hold, the surest first.
_COLUMNS = {
    "id": "id message_id messageid msg_id uuid",
    "session": "session session_id conversation conversation_id thread thread_id chat chat_id channel",
    "speaker": "speaker sender sender_name author from_name from name username user nickname participant role",
    "text": "text message content body message_text messagetext msg contents message_body utterance",
    "time": "time timestamp datetime date_time created_at createdat sent_at date sent created",
    "role": "role",
}
_NEEDED = ("speaker", "text")
_NUMERIC = re.compile(
    r"(\d{1,4})([/.\-])(\d{1,2})\2(\d{1,4})[,T ]*(?:(\d{1,2}):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s*([AaPp])?\.?[Mm]?\.?)?"
)
_MAX_FIELD_START = 8192


def looks_like_table(start: bytes) -> bool:
    """Return whether a file begins with a header that has a column of speakers and one of texts."""
    line = start.decode("utf-8", "replace").split("\n", 1)[0].rstrip("\r")
    if len(line) > _MAX_FIELD_START:
        return False
    try:
        header = next(csv.reader([line], delimiter=_detect_delimiter(line)), [])
    except csv.Error:
        return False
    found = _find_columns(header, {})
    return len(header) >= 2 and all(name in found for name in _NEEDED)


def read_csv(
    path: Path,
    log: ImportLog | None = None,
    *,
    start: datetime | None = None,
    session: str | None = None,
    date_order: str | None = None,
    columns: str | None = None,
) -> Iterator[Turn]:
    """Yield the turn of each row.

    `columns` names those that are not known by their names, such as "speaker=Von,text=Nachricht". Rows without a time
    are a minute apart, from `start` on. Raise ImportFailed for a file without a header or with dates of an open order.
    """
    path, log = Path(path), log or ImportLog()
    check_date_order(date_order)
    with open_export_files(path) as parts:
        for part in parts:
            if len(parts) > 1 and not looks_like_table(part.read_beginning(_MAX_FIELD_START)):
                log.skip("other file", part.name)
                continue
            found = _read_columns(part, _parse_named_columns(columns), log)
            order = date_order or _detect_date_order(part, found, log)
            yield from _read_turns(part, found, order, log, start=start, session=session or part.stem)


def _parse_named_columns(columns: str | None) -> dict[str, str]:
    """Return the columns that a caller named, by field. Raise ImportFailed for other words."""
    pairs = [one.partition("=") for one in (columns or "").split(",") if one.strip()]
    named = {field.strip(): column.strip() for field, _, column in pairs}
    if wrong := [field for field, column in named.items() if field not in _COLUMNS or not column]:
        known = ", ".join(_COLUMNS)
        raise ImportFailed(f"columns name {shown(wrong[0], 40)}; expected FIELD=COLUMN with a field of {known}")
    return named


def _read_columns(part: ExportFile, named: Mapping[str, str], log: ImportLog) -> dict[str, int]:
    header = next(_read_records(part), (0, []))[1]
    known = {one.strip().casefold() for one in header}
    if missing := [column for column in named.values() if column.casefold() not in known]:
        raise ImportFailed(f"{part.name!r} has no column {shown(missing[0], 40)}; expected one of its header")
    found = _find_columns(header, named)
    if lacking := [name for name in _NEEDED if name not in found]:
        raise ImportFailed(
            f"{part.name!r} has no column that is known to hold the {lacking[0]} (known are "
            f"{', '.join(_COLUMNS[lacking[0]].split()[:8])}); name it: --columns {lacking[0]}=NAME"
        )
    for at, name in enumerate(header):
        if at not in found.values():
            log.skip("column", f"{part.name} column {at + 1} {shown(name, 40)}")
    return found


def _find_columns(header: Sequence[str], named: Mapping[str, str]) -> dict[str, int]:
    """Return the place of the column of each field. A column has one field, unless it tells both speaker and role."""
    places = {"_".join(name.strip().casefold().replace("-", " ").split()): at for at, name in enumerate(header)}
    exact = {name.strip().casefold(): at for at, name in enumerate(header)}
    found = {field: exact[column.casefold()] for field, column in named.items() if column.casefold() in exact}
    for field, names in _COLUMNS.items():
        taken = {at for other, at in found.items() if {field, other} != {"speaker", "role"}}
        place = next((places[name] for name in names.split() if name in places and places[name] not in taken), None)
        if field not in found and place is not None:
            found[field] = place
    if "date" in places and "time" in places and "time" not in named:
        found |= {"time": places["date"], "clock": places["time"]}
    return found


def _read_records(part: ExportFile) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each row's last line and its fields. Raise ImportFailed for a file that is no text."""
    with part.open() as file:
        yield from _read_records_of_file(file, part.name)


def _read_records_of_file(file: BinaryIO, name: str) -> Iterator[tuple[int, list[str]]]:
    text = TextIOWrapper(file, "utf-8-sig", errors="replace", newline="")
    try:
        start = text.readline(_MAX_FIELD_START)
        rows = csv.reader(_chain_lines(start, text), delimiter=_detect_delimiter(start))
        while True:
            try:
                row = next(rows, None)
            except csv.Error as error:
                raise ImportFailed(f"{name!r} row at line {rows.line_num} is no CSV ({error})") from error
            if row is None:
                return
            if row:
                yield rows.line_num, row
    finally:
        with suppress(ValueError):  # its opener has closed it already
            text.detach()


def _chain_lines(start: str, text: TextIOWrapper) -> Iterator[str]:
    yield start.replace("\0", "")
    for line in iter(lambda: text.readline(1 << 20), ""):
        yield line.replace("\0", "")


def _detect_delimiter(line: str) -> str:
    return max(",;\t|", key=line.count)


def _detect_date_order(part: ExportFile, found: Mapping[str, int], log: ImportLog) -> str:
    """Return the order of dates of figures in the column of times."""
    dates: dict[NumericDate, None] = {}
    for _, row in islice(_read_records(part), 1, None):
        given = _NUMERIC.match(_row_field(row, found, "time"))
        if given and len(given[1]) < 4:
            dates.setdefault(NumericDate((given[1], given[3], given[4]), given[2]))
    order, doubt = decide_date_order([*dates], part.name, may_begin_with_year=False)
    if doubt:
        log.doubts.append(doubt)
    return order


def _read_turns(
    part: ExportFile, found: Mapping[str, int], order: str, log: ImportLog, *, start: datetime | None, session: str
) -> Iterator[Turn]:
    latest = None if start is None else start - MESSAGE_STEP
    for number, (line, row) in enumerate(islice(_read_records(part), 1, None), start=1):
        place = f"{part.name} line {line}"
        speaker, text = _row_field(row, found, "speaker"), _row_field(row, found, "text")
        if not text.strip():
            log.skip("empty message", place)
            continue
        try:
            given = " ".join(one for one in (_row_field(row, found, "time"), _row_field(row, found, "clock")) if one)
            time = _parse_time(given, order) if given else latest and latest + MESSAGE_STEP
            if not speaker:
                raise ValueError("the column of speakers is empty")  # noqa: TRY301 - refused with its place
            if time is None:
                raise ValueError("it has no time; give the time of the first with --start")  # noqa: TRY301
        except (ValueError, OverflowError) as error:
            log.refuse(place, str(error))
            continue
        latest = time
        in_session = _row_field(row, found, "session") or session
        id_ = _row_field(row, found, "id") or f"{part.stem}:{number}"
        yield Turn(id_, in_session, speaker, text, time, role=role_of_name(_row_field(row, found, "role") or speaker))


def _row_field(row: Sequence[str], found: Mapping[str, int], name: str) -> str:
    at = found.get(name, -1)
    return row[at].strip() if 0 <= at < len(row) else ""


def _parse_time(given: str, order: str) -> datetime:
    """Return a time in ISO 8601, in seconds or milliseconds since 1970, or in figures of this order."""
    if re.fullmatch(r"\d{9,13}(\.\d+)?", given):
        seconds = float(given)
        return parse_time(seconds / 1000 if seconds >= 1e11 else seconds)
    figures = _NUMERIC.fullmatch(given)
    if figures is None or len(figures[1]) == 4:
        return parse_time(given)
    first, mark, second, third, hour, minute, second_, half = figures.groups()
    day = NumericDate((first, second, third), mark).to_date(order)
    at = int(hour or 0)
    if half:
        at = at % 12 + (12 if half in "pP" else 0)
    return datetime(day.year, day.month, day.day, at, int(minute or 0), int(second_ or 0))
