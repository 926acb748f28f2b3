"""Validation of turns before they are stored: the limits of their fields and the defaults for missing ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from typing import Any

import orjson

from ..errors import InvalidTurn, shown
from ..types.json_bytes import json_bytes
from ..types.values import Turn
from .local_times import AS_GIVEN, LocalTimes, fixed_offset

MAX_TEXT = 1 << 20  # bytes of UTF-8 of a turn: its text, its caption and its metadata as JSON together
MAX_NAME = 512  # characters of an id, a session or a speaker
ROLES = ("user", "assistant", "system", "tool")


class TurnValidator:
    """Validates the turns of one call.

    An id that is not given is a digest of the content. The same content again in one call gets another id, numbered by
    its occurrence, so that sending the same call again gives the same ids.
    """

    def __init__(self) -> None:
        self._seen: dict[bytes, int] = {}

    def __call__(self, turn: Turn, times: LocalTimes = AS_GIVEN) -> Turn:
        """Return the turn with its time read and its defaults filled in.

        Raise InvalidTurn with the invalid field and its limit.
        """
        if not isinstance(turn, Turn):
            raise InvalidTurn(f"a turn is of type {type(turn).__name__}; expected an evimem.Turn")
        time = _time(turn, times)
        speaker = _name("speaker", turn.speaker)
        session = _name("session", turn.session or time.date().isoformat())
        _text(turn)
        whole = replace(
            turn,
            session=session,
            speaker=speaker,
            time=time,
            role=_role(turn.role, speaker),
            metadata=_metadata(turn),
        )
        _whole_size(whole)
        # The time as it is given: the id of content is the same in a memory that gets a timezone later.
        given = time if None in (turn.time.tzinfo, time.tzinfo) else fixed_offset(turn.time)
        return replace(whole, id=_name("id", turn.id) if turn.id else self._digest_id(whole, given.isoformat()))

    def _digest_id(self, turn: Turn, time: str) -> str:
        content = blake2b(digest_size=15)
        for part in (turn.session, turn.speaker, time, turn.text, turn.caption or ""):
            content.update(part.encode("utf-8", "surrogatepass") + b"\x1f")
        occurrence = self._seen.get(content.digest(), 0)
        self._seen[content.digest()] = occurrence + 1
        return f"{content.hexdigest()}-{occurrence}" if occurrence else content.hexdigest()


def instant(time: datetime) -> int:
    """Return microseconds since 1970-01-01: in UTC for an aware time, on the same unnamed clock for a naive one.

    Computed in whole numbers: a float of seconds has no room for microseconds.
    """
    delta = time - (_EPOCH_AWARE if time.tzinfo else _EPOCH)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


_EPOCH = datetime(1970, 1, 1)
_EPOCH_AWARE = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def _time(turn: Turn, times: LocalTimes) -> datetime:
    given: Any = turn.time
    if isinstance(given, datetime):
        try:
            return times.read(given)
        except (ValueError, TypeError, OverflowError) as error:
            raise InvalidTurn(
                f"the time of turn {shown(turn.id)} cannot be read in the memory's timezone ({error}); expected one "
                "within the calendar, with an offset below a day"
            ) from error
    raise InvalidTurn(
        f"turn {shown(turn.id)} of {shown(turn.speaker)} has time {shown(given)}; expected a datetime or an ISO 8601 "
        "string such as '2024-03-12T18:20', the moment when it was said, or 'now'"
    )


def _name(what: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidTurn(f"{what} is {shown(value)}; expected a non-empty string")
    if len(value) > MAX_NAME:
        raise InvalidTurn(f"{what} {shown(value, 40)} has {len(value)} characters; at most {MAX_NAME} are allowed")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidTurn(f"{what} {shown(value)} has a lone surrogate; give it as valid Unicode") from error
    return value


def _text(turn: Turn) -> None:
    for what, value in (("text", turn.text), ("caption", turn.caption)):
        if value is None and what == "caption":
            continue
        if not isinstance(value, str):
            raise InvalidTurn(f"{what} of turn {shown(turn.id)} is {type(value).__name__}; expected a string")
        size = _bytes(value)
        if size > MAX_TEXT:
            raise InvalidTurn(
                f"{what} of turn {shown(turn.id)} has {size} bytes of UTF-8; at most {MAX_TEXT} are kept a turn: split "
                "it"
            )
    if not turn.text.strip() and not (turn.caption or "").strip():
        raise InvalidTurn(
            f"turn {shown(turn.id)} has neither text nor caption; give one of them, or leave the turn out"
        )


def _whole_size(turn: Turn) -> None:
    if turn.caption is None and not turn.metadata:
        return  # the size of the text alone was checked
    parts = {"text": _bytes(turn.text), "caption": _bytes(turn.caption or "")}
    parts["metadata"] = len(json_bytes(turn.metadata)) if turn.metadata else 0
    if sum(parts.values()) > MAX_TEXT:
        found = ", ".join(f"{size} of {what}" for what, size in parts.items() if size)
        raise InvalidTurn(
            f"turn {shown(turn.id)} has {sum(parts.values())} bytes ({found}); at most {MAX_TEXT} are kept a turn: "
            "split it"
        )


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _role(role: str | None, speaker: str) -> str:
    if role is None:
        return speaker.casefold() if speaker.casefold() in ROLES else "user"
    if role not in ROLES:
        raise InvalidTurn(f"role is {shown(role)}; expected one of {', '.join(ROLES)}, or None")
    return role


def _metadata(turn: Turn) -> dict[str, Any]:
    try:
        kept = orjson.loads(json_bytes(dict(turn.metadata or {}), sort_keys=True))
    except (TypeError, ValueError) as error:
        raise InvalidTurn(
            f"metadata of turn {shown(turn.id)} cannot be kept ({error}); expected a mapping of strings to JSON values"
        ) from error
    return dict(kept)
