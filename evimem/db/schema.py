"""The tables of a memory, as migrations.

The list is append-only: a migration that has run somewhere is never changed. Each is a list of statements, or of
functions where rows are changed that SQL cannot read; it runs in one transaction with the update of `user_version`
that records it, so that a crash leaves it done or not begun.
"""

from __future__ import annotations

import secrets
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from ..errors import NewerSchema, NotAMemory
from ..types.values import ROLES
from .connection import Connection
from .file_format import APPLICATION_ID

Migration: TypeAlias = Sequence[str | Callable[[Connection], None]]


def _write_identity(db: Connection) -> None:
    """Give a new memory its random id, and the counters of its commits."""
    counters = [("commits", "0"), ("epoch", "0"), ("links", "0")]
    db.insert("meta", "key, value", [("store", secrets.token_hex(16)), *counters])


# The three layers (raw, index, edges), the job queue, and kept traces.
# `seq` is a turn's number in order of arrival. AUTOINCREMENT keeps numbers of erased turns from being used again: the
# index finds rows by position (seq - 1), and other handles follow the file by the highest number they know.
# `ord` is the number of a name. Text columns without a type may hold a BLOB: UTF-8 with lone surrogates, which are not
# valid text. WITHOUT ROWID stores rows in the order of their primary key, where that is how they are read.
THREE_LAYERS: Migration = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE session (ord INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE)",
    "CREATE TABLE speaker (ord INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE)",
    """CREATE TABLE turn (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
        session INTEGER NOT NULL REFERENCES session, speaker INTEGER NOT NULL REFERENCES speaker,
        role TEXT NOT NULL, text NOT NULL, caption, time TEXT NOT NULL, instant INTEGER NOT NULL,
        metadata TEXT NOT NULL, digest BLOB NOT NULL)""",
    # Dialogue order: the turns before and after one in its session are the ends of two ranges.
    "CREATE INDEX turn_in_dialogue ON turn (session, instant, seq)",
    # The first and last turn, and `forget(before=)`.
    "CREATE INDEX turn_in_time ON turn (instant)",
    # Whether a speaker has any turn left after an erasure; also for the foreign key.
    "CREATE INDEX turn_by_speaker ON turn (speaker)",
    # Index: facts. `owner` and `topic` must be equal in a later fact that replaces it; `instant` is its turn's.
    """CREATE TABLE fact (
        row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL REFERENCES turn,
        subject NOT NULL, predicate NOT NULL, object NOT NULL,
        event_start TEXT, event_end TEXT, granularity TEXT, phrase,
        span_start INTEGER NOT NULL, span_end INTEGER NOT NULL,
        kind TEXT NOT NULL, extractor TEXT NOT NULL,
        owner, topic TEXT, replaced_by TEXT, instant INTEGER NOT NULL)""",
    "CREATE INDEX fact_of_turn ON fact (seq)",
    # The facts that may replace one another, in the order in which they were said; most facts have no topic.
    "CREATE INDEX fact_by_topic ON fact (owner, topic, instant, seq) WHERE topic IS NOT NULL",
    # The facts that a fact replaced, to be unmarked when it is erased; few facts are replaced.
    "CREATE INDEX fact_replaced ON fact (replaced_by) WHERE replaced_by IS NOT NULL",
    # Apart from `fact`, so that reading facts does not read past their vectors. int8 values and the scale that restores
    # them, as in `document`.
    "CREATE TABLE fact_vector (row INTEGER PRIMARY KEY REFERENCES fact, vector BLOB NOT NULL, scale REAL NOT NULL)",
    # Index: postings of cues (entities, terms, times of facts) and keywords, for loops that walk them. Their second
    # indexes find the postings of a fact or turn that is erased.
    "CREATE TABLE cue (name TEXT, row INTEGER REFERENCES fact, kind TEXT, PRIMARY KEY (name, row, kind)) WITHOUT ROWID",
    "CREATE INDEX cue_of_fact ON cue (row)",
    "CREATE TABLE keyword (name TEXT, seq INTEGER REFERENCES turn, PRIMARY KEY (name, seq)) WITHOUT ROWID",
    "CREATE INDEX keyword_of_turn ON keyword (seq)",
    # Index: the rows that searches score. A turn is a row of `document` until its segment is full; then the segment is
    # sealed into columns and postings, which are read much faster and changed only by erasure.
    """CREATE TABLE document (
        seq INTEGER PRIMARY KEY REFERENCES turn, columns BLOB NOT NULL, events BLOB NOT NULL, terms BLOB NOT NULL,
        vector BLOB, scale REAL)""",
    """CREATE TABLE segment (
        number INTEGER PRIMARY KEY, columns BLOB NOT NULL, events BLOB NOT NULL,
        vectors BLOB NOT NULL, scales BLOB NOT NULL)""",
    """CREATE TABLE posting (
        term TEXT, number INTEGER REFERENCES segment, positions BLOB NOT NULL, counts BLOB NOT NULL,
        PRIMARY KEY (term, number)) WITHOUT ROWID""",
    # Edges: only `similar`; `same_turn`, `next` and `updates` follow from the rows above. Undirected: the smaller row
    # is the source, so that an edge cannot be stored twice. `edge_back` finds the edges of a target.
    """CREATE TABLE edge (
        source INTEGER NOT NULL REFERENCES fact, target INTEGER NOT NULL REFERENCES fact,
        kind TEXT NOT NULL, weight REAL NOT NULL,
        PRIMARY KEY (source, target, kind), CHECK (source < target)) WITHOUT ROWID""",
    "CREATE INDEX edge_back ON edge (target, source, kind)",
    # The job queue: the primary key is the order in which jobs of a kind are offered.
    """CREATE TABLE job (
        seq INTEGER NOT NULL REFERENCES turn, kind TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL,
        due REAL NOT NULL, since REAL NOT NULL, error TEXT, PRIMARY KEY (kind, seq)) WITHOUT ROWID""",
    "CREATE INDEX job_of_turn ON job (seq)",
    "CREATE TABLE forgotten (mark BLOB PRIMARY KEY) WITHOUT ROWID",  # keyed digests of erased ids
    "CREATE TABLE trace (number INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL)",
    "CREATE TABLE trace_turn (number INTEGER REFERENCES trace, seq INTEGER, PRIMARY KEY (number, seq)) WITHOUT ROWID",
    # The traces to drop with a turn that they cite.
    "CREATE INDEX trace_of_turn ON trace_turn (seq)",
    _write_identity,
)

