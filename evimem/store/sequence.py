"""The sequence of a session: its turns in order of arrival, with the places of those that were forgotten."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import TypeAlias

from ..db.place_sql import (
    calls_kept,
    drop_places,
    end_of_places,
    end_of_turns,
    end_of_unnamed_turns,
    free_turns_by_session,
    last_turn,
    open_runs_from,
    places_near,
    sessions_of_turns,
    spans_with_turns,
    turns_at,
)
from ..raw import instant
from ..types.stored import Calls, Past, PastWanted, Place
from ..types.values import Turn
from .forgotten_ids import forgotten_among, keyed_digest, moment
from .layers import Layers

_GONE = -1  # number of a session that has no turn left
_SCANNED = 64  # newest turns looked at for each one wanted of sessions that nobody named

Run: TypeAlias = tuple[int, int, int | None]  # its last place, how many there are, and the turn that stands in it
Places: TypeAlias = dict[str, list[tuple[int, int]]]  # by session: the number of a place, and of the turn erased there


def past_of(layers: Layers, asked: PastWanted) -> Past:
    """Return what a list of messages is laid beside; inside a transaction of the caller."""
    end, complete = _places(layers, asked.session, asked.end, newest=True)
    beginning = end[: asked.beginning]
    if not complete and asked.beginning:
        beginning, _ = _places(layers, asked.session, asked.beginning, newest=False)
    clock = layers.meta("clock")
    held = tuple(_held(layers, asked))
    # A time at which a turn of the role still stands tells no turn from another: that of a whole day, as some have it.
    moments = {said: moment(asked.session, said[1], instant(said[0])) for said in asked.moments}
    moments = {said: mark for said, mark in moments.items() if said not in {(turn.time, turn.role) for turn in held}}
    forgotten = forgotten_among(layers, [*asked.ids, *moments.values()])
    return Past(
        tuple(beginning),
        tuple(end),
        complete,
        held,
        frozenset(asked.ids) & forgotten | {said for said, mark in moments.items() if mark in forgotten},
        calls(layers, asked.session),
        None if clock is None else clock == "aware",
        state(layers, asked.session),
    )


def state(layers: Layers, session: str) -> tuple[str, int]:
    """Return what differs as soon as anything was stored in a session, or forgotten."""
    last = last_turn(layers.db, _number(layers, session)) if session else layers.raw.high_water()
    return layers.meta("dealt") or "", last


def calls(layers: Layers, session: str) -> Calls:
    """Return how the lists of a session came so far."""
    kept = calls_kept(layers.db, keyed_digest(layers, session))
    return Calls() if kept is None else Calls(**json.loads(kept))


def keep_calls(layers: Layers, session: str, known: Calls) -> None:
    """Record how the lists of a session came."""
    row = (keyed_digest(layers, session), json.dumps(asdict(known)))
    layers.db.insert("calls", "session, kept", [row], key="session", new="kept")


def places_of(layers: Layers, seqs: Sequence[int]) -> Places:
    """Return the places of turns that are about to be erased, by session."""
    found: Places = defaultdict(list)
    kept = dict(layers.db.select("place", "taken, seq", taken=seqs))
    for seq, name, unnamed, *_ in sessions_of_turns(layers.db, seqs):
        for session in _sequences(name, unnamed):
            found[session].append((kept.get(seq, seq), seq))
    return found


def leave(layers: Layers, places: Places) -> None:
    """Keep the places of turns that were erased; those with no turn in between become one row."""
    if not places:
        return
    keys = {session: keyed_digest(layers, session) for session in places}
    numbers = layers.raw.sessions.numbers(places)
    seqs = {session: [place for place, _ in left] for session, left in places.items()}
    near = places_near(layers.db, [(keys[session].hex(), min(some), max(some)) for session, some in seqs.items()])
    drop_places(layers.db, [(key, seq) for key, seq, _, _ in near])
    around: dict[bytes, dict[int, Run]] = defaultdict(dict)
    for key, seq, count, taken in near:
        around[key][seq] = (seq, count, taken)
    for session, some in seqs.items():
        around[keys[session]] |= {seq: (seq, 1, None) for seq in some}
    of = {key: numbers.get(session, _GONE) if session else None for session, key in keys.items()}
    runs = {key: [runs[seq] for seq in sorted(runs)] for key, runs in around.items()}
    asked = {(of[key], one[0], two[0]) for key, some in runs.items() for one, two in pairwise(some)}
    parted = spans_with_turns(layers.db, asked)
    joined: dict[bytes, list[Run]] = defaultdict(list)
    for key, ordered in runs.items():
        for seq, count, taken in ordered:
            last = joined[key][-1] if joined[key] else None
            if last and last[2] is None and taken is None and (of[key], last[0], seq) not in parted:
                joined[key][-1] = (seq, last[1] + count, None)
            else:
                joined[key].append((seq, count, taken))
    _insert(layers, joined)


def replace_places(layers: Layers, places: Places, taken: Mapping[int, int]) -> None:
    """Keep the places of turns that others replaced: `taken` has the number of the new turn by that of the old."""
    runs = {session: [(place, 1, taken.get(seq)) for place, seq in left] for session, left in places.items()}
    _insert(layers, {keyed_digest(layers, session): some for session, some in runs.items()})


def fill(layers: Layers, session: str, turns: Mapping[int, int]) -> None:
    """Record which turns were stored in open places of a sequence, by place."""
    if not turns:
        return
    key, wanted = keyed_digest(layers, session), sorted(turns)
    old, new = list[tuple[bytes, int]](), list[Run]()
    for seq, count in open_runs_from(layers.db, key, wanted[0]):
        inside = [place for place in wanted if seq - count < place <= seq]
        if inside:
            old.append((key, seq))
            bounds = [seq - count, *inside, seq + 1]
            new += [(place, 1, turns[place]) for place in inside]
            new += [(end - 1, end - start - 1, None) for start, end in pairwise(bounds) if end - start > 1]
    drop_places(layers.db, old)
    _insert(layers, {key: new})


def leave_all(layers: Layers) -> None:
    """Keep one run of places for each session, before everything is erased."""
    found: dict[bytes, list[int]] = defaultdict(lambda: [0, 0])
    for name, unnamed, seq, count in free_turns_by_session(layers.db):
        for session in _sequences(name, unnamed):
            _gather(found[keyed_digest(layers, session)], seq, count)
    for key, seq, count in layers.db.select("place", "session, seq, count"):
        _gather(found[key], seq, count)
    layers.db.delete("place")
    _insert(layers, {key: [(seq, count, None)] for key, (seq, count) in found.items()})


def _gather(run: list[int], seq: int, count: int) -> None:
    run[:] = max(run[0], seq), run[1] + count


def _sequences(name: str, unnamed: int) -> tuple[str, ...]:
    """Return the sequences in which a turn of a session stands: where nobody named that, also in that of all such."""
    return (name, "") if unnamed else (name,)


def _number(layers: Layers, session: str) -> int | None:
    return layers.raw.sessions.numbers([session]).get(session)


def _insert(layers: Layers, runs: Mapping[bytes, Sequence[Run]]) -> None:
    rows = [(key, *run) for key, some in runs.items() for run in some]
    layers.db.insert("place", "session, seq, count, taken", rows, key="session, seq", new="count, taken")


def _places(layers: Layers, session: str, limit: int, *, newest: bool) -> tuple[list[Place], bool]:
    """Return the last or first places of a sequence in order of arrival, and whether there are no others."""
    order = "DESC" if newest else "ASC"
    key = keyed_digest(layers, session)
    found = end_of_places(layers.db, key, limit + 1, order)
    runs: list[Run] = [*found, *((seq, 1, seq) for seq in _own(layers, session, limit, order))]
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
    if session:
        return end_of_turns(layers.db, _number(layers, session), limit + 1, order)
    return end_of_unnamed_turns(layers.db, limit + 1, _SCANNED * (limit + 1), order)


def _held(layers: Layers, asked: PastWanted) -> Iterator[Turn]:
    """Yield the turns of a sequence, and system prompts of any, that have one of the ids or times asked for."""
    named = list(layers.raw.known(asked.ids).values())
    number = _number(layers, asked.session) if asked.session else None
    named += turns_at(layers.db, number, [instant(time) for time, _ in asked.moments], unnamed=not asked.session)
    for turn in layers.raw.read(list(dict.fromkeys(named))):
        if not asked.session or turn.session == asked.session or turn.role == "system":
            yield turn
