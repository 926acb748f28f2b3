"""Statements that an attacker has smuggled into a transaction of one user reach nothing of another."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

import evimem
from evimem.api.open import key_of

SECRET = "The code is 4711."
SCHEMA = "SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = 'evimem'"
SET = "set_config('evimem.tenant', '{other}', true)"
ATTACKS = {
    "a condition that is always true": "SELECT text FROM turn WHERE seq = 0 OR 1 = 1",
    "the other tenant by name": "SELECT text FROM turn WHERE tenant = '{other}'",
    "set and read in one": f"SELECT {SET}, (SELECT string_agg(text, '') FROM turn)",
    "set and read in a join": f"SELECT text FROM (SELECT {SET}) AS one, turn",
    "set, then read": f"SELECT {SET}; SELECT text FROM turn",
    "set for the session, then read": "SET evimem.tenant = '{other}'; SELECT text FROM turn",
    "another role": f"RESET ROLE; SELECT {SET}; SELECT text FROM turn",
    "row security off": "SET row_security = off; SELECT text FROM turn",
    "no tenant": "SELECT set_config('evimem.tenant', '', true); SELECT text FROM turn",
    "no proof": f"SELECT {SET}, set_config('evimem.proof', '', true); SELECT text FROM turn",
    "the key": "SELECT key FROM evimem_key.secret",
    "the list of tenants": "SELECT tenant FROM evimem_key.tenant",
    "the body of the function": "SELECT prosrc FROM pg_proc WHERE proname = 'tenant_ok'",
    "no policy": "ALTER TABLE turn DISABLE ROW LEVEL SECURITY; SELECT text FROM turn",
    "a type in the place of the server's": (
        "CREATE FUNCTION pg_temp.leak(pg_catalog.text) RETURNS boolean LANGUAGE plpgsql AS $$ "
        "BEGIN RAISE EXCEPTION '%', (SELECT key FROM evimem_key.secret); END $$; "
        "CREATE DOMAIN pg_temp.text AS pg_catalog.text CHECK (pg_temp.leak(VALUE::pg_catalog.text)); "
        "SELECT seq FROM turn"
    ),
    "another policy": "CREATE POLICY mine ON turn USING (true); SELECT text FROM turn",
}
CHANGES = {
    "a row of the other tenant": "INSERT INTO meta (tenant, key, value) VALUES ('{other}', 'x', 'y')",
    "a row given to the other tenant": "UPDATE meta SET tenant = '{other}'",
}


@pytest.fixture(scope="module")
def served(postgres: str) -> str:
    """The address for a role that owns nothing: what the documentation tells to make."""
    import psycopg  # noqa: PLC0415

    with evimem.open(postgres, user="nobody in particular"):
        pass
    role = f"app_{os.getpid()}"
    with psycopg.connect(postgres.replace("evimem@", "postgres@"), autocommit=True) as db:
        db.execute(f"CREATE ROLE {role} LOGIN")
    with psycopg.connect(postgres) as owner:
        owner.execute("SELECT pg_advisory_xact_lock(1)")  # other processes of the run grant too
        (key,) = owner.execute("SELECT key FROM evimem_key.secret").fetchone()  # type: ignore[misc]
        owner.execute(f"GRANT USAGE ON SCHEMA evimem TO {role}")
        owner.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA evimem TO {role}")
    return f"{postgres.replace('evimem@', f'{role}@')}&evimem_key={key}"


@pytest.fixture
def store(served: str, tmp_path: Any) -> Iterator[Any]:
    """The store of one user, with another beside it who has a secret."""
    with evimem.open(served, user=f"{tmp_path}/other") as other:
        other.add("Tomas", SECRET, time="2024-03-12T18:20")
    with evimem.open(served, user=str(tmp_path)) as own:
        own.add("Mira", "Nothing to hide.", time="2024-03-12T18:20")
        yield own._core.store


def attack(store: Any, statement: str, user: str) -> str:
    """What a connection of the user returns for it, or the name of the error."""
    import psycopg  # noqa: PLC0415

    from evimem.db.postgres_connections import PostgresServer  # noqa: PLC0415
    from evimem.store.postgres_store import tenant_of  # noqa: PLC0415

    server = store.db._server
    assert isinstance(server, PostgresServer)
    found: list[Any] = []
    with closing(psycopg.connect(server.pool._conninfo, cursor_factory=psycopg.ClientCursor)) as db:
        db.execute(
            "SELECT set_config('search_path', 'evimem', true), set_config('evimem.tenant', %s, true), "
            "set_config('evimem.proof', %s, true)",
            (store.db._tenant, store.db._proof),
        )
        try:
            cursor = db.execute(statement.replace("{other}", tenant_of(key_of(f"{user}/other"))))
            while True:
                found += cursor.fetchall() if cursor.description else [(cursor.rowcount,)]
                if not cursor.nextset():
                    return repr(found)
        except psycopg.Error as error:
            return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", ATTACKS)
def test_no_statement_reads_what_another_user_said(store: Any, tmp_path: Any, name: str) -> None:
    found = attack(store, ATTACKS[name], str(tmp_path))
    assert "4711" not in found
    assert store.db._server.tenant_key not in found


@pytest.mark.parametrize("name", CHANGES)
def test_no_statement_writes_for_another_user(store: Any, tmp_path: Any, name: str) -> None:
    assert attack(store, CHANGES[name], str(tmp_path)).startswith("InsufficientPrivilege")


@pytest.mark.parametrize("name", ["set and read in one", "set, then read", "no tenant", "no proof"])
def test_a_tenant_without_its_proof_is_an_error_and_not_no_rows(store: Any, tmp_path: Any, name: str) -> None:
    assert attack(store, ATTACKS[name], str(tmp_path)).startswith("InsufficientPrivilege")


def test_a_table_that_was_left_on_a_connection_gets_nothing_of_the_next_user(
    store: Any, served: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evimem.db import postgres_connections  # noqa: PLC0415

    server = store.db._server
    monkeypatch.setattr(postgres_connections, "MAX_CONNECTIONS", 1)
    while server.pool._idle:
        server.pool._idle.popitem()[1].close()
    with store.db.writing():
        store.db.execute("CREATE TEMPORARY TABLE turn AS SELECT * FROM turn")
    with evimem.open(served, user=f"{tmp_path}/next") as memory:
        memory.add("Ana", "My code is 1147.", time="2024-03-12T18:20")
    assert store.db.rows("SELECT FROM pg_temp.turn WHERE text LIKE '%1147%'") == []


def test_a_role_without_the_key_is_told_where_it_is(served: str) -> None:
    with pytest.raises(evimem.StoreError, match=r"evimem_key\.secret"):
        evimem.open(served.partition("&evimem_key")[0], user="mira")


def test_a_wrong_key_opens_no_memory(served: str) -> None:
    address, _, key = served.partition("&evimem_key=")
    with pytest.raises(evimem.StoreError):
        evimem.open(f"{address}&evimem_key={'0' * len(key)}", user="mira")


def test_every_table_is_bound_by_the_one_policy_its_owner_too(postgres: str, served: str) -> None:
    import psycopg  # noqa: PLC0415

    with psycopg.connect(postgres) as db:
        tables = db.execute(f"{SCHEMA} AND relkind = 'r' AND relname <> 'migration'").fetchall()
        bound = db.execute(f"{SCHEMA} AND relrowsecurity AND relforcerowsecurity").fetchall()
        policies = db.execute("SELECT tablename FROM pg_policies WHERE schemaname = 'evimem'").fetchall()
    assert sorted(tables) == sorted(bound) == sorted(policies)
    assert len(tables) > 15
