"""The sequence of a session: its turns in order of arrival, with the marks of those that were forgotten.

Their places are kept, and their ids as keyed digests: an id is recognized when it comes back, but cannot be read. An id
that was a digest of the text would confirm a guess of the text. Of such a turn only its number and time
are recorded, by which a copy of the memory knows it. When it was said is recorded of every turn: a message that has a
time of its own and no id is known by that.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from ..db.turn_sql import (
    ANY_FORGOTTEN,
    TURNS,
    filter_erased_marks,
    read_sessions_of_turns,
    select_end_of_places,
    select_end_of_turns,
    select_end_of_unnamed_turns,
    select_last_turn,
    select_turns_at,
)
from ..errors import InvalidQuery
from ..raw.turn_log import RawLog, has_same_content
from ..types.stored import Calls, ForgottenMarks, ForgottenPlace, Place, SessionWindow, WindowRequest
from ..types.values import Turn, instant
from .handle import FORMER_KEYS, StoreHandle
from .open_file import open_copy

# The ids that evimem gives by content (`raw/validate.py`): 15 bytes, and the occurrence of the content in its call.
_MARKS_AT_ONCE = 10_000  # in a line of an export

Run: TypeAlias = tuple[int, int, int | None]  # its last place, how many there are, and the turn that stands in it
Places: TypeAlias = dict[str, list[tuple[int, int]]]  # by session: the number of a place, and of the turn erased there


def build_session_window(handle: StoreHandle, asked: WindowRequest) -> SessionWindow:
    """Return the part of a session to align a list of messages with; inside a transaction of the caller."""
    session = asked.session
    handle.db.prefetch(
        lambda: _read_session_end(handle, session, asked.end, newest=True),
        *([lambda: _read_session_end(handle, session, asked.beginning, newest=False)] if asked.beginning else []),
        lambda: session_state(handle, session),
        lambda: _turns_at_times(handle, asked),
        lambda: read_call_history(handle, session),
        lambda: handle.db.read_meta_value("clock"),
        lambda: has_forgotten_turns(handle),
    )
    end, complete = _read_session_end(handle, asked.session, asked.end, newest=True)
    beginning = end[: asked.beginning]
    if not complete and asked.beginning:
        beginning, _ = _read_session_end(handle, asked.session, asked.beginning, newest=False)
    clock = handle.db.read_meta_value("clock")
    held = tuple(_stored_candidates(handle, asked))
    # A time at which a turn of the role still stands tells no turn from another: that of a whole day, as some have it.
    moments = {said: time_mark(asked.session, said[1], instant(said[0])) for said in asked.moments}
    moments = {said: mark for said, mark in moments.items() if said not in {(turn.time, turn.role) for turn in held}}
    forgotten = filter_forgotten(handle, [*asked.ids, *moments.values()])
    return SessionWindow(
        tuple(beginning),
        tuple(end),
        complete,
        held,
        frozenset(asked.ids) & forgotten | {said for said, mark in moments.items() if mark in forgotten},
        read_call_history(handle, asked.session),
        None if clock is None else clock == "aware",
        session_state(handle, asked.session),
    )


def session_state(handle: StoreHandle, session: str) -> tuple[str, int]:
    """Return a value that changes as soon as anything was stored in a session, or forgotten."""
    last = select_last_turn(session) if session else handle.db.select_highest_number("turn")
    ((newest,),), dealt = handle.db.rows_of_queries(last, handle.db.select_query("meta", "value", key="dealt"))
    return dealt[0][0] if dealt else "", int(newest or 0)


def read_call_history(handle: StoreHandle, session: str) -> Calls:
    """Return how the lists of a session came so far."""
    kept = handle.db.select("calls", "kept", session=hash_name(handle, session))
    return Calls(**json.loads(kept[0][0])) if kept else Calls()


def write_call_history(handle: StoreHandle, session: str, known: Calls) -> None:
    """Record how the lists of a session came."""
    row = (hash_name(handle, session), json.dumps(asdict(known)))
    handle.db.insert("calls", "session, kept", [row], key="session", new="kept")


def read_places(handle: StoreHandle, seqs: Sequence[int]) -> Places:
    """Return the places of turns that are about to be erased, by session."""
    found: Places = defaultdict(list)
    kept = dict(handle.db.select("place", "taken, seq", taken=seqs))
    for seq, name, unnamed, *_ in read_sessions_of_turns(handle.db, seqs):
        for session in (name, "") if unnamed else (name,):  # an unnamed one also in that of all such
            found[session].append((kept.get(seq, seq), seq))
    return found


def keep_erased_places(handle: StoreHandle, places: Places, taken: Mapping[int, int]) -> None:
    """Keep the places of turns that were erased; `taken` has the number of the turn that replaced one, by its own."""
    runs = {session: [(place, 1, taken.get(seq)) for place, seq in left] for session, left in places.items()}
    _insert_runs(handle, {_hash_session_name(handle, session): some for session, some in runs.items()})


def fill_open_places(handle: StoreHandle, session: str, turns: Mapping[int, int]) -> None:
    """Record which turns were stored in open places of a sequence, by place."""
    if not turns:
        return
    key, wanted = _hash_session_name(handle, session), sorted(turns)
    old, new = list[int](), list[Run]()
    following = range(wanted[0], 2**63)
    for seq, count in handle.db.select("place", "seq, count", "seq", session=key, seq=following, taken=None):
        inside = [place for place in wanted if seq - count < place <= seq]
        if inside:
            old.append(seq)
            bounds = [seq - count, *inside, seq + 1]
            new += [(place, 1, turns[place]) for place in inside]
            new += [(end - 1, end - start - 1, None) for start, end in pairwise(bounds) if end - start > 1]
    handle.db.delete_rows("place", session=key, seq=old)
    _insert_runs(handle, {key: new})


def _insert_runs(handle: StoreHandle, runs: Mapping[bytes, Sequence[Run]]) -> None:
    rows = [(key, *run) for key, some in runs.items() for run in some]
    handle.db.insert("place", "session, seq, count, taken", rows, key="session, seq", new="count, taken")


def _read_session_end(handle: StoreHandle, session: str, limit: int, *, newest: bool) -> tuple[list[Place], bool]:
    """Return the last or first places of a sequence in order of arrival, and whether these are all."""
    order = "DESC" if newest else "ASC"
    # Look at the 64 newest turns for each one wanted of unnamed sessions.
    unnamed = select_end_of_unnamed_turns(limit + 1, 64 * (limit + 1), order)
    found, own = handle.db.rows_of_queries(
        select_end_of_places(_hash_session_name(handle, session), limit + 1, order),
        select_end_of_turns(session, limit + 1, order) if session else unnamed,
    )
    runs: list[Run] = [*found, *((seq, 1, seq) for (seq,) in own)]
    runs.sort(key=lambda run: run[0], reverse=newest)
    numbers = [(at, taken) for seq, count, taken in runs for at in _place_numbers(seq, count, limit, newest=newest)][
        : limit + 1
    ]
    chosen = numbers[:limit][::-1] if newest else numbers[:limit]
    stored = [taken for _, taken in chosen if taken is not None]
    turns = dict(zip(stored, handle.raw.read_turns(stored), strict=True))
    places = [Place(seq, None if taken is None else turns[taken], taken not in (None, seq)) for seq, taken in chosen]
    return places, len(numbers) <= limit


def _place_numbers(seq: int, count: int, limit: int, *, newest: bool) -> range:
    """Return the numbers of the places of a run, at most one more than wanted, last or first ones.

    Each had a number of its own above that of the turn before the run: the highest is known, numbers between are free.
    """
    few = min(count, limit + 1)
    return range(seq, seq - few, -1) if newest else range(seq - count + 1, seq - count + 1 + few)


def _turns_at_times(handle: StoreHandle, asked: WindowRequest) -> list[int]:
    """Return the turns of a sequence that were said at the times asked for."""
    instants = [instant(time) for time, _ in asked.moments]
    return [seq for (seq,) in handle.db.rows(*select_turns_at(handle.db, asked.session, instants))]


def _stored_candidates(handle: StoreHandle, asked: WindowRequest) -> Iterator[Turn]:
    """Yield the turns of a sequence, and system prompts of any, that have one of the ids or times asked for."""
    named = list(handle.raw.seqs_of_known(asked.ids).values())
    named += _turns_at_times(handle, asked)
    for turn in handle.raw.read_turns(list(dict.fromkeys(named))):
        if not asked.session or turn.session == asked.session or turn.role == "system":
            yield turn


def mark_forgotten(handle: StoreHandle, seqs: Sequence[int]) -> None:
    """Record that these turns, which are still stored, are being erased."""
    marks = [_id_mark(*row) for row in handle.db.select("turn", "seq, id, instant", seq=seqs)]
    marks += [
        time_mark("" if unnamed else name, *said) for _, name, unnamed, *said in read_sessions_of_turns(handle.db, seqs)
    ]
    handle.db.insert("forgotten", "mark", [(hash_name(handle, mark),) for mark in marks], key="mark")


def time_mark(session: str, role: str, instant: int) -> str:
    """Return the second mark of a turn of a session ("" where unnamed) beside its id: its time."""
    return f"{instant} {role} {session}"


def _id_mark(seq: int, turn_id: str, instant: int) -> str:
    return f"{seq} {instant}" if re.fullmatch(r"[0-9a-f]{30}(-\d+)?", turn_id) else turn_id


def has_forgotten_turns(handle: StoreHandle) -> bool:
    """Return whether any turn was ever erased."""
    return bool(handle.db.rows(*ANY_FORGOTTEN))


def filter_forgotten(handle: StoreHandle, names: Sequence[str]) -> set[str]:
    """Return for which of these ids, or moments, a turn was ever erased here."""
    if not names or not has_forgotten_turns(handle):
        return set()  # before digests are computed: this is asked for every turn that is added
    digests = {digest: name for name in names for digest in _hash_name_by_all_keys(handle, name)}
    return {digests[mark] for mark in filter_erased_marks(handle.db, list(digests))}


def ids_forgotten_in_copy(handle: StoreHandle, path: Path) -> Iterator[str]:
    """Yield the ids of turns that another copy of this memory has erased, unless it holds the same again.

    A turn that it holds with other content is one that `update` or `extend(replace=True)` has replaced there.
    Raise InvalidQuery where there is no copy of this memory at the path, NotAMemory or another StoreError where it
    cannot be read.
    """
    digests, held = read_ids_of_copy(handle, path)
    for page in handle.db.read_pages(TURNS, (0,), 2000):
        marked = {}
        for row in page:
            marks = (_id_mark(*row), row[1])  # earlier versions marked every id
            if any(hash_name(handle, mark) in digests for mark in marks):
                marked[row[1]] = row[0]
        same = _ids_unchanged_in_copy(handle, path, [seq for turn_id, seq in marked.items() if turn_id in held])
        yield from (turn_id for turn_id in marked if turn_id not in same)


def _ids_unchanged_in_copy(handle: StoreHandle, path: Path, seqs: Sequence[int]) -> set[str]:
    """Return the ids of those of these turns that a copy holds with the content that they have here."""
    if not seqs:
        return set()
    here = handle.raw.read_intact_turns(seqs).values()
    with closing(open_copy(path, handle.db.key)) as other, other.raise_corrupt_on_decoding_errors(), other.reading():
        raw = RawLog(other)
        there = {
            turn.id: turn
            for turn in raw.read_intact_turns(list(raw.seqs_of_known([turn.id for turn in here]).values())).values()
        }
    return {turn.id for turn in here if turn.id in there and has_same_content(turn, there[turn.id])}


def read_ids_of_copy(handle: StoreHandle, path: Path) -> tuple[set[bytes], set[str]]:
    """Return the digests of the ids that another copy has forgotten, and the ids that it holds."""
    with closing(open_copy(path, handle.db.key)) as other, other.raise_corrupt_on_decoding_errors(), other.reading():
        if other.read_meta_value("store") != handle.store_id:
            raise InvalidQuery(f"{str(path)!r} is no copy of this memory; what it has forgotten says nothing here")
        digests = {mark for (mark,) in other.select("forgotten", "mark")}
        return digests, {turn_id for (turn_id,) in other.select("turn", "id")}


def hash_name(handle: StoreHandle, name: str) -> bytes:
    """Return a digest of a name, keyed by the random id of the store: no two memories have the same for it."""
    return _hash_name(handle.store_id, name)


def _hash_name(key: str, name: str) -> bytes:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16, key=key.encode()).digest()


def _hash_name_by_all_keys(handle: StoreHandle, name: str) -> list[bytes]:
    """Return the digests of a name by the keys of the memories whose marks were imported, and its own last."""
    return [_hash_name(key, name) for key in (*handle.former_keys, handle.store_id)]


def _hash_session_name(handle: StoreHandle, session: str) -> bytes:
    """Return the digest under which the places of a session stand: of an import, where none of its turns were left."""
    *imported, own = _hash_name_by_all_keys(handle, session)
    return next((one for one in imported if handle.db.select("place", "seq", "seq LIMIT 1", session=one)), own)


def export_forgotten(handle: StoreHandle) -> tuple[list[ForgottenMarks], list[tuple[int, ForgottenPlace]]]:
    """Return the marks of forgotten turns for an export: marks, and places with their numbers, ascending."""
    keys, marks = (handle.store_id, *handle.former_keys), [mark for (mark,) in handle.db.select("forgotten", "mark")]
    rows = handle.db.select("place", "session, seq, count, taken", "seq, session")
    ids = handle.raw.ids_of_seqs([taken for *_, taken in rows if taken is not None])
    places = [(seq, ForgottenPlace(session, count, ids.get(taken))) for session, seq, count, taken in rows]
    pages = range(0, len(marks), _MARKS_AT_ONCE)
    return [ForgottenMarks(keys, tuple(marks[start : start + _MARKS_AT_ONCE])) for start in pages], places


def sessions_by_digest(handle: StoreHandle, names: Collection[str]) -> dict[bytes, str]:
    """Return sessions by the digests that the memories had for them whose marks were imported."""
    return {_hash_name(key, name): name for name in ("", *names) for key in handle.former_keys}


def import_forgotten_marks(handle: StoreHandle, given: ForgottenMarks) -> None:
    """Record the forgotten turns of another memory."""
    with handle.writing():
        keys = dict.fromkeys((*handle.former_keys, *(key for key in given.keys if key != handle.store_id)))
        handle.db.set_meta(FORMER_KEYS, " ".join(keys))
        handle.former_keys = tuple(keys)
        handle.db.insert("forgotten", "mark", [(mark,) for mark in given.marks], key="mark")
        handle.count_commit()


def import_forgotten_places(
    handle: StoreHandle, after: str | None, places: Sequence[ForgottenPlace], names: Mapping[bytes, str]
) -> list[tuple[bytes, int, str]]:
    """Leave room for turns that another memory had forgotten, behind the last turn that was stored.

    A session that has places behind the turn `after` has them already. Return those that another turn has taken since,
    with its id, for `fill_imported_places`.
    """
    taken = list[tuple[bytes, int, str]]()
    with handle.writing():
        first = handle.raw.seqs_of_known([after]).get(after, 0) + 1 if after is not None else 1
        own = [(hash_name(handle, names[one.session]) if one.session in names else one.session) for one in places]
        there = {
            session for session in own if handle.db.select("place", "seq", session=session, seq=range(first, 2**63))
        }
        number = handle.db.highest_number_given("turn")
        for session, one in zip(own, places, strict=True):
            if session not in there:
                number += one.count
                handle.db.insert("place", "session, seq, count", [(session, number, one.count)])
                taken += [] if one.taken is None else [(session, number, one.taken)]
        handle.db.set_highest_numbers({"turn": number})
        handle.count_commit()
    return taken


def fill_imported_places(handle: StoreHandle, taken: Sequence[tuple[bytes, int, str]]) -> None:
    """Record which turns stand in places that were kept."""
    with handle.writing():
        seqs = handle.raw.seqs_of_known([turn_id for *_, turn_id in taken])
        rows = [(seqs[turn_id], session, seq) for session, seq, turn_id in taken if turn_id in seqs]
        handle.db.update("place", "taken", "session, seq", rows)
        handle.count_commit()
