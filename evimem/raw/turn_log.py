"""The Raw layer: verbatim turns, append-only, each with a digest; the truth that all else follows from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any

from ..db.connection import Connection
from ..db.text_columns import bindable, unbound
from ..errors import InvalidTurn, StoreCorrupt, UnknownTurn
from ..types.stored import COUNTED, Roster
from ..types.values import Turn
from .validate import instant

_COLUMNS = (
    "turn.seq, turn.id, session.name, speaker.name, turn.text, turn.time, turn.caption, turn.role, "
    "turn.metadata, turn.digest FROM turn JOIN session ON session.ord = turn.session "
    "JOIN speaker ON speaker.ord = turn.speaker"
)
# SQLite reads an indexed id off its index; the row itself tells whether the index is right.
_FIND = "SELECT named.seq, turn.id FROM turn AS named LEFT JOIN turn ON turn.seq = named.seq WHERE named.id = ?"
_PAGE = 2000
_NAMED = {"session": "session", "speaker": "speaker"}  # the tables that give names a number


@dataclass(frozen=True, slots=True)
class Place:
    """A stored turn by numbers: its own, its session's and its speaker's."""

    seq: int
    session: int
    speaker: int


class RawLog:
    """Turns in SQLite. A sequence number (`seq`) is the order of arrival; it is never used twice."""

    def __init__(self, db: Connection) -> None:
        self._db = db

    def append(self, turn: Turn) -> Place:
        """Store an admitted turn; return where it went."""
        session, speaker = self._ord("session", turn.session), self._ord("speaker", turn.speaker)
        seq = self._db.execute(
            "INSERT INTO turn (id, session, speaker, role, text, caption, time, instant, metadata, digest) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                turn.id,
                session,
                speaker,
                turn.role,
                bindable(turn.text),
                None if turn.caption is None else bindable(turn.caption),
                turn.time.isoformat(),
                instant(turn.time),
                _dump(turn.metadata),
                digest(turn),
            ),
        )
        return Place(seq, session, speaker)

    def place(self, seq: int) -> Place:
        """Return the numbers of a stored turn's session and speaker."""
        return Place(seq, *self._db.rows("SELECT session, speaker FROM turn WHERE seq = ?", (seq,))[0])

    def wrongly_timed(self) -> list[tuple[int, int]]:
        """Return the turns that do not stand at the instant of their time, and where they should."""
        times = self._db.rows("SELECT seq, time, instant FROM turn ORDER BY seq")
        right = ((seq, instant(datetime.fromisoformat(time)), kept) for seq, time, kept in times)
        return [(seq, found) for seq, found, kept in right if found != kept]

    def retime(self, places: Sequence[tuple[int, int]]) -> None:
        """Put turns at the instant of their time."""
        self._db.executemany("UPDATE turn SET instant = ? WHERE seq = ?", [(at, seq) for seq, at in places])

    def check_clock(self, turn: Turn) -> None:
        """Raise InvalidTurn where a naive time would stand beside aware ones, or the other way round."""
        kind = "aware" if turn.time.tzinfo else "naive"
        kept = self._db.value("SELECT value FROM meta WHERE key = 'clock'")
        if kept is None:
            self._db.execute("INSERT INTO meta (key, value) VALUES ('clock', ?)", (kind,))
        elif kept != kind:
            raise InvalidTurn(
                f"turn {turn.id!r} has the {kind} time {turn.time.isoformat()!r} but this memory holds {kept} times; "
                f"give every time {'with' if kept == 'aware' else 'without'} a UTC offset"
            )

    def digest_of(self, turn_id: str) -> bytes | None:
        """Return the stored digest of an id, or None for an unknown one."""
        found: bytes | None = self._db.value("SELECT digest FROM turn WHERE id = ?", (bindable(turn_id),))
        return found

    def find(self, turn_id: str) -> int | None:
        """Return the sequence number of an id, or None for an unknown one."""
        given: object = turn_id
        if not isinstance(given, str):
            return None  # nothing has such an id
        found = self._db.rows(_FIND, (bindable(turn_id),))
        if not found:
            return None
        seq, stored = found[0]
        if stored != turn_id:
            raise StoreCorrupt(f"the index of ids leads from {turn_id!r} to another turn; run `evimem doctor`")
        return int(seq)

    def ids(self, seqs: Sequence[int]) -> dict[int, str]:
        """Return the ids of these sequence numbers."""
        return {
            seq: turn_id
            for page in _chunks(seqs)
            for seq, turn_id in self._db.rows(f"SELECT seq, id FROM turn WHERE seq IN ({_marks(page)})", page)
        }

    def id_pages(self) -> Iterator[list[str]]:
        """Yield all ids, a page at a time."""
        after = 0
        while page := self._db.rows(f"SELECT seq, id FROM turn WHERE seq > ? ORDER BY seq LIMIT {_PAGE}", (after,)):
            after = page[-1][0]
            yield [turn_id for _, turn_id in page]

    def ord(self, table: str, name: str) -> int | None:
        """Return the number of a session or speaker, or None for an unknown one."""
        found: int | None = self._db.value(f"SELECT ord FROM {_NAMED[table]} WHERE name = ?", (bindable(name),))
        return found

    def seqs(self, turn_ids: Sequence[str]) -> list[int]:
        """Return the sequence numbers of these ids. Raise UnknownTurn."""
        found = []
        for turn_id in turn_ids:
            seq = self.find(turn_id)
            if seq is None:
                raise UnknownTurn(turn_id)
            found.append(seq)
        return found

    def read(self, seqs: Sequence[int]) -> list[Turn]:
        """Return the turns of these sequence numbers, in the order asked."""
        turns: dict[int, Turn] = {}
        for page in _chunks(seqs):
            found = self._db.rows(f"SELECT {_COLUMNS} WHERE turn.seq IN ({_marks(page)})", page)
            turns |= {row[0]: _turn(row) for row in found}
        return [turns[seq] for seq in seqs]

    def around(self, seq: int, before: int, after: int) -> list[int]:
        """Return the sequence numbers around one in dialogue order, it included."""
        session, at = self._db.rows("SELECT session, instant FROM turn WHERE seq = ?", (seq,))[0]
        earlier = self._db.rows(
            "SELECT seq FROM turn WHERE session = ? AND (instant, seq) < (?, ?) "
            "ORDER BY instant DESC, seq DESC LIMIT ?",
            (session, at, seq, before),
        )
        later = self._db.rows(
            "SELECT seq FROM turn WHERE session = ? AND (instant, seq) > (?, ?) ORDER BY instant, seq LIMIT ?",
            (session, at, seq, after),
        )
        return [row[0] for row in reversed(earlier)] + [seq] + [row[0] for row in later]

    def contexts(self, turn_ids: Sequence[str], before: int, after: int) -> list[tuple[Turn, ...]]:
        """Return the turns around each of these, in dialogue order, it included. Raise UnknownTurn."""
        around = [self.around(seq, before, after) for seq in self.seqs(turn_ids)]
        seqs = sorted({seq for some in around for seq in some})
        turns = dict(zip(seqs, self.read(seqs), strict=True))
        return [tuple(turns[seq] for seq in some) for some in around]

    def select(self, session: str | None = None, before: datetime | None = None) -> list[int]:
        """Return the sequence numbers of a session, of what was said before a time, or of both conditions."""
        clauses: list[str] = ["1"]
        args: list[Any] = []
        if session is not None:
            clauses.append("session = (SELECT ord FROM session WHERE name = ?)")
            args.append(bindable(session))
        if before is not None:
            clauses.append("instant < ?")
            args.append(instant(before))
        return [
            row[0] for row in self._db.rows(f"SELECT seq FROM turn WHERE {' AND '.join(clauses)} ORDER BY seq", args)
        ]

    def pages(self, after: int = 0) -> Iterator[list[tuple[int, Turn]]]:
        """Yield all turns in order of arrival, a page at a time, without holding a transaction."""
        while page := self._db.rows(f"SELECT {_COLUMNS} WHERE turn.seq > ? ORDER BY turn.seq LIMIT {_PAGE}", (after,)):
            after = page[-1][0]
            yield [(row[0], _turn(row)) for row in page]

    def erase(self, seqs: Sequence[int]) -> None:
        """Delete turns, and the names of sessions and speakers that then have none."""
        self._db.executemany("DELETE FROM turn WHERE seq = ?", [(seq,) for seq in seqs])
        for table in _NAMED:
            self._db.execute(
                f"DELETE FROM {table} WHERE NOT EXISTS (SELECT 1 FROM turn WHERE turn.{table} = {table}.ord)"
            )
        if self.count() == 0:
            self._db.execute("DELETE FROM meta WHERE key = 'clock'")

    def erase_all(self) -> None:
        """Delete every turn and name. Sequence numbers go on from where they were."""
        for table in ("turn", *_NAMED):
            self._db.execute(f"DELETE FROM {table}")
        self._db.execute("DELETE FROM meta WHERE key = 'clock'")

    def count(self) -> int:
        """Return how many turns there are."""
        return int(self._db.value("SELECT count(*) FROM turn"))

    def high_water(self) -> int:
        """Return the highest sequence number ever given, erased ones included."""
        return int(self._db.value("SELECT seq FROM sqlite_sequence WHERE name = 'turn'") or 0)

    def roster(self) -> Roster:
        """Return who speaks here, from first to last heard, and the span of time."""
        names = tuple(row[0] for row in self._db.rows("SELECT name FROM speaker ORDER BY ord"))
        if any(type(name) is not str for name in names):
            raise ValueError("the name of a speaker has another type than was stored")
        first = self._db.value("SELECT time FROM turn ORDER BY instant, seq LIMIT 1")
        last = self._db.value("SELECT time FROM turn ORDER BY instant DESC, seq DESC LIMIT 1")
        turns = self._db.value(f"SELECT count(*) FROM (SELECT 1 FROM turn LIMIT {COUNTED})")
        return Roster(names, first and datetime.fromisoformat(first), last and datetime.fromisoformat(last), turns)

    def _ord(self, table: str, name: str) -> int:
        found = self.ord(table, name)
        return found if found is not None else self._db.execute(f"INSERT INTO {table} (name) VALUES (?)", (name,))


