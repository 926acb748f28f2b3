"""The tables on a PostgreSQL server, as migrations: those of a file, each with the tenant that a row belongs to.

No statement of a memory names the tenant. Row level security adds it to each, and the tenant of a transaction is
signed: `tenant_ok` refuses one without the proof that only a holder of the key can compute. Whatever a statement says,
were it an attacker's, changes nothing of that. By the same description rows are copied from one engine to another.

The tables stand in one schema; beside it another, whose name ends in `_key`, is readable by its owner alone.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b, sha256
from itertools import chain
from typing import Any

from ..errors import StoreError
from .schema import NOTHING_REPLACED_BY_RULE
from .tables import Tables, decode_text, encode_text


@dataclass(frozen=True, slots=True)
class _TenantTable:
    """A table: its columns, its key, further unique columns, and indexes; a `string` is text compared byte by byte."""

    columns: str
    key: str
    unique: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    checked: str = ""


_LATER = " DEFERRABLE"  # checked when a statement ends, so that one may number all rows anew
TABLES: Mapping[str, _TenantTable] = {
    "counter": _TenantTable("name string NOT NULL, number bigint NOT NULL", "name"),
    "meta": _TenantTable("key string NOT NULL, value string NOT NULL", "key"),
    "session": _TenantTable("ord bigint NOT NULL, name string NOT NULL", "ord", unique=("name",)),
    "speaker": _TenantTable("ord bigint NOT NULL, name string NOT NULL", "ord", unique=("name",)),
    "turn": _TenantTable(
        "seq bigint NOT NULL, id string NOT NULL, session bigint NOT NULL, speaker bigint NOT NULL, "
        "role string NOT NULL, text string NOT NULL, caption string, time string NOT NULL, "
        "instant bigint NOT NULL, metadata string NOT NULL, digest bytea NOT NULL",
        "seq",
        unique=("id",),
        indexes=("session, instant, seq", "instant, seq", "speaker", "session, seq"),
    ),
    "fact": _TenantTable(
        "row bigint NOT NULL, id string NOT NULL, seq bigint NOT NULL, subject string NOT NULL, "
        "predicate string NOT NULL, object string NOT NULL, event_start string, event_end string, "
        "granularity string, phrase string, span_start bigint NOT NULL, span_end bigint NOT NULL, "
        "kind string NOT NULL, extractor string NOT NULL, owner string, topic string, replaced_by string, "
        "instant bigint NOT NULL",
        "row",
        unique=("id",),
        indexes=(
            "seq",
            "owner, topic, instant, seq, span_start, row WHERE topic IS NOT NULL",
            "replaced_by WHERE replaced_by IS NOT NULL",
        ),
    ),
    "fact_vector": _TenantTable("row bigint NOT NULL, vector bytea NOT NULL, scale double precision NOT NULL", "row"),
    "document": _TenantTable(
        "row bigint NOT NULL, columns bytea NOT NULL, events bytea NOT NULL, terms bytea NOT NULL, "
        "vector bytea, scale double precision",
        "row",
        checked=_LATER,
    ),
    "segment": _TenantTable(
        "number bigint NOT NULL, columns bytea NOT NULL, events bytea NOT NULL, vectors bytea NOT NULL, "
        "scales bytea NOT NULL",
        "number",
    ),
    "posting": _TenantTable(
        "term string NOT NULL, number bigint NOT NULL, positions bytea NOT NULL, counts bytea NOT NULL", "term, number"
    ),
    "passage": _TenantTable(
        "seq bigint NOT NULL, first bigint NOT NULL, count bigint NOT NULL", "seq", unique=("first",), checked=_LATER
    ),
    "edge": _TenantTable(
        "source bigint NOT NULL, target bigint NOT NULL, kind string NOT NULL, "
        "weight double precision NOT NULL, CHECK (source < target)",
        "source, target, kind",
        indexes=("target, source",),
    ),
    "job": _TenantTable(
        "seq bigint NOT NULL, kind string NOT NULL, state string NOT NULL, attempts bigint NOT NULL, "
        "due double precision NOT NULL, since double precision NOT NULL, error string",
        "kind, seq",
        indexes=("seq",),
    ),
    "forgotten": _TenantTable("mark bytea NOT NULL", "mark"),
    "trace": _TenantTable("number bigint NOT NULL, body bytea NOT NULL", "number"),
    "trace_turn": _TenantTable("number bigint NOT NULL, seq bigint NOT NULL", "number, seq", indexes=("seq",)),
    "place": _TenantTable(
        "session bytea NOT NULL, seq bigint NOT NULL, count bigint NOT NULL, taken bigint",
        "session, seq",
        indexes=("taken WHERE taken IS NOT NULL",),
    ),
    "calls": _TenantTable("session bytea NOT NULL, kept string NOT NULL", "session"),
}
# Numbers of these count the rows that a tenant ever had, and are never given twice: by the column that holds them.
NUMBERED = {"turn": "seq", "fact": "row", "session": "ord", "speaker": "ord", "trace": "number"}
# By table: further references of its rows, as (column, table, column).
REFERENCES = (
    ("turn", "session", "session", "ord"),
    ("turn", "speaker", "speaker", "ord"),
    ("fact", "seq", "turn", "seq"),
    ("fact_vector", "row", "fact", "row"),
    ("posting", "number", "segment", "number"),
    ("passage", "seq", "turn", "seq"),
    ("edge", "source", "fact", "row"),
    ("edge", "target", "fact", "row"),
    ("job", "seq", "turn", "seq"),
    ("trace_turn", "number", "trace", "number"),
)


def search_path_value(schema: str) -> str:
    """Return where names are looked up.

    Temporary tables and types come last: left out they would come first, and one that a smuggled statement has made
    would be written to in the place of the table, or run in a function of the owner.
    """
    return f'"{schema}", pg_temp'


def content_column_types(table: str) -> dict[str, str]:
    """Return the columns of a table that hold text of turns, with their types as the server writes them."""
    types = {"string": 'text COLLATE "C"', "bytea": "bytea"}
    # Statistics of a column of texts, or of bytes of words or vectors, would repeat stored text.
    return {column: types[kind] for column, kind in column_types(table).items() if kind in ("string", "bytea")}


def column_types(table: str) -> dict[str, str]:
    """Return the types of a table's columns."""
    return dict(re.findall(r"(?:^|, )([a-z_]+) (\w+(?: precision)?)", TABLES[table].columns))


