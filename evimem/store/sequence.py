"""The sequence of a session: its turns in order of arrival, with the places of those that were forgotten."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TypeAlias

from ..raw import instant
from ..types.stored import Calls, Past, PastWanted, Place
from ..types.values import Turn
from .forgotten_ids import keyed_digest, was_forgotten
from .layers import Layers

# A turn is in a session that nobody named where that is the calendar day of its time.
_UNNAMED = "session.name = substr(turn.time, 1, 10)"
_JOINED = "turn JOIN session ON session.ord = turn.session"
_SCANNED = 64  # newest turns looked at for each one wanted of sessions that nobody named
_PARAMETERS = 500  # in one statement; SQLite has a limit

Places: TypeAlias = dict[str, list[tuple[int, int]]]  # by session: the number of a place, and of the turn erased there


def past(layers: Layers, asked: PastWanted) -> Past:
    """Return what a list of messages is laid beside."""
    with layers.db.reading():
        end, complete = _places(layers, asked.session, asked.end, newest=True)
        beginning = end[: asked.beginning]
        if not complete and asked.beginning:
            beginning, _ = _places(layers, asked.session, asked.beginning, newest=False)
        clock = layers.meta("clock")
        return Past(
            tuple(beginning),
            tuple(end),
            complete,
            tuple(_held(layers, asked)),
            frozenset(one for one in asked.ids if was_forgotten(layers, one)),
            calls(layers, asked.session),
            None if clock is None else clock == "aware",
            state(layers, asked.session),
        )


def state(layers: Layers, session: str) -> tuple[str, int]:
    """Return what differs as soon as anything was stored in a session, or forgotten."""
    last = layers.raw.high_water() if not session else _last(layers, layers.raw.sessions.number(session))
    return layers.meta("dealt") or "", last


def calls(layers: Layers, session: str) -> Calls:
    """Return how the lists of a session came so far."""
    kept = layers.db.value("SELECT kept FROM calls WHERE session = ?", (keyed_digest(layers, session),))
    return Calls() if kept is None else Calls(**json.loads(kept))


def keep_calls(layers: Layers, session: str, known: Calls) -> None:
    """Record how the lists of a session came."""
    row = (keyed_digest(layers, session), json.dumps(asdict(known)))
    layers.db.execute("INSERT OR REPLACE INTO calls (session, kept) VALUES (?, ?)", row)


def places_of(layers: Layers, seqs: Sequence[int]) -> Places:
    """Return the places of turns that are about to be erased, by session."""
    found: Places = defaultdict(list)
    for page in _pages(seqs):
        marks = ", ".join("?" * len(page))
        kept = dict(layers.db.rows(f"SELECT taken, seq FROM place WHERE taken IN ({marks})", page))
        sql = f"SELECT turn.seq, session.name, {_UNNAMED} FROM {_JOINED} WHERE turn.seq IN ({marks})"
        for seq, name, unnamed in layers.db.rows(sql, page):
            for session in _sequences(name, unnamed):
                found[session].append((kept.get(seq, seq), seq))
    return found


def leave(layers: Layers, places: Places) -> None:
    """Keep the places of turns that were erased; those with no turn in between become one row."""
    for session, left in places.items():
        key, number = keyed_digest(layers, session), layers.raw.sessions.number(session)
        seqs = [place for place, _ in left]
        before = layers.db.value("SELECT max(seq) FROM place WHERE session = ? AND seq < ?", (key, min(seqs)))
        after = layers.db.value("SELECT min(seq) FROM place WHERE session = ? AND seq > ?", (key, max(seqs)))
        within = (key, min(seqs) if before is None else before, max(seqs) if after is None else after)
        near = layers.db.rows("SELECT seq, count, taken FROM place WHERE session = ? AND seq BETWEEN ? AND ?", within)
        layers.db.execute("DELETE FROM place WHERE session = ? AND seq BETWEEN ? AND ?", within)
        runs: list[tuple[int, int, int | None]] = []
        around = {seq: (seq, count, taken) for seq, count, taken in near} | {seq: (seq, 1, None) for seq in seqs}
        for seq, count, taken in sorted(around.values(), key=lambda run: run[0]):
            last = runs[-1] if runs else None
            if last and last[2] is None and taken is None and not _between(layers, session, number, last[0], seq):
                runs[-1] = (seq, last[1] + count, None)
            else:
                runs.append((seq, count, taken))
        _insert(layers, key, runs)


def replace_places(layers: Layers, places: Places, taken: Mapping[int, int]) -> None:
    """Keep the places of turns that others replaced: `taken` has the number of the new turn by that of the old."""
    for session, left in places.items():
        _insert(layers, keyed_digest(layers, session), [(place, 1, taken.get(seq)) for place, seq in left])


def fill(layers: Layers, session: str, place: int, turn: int) -> None:
    """Record that a turn was stored in the open place of a sequence."""
    key = keyed_digest(layers, session)
    run = "SELECT seq, count FROM place WHERE session = ? AND seq >= ? AND taken IS NULL ORDER BY seq LIMIT 1"
    for seq, count in layers.db.rows(run, (key, place)):
        later, earlier = seq - place, count - 1 - (seq - place)
        layers.db.execute("DELETE FROM place WHERE session = ? AND seq = ?", (key, seq))
        parts = ((seq, later, None), (place, 1, turn), (place - 1, earlier, None))
        _insert(layers, key, [part for part in parts if part[1]])


def leave_all(layers: Layers) -> None:
    """Keep one run of places for each session, before everything is erased."""
    found: dict[bytes, list[int]] = defaultdict(lambda: [0, 0])
    rows = layers.db.rows(
        f"SELECT session.name, {_UNNAMED}, max(turn.seq), count(*) FROM {_JOINED} WHERE turn.seq NOT IN "
        "(SELECT taken FROM place WHERE taken IS NOT NULL) GROUP BY 1, 2"
    )
    for name, unnamed, seq, count in rows:
        for session in _sequences(name, unnamed):
            _gather(found[keyed_digest(layers, session)], seq, count)
    for key, seq, count in layers.db.rows("SELECT session, seq, count FROM place"):
        _gather(found[key], seq, count)
    layers.db.execute("DELETE FROM place")
    for key, (seq, count) in found.items():
        _insert(layers, key, [(seq, count, None)])


def _gather(run: list[int], seq: int, count: int) -> None:
    run[:] = max(run[0], seq), run[1] + count


def _sequences(name: str, unnamed: int) -> tuple[str, ...]:
    """Return the sequences in which a turn of a session stands: where nobody named that, also in that of all such."""
    return (name, "") if unnamed else (name,)


def _between(layers: Layers, session: str, number: int | None, low: int, high: int) -> bool:
    if not session:
        return layers.db.value("SELECT 1 FROM turn WHERE seq > ? AND seq < ? LIMIT 1", (low, high)) is not None
    sql = "SELECT 1 FROM turn WHERE session = ? AND seq > ? AND seq < ? LIMIT 1"
    return layers.db.value(sql, (number, low, high)) is not None


def _insert(layers: Layers, key: bytes, runs: Sequence[tuple[int, int, int | None]]) -> None:
    layers.db.executemany(
        "INSERT OR REPLACE INTO place (session, seq, count, taken) VALUES (?, ?, ?, ?)", [(key, *run) for run in runs]
    )


def _places(layers: Layers, session: str, limit: int, *, newest: bool) -> tuple[list[Place], bool]:
    """Return the last or first places of a sequence in order of arrival, and whether there are no others."""
    order = "DESC" if newest else "ASC"
    key = keyed_digest(layers, session)
    found = layers.db.rows(
        f"SELECT seq, count, taken FROM place WHERE session = ? ORDER BY seq {order} LIMIT ?", (key, limit + 1)
    )
    runs: list[tuple[int, int, int | None]] = [*found, *((seq, 1, seq) for seq in _own(layers, session, limit, order))]
    runs.sort(key=lambda run: run[0], reverse=newest)
    numbers = [(at, taken) for seq, count, taken in runs for at in _numbers(seq, count, limit, newest=newest)][
        : limit + 1
    ]
    chosen = numbers[:limit][::-1] if newest else numbers[:limit]
    stored = [taken for _, taken in chosen if taken is not None]
    turns = dict(zip(stored, layers.raw.read(stored), strict=True))
    places = [Place(seq, None if taken is None else turns[taken], taken not in (None, seq)) for seq, taken in chosen]
    return places, len(numbers) <= limit


def _numbers(seq: int, count: int, limit: int, *, newest: bool) -> range:
    """Return the numbers of the places of a run, at most one more than wanted, last or first ones.

    Each had a number of its own above that of the turn before the run: the highest is known, others are free to count.
    """
    few = min(count, limit + 1)
    return range(seq, seq - few, -1) if newest else range(seq - count + 1, seq - count + 1 + few)


def _own(layers: Layers, session: str, limit: int, order: str) -> list[int]:
    """Return the numbers of the last or first turns of a sequence that stand in no other's place."""
    free = "turn.seq NOT IN (SELECT taken FROM place WHERE taken IS NOT NULL)"
    if session:
        number = layers.raw.sessions.number(session)
        sql = f"SELECT turn.seq FROM turn WHERE turn.session = ? AND {free} ORDER BY turn.seq {order} LIMIT ?"
        return [seq for (seq,) in layers.db.rows(sql, (number, limit + 1))]
    newest = f"SELECT seq, session, time FROM turn ORDER BY seq {order} LIMIT {_SCANNED * (limit + 1)}"
    sql = (
        f"SELECT turn.seq FROM ({newest}) AS turn JOIN session ON session.ord = turn.session "
        f"WHERE {_UNNAMED} AND {free} ORDER BY turn.seq {order} LIMIT ?"
    )
    return [seq for (seq,) in layers.db.rows(sql, (limit + 1,))]


def _held(layers: Layers, asked: PastWanted) -> Iterator[Turn]:
    """Yield the turns of a sequence, and system prompts of any, that have one of the ids or times asked for."""
    named = [seq for one in asked.ids if (seq := layers.raw.find(one)) is not None]
    number = layers.raw.sessions.number(asked.session) if asked.session else None
    for page in _pages([instant(time) for time in asked.times]):
        marks = ", ".join("?" * len(page))
        of_session = "turn.session = ?" if asked.session else f"{_UNNAMED} AND ? IS NULL"
        sql = f"SELECT turn.seq FROM {_JOINED} WHERE {of_session} AND turn.instant IN ({marks}) ORDER BY turn.seq"
        named += [seq for (seq,) in layers.db.rows(sql, (number, *page))]
    for turn in layers.raw.read(list(dict.fromkeys(named))):
        if not asked.session or turn.session == asked.session or turn.role == "system":
            yield turn


def _last(layers: Layers, number: int | None) -> int:
    return int(layers.db.value("SELECT max(seq) FROM turn WHERE session = ?", (number,)) or 0)


def _pages(values: Sequence[int]) -> Iterator[Sequence[int]]:
    return (values[start : start + _PARAMETERS] for start in range(0, len(values), _PARAMETERS))
