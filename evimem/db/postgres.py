"""A memory on a PostgreSQL server: the rows of one tenant, in transactions on connections that memories share."""

from __future__ import annotations

import os
import random
import re
import select
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import lru_cache
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode
from uuid import UUID

import orjson

from ..errors import (
    DiskFull,
    EvimemError,
    InvalidQuery,
    MissingExtra,
    NewerSchema,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
    StoreUnavailable,
)
from .postgres_schema import MIGRATIONS, NUMBERED, PATH, REFERENCES, SCHEMA, TABLES, proof_of, types_of
from .safe_context import safe_context
from .tables import Dialect, LoneSurrogates, Query, Tables, Value, unbound

try:
    import psycopg
    from psycopg.adapt import AdaptersMap
    from psycopg.types.numeric import Int8Dumper
    from psycopg.types.string import StrDumper, TextBinaryLoader
except ImportError as _error:
    raise MissingExtra("a memory on PostgreSQL", "postgres") from _error

T = TypeVar("T")
_OLDEST = 150_000  # the version of the server
_KEY = "evimem_key"  # parameter of an address: the key by which tenants are signed, for a role that cannot read it
_MOST_CONNECTIONS = 8  # of this process to one database: each is held for a transaction only, never for a model
# What a connection waits for, unless the address says otherwise: a server that is gone without a word is noticed.
_PATIENCE = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}
_INSTALLING = 0x65766D6D  # advisory lock: one process at a time creates or migrates the tables
_LONGEST_PAUSE = 0.05  # seconds before a transaction that was undone is tried again
_ESCAPE = "\x1a"
_ESCAPED = re.compile(r"[\x00\x1a\ud800-\udfff]")
_SEQUENCE = re.compile(f"{_ESCAPE}(.{{4}})", re.DOTALL)
_BEGIN = "SELECT set_config('search_path', $1, true), set_config('evimem.tenant', $2, true), "
_BEGIN += "set_config('evimem.proof', $3, true), set_config('lock_timeout', $4, true), "
# A commit that was acknowledged is durable, whatever the server does by default.
_BEGIN += "set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' "
_BEGIN += "ELSE current_setting('synchronous_commit') END, true)"


class PostgresDialect(Dialect):
    """Sets are arrays, rows are JSON with the types of their columns."""

    calls_python = False
    numbers = "counter", "number"

    def among(self, column: str) -> str:
        return f"{column} = ANY(?)"

    def table(self, name: str, *columns: str) -> str:
        typed = (column.split() for column in columns)
        fields = ", ".join(f"CAST(value ->> {at} AS {kind}) AS {column}" for at, (column, kind) in enumerate(typed))
        return f"(SELECT {fields} FROM json_array_elements(CAST(? AS json))) AS {name}"

    def joined(self, table: str, key: str, query: str) -> str:
        return f"CROSS JOIN LATERAL ({query}) AS joined (key) JOIN {table} ON {table}.{key} = joined.key"

    def values(self, values: Collection[int | str]) -> Value:
        return list(values)

    def table_of(self, rows: Collection[Sequence[int | float | str | None]]) -> Value:
        return orjson.dumps([[escaped(one) if isinstance(one, str) else one for one in row] for row in rows]).decode()


def escaped(text: str) -> str:
    """Return text as PostgreSQL can hold it: without NUL and lone surrogates. Nothing else is changed."""
    return _ESCAPED.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", text)


def restored(text: str) -> str:
    """Return the text that was escaped."""
    return _SEQUENCE.sub(lambda found: chr(int(found[1], 16)), text) if _ESCAPE in text else text


class _TextDumper(StrDumper):
    def dump(self, obj: str) -> Any:
        return super().dump(escaped(obj))


class _SurrogatesDumper(_TextDumper):
    def dump(self, obj: Any) -> Any:
        return super().dump(unbound(obj))


class _TextLoader(TextBinaryLoader):
    def load(self, data: Any) -> Any:
        return restored(super().load(data))


