"""The tables of a memory, as migrations: append-only, each in one transaction with the record that it ran."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from ..errors import NewerSchema, NotAMemory
from .connection import APPLICATION_ID, Connection


def m001_three_layers(db: Connection) -> None:
    """Raw, Index and Edges, the queue between them, and the traces that were kept."""
    for statement in _THREE_LAYERS:
        db.execute(statement)
    db.executemany(
        "INSERT INTO meta (key, value) VALUES (?, ?)",
        [("store", secrets.token_hex(16)), ("commits", "0"), ("epoch", "0"), ("links", "0")],
    )


# `seq` is the order of arrival and is never used twice. Text columns may hold a BLOB: UTF-8 with lone surrogates.
_THREE_LAYERS = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE session (ord INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE)",
    "CREATE TABLE speaker (ord INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE)",
    """CREATE TABLE turn (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
        session INTEGER NOT NULL REFERENCES session, speaker INTEGER NOT NULL REFERENCES speaker,
        role TEXT NOT NULL, text NOT NULL, caption, time TEXT NOT NULL, instant INTEGER NOT NULL,
        metadata TEXT NOT NULL, digest BLOB NOT NULL)""",
    "CREATE INDEX turn_in_dialogue ON turn (session, instant, seq)",
    "CREATE INDEX turn_in_time ON turn (instant)",
    "CREATE INDEX turn_by_speaker ON turn (speaker)",
    # Index: facts
    """CREATE TABLE fact (
        row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL REFERENCES turn,
        subject NOT NULL, predicate NOT NULL, object NOT NULL,
        event_start TEXT, event_end TEXT, granularity TEXT, phrase,
        span_start INTEGER NOT NULL, span_end INTEGER NOT NULL,
        kind TEXT NOT NULL, extractor TEXT NOT NULL,
        owner, topic TEXT, replaced_by TEXT, instant INTEGER NOT NULL)""",
    "CREATE INDEX fact_of_turn ON fact (seq)",
    "CREATE INDEX fact_by_topic ON fact (owner, topic, instant, seq) WHERE topic IS NOT NULL",
    "CREATE INDEX fact_replaced ON fact (replaced_by) WHERE replaced_by IS NOT NULL",
    "CREATE TABLE fact_vector (row INTEGER PRIMARY KEY REFERENCES fact, vector BLOB NOT NULL, scale REAL NOT NULL)",
    # Index: who and what facts are about; keyword and cue postings of the loops that walk them
    "CREATE TABLE cue (name TEXT, row INTEGER REFERENCES fact, kind TEXT, PRIMARY KEY (name, row, kind)) WITHOUT ROWID",
    "CREATE INDEX cue_of_fact ON cue (row)",
    "CREATE TABLE keyword (name TEXT, seq INTEGER REFERENCES turn, PRIMARY KEY (name, seq)) WITHOUT ROWID",
    "CREATE INDEX keyword_of_turn ON keyword (seq)",
    # Index: documents one by one while their segment is open, then in columns and postings
    """CREATE TABLE document (
        seq INTEGER PRIMARY KEY REFERENCES turn, columns BLOB NOT NULL, events BLOB NOT NULL, terms BLOB NOT NULL,
        vector BLOB, scale REAL)""",
    """CREATE TABLE segment (
        number INTEGER PRIMARY KEY, columns BLOB NOT NULL, events BLOB NOT NULL,
        vectors BLOB NOT NULL, scales BLOB NOT NULL)""",
    """CREATE TABLE posting (
        term TEXT, number INTEGER REFERENCES segment, positions BLOB NOT NULL, counts BLOB NOT NULL,
        PRIMARY KEY (term, number)) WITHOUT ROWID""",
    # Edges: `same_turn` and `next` follow from the rows above; only what must be computed is kept
    """CREATE TABLE edge (
        source INTEGER NOT NULL REFERENCES fact, target INTEGER NOT NULL REFERENCES fact,
        kind TEXT NOT NULL, weight REAL NOT NULL,
        PRIMARY KEY (source, target, kind), CHECK (source < target)) WITHOUT ROWID""",
    "CREATE INDEX edge_back ON edge (target, source, kind)",
    # Work that is still owed to a turn
    """CREATE TABLE job (
        seq INTEGER NOT NULL REFERENCES turn, kind TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL,
        due REAL NOT NULL, since REAL NOT NULL, error TEXT, PRIMARY KEY (kind, seq)) WITHOUT ROWID""",
    "CREATE INDEX job_of_turn ON job (seq)",
    "CREATE TABLE forgotten (mark BLOB PRIMARY KEY) WITHOUT ROWID",  # keyed digests of erased ids, nothing readable
    "CREATE TABLE trace (number INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL)",
    "CREATE TABLE trace_turn (number INTEGER REFERENCES trace, seq INTEGER, PRIMARY KEY (number, seq)) WITHOUT ROWID",
    "CREATE INDEX trace_of_turn ON trace_turn (seq)",
)

MIGRATIONS: tuple[Callable[[Connection], None], ...] = (m001_three_layers,)


def migrate(db: Connection) -> None:
    """Bring a file to the newest schema. Raise NotAMemory or NewerSchema and change nothing where that cannot be."""
    if version(db) == len(MIGRATIONS) and db.value("PRAGMA application_id") == APPLICATION_ID:
        return
    with db.writing():  # another process may have been first: look again under the lock
        found = version(db)
        if found > len(MIGRATIONS):
            raise NewerSchema(str(db.path), found, len(MIGRATIONS))
        if db.value("PRAGMA application_id") != APPLICATION_ID:
            raise NotAMemory(
                f"{str(db.path)!r} is a SQLite file of another program; give the path of a memory or of a new file"
            )
        for number, migration in enumerate(MIGRATIONS[found:], start=found + 1):
            migration(db)
            db.execute(f"PRAGMA user_version={number}")


def version(db: Connection) -> int:
    """Return the schema of an open file; 0 where it has none yet."""
    return int(db.value("PRAGMA user_version"))
