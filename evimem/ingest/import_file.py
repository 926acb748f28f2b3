"""Export and import: a memory as lines of JSON, every turn verbatim in order of arrival, with the facts found in it.

A file is read twice. The first pass validates every line, so that a malformed file leaves nothing behind; the second
writes batch by batch, each durable, as `extend` does. Only the ids of turns are held in memory, as digests.
"""

from __future__ import annotations

import json
import os
import re
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import datetime
from functools import partial
from hashlib import blake2b
from itertools import groupby, islice
from pathlib import Path
from typing import Any, BinaryIO

from ..db.atomic_files import delete_stale_temporaries, open_regular, replace_with, translate_os_errors
from ..db.connection import check_readable, check_replaceable
from ..errors import Attempt, ImportFailed, InvalidTurn, StoreError, describe_safely, shown, try_read
from ..extract.rule_extractor import MAX_FACTS, RuleExtractor, find_fact_fault
from ..flow import Flow
from ..llm.extract_facts import MAX_EXTRACTED_CHARACTERS
from ..loaders.json_values import parse_json
from ..protocols import Extractor, Store
from ..raw.validate import AS_GIVEN, LocalTimes, TurnValidator
from ..text.names import SourceWords
from ..types.results import AddReport
from ..types.stored import MAX_EARLIER_TURNS, OF_A_MODEL, ForgottenMarks, ForgottenPlace, JobKind
from ..types.type_variables import T
from ..types.values import Fact, TimeSpan, Turn
from .add import BATCH_TURNS, Ingestion, read_facts

EXPORT_FORMAT_VERSION = 1
HEADER = "evimem"  # the key of the first line; its value is the format
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
MAX_LINE = 32 << 20  # bytes: a turn and its facts at their bounds, every character escaped

Pair = tuple[Turn, tuple[Fact, ...]]
Item = Pair | ForgottenMarks | ForgottenPlace  # of an export
_Fields = Mapping[str, type]  # of an object, by name; those that may be left out end in "?"

_LINE: _Fields = {"turn": dict, "facts": list}
_TURN: _Fields = {
    **dict.fromkeys(("id", "session", "speaker", "text", "time", "role"), str),
    "caption?": str,
    "metadata?": dict,
}
_FACT: _Fields = {
    **dict.fromkeys(("id", "turn_id", "subject", "predicate", "object", "kind", "extractor"), str),
    "span": list,
    "event?": dict,
    "attribute?": str,
}
_MARKS: _Fields = {"keys": list, "marks": list}
_PLACE: _Fields = {"session": str, "count": int, "taken?": str}
_NO_MARKS = "marks or places of forgotten turns are of another form; expected those that an export holds"
_KINDS: dict[Any, str] = {int: "a whole number", str: "a string", list: "a list", dict: "an object"}


def export_lines(items: Iterable[Item]) -> Iterator[bytes]:
    """Yield a header, a line a turn or forgotten place, and last the number of turns, which a cut file lacks."""
    yield _json_line({HEADER: EXPORT_FORMAT_VERSION})
    count = 0
    for item in items:
        if isinstance(item, ForgottenMarks):
            yield _json_line({"forgotten": {"keys": item.keys, "marks": [mark.hex() for mark in item.marks]}})
            continue
        if isinstance(item, ForgottenPlace):
            taken = {} if item.taken is None else {"taken": item.taken}
            yield _json_line({"place": {"session": item.session.hex(), "count": item.count, **taken}})
            continue
        turn, facts = item
        count += 1
        yield _json_line({"turn": _to_plain_fields(turn), "facts": [_to_plain_fields(fact) for fact in facts]})
    yield _json_line({"end": count})


def write_export(path: Path, items: Iterable[Item], progress: Callable[[int], None] = lambda turns: None) -> None:
    """Write an export, readable by its owner only; after a crash there is no file that looks whole.

    Call `progress` with 1 after each turn. Raise StoreError where the path is that of a database or of no regular file,
    DiskFull or StoreReadOnly where the system refuses the write.
    """
    check_replaceable(path)
    with translate_os_errors(repr(str(path)), "there is no export"):
        delete_stale_temporaries(path)  # temporary files of exports that were killed hold the same turns
        with replace_with(path) as file:
            for line in export_lines(items):
                file.write(line)
                if line.startswith(b'{"turn":'):
                    progress(1)


def _json_line(value: dict[str, Any]) -> bytes:
    # orjson refuses lone surrogates; the standard library escapes them. A high and a low one side by side would be read
    # back from their escapes as one character, so such a line is written as the bytes that json.loads reads as two.
    def dump_line(*, ensure_ascii: bool) -> str:
        return json.dumps(value, separators=(",", ":"), default=datetime.isoformat, ensure_ascii=ensure_ascii) + "\n"

    line = dump_line(ensure_ascii=False)
    try:
        return line.encode()
    except UnicodeEncodeError:
        return line.encode("utf-8", "surrogatepass") if _PAIR.search(line) else dump_line(ensure_ascii=True).encode()