def _adapters() -> AdaptersMap:
    adapters = AdaptersMap(psycopg.adapters)
    adapters.register_dumper(str, _TextDumper)
    adapters.register_dumper(LoneSurrogates, _SurrogatesDumper)
    adapters.register_dumper(int, Int8Dumper)  # one type, whatever the number: statements are prepared once
    adapters.register_loader("text", _TextLoader)
    return adapters


_ADAPTERS = _adapters()


@lru_cache(maxsize=1024)
def _as_here(sql: str) -> str:
    """Return a statement as PostgreSQL takes it: numbered parameters, and keys that begin with the tenant."""
    first, *rest = sql.replace("ON CONFLICT (", "ON CONFLICT (tenant, ").split("?")
    return first + "".join(f"${number}{part}" for number, part in enumerate(rest, 1))


class PostgresServer:
    """The connections of this process to one database, shared by the memories there.

    A block of one memory takes one, and gives it back: there are never more than `_MOST_CONNECTIONS`.
    """

    def __init__(self, address: str, pid: int) -> None:
        self.key = (address, pid)
        self.name, self._address, self._key = _read(address)
        self._idle: list[psycopg.Connection[Any]] = []
        self._places = threading.BoundedSemaphore(_MOST_CONNECTIONS)
        self._ready = threading.Lock()
        self._ending = ThreadPoolExecutor(_MOST_CONNECTIONS, "evimem-postgres")
        self.users = 0

    @safe_context
    def taken(self, seconds: float) -> Iterator[psycopg.Connection[Any]]:
        """Have a connection of one's own, and wait for it so long."""
        if not self._places.acquire(timeout=seconds):
            raise StoreBusy(
                f"all {_MOST_CONNECTIONS} connections to {self.name!r} stayed in use for {seconds:.2g} s; nothing was "
                "written: repeat the call"
            )
        db: psycopg.Connection[Any] | None = None
        try:
            db = self._idle_one() or self._connect()
            yield db
        finally:
            if db is not None and not db.closed:
                if db.info.transaction_status == psycopg.pq.TransactionStatus.IDLE and self.users:
                    self._idle.append(db)
                else:
                    db.close()
            self._places.release()

    def end_later(self, held: ExitStack, db: psycopg.Connection[Any]) -> None:
        """End a transaction that has only read, and give its connection back, while nobody waits for the server."""
        self._ending.submit(_ended, held, db)

    def proof(self, tenant: str) -> str:
        """Return the proof that a tenant was chosen here; the tables are created at the first call."""
        with self._ready:
            if self._key is None or not self._checked:
                self._prepare()
        return proof_of(self._key or "", tenant)

    _checked = False
    # After so many uses a statement is prepared: not at all behind a pooler, which gives each transaction another
    # connection of its own.
    _prepared_after: int | None = None

    def _prepare(self) -> None:
        with _Typed(self.name), self.taken(10.0) as db:
            if db.info.server_version < _OLDEST:
                raise StoreError(
                    f"{self.name!r} is PostgreSQL {db.info.server_version // 10_000}; 15 or later is needed"
                )
            if (encoding := db.info.parameter_status("server_encoding")) != "UTF8":
                raise StoreError(
                    f"the database {self.name!r} is encoded in {encoding}; expected UTF8, which holds every text: "
                    "CREATE DATABASE evimem OWNER evimem ENCODING 'UTF8' TEMPLATE template0"
                )
            pid = _pid_of_no_superuser(db, self.name)
            if pid == db.info.backend_pid:  # a pooler has told a number of its own
                self._prepared_after = db.prepare_threshold = 1
            with db.transaction():
                _install(db, self.name)
                if self._key is None:
                    self._key = _readable_key(db, self.name)
            self._checked = True

    def _idle_one(self) -> psycopg.Connection[Any] | None:
        while self._idle:
            with suppress(IndexError):
                db = self._idle.pop()
                if not db.closed and not select.select([db.fileno()], [], [], 0)[0]:
                    return db
                db.close()  # the server has said something, which while nothing was asked can only be its end
        return None

    def _connect(self) -> psycopg.Connection[Any]:
        try:
            db: psycopg.Connection[Any] = psycopg.connect(
                self._address,
                autocommit=True,
                prepare_threshold=self._prepared_after,
                cursor_factory=psycopg.RawCursor,
                context=_Context(),
            )
        except psycopg.OperationalError as error:
            text = " ".join(str(error).split())
            raise StoreUnavailable(
                f"{self.name!r} cannot be reached ({text or 'no reason given'}); nothing was written: "
                "repeat the call when the server is back"
            ) from error
        db.prepared_max = 1000
        return db

    def close(self) -> None:
        """Close the connections that are idle."""
        self._ending.shutdown(wait=self.in_its_process)
        while self._idle and self.in_its_process:
            self._idle.pop().close()

    @property
    def in_its_process(self) -> bool:
        """Whether this is the process that made it, and not a child of a fork."""
        return self.key[1] == os.getpid()


