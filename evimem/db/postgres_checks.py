"""The checks when a server is first used: its version, the role and its rights, the tables, the key of users.

Each function takes a connection, and the name of the server in messages.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from uuid import UUID
from zlib import crc32

from ..errors import InvalidQuery, MissingExtra, NewerSchema, StoreCorrupt, StoreError
from .postgres_address import DEFAULT_SCHEMA, KEY, SCHEMA
from .postgres_schema import MIGRATIONS, search_path_value, sign_tenant

try:
    import psycopg
except ImportError as _error:
    raise MissingExtra("a memory on PostgreSQL", "postgres") from _error

NO_TENANT = str(UUID(int=0))


def check_server(db: psycopg.Connection[Any], name: str) -> None:
    """Raise StoreError for a server that is too old, or cannot hold every text."""
    # PostgreSQL 15, as it numbers its versions.
    if db.info.server_version < 150_000:
        raise StoreError(f"{name!r} is PostgreSQL {db.info.server_version // 10_000}; 15 or later is needed")
    if (encoding := db.info.parameter_status("server_encoding")) != "UTF8":
        raise StoreError(
            f"the database {name!r} is encoded in {encoding}; expected UTF8, which holds every text: "
            "CREATE DATABASE evimem OWNER evimem ENCODING 'UTF8' TEMPLATE template0"
        )


def check_role(db: psycopg.Connection[Any], name: str) -> int:
    """Return the number of the server's process.

    Raises:
        StoreError: Row level security does not bind the role, or a role that it is a member of and can become.
        InvalidQuery: The connection was given a search path, by PGOPTIONS or a service, which would be ignored.
    """
    row = db.execute(
        "SELECT bool_or(rolsuper OR rolbypassrls), pg_backend_pid(), "
        "EXISTS (SELECT FROM pg_settings WHERE name = 'search_path' AND source = 'client') FROM pg_roles "
        "WHERE pg_has_role(current_user, oid, 'MEMBER') OR pg_has_role(session_user, oid, 'MEMBER')"
    ).fetchone()
    if row is None or row[0] is not False:
        raise StoreError(
            f"the role of {name!r} is a superuser or has BYPASSRLS, or is a member of a role that is or has, so that "
            "nothing keeps users apart; give evimem a role and a database of its own: CREATE ROLE evimem LOGIN "
            "PASSWORD '...'; CREATE DATABASE evimem OWNER evimem"
        )
    if row[2]:
        raise InvalidQuery(
            f"the connections of this program are given a search path (PGOPTIONS?), which a memory at {name!r} would "
            f"not keep to; leave it out, and give {SCHEMA}=name in the address"
        )
    return int(row[1])


def check_rights(db: psycopg.Connection[Any], name: str, schema: str) -> None:
    """Raise StoreError, which names the grant that is missing, for a role that may not use the tables there are."""
    row = db.execute(
        "SELECT has_schema_privilege(pg_namespace.oid, 'USAGE'), (SELECT string_agg(DISTINCT wanted, ', ') FROM "
        "pg_class, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS wanted WHERE relnamespace = "
        "pg_namespace.oid AND relkind = 'r' AND (relname <> 'migration' OR wanted = 'SELECT') AND NOT "
        "has_table_privilege(pg_class.oid, wanted)), quote_ident(current_user) FROM pg_namespace WHERE nspname = $1",
        (schema,),
    ).fetchone()
    if row is None:
        return
    usable, lacking, role = row
    if not usable:
        raise StoreError(
            f"the role of {name!r} lacks USAGE on the schema; as its owner: GRANT USAGE ON SCHEMA {schema} TO {role}"
        )
    if lacking:
        raise StoreError(
            f"the role of {name!r} lacks {lacking} on tables; as their owner: GRANT SELECT, INSERT, UPDATE, DELETE ON "
            f"ALL TABLES IN SCHEMA {schema} TO {role}"
        )


def install_schema(db: psycopg.Connection[Any], name: str, schema: str) -> None:
    """Run the migrations that a schema lacks, in the transaction of the caller. Raise StoreError."""
    if _read_version(db, schema) == len(MIGRATIONS):
        return
    # An advisory lock of a schema: one process at a time creates or migrates its tables.
    lock = 0x65766D6D + (crc32(schema.encode()) << 31 if schema != DEFAULT_SCHEMA else 0)
    db.execute("SELECT pg_advisory_xact_lock($1)", (lock,))
    found = _read_version(db, schema)
    if found > len(MIGRATIONS):
        raise NewerSchema(name, found, len(MIGRATIONS))
    try:
        if not found:
            if not read_number(db, "SELECT count(*) FROM pg_namespace WHERE nspname = $1", schema):
                db.execute(f'CREATE SCHEMA "{schema}"')
            db.execute(f'CREATE TABLE "{schema}".migration (number bigint PRIMARY KEY)')
        db.execute(f"SET LOCAL search_path = {search_path_value(schema)}")
        for number, migration in enumerate(MIGRATIONS[found:], found + 1):
            for statement in migration(schema):
                db.execute(statement)
            db.execute("INSERT INTO migration VALUES ($1)", (number,))
    except psycopg.errors.InsufficientPrivilege:
        lacks = f"tables of version {found}, this program needs {len(MIGRATIONS)}" if found else "no tables of evimem"
        raise StoreError(
            f"{name!r} has {lacks}, and this role may not create them; open it once with the role that owns the "
            "database and the schema"
        ) from None
    except psycopg.errors.DuplicateTable:
        raise StoreError(
            f"the schema {schema} of {name!r} has tables of another program; give evimem one of its own, with {SCHEMA}="
        ) from None


def read_signing_key(db: psycopg.Connection[Any], name: str, schema: str) -> str:
    """Return the key that signs users. Raise StoreError where the role may not read it."""
    allowed = (
        "SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND "
        "relname = 'secret' AND has_schema_privilege(pg_namespace.oid, 'USAGE') AND "
        "has_table_privilege(pg_class.oid, 'SELECT')"
    )
    if not read_number(db, allowed, f"{schema}_key"):
        raise StoreError(
            f"the role of {name!r} cannot read the key that signs users; give it in the address, as {KEY}= with what "
            f"the owner reads by SELECT key FROM {schema}_key.secret"
        )
    row = db.execute(f'SELECT key FROM "{schema}_key".secret').fetchone()
    if row is None:
        raise StoreCorrupt(f"{name!r} has lost the key that signs users; restore a backup")
    return str(row[0])


def check_signing_key(db: psycopg.Connection[Any], name: str, schema: str, key: str) -> None:
    """Raise StoreError for a key that the server does not know users by, in a transaction of the caller."""
    db.execute(
        "SELECT set_config('evimem.tenant', $1, true), set_config('evimem.proof', $2, true)",
        (NO_TENANT, sign_tenant(key, NO_TENANT)),
    )
    with suppress(psycopg.errors.InsufficientPrivilege):
        db.execute(f'SELECT "{schema}".tenant_ok()')
        return
    raise StoreError(
        f"{KEY} of the address is not the key of {name!r}; give what the owner reads by SELECT key FROM "
        f"{schema}_key.secret"
    )


def check_owner(db: psycopg.Connection[Any], name: str, schema: str) -> None:
    """Raise StoreError, which names the owner of the tables, for a role that may not rewrite them."""
    row = db.execute(
        "SELECT quote_ident(pg_get_userbyid(relowner)), quote_ident(current_user) FROM pg_class "
        "WHERE oid = CAST($1 AS regclass) AND NOT pg_has_role(current_user, relowner, 'USAGE')",
        (f'"{schema}".turn',),
    ).fetchone()
    if row is not None:
        raise StoreError(
            f"the role {row[1]} does not own the tables of {name!r}, and only their owner may have them written anew; "
            f"repeat it with an address of the role {row[0]}"
        )


def read_number(db: psycopg.Connection[Any], sql: str, *args: str) -> int:
    """Return the number that a query selects; 0 for none."""
    row = db.execute(sql, args).fetchone()
    return int(row[0] or 0) if row else 0


def _read_version(db: psycopg.Connection[Any], schema: str) -> int:
    """Return the number of the newest migration that a schema has had; 0 where there is none."""
    is_there = "SELECT CAST(to_regclass($1) IS NOT NULL AS int)"
    return read_number(db, is_there, f'"{schema}".migration') and read_number(
        db, f'SELECT max(number) FROM "{schema}".migration'
    )
