"""The ids of erased turns, as keyed digests: an id is recognized when it comes back, but cannot be read.

An id that was a digest of what the turn said would tell that to whoever guesses it. Of such a turn only its number and
time are recorded, by which a copy of the memory knows it. When it was said is recorded of every turn: a message that
has a time of its own and no id is known by that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

from ..db.care_sql import TURNS
from ..db.meta import meta
from ..db.place_sql import ANY_FORGOTTEN, marks_among, sessions_of_turns
from ..errors import InvalidQuery
from .layers import Layers
from .open_file import open_copy

# The ids that evimem gives by content (`raw/validate.py`): 15 bytes, and the occurrence of the content in its call.
_BY_CONTENT = re.compile(r"[0-9a-f]{30}(-\d+)?")


def remember_forgotten(layers: Layers, seqs: Sequence[int]) -> None:
    """Record that these turns, which are still stored, are being erased."""
    marks = [_mark(*row) for row in layers.db.select("turn", "seq, id, instant", seq=seqs)]
    marks += [moment("" if unnamed else name, *said) for _, name, unnamed, *said in sessions_of_turns(layers.db, seqs)]
    layers.db.insert("forgotten", "mark", [(keyed_digest(layers, mark),) for mark in marks], key="mark")


def moment(session: str, role: str, instant: int) -> str:
    """Return what a turn of a session, "" where nobody named that, is marked by beside its id: when it was said."""
    return f"{instant} {role} {session}"


def _mark(seq: int, turn_id: str, instant: int) -> str:
    return f"{seq} {instant}" if _BY_CONTENT.fullmatch(turn_id) else turn_id


def forgotten_among(layers: Layers, names: Sequence[str]) -> set[str]:
    """Return for which of these ids, or moments, a turn was ever erased here."""
    if not names or not layers.db.rows(*ANY_FORGOTTEN):
        return set()  # before digests are computed: this is asked for every turn that is added
    digests = {name: keyed_digest(layers, name) for name in names}
    known = marks_among(layers.db, list(digests.values()))
    return {name for name, mark in digests.items() if mark in known}


def forgotten_in_copy(layers: Layers, path: Path) -> Iterator[str]:
    """Yield the ids of turns that another copy of this memory has forgotten and does not hold again.

    Raise InvalidQuery where there is no copy of this memory at the path, NotAMemory or another StoreError where it
    cannot be read.
    """
    digests, held = read_copy(layers, path)
    for page in layers.db.pages(TURNS, (0,), 2000):
        for row in page:
            marks = (_mark(*row), row[1])  # earlier versions marked every id
            if row[1] not in held and any(keyed_digest(layers, mark) in digests for mark in marks):
                yield row[1]


def read_copy(layers: Layers, path: Path) -> tuple[set[bytes], set[str]]:
    """Return the digests of the ids that another copy has forgotten, and the ids that it holds."""
    other = open_copy(path)
    try:
        with other.decoding(), other.reading():
            if meta(other, "store") != layers.store:
                raise InvalidQuery(f"{str(path)!r} is no copy of this memory; what it has forgotten says nothing here")
            digests = {mark for (mark,) in other.select("forgotten", "mark")}
            return digests, {turn_id for (turn_id,) in other.select("turn", "id")}
    finally:
        other.close()


def keyed_digest(layers: Layers, name: str) -> bytes:
    """Return a digest of a name, keyed by the random id of the store: no two memories have the same for it."""
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16, key=layers.store.encode()).digest()