class _Context:
    """What psycopg takes types from."""

    adapters = _ADAPTERS
    connection = None


_SERVERS: dict[tuple[str, int], PostgresServer] = {}
_SERVERS_LOCK = threading.Lock()


def server(address: str) -> PostgresServer:
    """Return the server at an address, to be given back with `leave`."""
    with _SERVERS_LOCK:
        key = (address, os.getpid())
        found = _SERVERS.setdefault(key, PostgresServer(*key))
        found.users += 1
        return found


def leave(found: PostgresServer) -> None:
    """Give a server back; with the last memory that used it, it is closed; the next open checks its tables anew."""
    with _SERVERS_LOCK:
        found.users -= 1
        if not found.users:
            found.close()
            del _SERVERS[found.key]


def _ended(held: ExitStack, db: psycopg.Connection[Any]) -> None:
    with suppress(psycopg.Error), held:  # nothing is lost with it: a connection that broke is not given back
        db.execute("COMMIT")


def _read(address: str) -> tuple[str, str, str | None]:
    """Return what a server is called in messages, its address for psycopg, and the key in what was given."""
    try:
        place, _, query = address.partition("?")
        given = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
        keys = [value for name, value in given if name == _KEY]
        rest = f"{place}?{urlencode([one for one in given if one[0] != _KEY], quote_via=quote)}"
        said = _PATIENCE | psycopg.conninfo.conninfo_to_dict(rest)
        readable = [len(bytes.fromhex(key)) for key in keys] in ([], [64])
    except (ValueError, psycopg.ProgrammingError):
        readable = False  # the cause would quote a password
    if not readable:
        raise InvalidQuery(
            "the address of the server cannot be read; expected postgresql://role:password@host:port/database, with "
            f"parameters of libpq, and {_KEY}= with 128 hex digits where the role cannot read it"
        )
    name = f"postgresql://{said.get('host', '')}/{said.get('dbname', '')}"
    return name, psycopg.conninfo.make_conninfo(**said), keys[0] if keys else None


def _pid_of_no_superuser(db: psycopg.Connection[Any], name: str) -> int:
    """Return the number of the server's process; raise StoreError for a role that row level security does not bind."""
    of_role = "FROM pg_roles WHERE rolname = current_user"
    row = db.execute(f"SELECT rolsuper OR rolbypassrls, pg_backend_pid() {of_role}").fetchone()
    if row is None or row[0]:
        raise StoreError(
            f"the role of {name!r} is a superuser or has BYPASSRLS, so that nothing keeps users apart; give "
            "evimem a role and a database of its own: CREATE ROLE evimem LOGIN PASSWORD '...'; CREATE DATABASE evimem "
            "OWNER evimem"
        )
    return int(row[1])


def _install(db: psycopg.Connection[Any], name: str) -> None:
    """Run the migrations that a database lacks, in the transaction of the caller."""
    known = "SELECT to_regclass('evimem.migration') IS NOT NULL"
    if _version(db, known) == len(MIGRATIONS):
        return
    db.execute("SELECT pg_advisory_xact_lock($1)", (_INSTALLING,))
    found = _version(db, known)
    if found > len(MIGRATIONS):
        raise NewerSchema(name, found, len(MIGRATIONS))
    try:
        if not found:
            db.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            db.execute(f"CREATE TABLE {SCHEMA}.migration (number bigint PRIMARY KEY)")
        db.execute(f"SET LOCAL search_path = {PATH}")
        for number, migration in enumerate(MIGRATIONS[found:], found + 1):
            for statement in migration():
                db.execute(statement)
            db.execute("INSERT INTO migration VALUES ($1)", (number,))
    except psycopg.errors.InsufficientPrivilege as error:
        raise StoreError(
            f"{name!r} has no tables of evimem, and this role may not create them; open it once with the role that "
            "owns the database"
        ) from error


