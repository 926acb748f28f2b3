"""Import: the lines of an export, each validated before anything of the file is written.

A file is read twice. The first pass validates every line, so that a malformed file leaves nothing behind; the second
writes batch by batch, each durable, as `extend` does. Only the ids of turns are held in memory, as digests.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from ..db.atomic_files import open_regular
from ..db.file_header import check_readable
from ..errors import ImportFailed, InvalidTurn, StoreError
from ..flow import Flow
from ..protocols import Extractor, Store
from ..raw import AS_GIVEN, LocalTimes
from ..types.reports import AddReport
from ..types.stored import JobKind
from ..types.values import Fact, Turn
from .add import BATCH, Ingestion
from .exported_line import MAX_LINE, MalformedError, Pair, check_header, pair_of, parsed, shown
from .stated_facts import StatedTurn, stated


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
    "yesterday" in it is.
    """

    own: Extractor
    exported: dict[str, tuple[Turn, tuple[Fact, ...]]]

    @property
    def name(self) -> str:
        return self.own.name

    def extract(self, turn: Turn) -> tuple[Fact, ...]:
        given, facts = self.exported[turn.id]
        if given.time.replace(tzinfo=None) == turn.time.replace(tzinfo=None):
            return facts
        return (*self.own.extract(turn), *(fact for fact in facts if fact.extractor != self.name))


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
