"""Turns before they are stored: the limits and defaults of their fields, and their times, all aware or all naive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone, tzinfo
from hashlib import blake2b
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import orjson

from ..db.tables import Tables
from ..db.turn_sql import select_first_last_and_count
from ..errors import InvalidQuery, InvalidTurn, shown
from ..types.public_value import json_bytes
from ..types.values import ROLES, Fact, Turn, instant

MAX_TEXT = 1 << 20  # bytes of UTF-8 of a turn: its text, its caption and its metadata as JSON together
MAX_NAME = 512  # characters of an id, a session or a speaker


@dataclass(frozen=True, slots=True)
class LocalTimes:
    """Brings times to the kind of a memory: `aware` or naive, read and written as times of `zone`.

    Without a zone, times stay as they are given. Of a naive time that a clock shows twice, `fold` says which is meant.
    """

    zone: tzinfo | None = None
    aware: bool = True

    def to_local(self, time: datetime) -> datetime:
        """Return a time as one of the memory's kind. Raise OverflowError for one at the edge of the calendar."""
        given = with_fixed_offset(time)
        if self.zone is None:
            return given
        if given.tzinfo is None:
            return with_fixed_offset(given.replace(tzinfo=self.zone)) if self.aware else given
        return self._with_fixed_offset(given.astimezone(self.zone))

    def local_now(self, seconds: float, *, naive: bool) -> datetime:
        """Return a moment, in seconds since 1970, as a time of the memory's kind, which `naive` is without a zone.

        Without a zone, an aware time is one of UTC, and a naive one is read in the zone of the machine. Raise
        OverflowError, ValueError or OSError for a moment beyond the calendar.
        """
        if self.zone is None:
            return datetime.fromtimestamp(seconds, None if naive else timezone.utc).replace(fold=0)
        return self._with_fixed_offset(datetime.fromtimestamp(seconds, self.zone))

    def _with_fixed_offset(self, local: datetime) -> datetime:
        return with_fixed_offset(local) if self.aware else local.replace(tzinfo=None, fold=0)

    def localize_fact(self, fact: Fact) -> Fact:
        """Return a fact with the edges of its event as `to_local` reads times. Raise OverflowError as that."""
        if fact.event is None or fact.event.start is None or fact.event.end is None:
            return fact
        return replace(
            fact, event=replace(fact.event, start=self.to_local(fact.event.start), end=self.to_local(fact.event.end))
        )


AS_GIVEN = LocalTimes()


def with_fixed_offset(time: datetime) -> datetime:
    """Return a time with its offset instead of a zone, as it is read back from a file: derived values are then equal.

    Raise ValueError, TypeError or OverflowError for an offset that a tzinfo of the caller cannot give.
    """
    return time if time.tzinfo is None else datetime.fromisoformat(datetime.isoformat(time))


def parse_timezone(name: object) -> tzinfo:
    """Return the zone of an IANA name such as "Europe/Madrid". Raise InvalidQuery for any other value."""
    try:
        if isinstance(name, str):
            return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    raise InvalidQuery(
        f"timezone is {shown(name)}; expected an IANA name such as 'Europe/Madrid' (where the system has no database "
        "of timezones: pip install tzdata)"
    )


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
        time = _check_time(turn, times)
        speaker = _check_name("speaker", turn.speaker)
        session = _check_name("session", turn.session or time.date().isoformat())
        _check_text(turn)
        whole = replace(
            turn,
            session=session,
            speaker=speaker,
            time=time,
            role=_check_role(turn.role, speaker),
            metadata=_check_metadata(turn),
        )
        _check_size(whole)
        # The time as it is given: the id of content is the same in a memory that gets a timezone later.
        given = time if None in (turn.time.tzinfo, time.tzinfo) else with_fixed_offset(turn.time)
        return replace(
            whole, id=_check_name("id", turn.id) if turn.id else self._make_content_id(whole, given.isoformat())
        )

    def _make_content_id(self, turn: Turn, time: str) -> str:
        content = blake2b(digest_size=15)
        for part in (turn.session, turn.speaker, time, turn.text, turn.caption or ""):
            content.update(part.encode("utf-8", "surrogatepass") + b"\x1f")
        occurrence = self._seen.get(content.digest(), 0)
        self._seen[content.digest()] = occurrence + 1
        return f"{content.hexdigest()}-{occurrence}" if occurrence else content.hexdigest()


def _check_time(turn: Turn, times: LocalTimes) -> datetime:
    given: Any = turn.time
    if isinstance(given, datetime):
        try:
            return times.to_local(given)
        except (ValueError, TypeError, OverflowError) as error:
            raise InvalidTurn(
                f"the time of turn {shown(turn.id)} cannot be read in the memory's timezone ({error}); expected one "
                "within the calendar, with an offset below a day"
            ) from error
    raise InvalidTurn(
        f"turn {shown(turn.id)} of {shown(turn.speaker)} has time {shown(given)}; expected a datetime or an ISO 8601 "
        "string such as '2024-03-12T18:20', the moment when it was said, or 'now'"
    )