def _to_plain_fields(value: Turn | Fact | TimeSpan) -> dict[str, Any]:
    """Return the fields that hold something. `replaced_by` is left out: an import decides it again."""
    parts = {one.name: getattr(value, one.name) for one in fields(value) if one.name != "replaced_by"}
    return {
        name: _to_plain_fields(part) if isinstance(part, TimeSpan) else part
        for name, part in parts.items()
        if part not in (None, {}) and (name, part) != ("attribute", "")
    }


def count_exported_turns(path: Path) -> int | None:
    """Return how many turns an export says that it holds; None where it does not say so, and for no regular file."""
    with suppress(OSError, ValueError, KeyError, TypeError), open_regular(path) as file:
        file.seek(max(0, path.stat().st_size - 64))  # the last line is shorter
        return int(parse_json(file.read().rstrip().rpartition(b"\n")[2])["end"])
    return None


class MalformedError(ValueError):
    """A line has another form than `write_export` writes; the message names the found and the expected form."""


def read_export(path: Path, file: BinaryIO) -> Iterator[Item]:
    """Yield the turns of an open export with their facts. Raise ImportFailed, with the line, for anything else."""
    number = 0

    def values() -> Iterator[dict[str, Any]]:
        nonlocal number
        for line in iter(lambda: file.readline(MAX_LINE + 1), b""):
            number += 1
            yield _parse_line(line)

    try:
        yield from _read_items(values())
    except (MalformedError, InvalidTurn) as error:
        raise ImportFailed(f"{str(path)!r} line {number}: {str(error)[:400]}") from error


def _read_items(values: Iterator[dict[str, Any]]) -> Iterator[Item]:
    """Yield the turns of an export. Its header comes first and its end last, an id once, and times are of one kind."""
    aware: bool | None = None
    ids: set[bytes] = set()
    header = next(values, {HEADER: EXPORT_FORMAT_VERSION})
    if type(header.get(HEADER)) is not int or header != {HEADER: EXPORT_FORMAT_VERSION}:
        wanted = f'{{"{HEADER}": {EXPORT_FORMAT_VERSION}}}'
        raise MalformedError(
            f"{_shorten_value(header)}; expected the header {wanted} (for other files: `evimem ingest`)"
        )
    for value in values:
        if "end" in value:
            if type(value["end"]) is not int or value != {"end": len(ids)}:
                found = f"an end of {describe_safely(value['end'])} after {len(ids)} turns"
                raise MalformedError(f'{found}; expected {{"end": {len(ids)}}}: was the file cut or edited?')
            if next(values, None) is not None:
                raise MalformedError("a line after the end; expected none")
            return
        if value.keys() & {"forgotten", "place"}:
            yield _parse_forgotten(value)
            continue
        turn, facts = _parse_turn_and_facts(value)
        was, aware = aware, turn.time.tzinfo is not None
        if was not in (None, aware):
            kinds = ("with", "without") if aware else ("without", "with")
            why = f"has a time {kinds[0]} a UTC offset; expected one {kinds[1]}, as before"
            raise MalformedError(f"turn {turn.id[:40]!r} {why}")
        if (name := blake2b(turn.id.encode(), digest_size=16).digest()) in ids:
            raise MalformedError(f"turn {turn.id[:40]!r} for the second time; expected each id once")
        ids.add(name)
        yield turn, facts
    raise MalformedError(
        f'the file is cut short after it, with {len(ids)} turns; expected a last line {{"end": number of turns}}'
    )


def _parse_line(line: bytes) -> Any:
    """Return the JSON object of a line. Raise MalformedError for anything else, or for a line beyond MAX_LINE."""
    if len(line) > MAX_LINE:
        raise MalformedError(f"longer than {MAX_LINE >> 20} MiB; expected one turn with its facts")
    try:
        value = parse_json(line)
    except ValueError as error:
        raise MalformedError(f"{str(error)[:120]}; expected an object of an export") from error
    if not isinstance(value, dict):
        raise MalformedError(f"the line is {_shorten_value(value)}; expected an object")
    return value


