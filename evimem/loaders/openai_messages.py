"""Message lists as chat APIs take them: a list of {role, content}, an object that holds one as `messages`, or lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ..errors import ImportFailed
from ..types.values import Turn
from .conversation import Refuse, RefusedItem, raise_refused
from .json_values import moment, parse, shown, text_of, unfit

TIMES = ("time", "created_at", "timestamp", "create_time")
_ROLES = {"developer": "system", "function": "tool"}
_STEP = timedelta(minutes=1)  # between messages that have no time of their own: an order, not a claim


def read_messages(
    path: Path, *, start: datetime | None = None, session: str | None = None, refuse: Refuse = raise_refused
) -> Iterator[Turn]:
    """Yield a turn for each message that says something; a call of a tool without a text does not.

    The time of a message is its time, created_at, timestamp or create_time; without one it is a minute after the
    message before, and `start` for the first. The session is the file's name unless given.
    """
    session = session or path.stem
    latest = None if start is None else start - _STEP
    for number, message in enumerate(_messages(path), start=1):
        try:
            turn = _turn(message, session, number, latest)
        except ValueError as error:
            refuse(RefusedItem(f"{path.name} message {number}", str(error)))
        else:
            latest = turn.time
            if turn.text.strip():
                yield turn


def said(content: object) -> str:
    """Return the text of a message's content: a string, or a list of parts of which the text ones count."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise unfit("content", content, "a string or a list of parts")
    texts = [part.get("text") if isinstance(part, dict) else part for part in content]
    return "\n".join(text for text in texts if isinstance(text, str))


def _messages(path: Path) -> list[Any]:
    data = path.read_bytes()
    try:
        value = parse(data)
    except ValueError as error:
        value = _lines(path, data, error)
    if isinstance(value, dict):
        value = value.get("messages", [value])
    if not isinstance(value, list):
        raise ImportFailed(f"{str(path)!r} holds {shown(value)}; expected a list of messages with role and content")
    return value


def _lines(path: Path, data: bytes, whole: ValueError) -> list[Any]:
    try:
        return [parse(line) for line in data.splitlines() if line.strip()]
    except ValueError:
        raise ImportFailed(f"{str(path)!r} is {whole}; expected a list of messages, or a message a line") from whole


def _turn(message: object, session: str, number: int, latest: datetime | None) -> Turn:
    if not isinstance(message, dict) or not message.get("role"):
        raise unfit("a message", message, "an object with role and content")
    role = text_of(message, "role") or ""
    role = _ROLES.get(role, role)
    return Turn(
        id=text_of(message, "id") or f"{session}:{number}",
        session=session,
        speaker=text_of(message, "name") or role,
        text=said(message.get("content")),
        time=_time(message, latest),
        role=role,
    )


def _time(message: Mapping[str, Any], latest: datetime | None) -> datetime:
    given = next((message[name] for name in TIMES if message.get(name) is not None), None)
    if given is not None:
        return moment(given)
    if latest is None:
        raise ImportFailed(
            f"the messages have no time ({', '.join(TIMES)}), and every turn needs one: say when the conversation "
            "began (--start 2024-03-12T18:20, or start= in Python)"
        )
    return latest + _STEP