def sign_tenant(key: str, tenant: str) -> str:
    """Return the proof that a tenant was chosen by a holder of the key: a keyed hash (HMAC-SHA-256)."""
    return hmac.new(bytes.fromhex(key), tenant.encode(), sha256).hexdigest()


def m001_tables(schema: str) -> list[str]:
    """Create the tables, the key, and the functions that know whose rows a transaction may see."""
    key = secrets.token_bytes(64)  # as long as a block of the hash, which pads nothing then
    pads = [bytes(byte ^ pad for byte in key).hex() for pad in (0x36, 0x5C)]
    return [
        *(_CREATE_KEY.format(schema=schema, key=key.hex(), inner=pads[0], outer=pads[1])).split(";\n"),
        *(function.format(schema=schema) for function in _FUNCTIONS),
        *chain.from_iterable(_create_table_statements(name, table) for name, table in TABLES.items()),
    ]


_CREATE_KEY = """CREATE SCHEMA "{schema}_key";
REVOKE ALL ON SCHEMA "{schema}_key" FROM PUBLIC;
CREATE TABLE "{schema}_key".secret (key text NOT NULL, inner_pad bytea NOT NULL, outer_pad bytea NOT NULL);
INSERT INTO "{schema}_key".secret VALUES ('{key}', '\\x{inner}', '\\x{outer}');
CREATE TABLE "{schema}_key".tenant (tenant uuid PRIMARY KEY)"""
# Functions of the owner, with a search path of their own: no function of a user is called instead of a built-in one.
_AS_OWNER = "LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS"
_FUNCTIONS = (
    # STABLE: once for each place of a statement that reads a table.
    f"""CREATE FUNCTION tenant_ok() RETURNS uuid STABLE PARALLEL SAFE {_AS_OWNER} $$
    DECLARE
        given text := coalesce(current_setting('evimem.tenant', true), '');
        wanted text;
    BEGIN
        SELECT encode(sha256(outer_pad || sha256(inner_pad || convert_to(given, 'UTF8'))), 'hex')
            INTO STRICT wanted FROM "{{schema}}_key".secret;
        IF given = '' OR wanted <> coalesce(current_setting('evimem.proof', true), '') THEN
            RAISE insufficient_privilege USING MESSAGE = 'the tenant of this transaction is not signed';
        END IF;
        RETURN given::uuid;
    END $$""",
    # The one writer of a tenant holds its row, which is made at the first write.
    f"""CREATE FUNCTION hold_tenant() RETURNS void {_AS_OWNER} $$
    DECLARE own uuid := "{{schema}}".tenant_ok();
    BEGIN
        LOOP
            PERFORM FROM "{{schema}}_key".tenant WHERE tenant = own FOR UPDATE;
            EXIT WHEN FOUND;
            INSERT INTO "{{schema}}_key".tenant VALUES (own) ON CONFLICT DO NOTHING;
        END LOOP;
    END $$""",
    f"""CREATE FUNCTION drop_tenant() RETURNS void {_AS_OWNER} $$
    BEGIN DELETE FROM "{{schema}}_key".tenant WHERE tenant = "{{schema}}".tenant_ok(); END $$""",
    f"""CREATE FUNCTION is_tenant() RETURNS boolean STABLE {_AS_OWNER} $$
    BEGIN RETURN EXISTS (SELECT FROM "{{schema}}_key".tenant WHERE tenant = "{{schema}}".tenant_ok()); END $$""",
    f"""CREATE FUNCTION count_tenants() RETURNS bigint STABLE {_AS_OWNER} $$
    BEGIN RETURN (SELECT count(*) FROM "{{schema}}_key".tenant); END $$""",
    "CREATE FUNCTION instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE RETURN strpos($1, $2)",
    "CREATE FUNCTION unhex(text) RETURNS bytea LANGUAGE sql IMMUTABLE RETURN decode($1, 'hex')",
)


