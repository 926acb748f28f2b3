"""A memory on a PostgreSQL server: the rows of one tenant, in transactions on connections that memories share."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

from ..errors import EvimemError, MissingExtra, StoreBusy, StoreClosed, StoreError, StoreUnavailable
from ..types.type_variables import T
from .postgres_checks import NO_TENANT, check_owner, read_number
from .postgres_connections import MAX_TURN_SECONDS, Lease, ServerConnection, borrow_server, return_server
from .postgres_errors import TypedErrors, UndoneTransaction, is_connection_lost
from .postgres_schema import NUMBERED, REFERENCES, TABLES, column_types, content_column_types, search_path_value
from .postgres_text import escape_nul_and_surrogates
from .safe_context import safe_context
from .tables import Dialect, Query, Tables, Value, decode_text

try:
    import psycopg
except ImportError as _error:
    raise MissingExtra("a memory on PostgreSQL", "postgres") from _error

_BEGIN = "SELECT set_config('search_path', $1, true), set_config('evimem.tenant', $2, true), "
_BEGIN += "set_config('evimem.proof', $3, true), set_config('lock_timeout', $4, true), "
# A commit that was acknowledged is durable, whatever the server does by default.
_BEGIN += "set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' "
_BEGIN += "ELSE current_setting('synchronous_commit') END, true)"


class PostgresDialect(Dialect):
    """Sets are arrays, rows are JSON with the types of their columns."""

    calls_python = False
    numbers = "counter", "number"

    def in_set_sql(self, column: str) -> str:
        return f"{column} = ANY(?)"

    def values_table(self, name: str, *columns: str) -> str:
        typed = (column.split() for column in columns)
        fields = ", ".join(f"CAST(value ->> {at} AS {kind}) AS {column}" for at, (column, kind) in enumerate(typed))
        return f"(SELECT {fields} FROM json_array_elements(CAST(? AS json))) AS {name}"

    def join_rows(self, table: str, key: str, query: str) -> str:
        return f"CROSS JOIN LATERAL ({query}) AS joined (key) JOIN {table} ON {table}.{key} = joined.key"

    def bind_set(self, values: Collection[int | str]) -> Value:
        return list(values)

    def bind_rows(self, rows: Collection[Sequence[int | float | str | None]]) -> Value:
        return orjson.dumps(
            [[escape_nul_and_surrogates(one) if isinstance(one, str) else one for one in row] for row in rows]
        ).decode()


@lru_cache(maxsize=1024)
def _number_parameters(sql: str) -> str:
    """Return a statement as PostgreSQL takes it: numbered parameters, and keys that begin with the tenant."""
    first, *rest = sql.replace("ON CONFLICT (", "ON CONFLICT (tenant, ").split("?")
    return first + "".join(f"${number}{part}" for number, part in enumerate(rest, 1))


class PostgresConnection(Tables):
    """The rows of one tenant on a server. Safe to share between threads; refused after a fork.

    Outside of a block nothing is held: a block takes a connection of the server's, and all its statements are one
    transaction. Statements are sent without waiting for those before them whose rows are not read. `aborted` counts as
    it does for a file.
    """

    dialect = PostgresDialect()
    is_remote = True
    unpurgeable_copies = (
        "the turns are gone from every answer; their bytes stay in the server's files until `evimem vacuum`, "
        "and in its log and backups for as long as it keeps those"
    )

    def __init__(self, address: str, tenant: str, *, busy_seconds: float = 5.0) -> None:
        self._server = borrow_server(address)
        self.name = f"{self._server.name}#{tenant[:18]}"
        self._tenant = tenant
        self._path = search_path_value(self._server.schema)
        self._busy_seconds = busy_seconds
        self._lock = threading.RLock()  # held by the thread whose block is open
        self._owner: int | None = None  # that thread
        self._typed = TypedErrors(self.name)
        self._db: ServerConnection | None = None  # that of the block that is open
        self._ahead: dict[str, tuple[int, psycopg.Cursor[Any]]] = {}  # queries of this block sent before they are asked
        self._rehearsing = False  # whether queries are sent, and not waited for
        self._count = self._answered = 0  # statements of this block that were sent, and how many of them are answered
        self._closed = False
        self.aborted: int = 0
        self.round_trips = 0  # times that somebody waited for the server
        try:
            self._proof = self._server.tenant_proof(tenant)
        except BaseException:
            return_server(self._server)
            raise

    @property
    def usable(self) -> bool:
        """Whether it is open and belongs to this process."""
        return not self._closed and self._server.in_its_process

    def rows(self, sql: str, args: Sequence[Value] = ()) -> list[Any]:
        """Return every row of a query."""
        return self.rows_of_queries((sql, args))[0]

    def rows_of_queries(self, *queries: Query) -> list[list[Any]]:
        """Return the rows of several queries, sent together; outside of a block, with its begin."""
        with (
            self.raise_corrupt_on_decoding_errors(),
            self._typed,
            nullcontext() if self.is_in_transaction else self.reading(),
        ):
            if self._rehearsing:
                fresh = {_query_name(query): query for query in queries if _query_name(query) not in self._ahead}
                self._ahead |= {name: self._prepare_cursor(query) for name, query in fresh.items()}
                raise _Sent
            sent = [self._ahead.get(_query_name(query)) or self._prepare_cursor(query) for query in queries]
            if any(number > self._answered for number, _ in sent):
                self.round_trips += 1
                self._answered = self._count
            return [_fetch_all_rows(cursor) for _, cursor in sent]

    def prefetch(self, *asked: Callable[[], object]) -> None:
        """Prefetch the first query of each of these functions with the first statement of the block."""
        before, self._rehearsing = self._rehearsing, True
        try:
            for one in asked:
                with suppress(_Sent):
                    one()
        finally:
            self._rehearsing = before

    def _prepare_cursor(self, query: Query) -> tuple[int, psycopg.Cursor[Any]]:
        cursor = self._send_statement(*query)
        return self._count, cursor

    def execute(self, sql: str, args: Sequence[Value] = ()) -> None:
        """Run one statement."""
        with self._typed if self.is_in_transaction else self.writing():
            # A prefetched query of a table that now changes is sent again.
            changed = re.match(r"(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)", sql)
            if changed or not sql.startswith(("SAVEPOINT", "ROLLBACK TO")):
                mentioned = re.compile(rf"\b{changed[1]}\b" if changed else "")
                self._ahead = {name: sent for name, sent in self._ahead.items() if not mentioned.search(name)}
            self._send_statement(sql, args)

    def executemany(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run one statement for each row of values."""
        with self._typed if self.is_in_transaction else self.writing():
            for row in rows:
                self.execute(sql, row)

    def insert(self, table: str, columns: str, rows: Iterable[Sequence[Value]], key: str = "", new: str = "") -> None:
        """Insert rows, as `Tables.insert` says, by one statement that reads columns of values."""
        names = columns.split(", ")
        given = [tuple(row) for row in rows]
        if new:  # no statement may change a row twice
            at = [names.index(one) for one in key.split(", ")]
            given = list({tuple(row[place] for place in at): row for row in given}.values())
        if not given:
            return
        sets = ", ".join(f"{column} = excluded.{column}" for column in new.split(", "))
        known = f" ON CONFLICT ({key}) DO {f'UPDATE SET {sets}' if new else 'NOTHING'}" if key else ""
        types = column_types(table)
        self.execute(
            f"INSERT INTO {table} ({columns}) SELECT * FROM {_unnest_sql([types[name] for name in names])}{known}",
            _transpose_rows([types[name] for name in names], given),
        )
        if (counted := NUMBERED.get(table)) is not None:
            numbers: list[Any] = [row[names.index(counted)] for row in given]
            self.execute(
                "INSERT INTO counter (name, number) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET number = "
                "greatest(counter.number, excluded.number)",
                (table, max(numbers)),
            )

    def update(self, table: str, columns: str, key: str, rows: Iterable[Sequence[Value]]) -> None:
        """Set columns of rows, as `Tables.update` says, by one statement; of two for one row, the later counts."""
        names, keys, types = columns.split(", "), key.split(", "), column_types(table)
        given = list({tuple(row[len(names) :]): tuple(row) for row in rows}.values())
        if not given:
            return
        kinds = [types[name] for name in (*names, *keys)]
        sets = ", ".join(f"{name} = given.c{at}" for at, name in enumerate(names))
        found = " AND ".join(f"{table}.{name} = given.c{at}" for at, name in enumerate(keys, len(names)))
        fields = ", ".join(f"c{at}" for at in range(len(kinds)))
        self.execute(
            f"UPDATE {table} SET {sets} FROM {_unnest_sql(kinds)} AS given ({fields}) WHERE {found}",
            _transpose_rows(kinds, given),
        )

    def patch(self, table: str, column: str, rowid: int, pieces: Iterable[tuple[int, bytes]]) -> None:
        """Overwrite parts of a value, each at its offset: it is read and written whole."""
        (key,) = {"segment": ("number",)}[table]
        whole = bytearray(self.read_value(f"SELECT {column} FROM {table} WHERE {key} = ?", (rowid,)))
        for offset, data in pieces:
            whole[offset : offset + len(data)] = data
        self.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (bytes(whole), rowid))

    @safe_context
    def writing(self, *, durably: bool = True) -> Iterator[None]:
        """Hold the tenant's row for a block that is committed whole or not at all; every commit is durable.

        Without `durably` it is the work of a reader, who waits its turn: see `reading`.
        """
        begin = "BEGIN ISOLATION LEVEL READ COMMITTED"
        with self.raise_corrupt_on_decoding_errors(), self._transaction(begin, writes=True, patient=not durably):
            yield

    @safe_context
    def reading(self) -> Iterator[None]:
        """See one state of the memory throughout a block. Nothing can be written, unless `writing` is around it.

        It waits its turn for as long as other threads have theirs, a minute at most.
        """
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self.raise_corrupt_on_decoding_errors(), self._transaction(begin, writes=False, patient=True):
            yield

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo this part of a block of `writing` where it raises; the rest of the block stands."""
        self.execute("SAVEPOINT part")
        try:
            yield  # a refusal of the server ends the whole block, and is seen with the next statement
        except BaseException:
            with suppress(psycopg.Error, StoreError):  # it is the block's own error that counts
                self._sync()
            self.execute("ROLLBACK TO SAVEPOINT part")
            raise

    def retry_transaction(self, act: Callable[[], T]) -> T:
        """Run one transaction; where the server has undone it for the sake of another's, retry for a time.

        Servers that PostgreSQL speaks like do so as a matter of course; PostgreSQL itself hardly ever.
        """
        give_up_at = time.monotonic() + self._busy_seconds
        while True:
            try:
                return act()
            except UndoneTransaction:
                if self.is_in_transaction or time.monotonic() > give_up_at:
                    raise
            # Retry a transaction that was undone within 0.05 seconds.
            time.sleep(random.uniform(0.0, 0.05))  # so that two that undo one another part

    def find_broken_references(self) -> list[tuple[str, str]]:
        """Return (table, table that it refers to) for each row that refers to a missing one."""
        return [
            (table, parent)
            for table, column, parent, key in REFERENCES
            for _ in self.rows(f"SELECT FROM {table} WHERE {column} NOT IN (SELECT {key} FROM {parent})")
        ]

    def size(self) -> int:
        """Return how many bytes the rows of the memory have, without indexes."""
        sums = (
            f"(SELECT coalesce(sum(pg_column_size({table}.*)), 0) FROM {table})"
            for table in dict.fromkeys(table for table, *_ in REFERENCES)
        )
        return int(
            self.read_value(
                f"SELECT {' + '.join(sums)} + (SELECT coalesce(sum(pg_column_size(document.*)), 0) FROM document)"
            )
        )

    def close(self) -> None:
        """Give the connections back; a second call does nothing."""
        with self._lock:
            if not self._closed and self._server.in_its_process:
                self._closed = True
                return_server(self._server)

    @safe_context
    def _transaction(self, begin: str, *, writes: bool, patient: bool) -> Iterator[None]:
        if not self._server.in_its_process:
            raise StoreClosed(f"{self.name!r} was opened before a fork; open it again in the child process")
        if self.is_in_transaction:  # one state throughout: an inner block joins the outer one
            yield
            return
        give_up_at = time.monotonic() + self._busy_seconds  # whatever is waited for: threads, a connection, writers
        try:
            self._wait_for_lock(patient=patient)
            if self._closed:
                raise StoreClosed(f"{self.name!r} is closed; open it again")
            seconds = self._busy_seconds if patient else max(0.0, give_up_at - time.monotonic())
            with self._server.pool.borrow_connection(seconds, patient=patient) as lease:
                seconds = self._busy_seconds if patient else max(0.001, give_up_at - time.monotonic())
                self._db, self._count, self._answered, self._owner = lease.connection, 0, 0, threading.get_ident()
                try:
                    with self._typed:
                        self._begin(begin, seconds, writes=writes)
                        yield
                        self._commit(writes=writes)
                        lease.sound = True
                except EvimemError:
                    self.aborted += writes
                    self._rollback(lease)
                    raise
                except BaseException:
                    self.aborted += 1
                    raise
                finally:
                    self._db = self._owner = None
                    self._ahead = {}
        finally:
            try:  # noqa: SIM105 - a signal handler may raise in any function that is written in Python, as `suppress`
                self._lock.release()
            except RuntimeError:  # it was not had in time
                pass

    def _wait_for_lock(self, *, patient: bool) -> None:
        """Wait until no other thread uses the memory; where `patient`, for as long as their turns last."""
        give_up_at, served = time.monotonic() + MAX_TURN_SECONDS, self._server.pool.served
        while not self._lock.acquire(timeout=self._busy_seconds):
            if not patient or self._server.pool.served == served or time.monotonic() > give_up_at:
                raise StoreBusy(
                    f"{self.name!r} stayed in use by other threads for {self._busy_seconds:g} s; nothing was written: "
                    "repeat the call"
                )
            served = self._server.pool.served

    @property
    def is_in_transaction(self) -> bool:
        """Whether this thread has a block open: of no other thread's it sees anything."""
        return self._owner == threading.get_ident()

    def _begin(self, begin: str, seconds: float, *, writes: bool) -> None:
        if self._db is not None:
            self._db.begin_pipeline()
        self._send_statement(begin)
        settings = (self._path, self._tenant, self._proof, f"{int(seconds * 1000)}ms")
        self._send_statement(_BEGIN, settings)
        if writes:
            self._send_statement("SELECT hold_tenant()")  # later statements see the state that it has waited for

    def _commit(self, *, writes: bool) -> None:
        if not writes:
            if self._db is not None:
                with suppress(psycopg.Error):  # nothing is lost with it: the connection is thrown away
                    self._db.send_commit()
            return
        self._send_statement("COMMIT")
        try:
            self._sync()
        except psycopg.OperationalError as error:
            if not is_connection_lost(error):
                raise
            reason = type(error).__name__
        else:
            return
        raise StoreUnavailable(
            f"the connection to {self.name!r} was lost during the commit ({reason}): what was written may be stored or "
            "not; repeat the call, which stores nothing twice",
            in_doubt=True,
        )

    def _rollback(self, lease: Lease) -> None:
        """End a transaction that an error of evimem's left open. A connection on which that failed is thrown away.

        It is the first error that counts: one of the rollback says nothing to who called.
        """
        db = lease.connection
        if db is not None and not db.failed:
            with suppress(psycopg.Error):
                db.execute("ROLLBACK")
                db.sync()
                lease.sound = True

    def _sync(self) -> None:
        self.round_trips += 1
        self._answered = self._count
        if self._db is not None:
            self._db.sync()

    def _send_statement(self, sql: str, args: Sequence[Value] = ()) -> psycopg.Cursor[Any]:
        """Send a statement, and do not wait for it."""
        if self._db is None:
            raise StoreError(f"{self.name!r} runs a statement outside of a transaction")
        self._count += 1
        return self._db.cursor(binary=True).execute(_number_parameters(sql), args)