def _version(db: psycopg.Connection[Any], known: str) -> int:
    return _number(db, known) and _number(db, f"SELECT max(number) FROM {SCHEMA}.migration")


def _number(db: psycopg.Connection[Any], sql: str) -> int:
    row = db.execute(sql).fetchone()
    return int(row[0] or 0) if row else 0


def _readable_key(db: psycopg.Connection[Any], name: str) -> str:
    try:
        row = db.execute("SELECT key FROM evimem_key.secret").fetchone()
    except psycopg.errors.InsufficientPrivilege as error:
        raise StoreError(
            f"the role of {name!r} cannot read the key that signs users; give it in the address, as &{_KEY}= with what "
            "the owner reads by SELECT key FROM evimem_key.secret"
        ) from error
    if row is None:
        raise StoreCorrupt(f"{name!r} has lost the key that signs users; restore a backup")
    return str(row[0])


class PostgresConnection(Tables):
    """The rows of one tenant on a server. Safe to share between threads; refused after a fork.

    Outside of a block nothing is held: a block takes a connection of the server's, and all its statements are one
    transaction. Statements are sent without waiting for those before them whose rows nobody reads. `aborted` counts as
    it does for a file.
    """

    dialect = PostgresDialect()
    far = True
    residue = (
        "the turns are gone from every answer; their bytes stay in the server's files until `evimem vacuum`, "
        "and in its log and backups for as long as it keeps those"
    )

    def __init__(self, address: str, tenant: str, *, busy_seconds: float = 5.0) -> None:
        self._server = server(address)
        self.name = f"{self._server.name}#{tenant[:18]}"
        self._tenant = tenant
        self._busy_seconds = busy_seconds
        self._lock = threading.RLock()  # held by the thread whose block is open
        self._owner: int | None = None  # that thread
        self._typed = _Typed(self.name)
        self._db: psycopg.Connection[Any] | None = None  # that of the block that is open
        self._pipeline: psycopg.Pipeline | None = None
        self._ahead: dict[str, tuple[int, psycopg.Cursor[Any]]] = {}  # queries of this block sent before they are asked
        self._rehearsing = False  # whether what is asked is sent, and not waited for
        self._count = self._answered = 0  # statements of this block that were sent, and how many of them are answered
        self._closed = False
        self.aborted: int = 0
        self.round_trips = 0  # times that somebody waited for the server
        try:
            self._proof = self._server.proof(tenant)
        except BaseException:
            leave(self._server)
            raise

    @property
    def usable(self) -> bool:
        """Whether it is open and belongs to this process."""
        return not self._closed and self._server.in_its_process

    def rows(self, sql: str, args: Sequence[Value] = ()) -> list[Any]:
        """Return every row of a query."""
        return self.rows_of((sql, args))[0]

    def rows_of(self, *queries: Query) -> list[list[Any]]:
        """Return the rows of several queries, sent together; outside of a block, with its begin."""
        with self.decoding(), self._typed, nullcontext() if self._in_block else self.reading():
            if self._rehearsing:
                fresh = {_name(query): query for query in queries if _name(query) not in self._ahead}
                self._ahead |= {name: self._numbered(query) for name, query in fresh.items()}
                raise _Sent
            sent = [self._ahead.get(_name(query)) or self._numbered(query) for query in queries]
            if any(number > self._answered for number, _ in sent):
                self.round_trips += 1
                self._answered = self._count
            return [_all_rows(cursor) for _, cursor in sent]

    def ahead(self, *asked: Callable[[], object]) -> None:
        """Send what each of these functions asks first with what the block sends first."""
        before, self._rehearsing = self._rehearsing, True
        try:
            for one in asked:
                with suppress(_Sent):
                    one()
        finally:
            self._rehearsing = before

    def _numbered(self, query: Query) -> tuple[int, psycopg.Cursor[Any]]:
        cursor = self._sent(*query)
        return self._count, cursor

    def execute(self, sql: str, args: Sequence[Value] = ()) -> None:
        """Run one statement."""
        with self._typed if self._in_block else self.writing():
            # What was asked ahead of a table that now changes is asked again.
            changed = re.match(r"(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)", sql)
            if changed or not sql.startswith(("SAVEPOINT", "ROLLBACK TO")):
                mentioned = re.compile(rf"\b{changed[1]}\b" if changed else "")
                self._ahead = {name: sent for name, sent in self._ahead.items() if not mentioned.search(name)}
            self._sent(sql, args)

    def executemany(self, sql: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run one statement for each row of values."""
        with self._typed if self._in_block else self.writing():
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
        types = types_of(table)
        self.execute(
            f"INSERT INTO {table} ({columns}) SELECT * FROM {_unnested([types[name] for name in names])}{known}",
            _columns([types[name] for name in names], given),
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
        names, keys, types = columns.split(", "), key.split(", "), types_of(table)
        given = list({tuple(row[len(names) :]): tuple(row) for row in rows}.values())
        if not given:
            return
        kinds = [types[name] for name in (*names, *keys)]
        sets = ", ".join(f"{name} = given.c{at}" for at, name in enumerate(names))
        found = " AND ".join(f"{table}.{name} = given.c{at}" for at, name in enumerate(keys, len(names)))
        fields = ", ".join(f"c{at}" for at in range(len(kinds)))
        self.execute(
            f"UPDATE {table} SET {sets} FROM {_unnested(kinds)} AS given ({fields}) WHERE {found}",
            _columns(kinds, given),
        )

    def patch(self, table: str, column: str, rowid: int, pieces: Iterable[tuple[int, bytes]]) -> None:
        """Overwrite parts of a value, each at its offset: it is read and written whole."""
        (key,) = {"segment": ("number",)}[table]
        whole = bytearray(self.value(f"SELECT {column} FROM {table} WHERE {key} = ?", (rowid,)))
        for offset, data in pieces:
            whole[offset : offset + len(data)] = data
        self.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (bytes(whole), rowid))

    @safe_context
    def writing(self, *, durably: bool = True) -> Iterator[None]:
        """Hold the tenant's row for a block that is committed whole or not at all; every commit is durable."""
        del durably  # what may be lost costs no less to keep here
        with self.decoding(), self._transaction("BEGIN ISOLATION LEVEL READ COMMITTED", writes=True):
            yield

    @safe_context
    def reading(self) -> Iterator[None]:
        """See one state of the memory throughout a block. Nothing can be written, unless `writing` is around it."""
        with self.decoding(), self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", writes=False):
            yield

    @contextmanager
    def part(self) -> Iterator[None]:
        """Undo this part of a block of `writing` where it raises; the rest of the block stands."""
        self.execute("SAVEPOINT part")
        try:
            yield  # what the server refuses in it ends the whole block, and is seen with what follows
        except BaseException:
            with suppress(psycopg.Error, StoreError):  # it is the block's own error that counts
                self._sync()
            self.execute("ROLLBACK TO SAVEPOINT part")
            raise

    def repeating(self, act: Callable[[], T]) -> T:
        """Run what is one transaction; where the server has undone it for the sake of another's, try again for a time.

        Servers that PostgreSQL speaks like do so as a matter of course; PostgreSQL itself hardly ever.
        """
        give_up_at = time.monotonic() + self._busy_seconds
        while True:
            try:
                return act()
            except _Undone:
                if self._in_block or time.monotonic() > give_up_at:
                    raise
            time.sleep(random.uniform(0.0, _LONGEST_PAUSE))  # so that two that undo one another part

    def broken_references(self) -> list[tuple[str, str]]:
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
            self.value(
                f"SELECT {' + '.join(sums)} + (SELECT coalesce(sum(pg_column_size(document.*)), 0) FROM document)"
            )
        )

    def close(self) -> None:
        """Give the connections back; a second call does nothing."""
        with self._lock:
            if not self._closed and self._server.in_its_process:
                self._closed = True
                leave(self._server)

    @safe_context
    def _transaction(self, begin: str, *, writes: bool) -> Iterator[None]:
        if not self._server.in_its_process:
            raise StoreClosed(f"{self.name!r} was opened before a fork; open it again in the child process")
        if self._in_block:  # one state throughout: an inner block joins the outer one
            yield
            return
        give_up_at = time.monotonic() + self._busy_seconds  # whatever is waited for: threads, a connection, writers
        try:
            if not self._lock.acquire(timeout=self._busy_seconds):
                raise StoreBusy(
                    f"{self.name!r} stayed in use by other threads for {self._busy_seconds:g} s; nothing was written: "
                    "repeat the call"
                )
            if self._closed:
                raise StoreClosed(f"{self.name!r} is closed; open it again")
            with ExitStack() as held:
                db = held.enter_context(self._server.taken(max(0.0, give_up_at - time.monotonic())))
                self._db, self._count, self._answered, self._owner = db, 0, 0, threading.get_ident()
                try:
                    with self._typed, ExitStack() as piped:
                        self._pipeline = piped.enter_context(db.pipeline())
                        self._begin(begin, max(0.001, give_up_at - time.monotonic()), writes=writes)
                        yield
                        if writes:
                            self._commit()
                        else:
                            held.push(piped.pop_all())
                            self._server.end_later(held.pop_all(), db)
                except EvimemError:
                    self.aborted += writes
                    self._rollback(db)
                    raise
                except BaseException:
                    self.aborted += 1
                    self._rollback(db)
                    raise
                finally:
                    self._db = self._pipeline = self._owner = None
                    self._ahead = {}
        finally:
            with suppress(RuntimeError):  # it was not had in time; a signal may come as soon as it is
                self._lock.release()

    @property
    def _in_block(self) -> bool:
        """Whether this thread has a block open: of no other thread's it sees anything."""
        return self._owner == threading.get_ident()

    def _begin(self, begin: str, seconds: float, *, writes: bool) -> None:
        self._sent(begin)
        settings = (PATH, self._tenant, self._proof, f"{int(seconds * 1000)}ms")
        self._sent(_BEGIN, settings)
        if writes:
            self._sent("SELECT hold_tenant()")  # whatever is sent after it sees what it has waited for

    def _commit(self) -> None:
        self._sent("COMMIT")
        try:
            self._sync()
        except psycopg.OperationalError as error:
            if not _is_lost(error):
                raise
            raise StoreUnavailable(
                f"the connection to {self.name!r} was lost during the commit ({type(error).__name__}): what was "
                "written may be stored or not; repeat the call, which stores nothing twice",
                in_doubt=True,
            ) from error

    def _rollback(self, db: psycopg.Connection[Any]) -> None:
        """End what an error left open; a connection on which that fails is closed, and the server ends it.

        It is the first error that counts: one of the rollback says nothing to who called.
        """
        try:
            if db.info.pipeline_status != psycopg.pq.PipelineStatus.OFF:
                db.close()  # the connection broke while its answers were read
            elif not db.closed and db.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                db.execute("ROLLBACK")
        except psycopg.Error:
            db.close()
        except BaseException:
            db.close()
            raise

    def _sync(self) -> None:
        self.round_trips += 1
        self._answered = self._count
        if self._pipeline is not None:
            self._pipeline.sync()

    def _sent(self, sql: str, args: Sequence[Value] = ()) -> psycopg.Cursor[Any]:
        """Send a statement, and do not wait for it."""
        if self._db is None:
            raise StoreError(f"{self.name!r} runs a statement outside of a transaction")
        self._count += 1
        return self._db.cursor(binary=True).execute(_as_here(sql), args)