def _create_table_statements(name: str, table: _TenantTable) -> Iterator[str]:
    columns = table.columns.replace(" string", ' text COLLATE "C"')  # compared byte by byte, as in a file
    yield (
        f"CREATE TABLE {name} (tenant uuid NOT NULL DEFAULT current_setting('evimem.tenant')::uuid, {columns}, "
        f"PRIMARY KEY (tenant, {table.key}){table.checked})"
    )
    for unique in table.unique:
        yield f"ALTER TABLE {name} ADD UNIQUE (tenant, {unique}){table.checked}"
    for index in table.indexes:
        on, _, where = index.partition(" WHERE ")
        yield f"CREATE INDEX ON {name} (tenant, {on}){where and f' WHERE {where}'}"
    yield f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY"
    yield f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY"  # for its owner too
    own = "tenant = (SELECT tenant_ok())"
    yield f"CREATE POLICY of_tenant ON {name} USING ({own}) WITH CHECK ({own})"


def m002_statistics(schema: str) -> list[str]:
    """Have the server gather no statistics of texts: ANALYZE would copy some of them to a table of its own."""
    return [_NO_STATISTICS.format(schema=schema)]


# Of the columns that are there when it runs, whatever later versions add.
_NO_STATISTICS = """DO $$
    DECLARE one record;
    BEGIN
        FOR one IN SELECT CAST(attrelid AS regclass) AS place, attname FROM pg_attribute
            JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE nspname IN ('{schema}', '{schema}_key') AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
            AND atttypid IN (CAST('pg_catalog.text' AS regtype), CAST('pg_catalog.bytea' AS regtype))
        LOOP
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', one.place, one.attname);
        END LOOP;
    END $$"""