def tenant_exists(db: Tables) -> bool:
    """Return whether the tenant of a connection has a memory."""
    return bool(db.read_value("SELECT is_tenant()"))


def count_tenants(db: Tables) -> int:
    """Return how many tenants there are."""
    return int(db.read_value("SELECT count_tenants()"))


def list_tenants(db: Tables) -> list[str]:
    """Return all tenants, in a fixed order."""
    return [str(tenant) for (tenant,) in db.rows("SELECT list_tenants()")]


def size_of_tables(db: Tables) -> int:
    """Return how many bytes the tables of all tenants take, with their indexes."""
    return int(
        db.read_value(
            "SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0) FROM pg_class JOIN pg_namespace "
            "ON pg_namespace.oid = relnamespace WHERE nspname = current_schema() AND relkind = 'r'"
        )
    )


@dataclass(frozen=True, slots=True)
class RewriteReport:
    """How many tables a server has written anew, and in which of them erased rows may still stand."""

    tables: int
    kept: tuple[str, ...]
    has_statistics: bool  # whether texts may stand in statistics that were gathered before: see `rewrite_tables`


def rewrite_tables(address: str) -> RewriteReport:
    """Have a server write each table of all users anew, and erase the statistics that it had gathered of texts.

    Erased rows may stay where an older transaction may still see them, or other connections kept the table in use.
    Statistics of texts, which earlier versions let the server gather, are erased from its catalog by the owner of the
    database only.

    Raises:
        StoreError: The role does not own the tables, or the server cannot be used; see its subclasses.
    """
    found = borrow_server(address)
    try:
        found.tenant_proof(NO_TENANT)  # the tables are there
        with TypedErrors(found.name), found.pool.borrow_connection(10.0) as lease:
            if lease.connection is not None:
                lease.connection.close()
            db = lease.connection = found.pool.connect()  # one that waits for each statement
            check_owner(db, found.name, found.schema)
            db.execute("SET lock_timeout = '10s'")
            tables = [f'"{found.schema}".{table}' for table in TABLES]
            kept = [table for name, table in zip(TABLES, tables, strict=True) if not _drop_statistics(db, name, table)]
            kept += _rewrite_each(db, [*tables, f'"{found.schema}_key".tenant'])
            owned = "SELECT CAST(pg_has_role(current_user, datdba, 'USAGE') AS int) FROM pg_database "
            is_owner = bool(read_number(db, f"{owned}WHERE datname = current_database()"))
            left = not is_owner or bool(_rewrite_each(db, ["pg_catalog.pg_statistic"]))
            names = dict.fromkeys(table.rpartition(".")[2] for table in kept)
            return RewriteReport(len(tables) + 1, tuple(names), left)
    finally:
        return_server(found)