def is_tenant(db: Tables) -> bool:
    """Return whether the tenant of a connection has a memory."""
    return bool(db.value("SELECT is_tenant()"))


def count_tenants(db: Tables) -> int:
    """Return how many tenants there are."""
    return int(db.value("SELECT count_tenants()"))


def size_of_tables(db: Tables) -> int:
    """Return how many bytes the tables of all tenants take, with their indexes."""
    return int(
        db.value(
            "SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0) FROM pg_class JOIN pg_namespace "
            "ON pg_namespace.oid = relnamespace WHERE nspname = ? AND relkind = 'r'",
            (SCHEMA,),
        )
    )


def written_anew(address: str) -> dict[str, bool]:
    """Have a server write each table of all users anew; return whether all that was erased until now is gone from it.

    It is not where an older transaction may still see it, or others kept the table in use.
    """
    found = server(address)
    try:
        found.proof(str(UUID(int=0)))  # the tables are there
        with _Typed(found.name), found.taken(10.0) as db:
            now = _number(db, "SELECT CAST(CAST(pg_current_xact_id() AS text) AS bigint)")
            db.execute("SET lock_timeout = '10s'")
            gone = {}
            for table in TABLES:
                with suppress(psycopg.errors.LockNotAvailable):
                    db.execute(f"VACUUM (FULL) {SCHEMA}.{table}")
                # What was erased before the oldest transaction of the rows that were kept.
                of_table = f"FROM pg_class WHERE oid = '{SCHEMA}.{table}'::regclass"
                sql = f"SELECT CAST(age(relfrozenxid) <= age(CAST(xid8 '{now}' AS xid)) AS int) {of_table}"
                gone[table] = bool(_number(db, sql))
            db.execute("RESET lock_timeout")
            return gone
    finally:
        leave(found)


