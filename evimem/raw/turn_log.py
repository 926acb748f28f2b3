"""The Raw layer: verbatim turns, append-only, each with a digest; everything else in a file is derived from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from hashlib import blake2b
from typing import Any

from ..db.tables import Tables, Value, decode_text, encode_text, is_storable_text
from ..db.turn_sql import (
    delete_unused_names,
    read_listed_numbers,
    read_listed_turns,
    read_place_from_last,
    read_turn_pages,
    select_first_last_and_count,
    select_numbers_of_ids,
    select_turn_columns_around,
    select_turns,
)
from ..errors import UNREADABLE, StoreCorrupt, UnknownTurn
from ..types.stored import MAX_COUNTED_TURNS, Listing, MemoryOverview
from ..types.values import Turn, canonical, instant
from .validate import reset_time_kind

_PAGE_TURNS = 2000  # turns read at once
_COLUMNS = "seq, id, session, speaker, role, text, caption, time, instant, metadata, digest"


class NameTable:
    """One table of names. A number is never given to another name, not even after its name was erased."""

    def __init__(self, db: Tables, table: str) -> None:
        self._db = db
        self._table = table
        self.seen: dict[str, int] = {}  # numbers as they were last read; a name may have another, or none, by now

    def find_numbers(self, names: Iterable[str]) -> dict[str, int]:
        """Return the numbers of names by name; unknown ones are missing."""
        wanted = list(dict.fromkeys(filter(is_storable_text, names)))
        found = dict(self._db.select(self._table, "name, ord", name=wanted)) if wanted else {}
        self.seen |= found
        return found

    def numbers_or_add(self, names: Iterable[str]) -> dict[str, int]:
        """Return the numbers of names by name; unknown ones are added, in the order given."""
        given = list(dict.fromkeys(names))
        found = self.find_numbers(given)
        missing = [name for name in given if name not in found]
        if missing:
            added = list(zip(missing, range(self._db.highest_number_given(self._table) + 1, 2**63), strict=False))
            self._db.insert(self._table, "name, ord", added)
            found |= added
        return found

    def names_of_rows(self, rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
        """Return the names of rows. Raise ValueError for a damaged one."""
        names = tuple(row[0] for row in rows)
        if any(type(name) is not str for name in names):
            raise ValueError(f"the name of a {self._table} has another type than was stored")
        return names

    def delete_unused(self) -> None:
        """Delete the names that no turn has: a name can identify a person, and is erased with the last turn."""
        delete_unused_names(self._db, self._table)

    def delete_all(self) -> None:
        """Delete every name."""
        self._db.delete_rows(self._table)


@dataclass(frozen=True, slots=True)
class TurnRows:
    """The row numbers of a stored turn, of its session and of its speaker."""

    seq: int
    session: int
    speaker: int


@dataclass(frozen=True, slots=True, order=True)
class DialoguePlace:
    """A place in the dialogue order: the instant of a turn in microseconds since 1970, and its sequence number."""

    instant: int
    seq: int

    @property
    def next(self) -> DialoguePlace:
        """The earliest place after this one."""
        return DialoguePlace(self.instant, self.seq + 1)


BEGINNING = DialoguePlace(-(2**63), 0)


class RawLog:
    """Verbatim turns. A sequence number (`seq`) counts turns in order of arrival from 1; it is never used twice."""

    def __init__(self, db: Tables) -> None:
        self._db = db
        self.sessions: NameTable = NameTable(db, "session")
        self.speakers: NameTable = NameTable(db, "speaker")
        self._seen: dict[str, int] = {}  # the numbers of ids as they were last read

    def append(self, turns: Sequence[Turn]) -> list[TurnRows]:
        """Store validated turns; return their row numbers."""
        if not turns:
            return []
        first = self._db.highest_number_given("turn") + 1
        sessions = self.sessions.numbers_or_add(turn.session for turn in turns)
        speakers = self.speakers.numbers_or_add(turn.speaker for turn in turns)
        rows = [TurnRows(seq, sessions[one.session], speakers[one.speaker]) for seq, one in enumerate(turns, first)]
        self._db.insert("turn", _COLUMNS, map(_to_row, rows, turns))
        self._cache_seqs({turn.id: row.seq for row, turn in zip(rows, turns, strict=True)})
        return rows

    def _cache_seqs(self, found: Mapping[str, int]) -> None:
        # Cache the numbers of ids; of more than 10,000 none is kept.
        if len(self._seen) > 10_000:
            self._seen = {}
        self._seen |= found

    def prefetch_known(self, turn_ids: Sequence[str], *then: Callable[[list[int]], object]) -> None:
        """Prefetch the numbers of ids, and the queries that `then` makes of the numbers that are cached.

        Only of a remote database, and only where all ids are cached.
        """
        cached = [self._seen.get(one, 0) if isinstance(one, str) else 0 for one in turn_ids]
        if self._db.is_remote and cached and all(cached):
            numbers = list(dict.fromkeys(cached))
            self._db.prefetch(partial(self.seqs_of_known, turn_ids), *(partial(one, numbers) for one in then))

    def read_turn_rows(self, seqs: Collection[int]) -> dict[int, TurnRows]:
        """Return the row numbers of stored turns, by sequence number."""
        return {row[0]: TurnRows(*row) for row in self._db.select("turn", "seq, session, speaker", seq=seqs)}

    def compare_with_stored(self, turns: Sequence[Turn]) -> list[bool | None]:
        """Return, for each turn, whether its id is stored with its content; None for an unknown id.

        The same moment with another offset is the same content: a memory may have got its timezone later.
        """
        ids = list(dict.fromkeys(turn.id for turn in turns if is_storable_text(turn.id)))
        rows = self._db.select("turn", "id, digest, time", id=ids)
        kept = {turn_id: (stored, time) for turn_id, stored, time in rows}
        return [_matches_stored_digest(turn, *kept[turn.id]) if turn.id in kept else None for turn in turns]

    def find_seqs(self, turn_ids: Sequence[str]) -> list[int | None]:
        """Return the sequence number of each of these ids, None for an unknown one."""
        found = self.seqs_of_known(turn_ids)
        return [found.get(one) if isinstance(one, str) else None for one in turn_ids]

    def seqs_of_known(self, turn_ids: Iterable[str]) -> dict[str, int]:
        """Return the sequence numbers of those of these ids that are stored, by id, in the order given."""
        named = list(dict.fromkeys(filter(is_storable_text, turn_ids)))
        found: dict[str, int] = {}
        for turn_id, seq, stored in self._db.rows(*select_numbers_of_ids(self._db, named)) if named else ():
            if stored != turn_id:
                raise StoreCorrupt(f"the index of ids leads from {turn_id!r} to another turn; run `evimem doctor`")
            found[turn_id] = int(seq)
        self._cache_seqs(found)
        return {turn_id: found[turn_id] for turn_id in named if turn_id in found}

    def ids_of_seqs(self, seqs: Sequence[int]) -> dict[int, str]:
        """Return the ids of these sequence numbers."""
        return dict(self._db.select("turn", "seq, id", seq=seqs))

    def require_seqs(self, turn_ids: Sequence[str]) -> list[int]:
        """Return the sequence numbers of these ids. Raise UnknownTurn."""
        found = []
        for turn_id, seq in zip(turn_ids, self.find_seqs(turn_ids), strict=True):
            if seq is None:
                raise UnknownTurn(turn_id)
            found.append(seq)
        return found

    def read_turns(self, seqs: Sequence[int]) -> list[Turn]:
        """Return the turns of these sequence numbers, in the order asked."""
        turns = {row[0]: _read_turn_row(row) for row in self._db.rows(*select_turns(self._db, seqs))} if seqs else {}
        self._cache_seqs({turn.id: seq for seq, turn in turns.items()})
        return [turns[seq] for seq in seqs]

    def read_intact_turns(self, seqs: Sequence[int]) -> dict[int, Turn]:
        """Return those of these turns that are as they were stored, by sequence number."""
        try:
            return dict(zip(seqs, self.read_turns(seqs), strict=True))
        except (*UNREADABLE, StoreCorrupt):
            if len(seqs) == 1:
                return {}
        middle = len(seqs) // 2
        return self.read_intact_turns(seqs[:middle]) | self.read_intact_turns(seqs[middle:])

    def read_contexts(self, seqs: Sequence[int], before: int, after: int) -> list[tuple[Turn, ...]]:
        """Return the turns around each of these, in dialogue order (session; time, arrival), it included."""
        places: dict[int, set[DialoguePlace]] = {seq: set() for seq in seqs}
        rows: dict[int, Any] = {}
        for seq, at, *row in (
            self._db.rows(*select_turn_columns_around(self._db, places, before, after)) if places else ()
        ):
            places[seq].add(DialoguePlace(at, row[0]))
            rows[row[0]] = row
        turns = {seq: _read_turn_row(row) for seq, row in rows.items()}
        if unread := places.keys() - turns.keys():
            raise StoreCorrupt(f"no session or speaker is stored of {len(unread)} turns; run `evimem doctor`")
        self._cache_seqs({turn.id: seq for seq, turn in turns.items()})
        return [tuple(turns[place.seq] for place in sorted(places[seq])) for seq in seqs]

    def sort_ids(self, turn_ids: Sequence[str]) -> list[str]:
        """Return these ids in dialogue order, each once. Raise UnknownTurn."""
        named = dict(zip(self.require_seqs(turn_ids), turn_ids, strict=True))
        return [named[place.seq] for place in sorted(self._read_dialogue_places(named).values())]

    def _read_dialogue_places(self, seqs: Collection[int]) -> dict[int, DialoguePlace]:
        return {seq: DialoguePlace(at, seq) for at, seq in self._db.select("turn", "instant, seq", seq=seqs)}

    def select_seqs(self, listing: Listing) -> list[int]:
        """Return the sequence numbers of the turns of a listing, whatever its limit; ascending."""
        return read_listed_numbers(self._db, listing, *_instant_bounds(listing))

    def list_turns(self, listing: Listing, start: DialoguePlace, limit: int) -> list[tuple[DialoguePlace, Turn]]:
        """Return the first turns of a listing from a place on, in dialogue order: `limit` of them, a page at most."""
        before, after = _instant_bounds(listing)
        if after is not None:  # as the start of the range: of two lower bounds, SQLite might use the wider
            start = max(start, DialoguePlace(after, 0))
        rows = read_listed_turns(self._db, listing, before, (start.instant, start.seq), min(limit, _PAGE_TURNS))
        return [(DialoguePlace(at, row[0]), _read_turn_row(row)) for at, *row in rows]

    def place_of_newest(self, listing: Listing) -> DialoguePlace:
        """Return the place of the first of the newest `limit` turns of a listing, or the beginning."""
        found = (
            read_place_from_last(self._db, listing, *_instant_bounds(listing), listing.limit - 1)
            if listing.limit
            else None
        )
        return DialoguePlace(*found) if found else BEGINNING

    def read_pages(self, after: int = 0, size: int = _PAGE_TURNS) -> Iterator[list[tuple[int, Turn]]]:
        """Yield all turns in order of arrival, so many at a time, without holding a transaction between pages."""
        for page in read_turn_pages(self._db, after, size):
            yield [(row[0], _read_turn_row(row)) for row in page]

    def delete_turns(self, seqs: Sequence[int]) -> None:
        """Delete turns, and the names of sessions and speakers that then have none."""
        self._db.delete_rows("turn", seq=seqs)
        self.sessions.delete_unused()
        self.speakers.delete_unused()
        if self.count_turns() == 0:
            reset_time_kind(self._db)

    def delete_all_turns(self) -> None:
        """Delete every turn and name. Sequence numbers go on from where they were."""
        self._db.delete_rows("turn")  # first, for its foreign keys
        self.sessions.delete_all()
        self.speakers.delete_all()
        reset_time_kind(self._db)

    def count_turns(self) -> int:
        """Return how many turns there are."""
        return self._db.count_rows("turn")

    def highest_seq_given(self) -> int:
        """Return the highest sequence number ever given, erased ones included."""
        return self._db.highest_number_given("turn")

    def read_overview(self) -> MemoryOverview:
        """Return the speakers in the order in which they first spoke, and the time of the first and last turn."""
        counted = select_first_last_and_count(MAX_COUNTED_TURNS)  # only whether a memory is small matters here
        *ends, ((turns,),), names = self._db.rows_of_queries(*counted, self._db.select_query("speaker", "name", "ord"))
        first, last = (datetime.fromisoformat(rows[0][0]) if rows else None for rows in ends)
        return MemoryOverview(self.speakers.names_of_rows(names), first, last, int(turns))


def write_turn_times(db: Tables, turns: Mapping[int, Turn]) -> None:
    """Write the times of stored turns with the offsets of the turns as they are given; the moments are the same."""
    rows = [(turn.time.isoformat(), hash_turn(turn), seq) for seq, turn in turns.items()]
    db.update("turn", "time, digest", "seq", rows)


def _instant_bounds(listing: Listing) -> tuple[int | None, int | None]:
    """Return the instants before and after which the turns of a listing were said."""
    before = None if listing.before is None else instant(listing.before)
    return before, None if listing.after is None else instant(listing.after)


def _to_row(rows: TurnRows, turn: Turn) -> tuple[Value, ...]:
    """Return the values of the row of a turn, in the order of the columns."""
    caption = None if turn.caption is None else encode_text(turn.caption)
    said = (encode_text(turn.text), caption, turn.time.isoformat(), instant(turn.time))
    return (rows.seq, turn.id, rows.session, rows.speaker, turn.role, *said, canonical(turn.metadata), hash_turn(turn))


def has_same_content(turn: Turn, other: Turn) -> bool:
    """Return whether a turn has the content of another of its id."""
    return _matches_stored_digest(turn, hash_turn(other), other.time.isoformat())


def _matches_stored_digest(turn: Turn, kept: bytes, time: str) -> bool:
    """Return whether a turn is the one that is stored with a digest and a time."""
    if kept == hash_turn(turn):
        return True
    with suppress(ValueError):  # damaged, and so other than any turn
        stored = datetime.fromisoformat(time)
        return stored == turn.time and kept == hash_turn(replace(turn, time=stored))
    return False


def hash_turn(turn: Turn) -> bytes:
    """Return a digest of everything in a turn. It is stored with the turn, because SQLite does not checksum pages."""
    whole = []
    parts = (
        turn.id,
        turn.session,
        turn.speaker,
        turn.role or "",
        turn.text,
        turn.time.isoformat(),
        canonical(turn.metadata) if turn.metadata else "{}",
    )
    for part in (*parts, "" if turn.caption is None else f"\x1e{turn.caption}"):
        encoded = part.encode("utf-8", "surrogatepass")
        # The length first: ("ab", "c") and ("a", "bc") are different turns.
        whole += [len(encoded).to_bytes(4, "little"), encoded]
    return blake2b(b"".join(whole), digest_size=16).digest()


def _read_turn_row(row: Sequence[Any]) -> Turn:
    _, turn_id, session, speaker, text, time, caption, role, metadata, kept = row
    try:
        turn = Turn(
            turn_id,
            session,
            speaker,
            decode_text(text),
            datetime.fromisoformat(time),
            None if caption is None else decode_text(caption),
            role,
            {} if metadata == "{}" else json.loads(metadata),
        )
        intact = hash_turn(turn) == kept
    except (ValueError, TypeError, AttributeError) as error:
        raise StoreCorrupt(_digest_mismatch_message(turn_id)) from error
    if not intact:
        raise StoreCorrupt(_digest_mismatch_message(turn_id))
    return turn


def _digest_mismatch_message(turn_id: object) -> str:
    return (
        f"turn {turn_id!r} is not what was stored (its digest differs), so it is not served; "
        "restore a backup, or forget this turn: `evimem doctor` lists every such turn"
    )
