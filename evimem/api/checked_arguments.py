"""Arguments of the public calls, checked before anything is done with them: each is valid, or refused."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta
from inspect import iscoroutinefunction
from os import PathLike
from pathlib import Path
from typing import Any, get_args

from ..errors import InvalidQuery, InvalidTurn, describe_safely, shown
from ..loaders.chat_messages import ChatMessage, last_user_text, read_message
from ..page.question import Asked, read_messages
from ..query.analysis import check_asked
from ..raw.validate import AS_GIVEN, LocalTimes
from ..text.memory_fence import without_blocks
from ..types.results import MAX_COUNT, BlockForm, CountTokens, Style
from ..types.stored import Scope
from ..types.trace import Event, Found, Trace
from ..types.type_variables import T
from ..types.values import ROLES, Where

# of whatever service; as a path it has lost a slash
_RETENTION_RANGE = timedelta(days=1), timedelta(days=100 * 365)
Progress = Callable[[int], None]
OnEvent = Callable[[Event], None]
TimeInput = datetime | str


def checked_path(name: str, value: str | PathLike[str]) -> Path:
    """Return a path. Raise InvalidQuery for anything else than a string or an object with `__fspath__`."""
    try:
        path = Path(value)
        os.fsencode(path)
        is_address = re.match(r"[A-Za-z][A-Za-z0-9+.-]*://|postgres(?:ql)?:(?:/|$)", os.fspath(value))
    except (TypeError, UnicodeEncodeError) as error:
        raise InvalidQuery(f"{name} is {shown(value)}; expected a path, as a string or a Path") from error
    if is_address:  # not shown: it may hold a password
        raise InvalidQuery(
            f"{name} is the address of a server; expected a path, or postgresql://role:password@host/database"
        )
    return path


def checked_items(name: str, values: Iterable[T], what: str = "turn ids") -> list[T]:
    """Return the items of a collection. Raise InvalidQuery for a string or a value without items."""
    items = None if isinstance(values, (str, bytes)) else _items(values)
    if items is None:
        raise InvalidQuery(f"{name} is {describe_safely(values)}; expected a collection of {what}")
    return items


def checked_ids(name: str, ids: Iterable[str]) -> list[str]:
    """Return ids of turns. Raise InvalidQuery for a string, a value without items, and other items."""
    items = checked_items(name, ids)
    wrong = [one for one in items if not isinstance(one, str)]
    if wrong:
        raise InvalidQuery(f"{name} holds {describe_safely(wrong[0])}; expected ids of turns, which are strings")
    return items


def checked_exclude(ids: Collection[str]) -> frozenset[str]:
    """Return ids of turns. Raise InvalidQuery for a string or a value without items."""
    return frozenset(one for one in checked_items("exclude", ids) if isinstance(one, str))  # no turn has another


def checked_count(name: str, value: int, least: int = 0) -> int:
    """Return a whole number from `least` to `MAX_COUNT`. Raise InvalidQuery for anything else."""
    if not isinstance(value, int) or not least <= value <= MAX_COUNT:
        raise InvalidQuery(f"{name} is {shown(value)}; expected a whole number from {least} to {MAX_COUNT}")
    return value


def checked_text(name: str, value: str | None) -> str | None:
    """Return a text or None. Raise InvalidQuery for anything else."""
    if value is None or isinstance(value, str):
        return value
    raise InvalidQuery(f"{name} is {shown(value)}; expected a string")


def checked_choice(name: str, value: T, expected: tuple[T, ...]) -> T:
    """Return one of the expected strings. Raise InvalidQuery for anything else."""
    if isinstance(value, str) and value in expected:
        return value
    raise InvalidQuery(f"{name} is {shown(value)}; expected one of {', '.join(map(repr, expected))}")


def checked_messages(messages: Iterable[object]) -> list[ChatMessage]:
    """Return messages as they were read. Raise InvalidQuery for no collection, InvalidTurn for another value."""
    read = []
    for number, message in enumerate(checked_items("messages", messages, "messages"), start=1):
        try:
            read.append(read_message(message))
        except ValueError as error:
            raise InvalidTurn(f"message {number} cannot be stored: {error}") from error
    return read


def checked_question(value: str | Iterable[Mapping[str, Any]]) -> Asked:
    """Return a question, or the newest one in messages, without blocks of evimem. Raise InvalidQuery for neither."""
    messages: list[Mapping[str, Any]] = []
    if not isinstance(value, str):
        messages = checked_items("question_or_messages", value, "messages")
        try:
            value = last_user_text(messages)
        except ValueError as error:
            raise InvalidQuery(f"question_or_messages cannot be read: {error}") from error
    asked = without_blocks(value)
    check_asked("question", asked)
    if not messages:
        return Asked(asked)
    try:
        return read_messages(messages, asked)
    except ValueError as error:
        raise InvalidQuery(f"question_or_messages cannot be read: {error}") from error


def checked_form(
    tokens: int, style: Style, count: CountTokens | None, *, gate: bool, check: bool, profile: bool
) -> BlockForm:
    """Return the form of a block. Raise InvalidQuery for an argument that is not as `Memory.block` describes it."""
    most, written = checked_count("tokens", tokens), checked_choice("style", style, get_args(Style))
    if count is not None and not callable(count):
        raise InvalidQuery(f"count is {shown(count)}; expected a function that returns the tokens of a text, or None")
    return BlockForm(most, written, bool(gate), bool(check), None if count is None else _counting(count), bool(profile))


def _counting(count: CountTokens) -> CountTokens:
    def count_checked(text: str) -> int:
        tokens = count(text)
        if not isinstance(tokens, int) or tokens < 0:
            raise InvalidQuery(f"count returned {shown(tokens)}; expected the number of tokens of a text")
        return tokens

    return count_checked


def checked_time(name: str, value: TimeInput | None, times: LocalTimes = AS_GIVEN) -> datetime | None:
    """Return an argument as a time of a kind. Raise InvalidQuery for anything that is none."""
    if value is None:
        return None
    try:
        given = value if isinstance(value, datetime) else datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
    except (ValueError, AttributeError, TypeError) as error:
        raise InvalidQuery(
            f"{name} is {shown(value, 200)}; expected a datetime, an ISO 8601 string such as "
            "'2024-03-12T18:20', or 'now'"
        ) from error
    try:
        return times.to_local(given)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidQuery(f"{name} is {shown(value)}, which cannot be read in the timezone: {error}") from error


def checked_scope(session: str | None, speaker: str | None, role: str | None, where: Mapping[str, Any] | None) -> Scope:
    """Return the scope of a question. Raise InvalidQuery for an invalid name, role or condition."""
    named = checked_text("session", session), checked_text("speaker", speaker)
    of_role = None if role is None else checked_choice("role", role, ROLES)
    return Scope(*named, of_role, checked_where(where))


def checked_where(value: Mapping[str, Any] | None) -> Where | None:
    """Return conditions on metadata or None. Raise InvalidQuery for invalid ones."""
    try:
        return None if value is None else Where.read(value)
    except ValueError as error:
        raise InvalidQuery(f"where is {shown(value)}: {error}") from error


def checked_on_event(value: OnEvent | None) -> OnEvent | None:
    """Return a function or None. Raise InvalidQuery for anything else, or one that would have to be awaited."""
    if value is None or (callable(value) and not iscoroutinefunction(value)):
        return value
    raise InvalidQuery(f"on_event is {shown(value)}; expected a function of one trace event, not async, or None")


def checked_progress(progress: Progress | None) -> Progress:
    """Return a function, which does nothing for None. Raise InvalidQuery for anything else."""
    if progress is None or callable(progress):
        return progress or (lambda _: None)
    raise InvalidQuery(f"progress is {shown(progress)}; expected a function of one number, or None")


def checked_share(name: str, value: float | None) -> float | None:
    """Return a number from 0 to 1 or None. Raise InvalidQuery for anything else."""
    if value is None or (isinstance(value, (int, float)) and 0 <= value <= 1):
        return value
    raise InvalidQuery(f"{name} is {shown(value)}; expected a share between 0 and 1, such as 0.1")


def checked_kind(name: str, value: T, kind: type[T]) -> T:
    """Return a value of a class, or a string. Raise InvalidQuery, which does not quote it, for anything else."""
    if isinstance(value, kind):
        return value
    expected = "a string" if kind is str else f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
    raise InvalidQuery(f"{name} is {describe_safely(value)}; expected {expected}")


def checked_price(value: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return dollars per million tokens, input and output, or None. Raise InvalidQuery for anything else."""
    if value is None:
        return None
    pair = None if isinstance(value, (str, bytes)) else _items(value)
    if pair is None or len(pair) != 2 or not all(_is_amount(one) for one in pair):
        raise InvalidQuery(f"price is {shown(value)}; expected dollars per million input and output tokens")
    return pair[0], pair[1]


