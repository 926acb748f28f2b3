"""Files of chat messages, and evimem's own format: one turn per line, as a JSON object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import ImportFailed, shown
from ..types.public_value import AnyPath
from ..types.values import Turn
from .chat_messages import TIMES, WHO, read_message, words_of
from .conversation import Refuse, RefusedItem, raise_refused
from .json_values import held_by, mismatch_error, parse, text_of, time_of

_STEP = timedelta(minutes=1)  # between messages without a time: keeps their order, means nothing else
_KNOWN_BY = frozenset((*WHO, "author", "type", "kind", "parts", "lc"))  # keys of a message


def read_messages(
    path: AnyPath, *, start: datetime | None = None, session: str | None = None, refuse: Refuse = raise_refused
) -> Iterator[Turn]:
    """Yield a turn for each message, in any form that `Memory.remember` takes; those without any text are skipped.

    The time of a message is its time, created_at, timestamp or create_time; without one it is a minute after the
    message before, and `start` for the first. The session is the file's name unless given.
    """
    path = Path(path)
    session = session or path.stem
    latest = None if start is None else start - _STEP
    for number, message in enumerate(_messages(path), start=1):
        try:
            turn = _message_turn(message, session, number, latest)
        except ValueError as error:
            refuse(RefusedItem(f"{path.name} message {number}", str(error)))
        else:
            latest = turn.time
            if turn.text:
                yield turn


def question_in(messages: Iterable[object]) -> str:
    """Return the words of the last message of the user that has any. Raise ValueError for none, or no messages."""
    for message in reversed([*messages]):
        if not isinstance(message, (str, bytes)) and (held_by(message) is not None or isinstance(message, Mapping)):
            words = words_of(message, "user")
            if words.strip():
                return words
    raise ValueError("there is no message of the role user with text; expected one, the newest is the question")


def _messages(path: Path) -> list[Any]:
    data = path.read_bytes()
    try:
        value = parse(data)
    except ValueError as error:
        value = _message_lines(path, data, error)
    if isinstance(value, dict):
        value = value.get("messages", [value])
    if not isinstance(value, list):
        raise ImportFailed(f"{str(path)!r} holds {shown(value, 40)}; expected a list of messages with role and content")
    return value


def _message_lines(path: Path, data: bytes, whole: ValueError) -> list[Any]:
    try:
        return [parse(line) for line in data.splitlines() if line.strip()]
    except ValueError:
        raise ImportFailed(f"{str(path)!r} is {whole}; expected a list of messages, or one message per line") from whole


def _message_turn(message: object, session: str, number: int, latest: datetime | None) -> Turn:
    if not isinstance(message, dict) or _KNOWN_BY.isdisjoint(message):
        raise mismatch_error("a message", message, "an object with role and content")
    said = read_message(message)
    return Turn(
        id=said.id or f"{session}:{number}",
        session=session,
        speaker=said.speaker,
        text=said.text if said.note is None else "",
        time=said.time or _time(message, latest),
        role=said.role,
    )


def _time(message: Mapping[str, Any], latest: datetime | None) -> datetime:
    """Return the time of a message without one that can be read. Raise ValueError where it has another."""
    if given := next((message[name] for name in TIMES if message.get(name) is not None), None):
        return time_of(given)
    if latest is None:
        raise ImportFailed(
            f"the messages have no time ({', '.join(TIMES)}), but every turn needs one: give the time of the first "
            "(--start 2024-03-12T18:20, or start= in Python)"
        )
    return latest + _STEP


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