def drop_tenant(db: Tables) -> None:
    """Take a tenant whose rows are gone off the list of tenants, in a transaction of the caller."""
    db.rows("SELECT drop_tenant()")


def _name(query: Query) -> str:
    return f"{query[0]} {query[1]!r}"


def _all_rows(cursor: psycopg.Cursor[Any]) -> list[Any]:
    """Return all rows of a query, also of one that was asked before in its block."""
    if cursor.rownumber:
        cursor.scroll(0, "absolute")
    rows: list[Any] = cursor.fetchall()
    return rows


def _unnested(types: Sequence[str]) -> str:
    arrays = ", ".join(f"CAST(? AS {'text' if kind == 'string' else kind}[])" for kind in types)
    return f"unnest({arrays})"


def _columns(types: Sequence[str], rows: Sequence[tuple[Value, ...]]) -> list[Value]:
    """Return rows as columns, each value of the type of its column."""
    made: dict[str, Callable[[Any], Any]] = {
        "string": unbound,
        "bigint": int,
        "double precision": float,
        "bytea": bytes,
    }
    return [
        [None if value is None else made[kind](value) for value in column]
        for kind, column in zip(types, zip(*rows, strict=True), strict=True)
    ]


class _Typed:
    """Turns psycopg's errors into evimem's, which say what to do and whether to try again."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, psycopg.Error):
            raise _typed(error, self._name) from error


class _Sent(BaseException):
    """What a function asks ahead of its call was sent: it need not go on."""


class _Undone(StoreBusy):
    """A transaction that the server has undone for the sake of another's: a serialization failure, or a deadlock."""