def _check_fields(what: str, value: Any, known: _Fields) -> dict[str, Any]:
    """Return an object of an export. Raise MalformedError unless it has the fields that it needs, of their types."""
    if not isinstance(value, dict):
        raise MalformedError(f"{what} is {_shorten_value(value)}; expected an object")
    kinds = {name.rstrip("?"): kind for name, kind in known.items()}
    if unknown := sorted(value.keys() - kinds.keys()):
        raise MalformedError(f"{what} has the unknown field {shown(unknown[0])}; expected {', '.join(sorted(kinds))}")
    for name, kind in kinds.items():
        if name not in value and name in known:
            raise MalformedError(f"{what} has no {name}; expected one")
        if name in value and not isinstance(value[name], kind):
            of = name if known is _LINE else f"{name} of {what}"
            raise MalformedError(f"{of} is {_shorten_value(value[name])}; expected {_KINDS[kind]}")
    return value


def _shorten_value(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)} entries"
    return describe_safely(value)


def _parse_forgotten(line: dict[str, Any]) -> ForgottenMarks | ForgottenPlace:
    """Return the marks or the place of a line. Raise MalformedError."""
    try:
        if "forgotten" in line:
            given = _check_fields(
                "forgotten", _check_fields("the line", line, {"forgotten": dict})["forgotten"], _MARKS
            )
            keys = tuple(bytes.fromhex(key).hex() for key in given["keys"])
            marks = ForgottenMarks(keys, tuple(map(bytes.fromhex, given["marks"])))
            if all(len(key) == 32 for key in keys) and all(len(mark) == 16 for mark in marks.marks):
                return marks
        else:
            given = _check_fields("place", _check_fields("the line", line, {"place": dict})["place"], _PLACE)
            place = ForgottenPlace(bytes.fromhex(given["session"]), given["count"], given.get("taken"))
            # At most a million places are deleted in a row.
            if len(place.session) == 16 and 0 < place.count <= 1_000_000:
                return place
    except (TypeError, ValueError) as error:
        raise error if isinstance(error, MalformedError) else MalformedError(_NO_MARKS) from None
    raise MalformedError(_NO_MARKS)


def _parse_turn_and_facts(line: dict[str, Any]) -> Pair:
    """Return the turn of a line with its facts. Raise MalformedError or InvalidTurn."""
    _check_fields("the line", line, _LINE)
    turn = Turn(
        **_check_fields("the turn", line["turn"], _TURN)
    )  # parses the time; TurnValidator refuses any other value
    if TurnValidator()(turn) != turn:
        raise MalformedError(f"turn {turn.id[:40]!r} has an empty id or session, or metadata that JSON cannot hold")
    if len(line["facts"]) > MAX_FACTS:
        raise MalformedError(f"facts is {_shorten_value(line['facts'])}; expected a list of at most {MAX_FACTS}")
    facts = tuple(_parse_fact(one, f"fact {at}", turn) for at, one in enumerate(line["facts"], start=1))
    if len({fact.id for fact in facts}) < len(facts):
        raise MalformedError("one fact twice; expected each fact once")
    return turn, facts


def _parse_fact(given: Any, what: str, turn: Turn) -> Fact:
    value = dict(_check_fields(what, given, _FACT))
    span, event = value["span"], value.pop("event", None)
    if len(span) != 2 or not all(type(one) is int and abs(one) < 1 << 32 for one in span):
        raise MalformedError(f"the span of {what} is {_shorten_value(span)}; expected two positions, [start, end]")
    value["span"] = tuple(span)
    fact = Fact(**value, event=None if event is None else _parse_event(event, f"the event of {what}"))
    if fault := find_fact_fault(fact, turn):
        raise MalformedError(f"{what}: {fault}")
    return fact


def _parse_event(given: Any, what: str) -> TimeSpan:
    value = _check_fields(what, given, {"start?": str, "end?": str, "granularity": str, "text": str})
    bounds: dict[str, datetime] = {}
    for name in value.keys() & {"start", "end"}:
        try:
            bounds[name] = datetime.fromisoformat(value[name])
        except ValueError:
            raise MalformedError(f"{name} of {what} is {shown(value[name])}; expected an ISO 8601 time") from None
    return TimeSpan(bounds.get("start"), bounds.get("end"), value["granularity"], value["text"])


