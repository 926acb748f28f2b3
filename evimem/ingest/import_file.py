"""Export and import: a memory as lines of JSON, every turn verbatim in order of arrival, with the facts found in it.

A file is read twice. The first pass validates every line, so that a malformed file leaves nothing behind; the second
writes batch by batch, each durable, as `extend` does. Only the ids of turns are held in memory, as digests.
"""

from __future__ import annotations

import json
import os
import re
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn, TypeVar, cast

from ..db.atomic_files import changing, open_regular, replace_with, sweep
from ..db.connection import check_readable, check_replaceable
from ..errors import Attempt, ImportFailed, InvalidTurn, StoreError, attempt
from ..extract.rule_extractor import MAX_FACTS, RuleExtractor, fact_fault
from ..flow import Flow
from ..llm.extract_facts import MAX_CHARACTERS
from ..protocols import Extractor, Store
from ..raw.validate import AS_GIVEN, LocalTimes, TurnValidator
from ..text.grounding import Sources
from ..types.results import AddReport
from ..types.stored import EARLIER, OF_A_MODEL, JobKind
from ..types.values import Fact, Granularity, TimeSpan, Turn
from .add import BATCH, Ingestion

T = TypeVar("T")
FORMAT = 1
HEADER = "evimem"  # the key of the first line; its value is the format
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
MAX_LINE = 32 << 20  # bytes: a turn and its facts at their bounds, every character escaped
_TURN_STRINGS = ("id", "session", "speaker", "text", "time", "role")
_FACT_STRINGS = ("id", "turn_id", "subject", "predicate", "object", "kind", "extractor")
_FACT_FIELDS = frozenset((*_FACT_STRINGS, "span", "event"))
_TURN_FIELDS = frozenset((*_TURN_STRINGS, "caption", "metadata"))
_EVENT_FIELDS = frozenset(("start", "end", "granularity", "text"))

Pair = tuple[Turn, tuple[Fact, ...]]

_SESSIONS = 1_000  # whose last turns are kept while a file is read


def export_lines(pairs: Iterable[tuple[Turn, tuple[Fact, ...]]]) -> Iterator[bytes]:
    """Yield a header, one line a turn with its facts, and a last line with their number, which a cut file lacks."""
    yield _line({HEADER: FORMAT})
    count = 0
    for turn, facts in pairs:
        count += 1
        yield _line({"turn": _plain(turn), "facts": [_plain(fact) for fact in facts]})
    yield _line({"end": count})


def write_export(
    path: Path, pairs: Iterable[tuple[Turn, tuple[Fact, ...]]], progress: Callable[[int], None] = lambda turns: None
) -> None:
    """Write an export, readable by its owner only; after a crash there is no file that looks whole.

    Call `progress` with 1 after each turn. Raise StoreError where the path is that of a database or of what is no file,
    DiskFull or StoreReadOnly where the system refuses the write.
    """
    check_replaceable(path)
    with changing(repr(str(path)), "there is no export"):
        sweep(path)  # temporary files of exports that were killed hold the same turns
        with replace_with(path) as file:
            for line in export_lines(_counted(pairs, progress)):
                file.write(line)


def _counted(pairs: Iterable[T], progress: Callable[[int], None]) -> Iterator[T]:
    for pair in pairs:
        yield pair
        progress(1)


def _line(value: dict[str, Any]) -> bytes:
    # orjson refuses lone surrogates; the standard library escapes them. A high and a low one side by side would be read
    # back from their escapes as one character, so such a line is written as the bytes that json.loads reads as two.
    line = _dumps(value, ensure_ascii=False)
    try:
        return line.encode()
    except UnicodeEncodeError:
        return line.encode("utf-8", "surrogatepass") if _PAIR.search(line) else _dumps(value).encode()


def _dumps(value: dict[str, Any], *, ensure_ascii: bool = True) -> str:
    return json.dumps(value, separators=(",", ":"), default=datetime.isoformat, ensure_ascii=ensure_ascii) + "\n"


