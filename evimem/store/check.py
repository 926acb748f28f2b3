"""Checking a file: one line for each kind of damage found, with its place and remedy.

Derived rows can be derived again from the turns. Turns cannot: an altered one is reported, and never guessed at.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import TypeAlias

from ..db.derived_sql import count_facts_never_linked, count_turns_without_rows
from ..db.turn_sql import TURNS
from ..errors import UNREADABLE, StoreCorrupt, try_read
from ..extract.attribution import TURNS_AFTER, has_unclear_speaker
from ..index.corpus import Stored
from ..index.document import passages
from ..index.segments import seal_documents
from ..protocols import Extractor
from ..raw.validate import find_wrong_instants
from ..types.stored import BY_RULE, MAX_EARLIER_TURNS, OF_A_MODEL
from ..types.values import Fact
from ..types.vectors import is_packed
from .handle import StoreHandle
from .rebuild import count_segments, derive_index_rows, find_unreadable_traces, is_grounded, turns_in_segment

REPAIR = "`evimem doctor --repair` derives it again"
RESTORE = "restore a backup"
CARRY_OVER = "carry the turns over into a new memory: `new.extend(old.turns())`"
# Not derived: only a backup has them.
_RAW = {"turn", "session", "speaker", "meta", "forgotten", "place", "calls", "trace", "trace_turn"}
_PAGE_TURNS = 500  # turns read at once
# Where the messages of `PRAGMA integrity_check` name an index, or the root page of a tree.
_OF_A_TREE = re.compile(r"Tree (\d+) ")
_MAX_NAMED_TURNS = 5  # turns named in one line
Found: TypeAlias = Generator[str | int, None, None]  # lines, and numbers of turns that were looked at


def find_damage(handle: StoreHandle, extractor: Extractor) -> Found:
    """Yield a line for each kind of damage and, now and then, how many turns were looked at since."""
    damaged = False
    try:
        with handle.db.reading():
            for found in _find_problems(handle, extractor):
                damaged |= isinstance(found, str)
                yield found
    except StoreCorrupt:  # damaged pages can keep even the transaction from ending; the findings tell why
        if not damaged:
            raise


def _find_problems(handle: StoreHandle, extractor: Extractor) -> Found:
    yield from _report_unreadable("the file", _find_damaged_pages(handle), RESTORE)
    yield from _report_unreadable("the references between tables", _find_orphan_rows(handle), RESTORE)
    altered = False
    for found in _report_unreadable("the table of turns", _find_altered_turns(handle), RESTORE):
        altered |= isinstance(found, str)
        yield found
    if altered:
        return  # the derived rows of an altered turn are unknown
    if late := find_wrong_instants(handle.db):
        yield f"{len(late)} turn(s) are sorted by another time than their own: {REPAIR}"
    if lost := count_turns_without_rows(handle.db):
        yield f"{lost} turn(s) have no rows in the index: {REPAIR}"
    # Rows that were derived by other rules differ from those that are derived now, and tell nothing of damage.
    comparable = handle.is_derived_by_current_rules()
    for number in range(count_segments(handle)):
        of_segment = _find_segment_problems(handle, extractor, number, comparable=comparable)
        yield from _report_unreadable(f"the index of segment {number}", of_segment)
    yield from _report_unreadable("the links between facts", _find_link_problems(handle))
    for number, error in find_unreadable_traces(handle):
        yield f"trace {number} cannot be read ({type(error).__name__}): `evimem doctor --repair` drops it"


def _find_damaged_pages(handle: StoreHandle) -> Found:
    """Yield a line for each table or index in which SQLite finds damaged pages, else one for pages of none."""
    if not (whole := _read_page_faults(handle, None)):
        return
    trees, found = handle.db.list_trees(), defaultdict[tuple[str, str], list[str]](list)
    names = {root: name for root, name, _ in trees}
    for table in sorted({table for *_, table in trees}):
        for line in _read_page_faults(handle, table):
            index, tree = re.search(r"(?:missing from|entries in|entry in) index (\S+)", line), _OF_A_TREE.search(line)
            found[table, index[1] if index else names.get(int(tree[1]), table) if tree else table].append(line)
    for (table, name), lines in found.items():
        what, cure = f"the index {name!r} of table {table!r}", "`evimem doctor --repair` makes it again from the rows"
        if name == table:
            what, cure = f"rows of table {table!r}", f"{REPAIR}; where it cannot, {CARRY_OVER}"
            cure = RESTORE if table in _RAW else cure
        more = f", and {len(lines) - 1} more" if len(lines) > 1 else ""
        yield f"{what}: SQLite says {lines[0]!r}{more}: {cure}"
    if not found:
        yield f"pages of the file: SQLite says {whole[0]!r}: {RESTORE}"


def _read_page_faults(handle: StoreHandle, table: str | None) -> list[str]:
    """Return the findings of SQLite in a table or in the whole file: also where it gives up on it."""
    try:
        return handle.db.check_pages(table)
    except StoreCorrupt as error:
        return [str(error.__cause__)]


def _find_orphan_rows(handle: StoreHandle) -> Found:
    counts = Counter(handle.db.find_broken_references())
    for (table, parent), count in counts.items():
        cure = RESTORE if table in _RAW else REPAIR
        yield f"{count} row(s) of table {table!r} refer to missing rows of {parent!r}: {cure}"


def _find_altered_turns(handle: StoreHandle) -> Found:
    """Yield a line for each turn that is not as it was stored, with its id where that can be read."""
    for rows in handle.db.read_pages(TURNS, (0,), _PAGE_TURNS):
        page = [seq for seq, *_ in rows]
        intact = handle.raw.read_intact_turns(page)
        for seq in (seq for seq in page if seq not in intact):
            yield f"turn {_name_turn(handle, seq)} is not what was stored: {RESTORE}, or forget it"
        yield len(page)


def _name_turn(handle: StoreHandle, seq: int) -> str:
    try:
        return repr(handle.raw.ids_of_seqs([seq])[seq])
    except (*UNREADABLE, StoreCorrupt):
        return f"number {seq}, whose id cannot be read,"


def _report_unreadable(what: str, found: Found, cure: str = REPAIR) -> Found:
    """Yield these problems, and one more where looking for them fails on unreadable rows."""
    try:
        yield from found
    except (*UNREADABLE, StoreCorrupt) as error:
        yield f"{what} cannot be read ({type(error).__name__}): {cure}"


def _find_segment_problems(handle: StoreHandle, extractor: Extractor, number: int, *, comparable: bool) -> Found:
    vectors, queued = handle.segments.vectors(number), handle.jobs.turns_with_open_job("vector")
    unread, plain = handle.jobs.turns_with_open_job("facts"), handle.jobs.turns_with_open_job("terms")
    rows: dict[int, Stored] = {}
    split, missing, damaged, differing, ungrounded = (list[str]() for _ in range(5))
    for page in turns_in_segment(handle, number):
        whole = [one for one in page if len(one.all_rows) in (1, len(passages(one.turn.text)))]
        split += [one.turn.id for one in page if one not in whole]
        for one, derived in zip(whole, derive_index_rows(handle, whole, vectors, plain), strict=True):
            turn, facts, own = one.turn, one.facts, derived.value
            rows |= own
            # A turn without words has a zero vector, which in a sealed segment stands for no vector.
            lacks = any(row not in vectors and kept.terms != b"{}" for row, kept in own.items())
            if one.seq not in queued and lacks:
                missing.append(turn.id)
            if not all(is_packed(vectors[row]) for row in one.rows if row in vectors):
                damaged.append(turn.id)
            # None: the findings from when it could be read still stand.
            found = try_read(None, extractor.extract, turn).value
            kept_facts = {replace(fact, replaced_by=None) for fact in facts if fact.extractor == extractor.name}
            by_model = not kept_facts and any(fact.extractor == OF_A_MODEL for fact in facts)
            if found and not kept_facts and extractor.name == BY_RULE:
                found = (
                    ()
                    if has_unclear_speaker(turn, handle.raw.read_contexts([one.seq], MAX_EARLIER_TURNS, TURNS_AFTER)[0])
                    else found
                )
            if one.seq not in unread and not by_model and (found is None or kept_facts != set(found)):
                differing.append(turn.id)
            if not all(is_grounded(fact, turn) and _has_content_id(fact) for fact in facts):
                ungrounded.append(turn.id)
        yield len(page)
    yield from _describe_turns(missing, "has no vector, and no job for it is queued")
    yield from _describe_turns(damaged, "has a vector that is not what was stored")
    yield from _describe_turns(ungrounded, "has a fact that is not what was stored, or whose span is not in it")
    if comparable:
        yield from _describe_turns(split, "is indexed in other passages than its text has")
        yield from _describe_turns(differing, "has other facts than its text gives, or they cannot be read")
        yield from _find_index_problems(handle, number, rows)


def _describe_turns(ids: Sequence[str], what: str) -> Found:
    if ids:
        more = (
            f" (and so have {len(ids) - 1} more: {', '.join(map(repr, ids[1:_MAX_NAMED_TURNS]))})"
            if len(ids) > 1
            else ""
        )
        yield f"turn {ids[0]!r} {what}{more}: {REPAIR}"


def _find_index_problems(handle: StoreHandle, number: int, rows: dict[int, Stored]) -> Found:
    kept = handle.segments.sealed_rows(number)
    if kept is None:  # an open segment: its documents are rows of their own
        if handle.segments.documents(number) != rows:
            yield f"the documents of segment {number} are not those that its turns give: {REPAIR}"
        return
    wanted = seal_documents(number, rows, handle.segments.size)
    if kept[0] != wanted[0]:
        yield f"the columns of segment {number} are not those that its turns give: {REPAIR}"
    if kept[1] != wanted[1]:
        yield f"the dates of segment {number} are not those that its facts give: {REPAIR}"
    if wrong := [term for term in kept[2].keys() | wanted[2].keys() if kept[2].get(term) != wanted[2].get(term)]:
        yield f"the postings of {len(wrong)} term(s) in segment {number} are not those that its turns give: {REPAIR}"


def _find_link_problems(handle: StoreHandle) -> Found:
    if unlinked := count_facts_never_linked(handle.db):
        yield f"{unlinked} fact(s) have no vector, and no job for it is queued: {REPAIR}"
    if wrong := handle.edges.count_facts_with_wrong_edges(handle.min_cosine):
        yield f"{wrong} fact(s) have other edges than their vectors give: {REPAIR}"
    if wrong := handle.fact_table.count_wrongly_replaced():
        yield f"{wrong} fact(s) are not marked as replaced by what replaced them: {REPAIR}"


def _has_content_id(fact: Fact) -> bool:
    """Say whether a fact's content hashes to its id."""
    from ..extract.statements import fact_id  # noqa: PLC0415 - the grammar, which opening a file does without

    return fact.id == fact_id(fact.turn_id, fact.extractor, fact.span, fact.subject, fact.predicate, fact.object)