def _attach_grounded_facts(
    items: Iterable[Item], extractor: str
) -> Iterator[tuple[Turn, Attempt[tuple[Fact, ...]]] | ForgottenMarks | ForgottenPlace]:
    """Yield turns with those of their facts whose words stand in the turn, or in those before it in its session.

    The rest are left out, as those of a model are: their source may be a turn that was forgotten since. Facts of
    `extractor` are taken at their word if it is the caller's own: the caller who opened the memory with it trusts it.
    """
    trusted = None if extractor == RuleExtractor.name else extractor
    earlier: OrderedDict[str, deque[str]] = OrderedDict()
    for item in items:
        if not isinstance(item, tuple):
            yield item
            continue
        turn, facts = item
        near = earlier.setdefault(turn.session, deque(maxlen=MAX_EARLIER_TURNS))
        earlier.move_to_end(turn.session)
        # The last turns of 1,000 sessions are cached while a file is read.
        if len(earlier) > 1_000:
            earlier.popitem(last=False)
        words = " ".join((turn.speaker, turn.text[:MAX_EXTRACTED_CHARACTERS], turn.caption or ""))
        doubtful = [fact for fact in facts if fact.extractor != trusted]
        for texts in ((turn.text, words), (turn.text, words, *near)):
            sources = SourceWords(texts) if doubtful else None
            doubtful = [
                fact
                for fact in doubtful
                if sources and not (sources.are_grounded(fact.subject) and sources.are_grounded(fact.object))
            ]
        by_rule = try_read((), RuleExtractor().extract, turn) if doubtful else Attempt(())
        unstated = {fact.id for fact in doubtful} - {fact.id for fact in by_rule.value}
        yield turn, Attempt(tuple(fact for fact in facts if fact.id not in unstated), by_rule.error)
        near.append(words)


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
    try:
        check_readable(path)
        opened = open_regular(path)
    except (OSError, ValueError, StoreError) as error:
        raise ImportFailed(f"{str(path)!r} cannot be read ({error}); expected a file that export() wrote") from error
    with opened as file:
        before = _file_version(file)
        names = {item[0].session for item in read_export(path, file) if isinstance(item, tuple)}
        file.seek(0)
        places = _ForgottenPlaceImporter(store, names)
        given: Iterator[Any] = _attach_grounded_facts(read_export(path, file), extractor.name)
        for are_turns, group in groupby(given, _is_turn):
            while batch := list(islice(_read_unchanged(path, file, before, group), BATCH_TURNS)):
                if not are_turns:
                    places.import_marks_and_places(batch)
                    continue
                try:
                    facts = {
                        turn.id: (turn, tuple(map(times.localize_fact, found.value)), found.error)
                        for turn, found in batch
                    }
                except OverflowError as error:
                    raise ImportFailed(f"{str(path)!r} has an event at the edge of the calendar ({error})") from error
                read = partial(_choose_facts, extractor, facts)
                turns = [turn for turn, _ in batch]
                yield Ingestion(store, read, deferred=deferred, jobs=jobs, times=times).store_batch(turns)
                places.last = turns[-1].id
        places.fill_taken_places()


def _is_turn(item: object) -> bool:
    return isinstance(item, tuple)


def _read_unchanged(path: Path, file: BinaryIO, before: tuple[int, int], items: Iterator[T]) -> Iterator[T]:
    """Yield the items of a file; raise ImportFailed where it was changed since it was validated."""
    while True:
        try:
            item = next(items, None)
        finally:
            if _file_version(file) != before:
                raise ImportFailed(f"{str(path)!r} was changed while it was read; import it again when it is complete")
        if item is None:
            return
        yield item


class _ForgottenPlaceImporter:
    """Keeps the forgotten places of an export, in their order."""

    def __init__(self, store: Any, names: Collection[str]) -> None:
        self._store = store
        self._names = names
        self._taken: list[Any] = []
        self.last: str | None = None  # the id of the last turn before

    def import_marks_and_places(self, given: Sequence[Any]) -> None:
        """Keep marks and places that follow one another."""
        for one in given:
            if isinstance(one, ForgottenMarks):
                self._store.import_forgotten_marks(one)
        if places := [one for one in given if isinstance(one, ForgottenPlace)]:
            self._taken += self._store.import_forgotten_places(
                self.last, places, self._store.sessions_by_digest(self._names)
            )

    def fill_taken_places(self) -> None:
        """Record which turns stand in places, now that all are stored."""
        if self._taken:
            self._store.fill_imported_places(self._taken)


def _file_version(file: BinaryIO) -> tuple[int, int]:
    found = os.fstat(file.fileno())
    return found.st_size, found.st_mtime_ns


def _choose_facts(
    own: Extractor, exported: Mapping[str, tuple[Turn, tuple[Fact, ...], str | None]], turn: Turn
) -> Attempt[tuple[Fact, ...]]:
    """Return the facts that were exported with a turn; where a model found some, a turn has only those.

    Where its day or hour is another one in the timezone of this memory, the memory's own extractor reads the times that
    "yesterday" in it is.
    """
    given, facts, error = exported[turn.id]
    if given.time.replace(tzinfo=None) != turn.time.replace(tzinfo=None):
        again = read_facts(own, turn)
        facts, error = (*again.value, *(fact for fact in facts if fact.extractor != own.name)), again.error or error
    return Attempt(tuple(fact for fact in facts if fact.extractor == OF_A_MODEL) or facts, error)
