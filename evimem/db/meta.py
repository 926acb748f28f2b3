"""The table `meta`: what a memory keeps about itself, a text by key."""

from __future__ import annotations

from .dialect import Query
from .tables import Tables


def read_meta(db: Tables, *keys: str) -> dict[str, str]:
    """Return the texts that are kept under keys."""
    return dict(db.rows(*asking_meta(db, *keys)))


def asking_meta(db: Tables, *keys: str) -> Query:
    """Return the query that `read_meta` asks."""
    return db.selecting("meta", "key, value", key=keys)


def meta(db: Tables, key: str) -> str | None:
    """Return the text that is kept under a key."""
    return read_meta(db, key).get(key)


def set_meta(db: Tables, key: str, value: str) -> None:
    """Keep a text under a key."""
    db.insert("meta", "key, value", [(key, value)], key="key", new="value")


def drop_meta(db: Tables, *keys: str) -> None:
    """Delete what is kept under keys."""
    db.delete("meta", key=keys)


def drop_meta_under(db: Tables, prefix: str) -> None:
    """Delete what is kept under all keys that begin so."""
    db.execute("DELETE FROM meta WHERE substr(key, 1, length(?)) = ?", (prefix, prefix))


def count_up(db: Tables, *keys: str) -> None:
    """Add one to the numbers that are kept under keys."""
    sql = f"UPDATE meta SET value = CAST(CAST(value AS BIGINT) + 1 AS TEXT) WHERE {db.dialect.among('key')}"
    db.execute(sql, [db.dialect.values(keys)])