def checked_part(name: str, value: Any, methods: tuple[str, ...], fields: dict[str, type] | None = None) -> Any:
    """Return a collaborator that has these methods, and fields of these types. Raise InvalidQuery for another."""
    missing = [method for method in methods if not callable(getattr(value, method, None))]
    wrong = [field for field, kind in (fields or {}).items() if not _is_kind(getattr(value, field, None), kind)]
    if missing or wrong:
        raise InvalidQuery(
            f"{name} is {shown(value)}; expected an object with {', '.join((*methods, *(fields or {})))}, and it has "
            f"no usable {', '.join((*missing, *wrong))}"
        )
    return value


def checked_retention(value: str | timedelta | None) -> timedelta | None:
    """Return how long turns are kept. Raise InvalidQuery for no time span of at least a day."""
    if value is None:
        return None
    found = re.fullmatch(r"([0-9]{1,6})([dwy])", value) if isinstance(value, str) else None
    kept = timedelta(days=int(found[1]) * {"d": 1, "w": 7, "y": 365}[found[2]]) if found else value
    if not isinstance(kept, timedelta) or not _RETENTION_RANGE[0] <= kept <= _RETENTION_RANGE[1]:
        raise InvalidQuery(f"retain is {shown(value)}; expected 1 day to 100 years, such as 365d, 8w or 2y")
    return kept