def _chunks(seqs: Sequence[int]) -> Iterator[Sequence[int]]:
    return (seqs[start : start + 500] for start in range(0, len(seqs), 500))


def _marks(page: Sequence[int]) -> str:
    return ", ".join("?" * len(page))


def digest(turn: Turn) -> bytes:
    """Return what a stored turn must still hash to: SQLite does not checksum its pages."""
    whole = blake2b(digest_size=16)
    parts = (
        turn.id,
        turn.session,
        turn.speaker,
        turn.role or "",
        turn.text,
        turn.time.isoformat(),
        _dump(turn.metadata),
    )
    for part in (*parts, "" if turn.caption is None else f"\x1e{turn.caption}"):
        encoded = part.encode("utf-8", "surrogatepass")
        whole.update(len(encoded).to_bytes(4, "little") + encoded)
    return whole.digest()


def _dump(metadata: Any) -> str:
    return json.dumps(metadata, sort_keys=True, separators=(",", ":"))


def _turn(row: Sequence[Any]) -> Turn:
    _, turn_id, session, speaker, text, time, caption, role, metadata, kept = row
    try:
        turn = Turn(
            turn_id,
            session,
            speaker,
            unbound(text),
            datetime.fromisoformat(time),
            None if caption is None else unbound(caption),
            role,
            json.loads(metadata),
        )
        intact = digest(turn) == kept
    except (ValueError, TypeError, AttributeError) as error:
        raise StoreCorrupt(_altered(turn_id)) from error
    if not intact:
        raise StoreCorrupt(_altered(turn_id))
    return turn


def _altered(turn_id: object) -> str:
    return (
        f"turn {turn_id!r} is not what was stored (its digest differs), so it is not served; "
        "restore a backup, or forget this turn: `evimem doctor` lists every such turn"
    )