def _plain(value: Turn | Fact | TimeSpan) -> dict[str, Any]:
    """Return the fields that hold something. `replaced_by` is left out: an import decides it again."""
    parts = {one.name: getattr(value, one.name) for one in fields(value) if one.name != "replaced_by"}
    return {
        name: _plain(part) if isinstance(part, TimeSpan) else part
        for name, part in parts.items()
        if part not in (None, {})
    }


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


class StatedTurn(NamedTuple):
    """A turn of an export with the facts that it states; `unread` where reading it raised, and that decides."""

    turn: Turn
    facts: tuple[Fact, ...]
    unread: bool


def stated(pairs: Iterable[Pair], extractor: str) -> Iterator[StatedTurn]:
    """Yield turns with those of their facts whose words stand in the turn, or in those before it in its session.

    The others are left out, as those of a model are: what they stood in may be a turn that was forgotten since. Facts
    of `extractor` are taken at their word if it is the caller's own: whoever opened the memory with it trusts it.
    """
    trusted = None if extractor == RuleExtractor.name else extractor
    earlier: OrderedDict[str, deque[str]] = OrderedDict()
    for turn, facts in pairs:
        near = earlier.setdefault(turn.session, deque(maxlen=EARLIER))
        earlier.move_to_end(turn.session)
        if len(earlier) > _SESSIONS:
            earlier.popitem(last=False)
        words = " ".join((turn.speaker, turn.text[:MAX_CHARACTERS], turn.caption or ""))
        unstated = _unstated(turn, [fact for fact in facts if fact.extractor != trusted], words, near)
        yield StatedTurn(
            turn, tuple(fact for fact in facts if fact.id not in unstated.value), unstated.error is not None
        )
        near.append(words)


def _unstated(turn: Turn, facts: list[Fact], words: str, near: Iterable[str]) -> Attempt[set[str]]:
    """Return the ids of the facts of a turn that have words from nowhere, and that no rule finds in it."""
    for texts in ((turn.text, words), (turn.text, words, *near)):
        if not facts:
            break
        sources = Sources(texts)
        facts = [fact for fact in facts if not (sources.anchor(fact.subject) and sources.anchor(fact.object))]
    if not facts:
        return Attempt(set())
    by_rule = attempt((), RuleExtractor().extract, turn)
    return Attempt({fact.id for fact in facts} - {fact.id for fact in by_rule.value}, by_rule.error)


def import_batches(
    store: Store,
    path: Path,
    extractor: Extractor,
    *,
    deferred: bool,
    jobs: tuple[JobKind, ...],
    times: LocalTimes = AS_GIVEN,
) -> Iterator[Flow[AddReport]]:
    """Validate a whole export, then yield a flow for each batch of its turns.

    `deferred`, `jobs` and `times` are those of `Ingestion`; `extractor` is that of the memory. Raise
    ImportFailed, before the first flow, for a file that is no whole and well-formed export.
    """
    with _opened(path) as file:
        before = _version(file)
        for _ in read_export(path, file):
            pass
        file.seek(0)
        pairs = stated(read_export(path, file), extractor.name)
        while batch := _batch(path, file, pairs, before):
            exported = _ExportedFacts(
                extractor, {one.turn.id: (one.turn, _read(path, one.facts, times)) for one in batch}
            )
            unread = frozenset(one.turn.id for one in batch if one.unread)
            ingestion = Ingestion(store, exported, deferred=deferred, jobs=jobs, times=times, unread=unread)
            yield ingestion.store([one.turn for one in batch])


def _read(path: Path, facts: tuple[Fact, ...], times: LocalTimes) -> tuple[Fact, ...]:
    try:
        return tuple(map(times.read_fact, facts))
    except OverflowError as error:
        raise ImportFailed(f"{str(path)!r} has an event at the edge of the calendar ({error})") from error