def _drop_statistics(db: ServerConnection, name: str, table: str) -> bool:
    """Drop the statistics of the columns that hold words, as giving a column its own type again does.

    Return whether that was done: not where other connections keep the table in use.
    """
    types = content_column_types(name).items()
    if not types:
        return True
    with suppress(psycopg.errors.LockNotAvailable):
        db.execute(f"ALTER TABLE {table} {', '.join(f'ALTER COLUMN {column} TYPE {kind}' for column, kind in types)}")
        return True
    return False


def _rewrite_each(db: ServerConnection, tables: Sequence[str]) -> list[str]:
    """Have tables written anew; return those in which erased rows may still stand."""
    now = read_number(db, "SELECT CAST(CAST(pg_current_xact_id() AS text) AS bigint)")
    _wait_for_older_transactions(db, now)
    kept = []
    for table in tables:
        with suppress(psycopg.errors.LockNotAvailable):
            db.execute(f"VACUUM (FULL, ANALYZE) {table}")
        # Rows erased before the oldest transaction of the rows that were kept.
        sql = f"SELECT CAST(age(relfrozenxid) <= age(CAST(xid8 '{now}' AS xid)) AS int) FROM pg_class WHERE oid = "
        if not read_number(db, f"{sql}CAST($1 AS regclass)", table):
            kept.append(table)
    return kept