def _check_name(what: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidTurn(f"{what} is {shown(value)}; expected a non-empty string")
    if len(value) > MAX_NAME:
        raise InvalidTurn(f"{what} {shown(value, 40)} has {len(value)} characters; at most {MAX_NAME} are allowed")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidTurn(f"{what} {shown(value)} has a lone surrogate; give it as valid Unicode") from error
    return value


def _check_text(turn: Turn) -> None:
    for what, value in (("text", turn.text), ("caption", turn.caption)):
        if value is None and what == "caption":
            continue
        if not isinstance(value, str):
            raise InvalidTurn(f"{what} of turn {shown(turn.id)} is {type(value).__name__}; expected a string")
        size = _count_bytes(value)
        if size > MAX_TEXT:
            raise InvalidTurn(
                f"{what} of turn {shown(turn.id)} has {size} bytes of UTF-8; at most {MAX_TEXT} are kept a turn: split "
                "it"
            )
    if not turn.text.strip() and not (turn.caption or "").strip():
        raise InvalidTurn(
            f"turn {shown(turn.id)} has neither text nor caption; give one of them, or leave the turn out"
        )


def _check_size(turn: Turn) -> None:
    if turn.caption is None and not turn.metadata:
        return  # the size of the text alone was checked
    parts = {"text": _count_bytes(turn.text), "caption": _count_bytes(turn.caption or "")}
    parts["metadata"] = len(json_bytes(turn.metadata)) if turn.metadata else 0
    if sum(parts.values()) > MAX_TEXT:
        found = ", ".join(f"{size} of {what}" for what, size in parts.items() if size)
        raise InvalidTurn(
            f"turn {shown(turn.id)} has {sum(parts.values())} bytes ({found}); at most {MAX_TEXT} are kept a turn: "
            "split it"
        )


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _check_role(role: str | None, speaker: str) -> str:
    if role is None:
        return speaker.casefold() if speaker.casefold() in ROLES else "user"
    if role not in ROLES:
        raise InvalidTurn(f"role is {shown(role)}; expected one of {', '.join(ROLES)}, or None")
    return role


def _check_metadata(turn: Turn) -> dict[str, Any]:
    try:
        kept = orjson.loads(json_bytes(dict(turn.metadata or {}), sort_keys=True))
    except (TypeError, ValueError) as error:
        raise InvalidTurn(
            f"metadata of turn {shown(turn.id)} cannot be kept ({error}); expected a mapping of strings to JSON values"
        ) from error
    return dict(kept)


def fix_timezone(db: Tables, name: str | None) -> LocalTimes:
    """Record the timezone in which naive times are read, or take the recorded one; return how times are read.

    A memory that holds naive times keeps them, and aware ones become naive local times of the zone. Every other memory
    with a timezone holds local times with their offset from then on, so that two turns in the hour that a clock repeats
    keep their order. Times that were stored before are brought to the zone by a rebuild.

    Raises:
        InvalidQuery: The name is that of no zone, or the memory holds turns read in another one.
    """
    zone = None if name is None else parse_timezone(name)
    kept = db.read_meta("timezone", "clock")
    if name is not None and kept.get("timezone") != name:
        first = db.read_value(*select_first_last_and_count(1)[0])
        if "timezone" in kept and first is not None:
            raise InvalidQuery(
                f"timezone is {name!r} but this memory reads naive times in {kept['timezone']!r}; open it with that"
            )
        kind = "aware" if first is None else _time_kind(datetime.fromisoformat(first))
        kept = {"clock": kind} | kept | {"timezone": name}
        for key, value in kept.items():
            db.set_meta(key, value)
    if zone is None and "timezone" in kept:
        zone = parse_timezone(kept["timezone"])
    return AS_GIVEN if zone is None else LocalTimes(zone, aware=kept.get("clock") == "aware")


class MemoryClock:
    """The kind of times that a memory holds, aware or naive: naive ones have no instant to compare with aware ones.

    The first turn of a memory without a timezone decides. With a timezone, times were brought to one kind before (see
    `LocalTimes`).
    """

    def __init__(self, db: Tables) -> None:
        self._db = db
        self._kept = self._kind = db.read_meta_value("clock")

    def admits_time_of(self, turn: Turn) -> bool:
        """Whether the time of a turn is of the kind that the memory holds."""
        return self._kind in (None, _time_kind(turn.time))

    def refusal(self, turn: Turn) -> InvalidTurn | None:
        """Return why a turn is not stored, a naive time with aware ones or the other way round; None where it is."""
        kind = _time_kind(turn.time)
        self._kind = self._kind or kind
        if self._kind == kind:
            return None
        return InvalidTurn(
            f"turn {shown(turn.id)} has the {kind} time {turn.time.isoformat()!r} but this memory holds {self._kind} "
            "times; open it with timezone='Europe/Madrid', or the zone in which naive times are meant, to add both, or "
            f"give every time {'with' if self._kind == 'aware' else 'without'} a UTC offset"
        )

    def save_time_kind(self) -> None:
        """Record the decisions that follow from the turns that were not refused."""
        if self._kind is not None and self._kind != self._kept:
            self._db.set_meta("clock", self._kind)
            self._kept = self._kind


def _time_kind(time: datetime) -> str:
    return "aware" if time.tzinfo else "naive"


def reset_time_kind(db: Tables) -> None:
    """Let the next turn decide again, in a memory without turns; one with a timezone keeps its kind of times."""
    if db.read_meta_value("timezone") is None:
        db.delete_meta("clock")


def find_wrong_instants(db: Tables) -> list[tuple[int, int]]:
    """Return (right instant, sequence number) of the turns whose stored instant is not that of their time."""
    times = db.select("turn", "seq, time, instant", "seq")
    right = ((instant(datetime.fromisoformat(time)), seq, kept) for seq, time, kept in times)
    return [(found, seq) for found, seq, kept in right if found != kept]


def set_instants(db: Tables, instants: Sequence[tuple[int, int]]) -> None:
    """Correct the stored instants of turns, given as `find_wrong_instants` returns them."""
    db.update("turn", "instant", "seq", instants)