def _is_lost(error: psycopg.Error) -> bool:
    """Return whether an error means that the connection is no more."""
    state = error.sqlstate or ""
    return state[:3] == "57P" or state[:2] == "08" or (isinstance(error, psycopg.OperationalError) and not state)


def _typed(error: psycopg.Error, name: str) -> StoreError:
    state = error.sqlstate or ""
    what = f"{type(error).__name__}{state and f', SQLSTATE {state}'}"  # the server's text may quote what is stored
    if state in {"40001", "40P01", "55P03", "53300", "57014"}:
        kind = _Undone if state[:2] == "40" else StoreBusy
        return kind(f"{name!r} stayed busy ({what}); nothing was written: repeat the call")
    if _is_lost(error):
        return StoreUnavailable(f"the connection to {name!r} was lost ({what}); nothing was written: repeat the call")
    if state in {"53100", "53200"}:
        return DiskFull(
            f"no room on the server of {name!r} ({what}); nothing of this call was kept: free space and repeat"
        )
    if state == "25006":
        return StoreReadOnly(f"{name!r} is a replica or read-only ({what}); give the address of the primary")
    if state[:2] == "XX":
        return StoreCorrupt(f"{name!r} is damaged ({what}); check the server's storage, or restore a backup")
    return StoreError(f"{name!r} could not be used: {what}")
