"""A server as it is set up: schemas apart, rights that are named, no secret in what anybody is told."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.api.open import key_of
from evimem.cli.arguments import Exit, run_command_line
from tests.store.test_server_connections import run_sql
from tests.store.test_server_failures import new_database

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "move-to-postgresql.md"
TIME = "2024-03-12T18:20"


@pytest.fixture(scope="module")
def database(postgres: str) -> str:
    """A database of these tests, with the tables of evimem and of two schemas of its own."""
    address = new_database(postgres, "setup")
    with evimem.open(address, user="somebody"):
        return address


def role(database: str, name: str, *grants: str) -> str:
    """Make a role that may log in, with some grants in which it is called {role}; return its address."""
    name = f"{name}_{os.getpid()}"
    run_sql(database, f"CREATE ROLE {name} LOGIN", *(one.format(role=name) for one in grants))
    return database.replace("evimem@", f"{name}@", 1)


def add(address: str, user: str, text: str) -> None:
    with evimem.open(address, user=user) as memory:
        memory.add("Mira", text, time=TIME)


def texts(address: str, user: str) -> list[str]:
    with evimem.open(address, user=user) as memory:
        return [turn.text for turn in memory.turns()]


def test_schemas_of_one_database_share_nothing(database: str, tmp_path: Path) -> None:
    places = [database, f"{database}&evimem_schema=staging", f"{database}&evimem_schema=order"]
    for place in places:
        add(place, "mira", f"I live in {place[-8:]}.")
    assert [texts(place, "mira") for place in places] == [[f"I live in {place[-8:]}."] for place in places]
    of_each = (f'SELECT key FROM "{name}_key".secret' for name in ("evimem", "staging", "order"))
    keys = run_sql(database, " UNION ".join(of_each))
    assert len(keys) == 3
    with evimem.open(places[1], user="mira") as memory:
        memory.enrich()
        assert memory.search("live")[0].turn.text == "I live in =staging."
        memory.forget(everything=True)
    assert [len(texts(place, "mira")) for place in places] == [1, 0, 1]
    with evimem.MemoryPool(places[1]) as pool, evimem.MemoryPool(places[2]) as other:
        pool.erase("mira")
        assert ("mira" in pool, "mira" in other) == (False, True)
        assert (pool.count(), other.count()) == (0, 1)
        assert pool.bytes() > 0
    evimem.copy(places[2], places[1], user="mira", verify=True)
    assert texts(places[1], "mira") == texts(places[2], "mira")
    assert run_command_line(["vacuum", places[1]]) == Exit.OK
    assert "evimem_schema=staging" in run_error(lambda: evimem.copy(places[2], places[1], user="mira"))


def run_error(call: Callable[[], object]) -> str:
    with pytest.raises(evimem.EvimemError) as caught:
        call()
    return str(caught.value)


def test_a_schema_with_tables_of_another_program_is_refused(database: str) -> None:
    run_sql(database, "CREATE SCHEMA shop AUTHORIZATION evimem", "SET ROLE evimem; CREATE TABLE shop.turn (a text)")
    assert "another program" in run_error(lambda: evimem.open(f"{database}&evimem_schema=shop", user="mira"))


def test_a_search_path_from_elsewhere_is_refused(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGOPTIONS", "-csearch_path=staging")
    assert "PGOPTIONS" in run_error(lambda: evimem.open(database, user="mira"))


@pytest.mark.parametrize("grant", ["GRANT postgres TO {role}", "ALTER ROLE {role} BYPASSRLS", "GRANT seer TO {role}"])
def test_a_role_that_can_become_one_that_sees_all_users_is_refused(database: str, grant: str) -> None:
    run_sql(database, "DROP ROLE IF EXISTS seer", "CREATE ROLE seer BYPASSRLS")
    address = role(database, f"member{len(grant)}", grant)
    assert "member of a role" in run_error(lambda: evimem.open(address, user="mira"))
    run_sql(database, f"DROP ROLE member{len(grant)}_{os.getpid()}", "DROP ROLE seer")


def test_what_the_guide_says_works_word_by_word(postgres: str) -> None:
    make, grant = re.findall(r"```sql\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    (vacuum,) = re.findall(
        r"^evimem vacuum postgresql://(\w+)@db\.example/(\w+)$", GUIDE.read_text("utf-8"), re.MULTILINE
    )
    assert vacuum == ("memory_owner", "memories")
    pid = os.getpid()

    def own(text: str) -> list[str]:  # roles and a database of this run
        return re.sub(r"\bmemor(?:y_owner|y_app|ies)\b", lambda found: f"{found[0]}_{pid}", text).split(";\n")[:-1]

    run_sql(postgres, *own(make))
    owner = postgres.replace("evimem@/evimem?", f"memory_owner_{pid}@/memories_{pid}?")
    superuser, app = (owner.replace(f"memory_owner_{pid}@", f"{role}@") for role in ("postgres", f"memory_app_{pid}"))
    connect, create, *grants, key = own(grant.replace("\n", ";\n", 1))
    assert connect == f"\\c memories_{pid}"
    run_sql(superuser, create)
    assert "owns the database" in run_error(lambda: evimem.open(app, user="mira"))
    assert run_command_line(["vacuum", owner]) == Exit.OK
    run_sql(superuser, *grants)
    ((secret,),) = run_sql(superuser, key)
    assert "SELECT key FROM evimem_key.secret" in run_error(lambda: evimem.open(app, user="mira"))
    add(f"{app}&evimem_key={secret}", "mira", "I moved to Porto.")
    assert texts(owner, "mira") == ["I moved to Porto."]


USAGE = "GRANT USAGE ON SCHEMA evimem TO {role}"
READ = "GRANT SELECT ON ALL TABLES IN SCHEMA evimem TO {role}"
ALL = "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA evimem TO {role}"


@pytest.mark.parametrize(
    ("name", "grants", "told"),
    [
        ("nothing", [], "GRANT USAGE ON SCHEMA evimem TO"),
        ("usage", [USAGE], "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA evimem TO"),
        ("reader", [USAGE, READ], "lacks DELETE, INSERT, UPDATE on tables"),
        ("keyless", [USAGE, ALL], "SELECT key FROM evimem_key.secret"),
    ],
)
def test_a_missing_grant_is_named(database: str, name: str, grants: list[str], told: str) -> None:
    address = role(database, name, *grants)
    said = run_error(lambda: evimem.open(address, user="mira"))
    assert told in said
    assert "evimem_key of the address is not" in run_error(
        lambda: evimem.open(f"{role(database, f'{name}2', USAGE, ALL)}&evimem_key={'0a' * 64}", user="mira")
    )


def test_a_grant_that_is_taken_back_is_told(database: str) -> None:
    address = role(database, "once", USAGE, ALL)
    ((key,),) = run_sql(database, "SELECT key FROM evimem_key.secret")
    with evimem.open(f"{address}&evimem_key={key}", user="once") as memory:
        run_sql(database, f"REVOKE INSERT ON ALL TABLES IN SCHEMA evimem FROM once_{os.getpid()}")
        said = run_error(lambda: memory.add("Mira", "Hello.", time=TIME))
        assert "lacks a right on the tables" in said
        assert "lacks INSERT" in run_error(
            lambda: evimem.open(f"{address}&evimem_key={key}", user="another").close()
        ) or ("lacks a right" in said)


def test_the_vacuum_of_another_role_names_the_owner(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    address = role(database, "sweeper", USAGE, ALL)
    ((key,),) = run_sql(database, "SELECT key FROM evimem_key.secret")
    assert run_command_line(["vacuum", f"{address}&evimem_key={key}"]) == Exit.STORE
    said = capsys.readouterr().err
    assert "does not own the tables" in said
    assert "role evimem" in said


def statistics(database: str, words: str) -> list[Any]:
    """Rows of the catalog that hold words, in any of the kinds of statistics."""
    values = " || ".join(f"coalesce(stavalues{n}::text, '')" for n in range(1, 6))
    return run_sql(database, f"SELECT starelid::regclass FROM pg_statistic WHERE strpos({values}, '{words}') > 0")


def test_no_statistics_hold_what_was_said_and_those_of_before_are_erased(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    word = f"Zqx{os.getpid()}"
    with evimem.open(database, user="stats") as memory:
        memory.extend([evimem.Turn(f"{word}/{n}", f"s{n}", word, f"I live in {word} {n}.", TIME) for n in range(30)])
        memory.enrich()
        run_sql(database, "ANALYZE")
        assert statistics(database, word) == []
        run_sql(
            database, *(f"ALTER TABLE evimem.turn ALTER COLUMN {name} SET STATISTICS 100" for name in ("id", "text"))
        )
        run_sql(database, "ANALYZE")  # as tables of an earlier version had it
        run_sql(database, *(f"ALTER TABLE evimem.turn ALTER COLUMN {name} SET STATISTICS 0" for name in ("id", "text")))
        assert statistics(database, word) != []
        memory.forget(everything=True)
    capsys.readouterr()
    assert run_command_line(["vacuum", database, "--json"]) == Exit.OK
    assert statistics(database, word) == []
    assert "backups" in capsys.readouterr().out
    run_sql(database, "ANALYZE")
    assert statistics(database, word) == []
    assert run_sql(database, "SELECT count(*) FROM pg_statistic WHERE starelid = 'evimem.turn'::regclass") != [(0,)]


def test_a_vacuum_waits_for_a_writer_of_another_database_of_the_server(database: str, postgres: str) -> None:
    import psycopg  # noqa: PLC0415 - an extra

    add(database, "waits", "I live in Riga.")
    with psycopg.connect(postgres) as writer:
        writer.execute("SELECT pg_current_xact_id()")  # a transaction that writes
        ending = threading.Timer(0.5, writer.rollback)
        ending.start()
        assert run_command_line(["vacuum", database]) == Exit.OK
        ending.join()


def test_every_column_of_texts_or_bytes_is_left_out_of_statistics(database: str) -> None:
    gathered = (
        "SELECT attrelid::regclass::text, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid WHERE "
        "relnamespace IN ('evimem'::regnamespace, 'evimem_key'::regnamespace) AND relkind = 'r' AND attnum > 0 "
        "AND NOT attisdropped AND atttypid IN ('text'::regtype, 'bytea'::regtype) AND coalesce(attstattarget, -1) <> 0"
    )
    run_sql(database, "ALTER TABLE evimem.turn ALTER COLUMN caption SET STATISTICS -1")
    assert run_sql(database, gathered) == [("evimem.turn", "caption")]
    run_sql(database, "ALTER TABLE evimem.turn ALTER COLUMN caption SET STATISTICS 0")


def keep_rows(database: str, tenant: str) -> None:
    """Keep the rows of a tenant aside, as a replica that is behind has them."""
    from evimem.db.postgres_schema import TABLES  # noqa: PLC0415

    run_sql(database, "DROP SCHEMA IF EXISTS aside CASCADE", "CREATE SCHEMA aside")
    run_sql(
        database,
        *(f"CREATE TABLE aside.{one} AS SELECT * FROM evimem.{one} WHERE tenant = '{tenant}'" for one in TABLES),
    )


def put_back(database: str, tenant: str) -> None:
    from evimem.db.postgres_schema import TABLES  # noqa: PLC0415

    for one in TABLES:
        run_sql(
            database,
            f"DELETE FROM evimem.{one} WHERE tenant = '{tenant}'",
            f"INSERT INTO evimem.{one} SELECT * FROM aside.{one}",
        )


@pytest.mark.parametrize("lost", [1, 3])
@pytest.mark.parametrize("new", [0, 1, 3, 5])
def test_a_failover_that_lost_commits_is_noticed_however_many_came_after(database: str, lost: int, new: int) -> None:
    from evimem.store.postgres_store import tenant_of  # noqa: PLC0415

    user = f"failover {lost} {new}"
    tenant = tenant_of(key_of(user))
    with evimem.open(database, user=user) as memory:
        memory.add("Mira", "I like the garden.", time=TIME)
        memory.search("garden")
        keep_rows(database, tenant)
        for n in range(lost):
            memory.add("Mira", f"The code of safe {n} is 4711.", time=TIME, id=f"lost{n}")
        put_back(database, tenant)
        with evimem.open(database, user=user) as other:
            for n in range(new):
                other.add("Ana", f"Penguins waddle on ice {n}.", time=TIME, id=f"new{n}")
        for call in (lambda: memory.search("code of the safe"), lambda: memory.add("Mira", "Hi.", time=TIME)):
            with pytest.raises(evimem.StoreRolledBack):
                call()
    assert "The code" not in " ".join(texts(database, user))


def test_a_handle_that_slept_over_many_commits_reads_all_again(database: str) -> None:
    with evimem.open(database, user="sleeper") as memory:
        memory.add("Mira", "I like the garden.", time=TIME)
        assert len(memory.search("garden")) == 1
        with evimem.open(database, user="sleeper") as other:
            for n in range(140):
                other.add("Mira", f"Note {n}.", time=TIME, id=f"n{n}")
            other.forget(turns=["n3"])
        assert [hit.turn.id for hit in memory.search("note", k=200)].count("n3") == 0
        assert len(memory.search("note", k=200)) >= 139
        memory.add("Mira", "Good night.", time=TIME)
        assert memory.check().problems == ()


SECRETS = ("pa55", "w0rd", "5ecret", "0f0f0f0f")
KEY = "0f" * 64
ADDRESSES = [
    "postgresql://evimem:pa55@w0rd@{at}",
    "postgresql://evimem:pa55/w0rd@{at}",
    "postgresql://evimem:pa55&w0rd@{at}",
    "postgresql://evimem:pa55#w0rd@{at}",
    "postgresql://evimem:pa55%w0rd@{at}",
    "postgresql://evimem:pa55-w0rd@{at}&connect_timeout=5ecret",
    "postgresql://evimem@{at}&password=pa55&w0rd&sslmode=disable",
    "postgresql://evimem@{at}&password=pa55w0rd&5ecret=w0rd",
    "postgresql://evimem@{at}&sslmode=pa55",
    "postgresql://evimem@{at}&options=-cpa55%3Dw0rd",
    f"postgresql://evimem@{{at}}&evimem_key={KEY}",
    f"postgresql://evimem@{{at}}&evimem_key={KEY}5ecret",
    f"postgresql://evimem@/evimem&evimem_key={KEY}?host={{folder}}",
    f"postgresql://evimem@/evimem?evimem_KEY={KEY}&host={{folder}}",
    f"postgresql://evimem@/{KEY}?host={{folder}}",
    "postgresql://pa55:w0rd@127.0.0.1:1/evimem",
    "postgresql://pa55:w0rd@/evimem?host={folder}",
    "postgresql://evimem:w0rd@/evimem?host={folder}&user=pa55",
    "postgresql://pa55:w0rd@no-such-host.invalid/evimem?connect_timeout=1",
]
DOORS: dict[str, Callable[[str, Path], object]] = {
    "open": lambda address, aside: evimem.open(address, user="mira").close(),
    "open_async": lambda address, aside: asyncio.run(open_async(address)),
    "a pool": lambda address, aside: evimem.MemoryPool(address).count(),
    "a user of a pool": lambda address, aside: "mira" in evimem.MemoryPool(address),
    "an erasure": lambda address, aside: evimem.MemoryPool(address).erase("mira"),
    "copy from": lambda address, aside: evimem.copy(address, aside / "copy.evimem", user="mira"),
    "copy to": lambda address, aside: evimem.copy(aside / "m.evimem", address, user="mira"),
}
COMMANDS = (
    ["stats", "{}", "--user", "mira"],
    ["doctor", "{}", "--user", "mira"],
    ["ask", "{}", "Where?", "--user", "mira"],
    ["vacuum", "{}"],
    ["copy", "{}", "x.evimem", "--user", "mira"],
    ["ingest", "m.evimem", "{}"],
    ["{}"],
    ["stats", "m.evimem", "{}"],
    ["stats", "m.evimem", "--user", "mira", "--{}"],
)


async def open_async(address: str) -> None:
    async with evimem.open_async(address, user="mira"):
        pass


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_door_shows_a_piece_of_a_password_or_a_key(
    postgres: str, address: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.INFO)
    folder = postgres.rpartition("=")[2]
    evimem.open("m.evimem").close()
    address = address.format(at=f"/evimem?host={folder}", folder=folder)
    shown = list[str]()
    for call in DOORS.values():
        try:
            call(address, tmp_path)
        except (evimem.EvimemError, ImportError) as error:
            shown += [*traceback.format_exception(error), repr(error), repr(error.__context__)]
    for words in COMMANDS:
        assert run_command_line([word.format(address) for word in words]) != Exit.OK or "&w0rd@" in address
    output = capsys.readouterr()
    told = "\n".join((*shown, output.out, output.err, caplog.text))
    assert [one for one in SECRETS if one in told] == []


def test_no_error_and_no_log_quotes_what_the_server_says_of_what_is_stored(
    postgres: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = f"zqx{os.getpid()}"
    cast = f"SELECT CAST('{secret}' AS integer)"
    twice = f"INSERT INTO meta (key, value) VALUES ('{secret}', ''), ('{secret}', '')"
    with evimem.open(postgres, user=str(tmp_path)) as memory:
        db: Any = memory._core.store.db  # type: ignore[attr-defined]

        def fail_unread() -> None:
            with db.writing():
                db.execute(cast)
                raise evimem.StoreError("the first")

        calls = (fail_unread, lambda: db.rows(cast), lambda: db.execute(twice), lambda: db.rows(f"{secret}!"))
        for call in calls:
            with pytest.raises(evimem.StoreError) as caught:
                call()
            assert secret not in "".join(traceback.format_exception(caught.value))
        assert memory.add("Mira", "I moved to Porto.", time=TIME).added == 1
    assert secret not in caplog.text


@pytest.mark.parametrize("address", [ADDRESSES[0], ADDRESSES[10], ADDRESSES[16]])
def test_no_tool_of_an_assistant_shows_a_piece_of_a_password_or_a_key(postgres: str, address: str) -> None:
    mcp = pytest.importorskip("tests.adapters.test_mcp")
    folder = postgres.rpartition("=")[2]
    told = list[str]()

    async def session(client: Any) -> None:
        told.append(await mcp.failure(client, "search", query="Where?"))
        with pytest.raises(mcp.MCPError) as caught:
            await mcp.page(client, "evimem://stats")
        told.append(str(caught.value))

    address = address.format(at=f"/evimem?host={folder}", folder=folder)
    mcp.talk(mcp.command(address, "--user", "mira"), session)
    assert len(told) == 2
    assert [one for one in SECRETS if one in "".join(told)] == []
