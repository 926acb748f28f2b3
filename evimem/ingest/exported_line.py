"""The lines of an export as values: parsed, typed and within the bounds of turns and facts, or refused."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NoReturn, cast

from ..extract.fact_bounds import MAX_FACTS, fact_fault
from ..raw import TurnValidator
from ..types.values import Fact, Granularity, TimeSpan, Turn
from .export import FORMAT, HEADER

MAX_LINE = 32 << 20  # bytes: a turn and its facts at their bounds, every character escaped
_TURN_STRINGS = ("id", "session", "speaker", "text", "time", "role")
_FACT_STRINGS = ("id", "turn_id", "subject", "predicate", "object", "kind", "extractor")
_FACT_FIELDS = frozenset((*_FACT_STRINGS, "span", "event"))
_TURN_FIELDS = frozenset((*_TURN_STRINGS, "caption", "metadata"))
_EVENT_FIELDS = frozenset(("start", "end", "granularity", "text"))

Pair = tuple[Turn, tuple[Fact, ...]]


class MalformedError(ValueError):
    """A line is not what `write_export` writes; the message says what was found and what was expected."""


def parsed(line: bytes) -> dict[str, Any]:
    """Return the JSON object of a line. Raise MalformedError for anything else, or for a line beyond MAX_LINE."""
    if len(line) > MAX_LINE:
        raise MalformedError(f"longer than {MAX_LINE >> 20} MiB; expected one turn with its facts")
    try:
        value = json.loads(line.decode("utf-8", "surrogatepass"), parse_constant=_no_constant)
    except RecursionError:
        raise MalformedError("JSON that is nested too deeply; expected an object of an export") from None
    except ValueError as error:
        raise MalformedError(f"not JSON ({str(error)[:120]}); expected an object of an export") from error
    return _object("the line", value, None)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def check_header(value: dict[str, Any]) -> None:
    """Raise MalformedError for a first line that is not the header of this format."""
    found = value.get(HEADER)
    if type(found) is not int or found != FORMAT or len(value) != 1:
        wanted = f'{{"{HEADER}": {FORMAT}}}'
        raise MalformedError(f"{shown(value)}; expected the header {wanted} (for other files: `evimem ingest`)")


def pair_of(value: dict[str, Any]) -> Pair:
    """Return the turn of a line with its facts. Raise MalformedError or InvalidTurn."""
    _object("the line", value, frozenset(("turn", "facts")))
    turn = _turn(_object("the turn", _required(value, "turn", "the line"), _TURN_FIELDS))
    listed = _required(value, "facts", "the line")
    if not isinstance(listed, list) or len(listed) > MAX_FACTS:
        raise MalformedError(f"facts is {shown(listed)}; expected a list of at most {MAX_FACTS}")
    facts = tuple(_fact(_object(f"fact {at}", one, _FACT_FIELDS), at, turn) for at, one in enumerate(listed, start=1))
    if len({fact.id for fact in facts}) < len(facts):
        raise MalformedError("one fact twice; expected each fact once")
    return turn, facts


def _turn(value: dict[str, Any]) -> Turn:
    strings: dict[str, Any] = {name: _string(value, name, "the turn") for name in _TURN_STRINGS}
    caption = _string(value, "caption", "the turn") if "caption" in value else None
    metadata = _object("metadata", value.get("metadata", {}), None)
    turn = Turn(**strings, caption=caption, metadata=metadata)  # parses the time; TurnValidator refuses what is none
    if TurnValidator()(turn) != turn:
        raise MalformedError(f"turn {turn.id[:40]!r} has an empty id or session, or metadata that JSON cannot hold")
    return turn


def _fact(value: dict[str, Any], at: int, turn: Turn) -> Fact:
    what = f"fact {at}"
    strings = {name: _string(value, name, what) for name in _FACT_STRINGS}
    event = _event(_object(f"the event of {what}", value["event"], _EVENT_FIELDS), what) if "event" in value else None
    fact = Fact(**strings, event=event, span=_span(_required(value, "span", what), what))
    if fault := fact_fault(fact, turn):
        raise MalformedError(f"{what}: {fault}")
    return fact


def _span(value: Any, what: str) -> tuple[int, int]:
    if isinstance(value, list) and len(value) == 2 and all(type(one) is int and abs(one) < 1 << 32 for one in value):
        return value[0], value[1]
    raise MalformedError(f"the span of {what} is {shown(value)}; expected two positions, [start, end]")


def _event(value: dict[str, Any], what: str) -> TimeSpan:
    bounds = [_moment(value, name, what) for name in ("start", "end")]
    granularity = cast(Granularity, _string(value, "granularity", f"the event of {what}"))
    return TimeSpan(bounds[0], bounds[1], granularity, _string(value, "text", f"the event of {what}"))


def _moment(value: dict[str, Any], name: str, what: str) -> datetime | None:
    if name not in value:
        return None
    text = _string(value, name, f"the event of {what}")
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise MalformedError(f"{name} of the event of {what} is {shown(text)}; expected an ISO 8601 time") from None


def _object(what: str, value: Any, known: Iterable[str] | None) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedError(f"{what} is {shown(value)}; expected an object")
    if known is not None and (unknown := sorted(set(value).difference(known))):
        raise MalformedError(f"{what} has the unknown field {shown(unknown[0])}; expected {', '.join(sorted(known))}")
    return value


def _required(value: dict[str, Any], name: str, what: str) -> Any:
    if name not in value:
        raise MalformedError(f"{what} has no {name}; expected one")
    return value[name]


def _string(value: dict[str, Any], name: str, what: str) -> str:
    found = _required(value, name, what)
    if not isinstance(found, str):
        raise MalformedError(f"{name} of {what} is {shown(found)}; expected a string")
    return found


def shown(value: Any) -> str:
    """Return a value for a message: short, and never a whole turn or a deep structure."""
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)} entries"
    text = repr(value[:40] if isinstance(value, str) else value)
    return text if len(text) <= 80 else f"{text[:80]}..."
