"""The ids of erased turns, as keyed digests: an id is recognized when it comes back, but cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from ..errors import InvalidQuery
from .layers import Layers
from .open_file import open_copy


def remember_forgotten(layers: Layers, turn_ids: Iterable[str]) -> None:
    """Record that turns of these ids were erased."""
    digests = [(_digest(layers, turn_id),) for turn_id in turn_ids]
    layers.db.executemany("INSERT OR IGNORE INTO forgotten (mark) VALUES (?)", digests)


def was_forgotten(layers: Layers, turn_id: str) -> bool:
    """Say whether a turn of this id was ever erased here."""
    if layers.db.value("SELECT 1 FROM forgotten LIMIT 1") is None:
        return False  # before the key of the digests is read: this is asked for every turn that is added
    return layers.db.value("SELECT 1 FROM forgotten WHERE mark = ?", (_digest(layers, turn_id),)) is not None


def forgotten_in_copy(layers: Layers, path: Path) -> Iterator[str]:
    """Yield the ids of turns that another copy of this memory has forgotten and does not hold again.

    Raise InvalidQuery where there is no copy of this memory at the path, NotAMemory or another StoreError where it
    cannot be read.
    """
    digests, held = read_copy(layers, path)
    for page in layers.raw.id_pages():
        yield from (turn_id for turn_id in page if turn_id not in held and _digest(layers, turn_id) in digests)


def read_copy(layers: Layers, path: Path) -> tuple[set[bytes], set[str]]:
    """Return the digests of the ids that another copy has forgotten, and the ids that it holds."""
    other = open_copy(path)
    try:
        with other.decoding(), other.reading():
            if other.value("SELECT value FROM meta WHERE key = 'store'") != layers.meta("store"):
                raise InvalidQuery(f"{str(path)!r} is no copy of this memory; what it has forgotten says nothing here")
            digests = {mark for (mark,) in other.rows("SELECT mark FROM forgotten")}
            return digests, {turn_id for (turn_id,) in other.rows("SELECT id FROM turn")}
    finally:
        other.close()


def _digest(layers: Layers, turn_id: str) -> bytes:
    # Keyed by the random id of the store: equal ids of two memories have different digests.
    key = (layers.meta("store") or "").encode()
    return blake2b(turn_id.encode(), digest_size=16, key=key).digest()