def _batch(path: Path, file: BinaryIO, pairs: Iterator[StatedTurn], before: tuple[int, int]) -> list[StatedTurn]:
    """Return the next turns of a validated file. Raise ImportFailed where it was changed since."""
    try:
        return list(islice(pairs, BATCH))
    finally:
        if _version(file) != before:
            raise ImportFailed(f"{str(path)!r} was changed while it was read; import it again when it is complete")


def read_export(path: Path, file: BinaryIO) -> Iterator[Pair]:
    """Yield the turns of an open export with their facts. Raise ImportFailed, with the line, for anything else."""
    rules = _ExportRules()
    number = 0
    for number, line in enumerate(_lines(file), start=1):
        try:
            pair = rules.take(number, line)
        except (MalformedError, InvalidTurn) as error:
            raise ImportFailed(f"{str(path)!r} line {number}: {str(error)[:400]}") from error
        if pair is not None:
            yield pair
    if rules.end is None:
        raise ImportFailed(
            f"{str(path)!r} is cut short after line {number}, with {rules.count} turns; "
            'expected a last line {"end": number of turns}'
        )


@dataclass(slots=True)
class _ExportRules:
    """What must hold between the lines of a file: header first, end last, ids once, one kind of times."""

    count: int = 0
    end: int | None = None
    aware: bool | None = None
    ids: set[bytes] = field(default_factory=set)

    def take(self, number: int, line: bytes) -> Pair | None:
        """Return the turn of a line with its facts, or None for the first and the last line."""
        value = parsed(line)
        if number == 1:
            check_header(value)
        elif self.end is not None:
            raise MalformedError("a line after the end; expected none")
        elif "end" in value:
            self._close(value)
        else:
            pair = pair_of(value)
            self._check_turn(pair[0])
            return pair
        return None

    def _close(self, value: dict[str, Any]) -> None:
        if type(value["end"]) is not int or value["end"] != self.count or len(value) != 1:
            found = f"an end of {shown(value['end'])} after {self.count} turns"
            raise MalformedError(f'{found}; expected {{"end": {self.count}}}: was the file cut or edited?')
        self.end = self.count

    def _check_turn(self, turn: Turn) -> None:
        aware = turn.time.tzinfo is not None
        if self.aware not in (None, aware):
            kinds = ("with", "without") if aware else ("without", "with")
            raise MalformedError(
                f"turn {turn.id[:40]!r} has a time {kinds[0]} a UTC offset; expected one {kinds[1]}, as before"
            )
        name = blake2b(turn.id.encode(), digest_size=16).digest()
        if name in self.ids:
            raise MalformedError(f"turn {turn.id[:40]!r} for the second time; expected each id once")
        self.aware = aware
        self.ids.add(name)
        self.count += 1


@dataclass(frozen=True, slots=True)
class _ExportedFacts:
    """An extractor that returns the facts that were exported with each turn of a batch.

    Where the day or hour of a turn is another one in the timezone of this memory, the memory's own extractor reads what
    "yesterday" in it is. Where a model found facts, a turn has no others.
    """

    own: Extractor
    exported: dict[str, tuple[Turn, tuple[Fact, ...]]]

    @property
    def name(self) -> str:
        return self.own.name

    def extract(self, turn: Turn) -> tuple[Fact, ...]:
        given, facts = self.exported[turn.id]
        if given.time.replace(tzinfo=None) != turn.time.replace(tzinfo=None):
            facts = (*self.own.extract(turn), *(fact for fact in facts if fact.extractor != self.name))
        return tuple(fact for fact in facts if fact.extractor == OF_A_MODEL) or facts


def _opened(path: Path) -> BinaryIO:
    try:
        check_readable(path)
        return open_regular(path)
    except (OSError, ValueError, StoreError) as error:
        raise ImportFailed(f"{str(path)!r} cannot be read ({error}); expected a file that export() wrote") from error


def _version(file: BinaryIO) -> tuple[int, int]:
    found = os.fstat(file.fileno())
    return found.st_size, found.st_mtime_ns


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield lines; of a longer one than MAX_LINE, only so much that its length shows."""
    while line := file.readline(MAX_LINE + 1):
        yield line