def _wait_for_older_transactions(db: ServerConnection, transaction: int) -> None:
    """Wait until transactions older than one have ended, `_OLDER_SECONDS` at most: a table keeps the rows they may see.

    A writer of any database of the server counts, as the snapshots of this one reach back to it.
    """
    sql = (
        f"SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint) < {transaction} OR EXISTS "
        "(SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
        f"AND age(backend_xmin) > age(CAST(xid8 '{transaction}' AS xid)))"
    )
    # A rewriting of tables waits for older transactions, but no longer than this.
    end = time.monotonic() + 10.0
    while read_number(db, f"SELECT CAST(({sql}) AS int)") and time.monotonic() < end:
        time.sleep(0.05)


HISTORY = "history"  # of `meta`: how many commits were named, and the names of the newest ones, the newest first
NAME_DIGITS = 8  # of a commit
_MAX_NAMES = 128  # that are kept


def append_commit(db: Tables, name: str) -> None:
    """Name a commit, in its transaction: a name of `NAME_DIGITS` hex digits, drawn at random."""
    db.execute(
        f"INSERT INTO meta (key, value) VALUES ('{HISTORY}', '1 ' || ?) ON CONFLICT (key) DO UPDATE SET value = "
        "CAST(CAST(split_part(meta.value, ' ', 1) AS bigint) + 1 AS text) || ' ' || ? || "
        f"left(split_part(meta.value, ' ', 2), {(_MAX_NAMES - 1) * NAME_DIGITS})",
        (name, name),
    )