_TURN_COLUMNS = struct.Struct("<??iiqif")  # alive, temporal, session, speaker, time, length, asks
_ROW_COLUMNS = struct.Struct("<???BHHiiiqif")  # with: sets a rule, role, part, parts; and the turn's number


def _move_columns_to_rows(db: Connection) -> None:
    """Write columns of turns as columns of rows: zeros where there is no turn."""
    if not db.count_rows("turn"):
        return
    roles = dict(db.select("turn", "seq, role"))
    documents = [
        (_spread_over_rows(columns, seq, roles), seq) for seq, columns in db.select("document", "row, columns")
    ]
    db.update("document", "columns", "row", documents)
    segments = db.select("segment", "number, columns")
    firsts = {number: number * (len(columns) // _TURN_COLUMNS.size) + 1 for number, columns in segments}
    changed = [(_spread_over_rows(columns, firsts[number], roles), number) for number, columns in segments]
    db.update("segment", "columns", "number", changed)
    db.set_meta("whole turns", "1")


def _spread_over_rows(columns: bytes, first: int, roles: Mapping[int, str]) -> bytes:
    rows = []
    for seq, (alive, temporal, *rest) in enumerate(_TURN_COLUMNS.iter_unpack(columns), first):
        session, speaker, time, length, asks = rest
        role = ROLES.index(roles[seq]) if roles.get(seq) in ROLES else 0
        row = (alive, temporal, False, role, 0, 1, session, speaker, seq, time, length, asks)
        rows.append(_ROW_COLUMNS.pack(*row) if alive else bytes(_ROW_COLUMNS.size))
    return b"".join(rows)


# Passages are indexed instead of turns: each stored turn keeps its one row until the memory is rebuilt.
# `first` is the number of a turn's first row in the index, counted like `seq` but over all passages. Rows of `document`
# have these numbers; positions of the index are one less.
_PASSAGES: Migration = (
    """CREATE TABLE passage (
        seq INTEGER PRIMARY KEY REFERENCES turn, first INTEGER NOT NULL UNIQUE, count INTEGER NOT NULL)""",
    """CREATE TABLE row_document (
        row INTEGER PRIMARY KEY, columns BLOB NOT NULL, events BLOB NOT NULL, terms BLOB NOT NULL,
        vector BLOB, scale REAL)""",
    "INSERT INTO row_document SELECT seq, columns, events, terms, vector, scale FROM document",
    "DROP TABLE document",
    "ALTER TABLE row_document RENAME TO document",
    "INSERT INTO passage (seq, first, count) SELECT seq, seq, 1 FROM turn",
    _move_columns_to_rows,
)

# Nothing ever wrote the tables of keywords and cues: loops walk the postings that searches score.
_ONE_SET_OF_POSTINGS: Migration = ("DROP TABLE cue", "DROP TABLE keyword")

# The places of forgotten turns in the sequence of their session, and how its lists of messages came. `session` is a
# keyed digest of the session's name, which goes with its last turn. A place holds no word and no digest of the turns
# that stood there: `seq` is the number that it had, `count` how many follow one another with no turn in between, one
# but where an earlier version wrote it. `taken` is the number of the turn that replaced the one that stood there.
_SEQUENCES: Migration = (
    # The number of a turn is a part of the index, so that it is the order of arrival in each session.
    "CREATE INDEX turn_of_session ON turn (session)",
    """CREATE TABLE place (
        session BLOB NOT NULL, seq INTEGER NOT NULL, count INTEGER NOT NULL, taken INTEGER,
        PRIMARY KEY (session, seq)) WITHOUT ROWID""",
    "CREATE INDEX place_taken ON place (taken) WHERE taken IS NOT NULL",
    "CREATE TABLE calls (session BLOB PRIMARY KEY, kept TEXT NOT NULL) WITHOUT ROWID",
)

# Earlier versions decided by rule which fact replaced which. `topic` is the attribute that a model, or a caller's
# extractor, names; decisions by rule are undone.
NOTHING_REPLACED_BY_RULE = (
    "UPDATE fact SET owner = NULL, topic = NULL, replaced_by = NULL WHERE topic IS NOT NULL OR replaced_by IS NOT NULL"
)

MIGRATIONS: tuple[Migration, ...] = (
    THREE_LAYERS,
    _PASSAGES,
    _ONE_SET_OF_POSTINGS,
    _SEQUENCES,
    (NOTHING_REPLACED_BY_RULE,),
)


def migrate(db: Connection) -> None:
    """Run the migrations that a file lacks.

    Raises:
        NotAMemory: The file belongs to another program.
        NewerSchema: A later version of evimem wrote it.

    Nothing is changed in either case.
    """
    if count_migrations(db) == len(MIGRATIONS) and db.read_value("PRAGMA application_id") == APPLICATION_ID:
        return
    with db.writing():  # another process may have migrated it meanwhile: read again under the lock
        found = count_migrations(db)
        if found > len(MIGRATIONS):
            raise NewerSchema(str(db.path), found, len(MIGRATIONS))
        if db.read_value("PRAGMA application_id") != APPLICATION_ID:
            raise NotAMemory(
                f"{str(db.path)!r} is a SQLite file of another program; give the path of a memory or of a new file"
            )
        for number, migration in enumerate(MIGRATIONS[found:], start=found + 1):
            apply_migration(db, migration)
            db.execute(f"PRAGMA user_version={number}")


def apply_migration(db: Connection, migration: Migration) -> None:
    """Run the steps of a migration, in a transaction of the caller."""
    for step in migration:
        if callable(step):
            step(db)
        else:
            db.execute(step)


def count_migrations(db: Connection) -> int:
    """Return how many migrations have run on an open file; 0 for a new one."""
    return int(db.read_value("PRAGMA user_version"))
