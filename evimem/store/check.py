"""What is wrong with a memory: each kind of damage by name, what it is damage to, and what can be done about it.

Derived rows can be derived again. Turns cannot: of those that are not what was stored, nothing is guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ..edges import threshold
from ..embedding.quantize import is_packed
from ..errors import UNREADABLE, StoreCorrupt
from ..extract import fact_id
from ..index.segments import Stored, sealed, stored
from ..protocols import Extractor
from ..types.values import Fact
from .layers import Layers
from .upkeep import grounded, segment, unreadable_traces
from .user_code import GuestExtractor, guest, guests

Progress = Callable[[int], None]

REPAIR = "`evimem doctor --repair` derives it again"
RESTORE = "restore a backup"
CARRY_OVER = "carry the turns over into a new memory: `new.extend(old.turns())`"
_RAW = {"turn", "session", "speaker", "meta", "forgotten", "trace", "trace_turn"}  # nothing else says what they held
_PAGE = 500  # turns read at once
_UNLINKED = """
SELECT count(*) FROM fact WHERE NOT EXISTS (SELECT 1 FROM fact_vector WHERE fact_vector.row = fact.row)
AND NOT EXISTS (SELECT 1 FROM job WHERE job.kind = 'link' AND job.seq = fact.seq)"""
_NO_TERMS = b"{}"  # of a turn without a word: its vector is zero, which a sealed segment cannot tell from none
_OF_AN_INDEX = re.compile(r"(?:missing from|entries in|entry in) index (\S+)")
_OF_A_TREE = re.compile(r"Tree (\d+) ")
_OF_A_TABLE = re.compile(r"(?:value in|constraint failed in) (\w+)")
_NAMES = 5  # turns that one line names


def problems(layers: Layers, extractor: Extractor, progress: Progress) -> tuple[str, ...]:
    """Return what is wrong with a file, `progress` being called with the number of turns looked at."""
    found: list[str] = []
    try:
        with guests(), layers.db.reading():
            found.extend(_problems(layers, GuestExtractor.of(extractor), guest(progress)))
    except StoreCorrupt:  # where pages are damaged, the transaction cannot even be ended; what was found says so
        if not found:
            raise
    return tuple(found)


def _problems(layers: Layers, extractor: Extractor, progress: Progress) -> Iterator[str]:
    yield from _readable("the file", _page_problems(layers), RESTORE)
    yield from _readable("what rows belong to", _orphans(layers), RESTORE)
    if altered := list(_readable("the table of turns", _altered(layers, progress), RESTORE)):
        yield from altered
        return  # what follows from an altered turn cannot be told
    if late := layers.raw.wrongly_timed():
        yield f"{len(late)} turn(s) do not stand where their time puts them: {REPAIR}"
    for number in range(-(-layers.raw.high_water() // layers.segments.size)):
        yield from _readable(f"the index of segment {number}", _segment_problems(layers, extractor, number, progress))
    yield from _readable("the links between facts", _link_problems(layers))
    yield from _trace_problems(layers)


def _page_problems(layers: Layers) -> Iterator[str]:
    """Say which tables the pages belong to that SQLite finds fault with."""
    roots = dict(layers.db.rows("SELECT rootpage, name FROM sqlite_schema"))
    tables = dict(layers.db.rows("SELECT name, tbl_name FROM sqlite_schema"))
    found: dict[tuple[str, str | None], list[str]] = {}
    for known, line in _faults(layers, sorted(set(tables.values()))):
        place = (f"rows of table {known!r}", known) if known else _place(line, roots, tables)
        found.setdefault(place, []).append(line)
    for (what, table), lines in found.items():
        more = f", and {len(lines) - 1} more" if len(lines) > 1 else ""
        yield f"{what}: SQLite says {lines[0]!r}{more}: {_cure(what, table)}"


def _faults(layers: Layers, tables: Sequence[str]) -> Iterator[tuple[str | None, str]]:
    """Yield what SQLite finds; where it gives up on the whole file, table by table, which tells where it does."""
    try:
        lines = layers.db.rows("PRAGMA integrity_check")
    except StoreCorrupt:
        for table in tables:
            name = table.replace('"', '""')
            try:
                lines = layers.db.rows(f'PRAGMA integrity_check("{name}")')
            except StoreCorrupt as error:
                lines = []
                yield table, str(error.__cause__)
            yield from ((None, line) for (line,) in lines if line != "ok")
        return
    yield from ((None, line) for (line,) in lines if line != "ok")


def _place(line: str, roots: dict[int, str], tables: dict[str, str]) -> tuple[str, str | None]:
    tree, index, column = _OF_A_TREE.search(line), _OF_AN_INDEX.search(line), _OF_A_TABLE.search(line)
    name = roots.get(int(tree[1])) if tree else index[1] if index else column[1] if column else None
    if name is None or name not in tables:
        return "pages of the file", None
    table = tables[name]
    if name == table:
        return f"rows of table {table!r}", table
    return f"the index {name!r} of table {table!r}", table


def _cure(what: str, table: str | None) -> str:
    if what.startswith("the index "):
        return "`evimem doctor --repair` makes it again from the rows"
    return RESTORE if table is None or table in _RAW else f"{REPAIR}; where it cannot, {CARRY_OVER}"


def _orphans(layers: Layers) -> Iterator[str]:
    counts = Counter((table, parent) for table, _, parent, _ in layers.db.rows("PRAGMA foreign_key_check"))
    for (table, parent), count in counts.items():
        cure = RESTORE if table in _RAW else REPAIR
        yield f"{count} row(s) of table {table!r} belong to rows of {parent!r} that are not there: {cure}"


def _altered(layers: Layers, progress: Progress) -> Iterator[str]:
    """Name the turns that cannot be read as they were stored, by id where that can be read."""
    after, sql = 0, f"SELECT seq FROM turn WHERE seq > ? ORDER BY seq LIMIT {_PAGE}"
    while page := [seq for (seq,) in layers.db.rows(sql, (after,))]:
        after = page[-1]
        try:
            layers.raw.read(page)
        except (*UNREADABLE, StoreCorrupt):
            names = [name for seq in page if (name := _unreadable(layers, seq)) is not None]
            yield from (f"turn {name} is not what was stored: {RESTORE}, or forget it" for name in names)
        progress(len(page))


def _unreadable(layers: Layers, seq: int) -> str | None:
    try:
        layers.raw.read([seq])
    except (*UNREADABLE, StoreCorrupt):
        try:
            return repr(layers.raw.ids([seq])[seq])
        except (*UNREADABLE, StoreCorrupt):
            return f"number {seq}, whose id cannot be read,"
    return None


def _readable(what: str, found: Iterator[str], cure: str = REPAIR) -> Iterator[str]:
    try:
        yield from found
    except (*UNREADABLE, StoreCorrupt) as error:
        yield f"{what} cannot be read ({type(error).__name__}): {cure}"


def _segment_problems(layers: Layers, extractor: Extractor, number: int, progress: Progress) -> Iterator[str]:
    vectors, owed = layers.segments.vectors(number), layers.jobs.owing("vector")
    rows: dict[int, Stored] = {}
    without, spoilt, misstated, ungrounded = list[str](), list[str](), list[str](), list[str]()
    for seq, turn, facts in segment(layers, number):
        packed = vectors.get(seq)
        rows[seq] = stored(layers.row(layers.raw.place(seq), turn, facts, packed))
        if packed is None and seq not in owed and rows[seq].terms != _NO_TERMS:
            without.append(turn.id)
        if packed is not None and not is_packed(packed):
            spoilt.append(turn.id)
        if {replace(one, replaced_by=None) for one in facts if one.extractor == extractor.name} != set(
            extractor.extract(turn)
        ):
            misstated.append(turn.id)
        if not all(grounded(fact, turn) and _whole(fact) for fact in facts):
            ungrounded.append(turn.id)
        progress(1)
    yield from _of_turns(without, "has no vector, and none is owed to it")
    yield from _of_turns(spoilt, "has a vector that is not what was stored")
    yield from _of_turns(misstated, "has other facts than its text gives")
    yield from _of_turns(ungrounded, "has a fact that is not what was stored, or whose span is not in it")
    yield from _index_problems(layers, number, rows)


def _of_turns(ids: Sequence[str], what: str) -> Iterator[str]:
    if ids:
        more = f" (so it is with {len(ids) - 1} more: {', '.join(map(repr, ids[1:_NAMES]))})" if len(ids) > 1 else ""
        yield f"turn {ids[0]!r} {what}{more}: {REPAIR}"


def _index_problems(layers: Layers, number: int, rows: dict[int, Stored]) -> Iterator[str]:
    kept = layers.segments.sealed_rows(number)
    if kept is None:
        if layers.segments.documents(number) != rows:
            yield f"the documents of segment {number} are not those that its turns give: {REPAIR}"
        return
    wanted = sealed(number, rows, layers.segments.size)
    if kept[0] != wanted[0]:
        yield f"the columns of segment {number} are not those that its turns give: {REPAIR}"
    if kept[1] != wanted[1]:
        yield f"the dates of segment {number} are not those that its facts give: {REPAIR}"
    if wrong := [term for term in kept[2].keys() | wanted[2].keys() if kept[2].get(term) != wanted[2].get(term)]:
        yield f"the postings of {len(wrong)} term(s) in segment {number} are not those that its turns give: {REPAIR}"


def _link_problems(layers: Layers) -> Iterator[str]:
    if unlinked := layers.db.value(_UNLINKED):
        yield f"{unlinked} fact(s) have no vector, and none is owed to them: {REPAIR}"
    if wrong := layers.edges.wrong(threshold(layers.meta("embedder") or "")):
        yield f"{wrong} fact(s) are linked otherwise than their vectors say: {REPAIR}"
    if wrong := layers.facts.wrongly_replaced():
        yield f"{wrong} fact(s) are not marked as replaced by what replaced them: {REPAIR}"


def _trace_problems(layers: Layers) -> Iterator[str]:
    for number, error in unreadable_traces(layers):
        yield f"trace {number} cannot be read ({type(error).__name__}): `evimem doctor --repair` drops it"


def _whole(fact: Fact) -> bool:
    return fact.id == fact_id(fact.turn_id, fact.extractor, fact.span, fact.subject, fact.predicate, fact.object)
