"""Messages as chat APIs take them: a list of {role, content}, an object with `messages`, or one message per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ..errors import ImportFailed, shown
from ..types.paths import AnyPath
from ..types.values import Turn
from .conversation import Refuse, RefusedItem, raise_refused
from .json_values import mismatch_error, parse, text_of, time_of

TIMES = ("time", "created_at", "timestamp", "create_time")
ROLES = {"developer": "system", "function": "tool"}
_STEP = timedelta(minutes=1)  # between messages without a time: keeps their order, means nothing else


def read_messages(
    path: AnyPath, *, start: datetime | None = None, session: str | None = None, refuse: Refuse = raise_refused
) -> Iterator[Turn]:
    """Yield a turn for each message that has text; tool calls without text are skipped.

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
            if turn.text.strip():
                yield turn


def question_in(messages: Iterable[object]) -> str:
    """Return the text of the last message of the user that has any. Raise ValueError for none, or no messages."""
    texts = [
        text_of_content(message.get("content"))
        for message in messages
        if isinstance(message, Mapping) and message.get("role") == "user"
    ]
    asked = next((text for text in reversed(texts) if text.strip()), None)
    if asked is None:
        raise ValueError("there is no message of the role user with text; expected one, the newest is the question")
    return asked


def text_of_content(content: object) -> str:
    """Return the text of a message's content: a string, or a list of parts of which the text ones count."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise mismatch_error("content", content, "a string or a list of parts")
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
        raise ImportFailed(f"{str(path)!r} holds {shown(value, 40)}; expected a list of messages with role and content")
    return value


def _lines(path: Path, data: bytes, whole: ValueError) -> list[Any]:
    try:
        return [parse(line) for line in data.splitlines() if line.strip()]
    except ValueError:
        raise ImportFailed(f"{str(path)!r} is {whole}; expected a list of messages, or one message per line") from whole


def _turn(message: object, session: str, number: int, latest: datetime | None) -> Turn:
    if not isinstance(message, dict) or not message.get("role"):
        raise mismatch_error("a message", message, "an object with role and content")
    role = text_of(message, "role") or ""
    role = ROLES.get(role, role)
    return Turn(
        id=text_of(message, "id") or f"{session}:{number}",
        session=session,
        speaker=text_of(message, "name") or role,
        text=text_of_content(message.get("content")),
        time=_time(message, latest),
        role=role,
    )


def own_time(message: Mapping[str, Any]) -> datetime | None:
    """Return the time that a message has of its own, if any. Raise ValueError for what is no time."""
    given = next((message[name] for name in TIMES if message.get(name) is not None), None)
    return None if given is None else time_of(given)


def _time(message: Mapping[str, Any], latest: datetime | None) -> datetime:
    given = own_time(message)
    if given is not None:
        return given
    if latest is None:
        raise ImportFailed(
            f"the messages have no time ({', '.join(TIMES)}), but every turn needs one: give the time of the first "
            "(--start 2024-03-12T18:20, or start= in Python)"
        )
    return latest + _STEP