def checked_clock(clock: Callable[[], float]) -> Callable[[], float]:
    """Return the clock with each of its times checked. Raise InvalidQuery for a value that is no function."""
    if not callable(clock):
        raise InvalidQuery(f"clock is {shown(clock)}; expected a function that returns seconds since 1970")

    def seconds() -> float:
        now = clock()
        if not isinstance(now, (int, float)) or not abs(now) <= 1e12:
            raise InvalidQuery(f"clock returned {shown(now)}; expected seconds since 1970")
        return float(now)

    return seconds


def _items(values: Iterable[T]) -> list[T] | None:
    try:
        items = iter(values)
    except TypeError:
        return None
    return list(items)


def _is_amount(value: object) -> bool:
    return isinstance(value, (int, float)) and 0 <= value <= sys.float_info.max


def _is_kind(value: object, kind: type) -> bool:
    if kind is int:
        # With up to 2**17 dimensions sums of products of quantized values stay below 2**31.
        return isinstance(value, int) and 0 < value <= 2**17
    return isinstance(value, kind) and value != ""


def checked_trace(trace: Trace) -> Trace:
    """Return a trace of a question with its events. Raise InvalidQuery for anything else."""
    checked_kind("trace", trace, Trace)
    if not isinstance(trace.question, str) or not isinstance(trace.loop, str) or not isinstance(trace.events, tuple):
        raise InvalidQuery(f"trace is {shown(trace)}; expected one that ask() recorded")
    for event in trace.events:
        if not isinstance(event, get_args(Event)) or (isinstance(event, Found) and not _are_texts(event.turns)):
            raise InvalidQuery(f"an event of the trace is {shown(event)}; expected those that ask() recorded")
    if not isinstance(trace.read, Mapping) or not _are_texts((*trace.read, *trace.read.values())):
        raise InvalidQuery(f"what the trace read is {shown(trace.read)}; expected digests by the ids of turns")
    try:
        trace.to_json()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidQuery(f"the trace holds what JSON has not ({error}); expected one that ask() recorded") from error
    return trace


def _are_texts(values: object) -> bool:
    return isinstance(values, tuple) and all(isinstance(one, str) for one in values)