def m003_nothing_replaced_by_rule(schema: str) -> list[str]:
    """Return the statements that undo, for all tenants, decisions of earlier versions by rule."""
    del schema
    return [
        "ALTER TABLE fact NO FORCE ROW LEVEL SECURITY",
        NOTHING_REPLACED_BY_RULE,
        "ALTER TABLE fact FORCE ROW LEVEL SECURITY",
    ]


def m004_list_of_tenants(schema: str) -> list[str]:
    """Create the function that lists tenants: digests, which open nothing without the key."""
    return [
        f"""CREATE FUNCTION list_tenants() RETURNS SETOF uuid STABLE {_AS_OWNER} $$
    BEGIN RETURN QUERY SELECT tenant FROM "{schema}_key".tenant ORDER BY tenant; END $$"""
    ]


# Append-only: one that has run somewhere is never changed. Each takes the schema, which is also the search path.
MIGRATIONS: tuple[Callable[[str], list[str]], ...] = (
    m001_tables,
    m002_statistics,
    m003_nothing_replaced_by_rule,
    m004_list_of_tenants,
)

_COPIED = tuple(TABLES)[1:]  # in an order in which no row refers to one that comes later; counters are set apart


@dataclass(frozen=True, slots=True)
class TableDigest:
    """The content of a table: how many rows, and a digest of all in the order of their keys."""

    rows: int
    digest: bytes


def copy_rows(source: Tables, target: Tables, said: Callable[[int], None]) -> dict[str, TableDigest]:
    """Write every row of a memory into tables that never had a turn; return the counts and digests, by table.

    Inside a transaction of the caller on either side. `said` is called with the number of turns of each page.
    """
    if target.highest_number_given("turn"):
        raise StoreError(
            f"{target.name!r} is a memory already; nothing was copied: give a new file, or a user who has no memory yet"
        )
    for table in reversed(_COPIED):
        target.delete_rows(table)  # rows that opening an empty memory has written
    copied: dict[str, TableDigest] = {}
    for table in _COPIED:
        digest, count = blake2b(digest_size=16), 0
        for page in _read_pages(source, table):
            target.insert(table, ", ".join(column_types(table)), page)
            digest.update(repr(page).encode())
            count += len(page)
            if table == "turn":
                said(len(page))
        copied[table] = TableDigest(count, digest.digest())
    target.set_highest_numbers({table: source.highest_number_given(table) for table in NUMBERED})
    return copied


def find_differing_tables(db: Tables, copied: dict[str, TableDigest]) -> list[str]:
    """Return the tables that differ from the copied rows, in a transaction of the caller."""
    return [table for table, was in copied.items() if _digest_table(db, table) != was]


def _digest_table(db: Tables, table: str) -> TableDigest:
    digest, count = blake2b(digest_size=16), 0
    for page in _read_pages(db, table):
        digest.update(repr(page).encode())
        count += len(page)
    return TableDigest(count, digest.digest())


def _read_pages(db: Tables, table: str) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a table in the order of their keys, each value of the type of its column."""
    types, keys = column_types(table), TABLES[table].key.split(", ")
    names, after, where = list(types), tuple[Any, ...](), ""
    later = f"{keys[0]} > ?" if len(keys) == 1 else f"({', '.join(keys)}) > ({', '.join('?' * len(keys))})"
    # A page of the other tables has 1,000 rows.
    # rows read at once, where they are large
    sql, size = f"SELECT {', '.join(names)} FROM {table}", {"segment": 1, "trace": 100}.get(table, 1000)
    while page := db.rows(f"{sql}{where} ORDER BY {', '.join(keys)} LIMIT ?", (*after, size)):
        yield [_convert_row(row, types.values()) for row in page]
        after, where = tuple(page[-1][names.index(key)] for key in keys), f" WHERE {later}"


_MADE: dict[str, Callable[[Any], Any]] = {
    "string": lambda text: encode_text(decode_text(text)),
    "bigint": int,
    "double precision": float,
    "bytea": bytes,
}


def _convert_row(row: Sequence[Any], kinds: Iterable[str]) -> tuple[Any, ...]:
    return tuple(None if value is None else _MADE[kind](value) for value, kind in zip(row, kinds, strict=True))
