"""Files of chat messages: a list of them, an object with `messages`, or one message per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ..errors import ImportFailed, shown
from ..types.paths import AnyPath
from ..types.values import Turn
from .chat_messages import TIMES, WHO, read_message, words_of
from .conversation import Refuse, RefusedItem, raise_refused
from .json_values import mismatch_error, parse, time_of
from .message_json import held_by

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
            turn = _turn(message, session, number, latest)
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
        value = _lines(path, data, error)
    if isinstance(value, dict):
        value = value.get("messages", [value])
    if not isinstance(value, list):
        raise ImportFailed(f"{str(path)!r} holds {shown(value, 40)}; expected a list of messages with role and content")
    return value


def _lines(path: Path, data: bytes, whole: ValueError) -> list[Any]:
    try:
        return [parse(line) for line in data.splitlines() if line.strip()]
    except ValueError:
        raise ImportFailed(f"{str(path)!r} is {whole}; expected a list of messages, or one message per line") from whole


def _turn(message: object, session: str, number: int, latest: datetime | None) -> Turn:
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