def delete_tenant(db: Tables) -> None:
    """Take a tenant whose rows are gone off the list of tenants, in a transaction of the caller."""
    db.rows("SELECT drop_tenant()")


def _query_name(query: Query) -> str:
    return f"{query[0]} {query[1]!r}"


def _fetch_all_rows(cursor: psycopg.Cursor[Any]) -> list[Any]:
    """Return all rows of a query, also of one that was asked before in its block."""
    if cursor.rownumber:
        cursor.scroll(0, "absolute")
    rows: list[Any] = cursor.fetchall()
    return rows


def _unnest_sql(types: Sequence[str]) -> str:
    arrays = ", ".join(f"CAST(? AS {'text' if kind == 'string' else kind}[])" for kind in types)
    return f"unnest({arrays})"


def _transpose_rows(types: Sequence[str], rows: Sequence[tuple[Value, ...]]) -> list[Value]:
    """Return rows as columns, each value of the type of its column."""
    made: dict[str, Callable[[Any], Any]] = {
        "string": decode_text,
        "bigint": int,
        "double precision": float,
        "bytea": bytes,
    }
    return [
        [None if value is None else made[kind](value) for value in column]
        for kind, column in zip(types, zip(*rows, strict=True), strict=True)
    ]


class _Sent(BaseException):
    """The first query of a function was sent: it need not go on."""
