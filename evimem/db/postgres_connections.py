"""The connections of this process to PostgreSQL servers: few, shared, handed out in order of arrival.

A signal handler may raise at any place here. So there is no lock but those of C, entered by `with`; the connection that
a caller took is noted in one place, and giving it back can be repeated; a connection whose block did not end well is
thrown away.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from functools import partial
from typing import Any

from ..errors import InvalidQuery, MissingExtra, StoreBusy, StoreError
from .postgres_address import KEY, SCHEMA, ServerAddress, parse_address
from .postgres_checks import check_rights, check_role, check_server, check_signing_key, install_schema, read_signing_key
from .postgres_errors import CrowdedServer, SilentServer, TypedErrors, UnknownRefusal, explain_refusal
from .postgres_schema import sign_tenant
from .postgres_text import TextContext
from .safe_context import safe_context

try:
    import psycopg
    from psycopg import waiting
except ImportError as _error:
    raise MissingExtra("a memory on PostgreSQL", "postgres") from _error

MAX_CONNECTIONS = 8  # of this process to one address: each is held for a transaction only, never for a model
# After so long without a byte of an answer a server is asked, on another connection, whether it still works on the
# statement; it is given up where it does not say so.
SILENCE_SECONDS = 30.0
_PROBE_SECONDS = 3  # for that question; libpq takes whole ones
# A commit that waits for a replica which may be gone is not work.
_IS_AT_WORK = "SELECT state = 'active' AND wait_event IS DISTINCT FROM 'SyncRep' FROM pg_stat_activity WHERE pid = $1"
# The parameters of a connection, unless the address says otherwise.
DEFAULT_PARAMETERS = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "tcp_user_timeout": "30000",
}
MAX_TURN_SECONDS = 60.0  # that a reader waits its turn while other threads have theirs
_SPARE_IDLE_SECONDS = 2.0  # an unused connection is closed after so long, so that other processes find a free one
_CROWDED_SECONDS = 0.15  # after a server has refused one connection too many, the next attempt waits for so long


class ServerConnection(psycopg.Connection[Any]):
    """A connection that sends without waiting, and waits for a silent server no longer than `silence_seconds`.

    Where `is_at_work` returns True then, it waits for as long again.
    """

    silence_seconds: float = SILENCE_SECONDS
    is_at_work: Callable[[], bool] | None = None
    pending = False  # whether the end of a transaction was sent whose answer was not read yet
    idle_since = 0.0
    failed = False  # whether an answer was an error, or was not read to its end
    _pipeline: Any

    def wait(self, gen: Any, *_: Any, **__: Any) -> Any:
        """Run a generator of psycopg; an interrupted one is not repeated, for its connection is thrown away."""
        watched = _watch_silence(gen, self.silence_seconds, None if self.pending else self.is_at_work)
        try:
            # Look at the clock every 0.1 seconds while the server is silent.
            return waiting.wait(watched, self.pgconn.socket, interval=0.1)
        except BaseException:
            self.failed = True
            raise

    def __del__(self, *_: Any) -> None:
        """Say nothing: one that a signal handler has made unreachable is closed with its last reference."""

    def begin_pipeline(self) -> None:
        """Send from now on without waiting for answers; the mode stays for good."""
        if self._pipeline is None:
            pipeline = psycopg.Pipeline(self)
            pipeline.__enter__()
            self._pipeline = pipeline

    def sync(self) -> None:
        """Read every answer that is outstanding. Raise psycopg.Error."""
        self._pipeline.sync()

    def send_commit(self) -> None:
        """Send the end of a transaction that has only read, and do not wait for its answer."""
        self.execute("COMMIT")
        self._pipeline._enqueue_sync()
        self.wait(self._pipeline._communicate_gen())
        self.pending = True

    def read_commit(self) -> None:
        """Read the answer to `send_commit`, with whatever was not read before it. Raise psycopg.Error."""
        if self.pending:
            kept = self.silence_seconds
            # Wait 2 seconds for the answer to the end of an earlier read, then make another connection.
            self.silence_seconds = min(kept, 2.0)
            self.wait(self._pipeline._fetch_gen(flush=False))
            self.pending, self.silence_seconds = False, kept

    def has_input(self) -> bool:
        """Return whether the server has said something, which is the end where nothing was asked."""
        if not hasattr(select, "poll"):
            return bool(select.select([self.fileno()], [], [], 0)[0])
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        return bool(poll.poll(0))

    def is_usable(self) -> bool:
        """Return whether it can be used after a time without use; read its pending messages."""
        try:
            self.read_commit()
            return not self.closed and not self.has_input()
        except psycopg.Error:
            return False


def _watch_silence(gen: Any, seconds: float, is_at_work: Callable[[], bool] | None) -> Generator[Any, Any, Any]:
    """Run a generator of psycopg; raise SilentServer where nothing arrives or can be sent for so long.

    Not while the server is known to be at work.
    """
    try:
        wanted = next(gen)
        last = time.monotonic()
        while True:
            ready = yield wanted
            if ready:
                last = time.monotonic()
            elif time.monotonic() - last > seconds:
                if is_at_work is None or not is_at_work():
                    raise SilentServer(f"no answer for {seconds:g} s")
                last = time.monotonic()
            wanted = gen.send(ready)
    except StopIteration as end:
        return end.value


class Lease:
    """One caller's wait for a connection, and the connection that it has then.

    `sound` is set where the block ended well: else the connection is thrown away.
    """

    __slots__ = ("connection", "gate", "placed", "sound")

    def __init__(self) -> None:
        self.gate = threading.Lock()  # opened by the grant of a place: it has no Python code to be interrupted in
        self.gate.acquire()
        self.placed = self.sound = False
        self.connection: ServerConnection | None = None


class ConnectionPool:
    """At most `MAX_CONNECTIONS` connections, of which those that are not used are kept for a time.

    Where the server takes no more, those who wait share the ones there are, and one of them asks it again now and then.
    """

    def __init__(self, address: ServerAddress) -> None:
        self.name = address.name
        self.is_open = True
        # After so many uses a statement is prepared: not at all behind a pooler, which gives each transaction another
        # connection of its own.
        self.prepared_after: int | None = None
        self._conninfo, self._silence_seconds = _connection_parameters(address)
        self._lock = threading.RLock()
        self._leases: dict[int, Lease] = {}  # of those that wait or hold a connection, as they came
        self._idle: dict[int, ServerConnection] = {}  # the longest unused first
        self.served = 0  # leases that had a connection and ended: while this grows, a reader waits its turn
        self._crowded = False  # the server has refused a connection since it last accepted one
        self._next_attempt = 0.0
        self._is_closing_idle = False

    @safe_context
    def borrow_connection(self, seconds: float, *, patient: bool = False) -> Iterator[Lease]:
        """Have a connection of one's own, and wait for it so long; where `patient`, while other threads get theirs.

        Raises:
            StoreBusy: There was none in time.
            StoreUnavailable: The server cannot be reached.
        """
        lease = Lease()
        try:
            with self._lock:
                self._leases[id(lease)] = lease
                self._grant_places()
            self._wait_for_connection(lease, seconds, patient=patient)
            yield lease
        finally:
            try:
                self._take_back(lease)
            except BaseException:
                self._take_back(lease)  # a signal handler raised, perhaps in the first bytecode of the call
                raise

    def connect(self) -> ServerConnection:
        """Make a connection that belongs to the caller. Raise StoreBusy or StoreUnavailable."""
        try:
            made: ServerConnection = ServerConnection.connect(
                self._conninfo,
                autocommit=True,
                prepare_threshold=self.prepared_after,
                cursor_factory=psycopg.RawCursor,
                context=TextContext(),
            )
        except psycopg.Error as error:
            refusal = str(error)
        else:
            made.silence_seconds = self._silence_seconds
            made.is_at_work = partial(self._is_server_busy, made.info.backend_pid)
            made.prepared_max = 1000
            return made
        raise explain_refusal(refusal, self.name)

    def _is_server_busy(self, process: int) -> bool:
        """Return whether the server says that one of its processes works on a statement of ours.

        Behind a pooler, which tells numbers of its own, it never does. Where it takes no more connections, it lives.
        """
        asked = psycopg.conninfo.make_conninfo(self._conninfo, connect_timeout=_PROBE_SECONDS)
        try:
            with closing(ServerConnection.connect(asked, autocommit=True, cursor_factory=psycopg.RawCursor)) as db:
                db.silence_seconds = _PROBE_SECONDS
                return bool(db.execute(_IS_AT_WORK, (process,)).fetchone() == (True,))
        except psycopg.OperationalError as error:
            return isinstance(explain_refusal(str(error), self.name), CrowdedServer)

    def close(self) -> None:
        """Close the connections that are idle, and each other one when it is given back."""
        self.is_open = False
        while self._idle:
            with suppress(KeyError):
                self._idle.popitem()[1].close()

    def _wait_for_connection(self, lease: Lease, seconds: float, *, patient: bool) -> None:
        began, give_up_at, seen = time.monotonic(), time.monotonic() + seconds, self.served
        refusal: StoreError | None = None
        while lease.connection is None:
            if not lease.placed:
                left = give_up_at - time.monotonic()
                # A waiting caller looks every 0.5 seconds: its wake-up may have been cut short by a signal.
                lease.gate.acquire(timeout=max(0.0, min(left, _CROWDED_SECONDS if self._crowded else 0.5)))
            with self._lock:
                self._grant_places()
                if lease.placed:
                    self._take_idle(lease)
            refusal = self._try_to_connect(lease) or refusal
            if lease.connection is None and time.monotonic() > give_up_at:
                if not patient or self.served == seen or time.monotonic() > began + MAX_TURN_SECONDS:
                    raise refusal or StoreBusy(
                        f"all {MAX_CONNECTIONS} connections to {self.name!r} stayed in use for {seconds:.2g} s; "
                        "nothing was written: repeat the call"
                    )
                give_up_at, seen = time.monotonic() + seconds, self.served

    def _try_to_connect(self, lease: Lease) -> StoreError | None:
        """Check the connection of a lease, or make one where it has a place; return why the server makes no more."""
        if lease.connection is not None:
            if not lease.connection.is_usable():
                lease.connection.close()
                lease.connection = None
        elif lease.placed:
            try:
                lease.connection = self.connect()
            except (CrowdedServer, UnknownRefusal) as error:
                self._postpone_lease(lease)
                return error
            self._crowded = False
        return None

    def _grant_places(self) -> None:
        """Give places to those who wait, in order of arrival; the caller holds the lock."""
        leases = list(self._leases.values())
        room = self._count_places(leases) - sum(one.placed for one in leases)
        for one in leases:
            if room > 0 and not one.placed:
                one.placed = True
                room -= 1
                if one.gate.locked():
                    one.gate.release()

    def _count_places(self, leases: list[Lease]) -> int:
        """Return how many may have a place: as many as there are connections while the server takes no more."""
        if not self._crowded:
            return MAX_CONNECTIONS
        there = len(self._idle) + sum(one.connection is not None for one in leases)
        return min(MAX_CONNECTIONS, there + (time.monotonic() >= self._next_attempt))

    def _postpone_lease(self, lease: Lease) -> None:
        """Take the place of a lease that the server refused a connection, until one is free or it may ask again."""
        with self._lock:
            self._crowded = True
            self._next_attempt = time.monotonic() + _CROWDED_SECONDS
            lease.placed = False

    def _take_idle(self, lease: Lease) -> None:
        """Give a lease the connection that was used last and has answered, else the one that was used first."""
        keys = list(self._idle)
        ready = (key for key in reversed(keys) if not self._idle[key].pending or self._idle[key].has_input())
        key = next(ready, keys[0] if keys else None)
        if key is not None:
            lease.connection = self._idle[key]  # no call in between, where a signal handler could run
            del self._idle[key]

    def _take_back(self, lease: Lease) -> None:
        """Take a connection back, or close it. Repeatable: one that is lost by an interruption is not kept."""
        db, lease.connection = lease.connection, None
        kept = False
        with self._lock:
            if db is not None:
                kept = lease.sound and self.is_open and not db.failed and not db.closed
                if kept:
                    db.idle_since = time.monotonic()
                    self._idle[id(db)] = db
                self.served += 1
            self._leases.pop(id(lease), None)
            self._grant_places()
        if db is not None and not kept:
            db.close()
        if self._idle and not self._is_closing_idle:
            with suppress(RuntimeError):  # no thread can be started: they stay open
                threading.Thread(target=self._close_unused, name="evimem-idle-connections", daemon=True).start()

    def _close_unused(self) -> None:
        """Close connections that were not used for a time, until there are none; one thread does it."""
        with self._lock:
            if self._is_closing_idle:
                return
            self._is_closing_idle = True
        try:
            while self._idle:
                time.sleep(_SPARE_IDLE_SECONDS / 4)
                for db in self._remove_unused():
                    db.close()
        finally:
            self._is_closing_idle = False

    def _remove_unused(self) -> list[ServerConnection]:
        with self._lock:
            now, found = time.monotonic(), list[ServerConnection]()
            for key, db in list(self._idle.items()):
                # The last connection of a process may be idle for 60 seconds.
                limit = _SPARE_IDLE_SECONDS if len(self._idle) > 1 else 60.0
                if now - db.idle_since > limit:
                    found.append(self._idle.pop(key))
            return found


class PostgresServer:
    """A server at an address, shared by the memories that this process has there."""

    def __init__(self, address: str, pid: int) -> None:
        self.key = (address, pid)
        parsed = parse_address(address)
        self.name, self.schema, self.tenant_key = parsed.name, parsed.schema, parsed.key
        self.pool = ConnectionPool(parsed)
        self.users = 0
        self._is_checked = False

    @property
    def in_its_process(self) -> bool:
        """Whether this is the process that made it, and not a child of a fork."""
        return self.key[1] == os.getpid()

    def tenant_proof(self, tenant: str) -> str:
        """Return the proof that a tenant was chosen here; the first call checks the server and makes the tables.

        Raises:
            StoreError: The server, the role or its rights are not as needed; see its subclasses.
            InvalidQuery: The connection was given a search path.
        """
        if not self._is_checked:
            self._check_and_install()
        return sign_tenant(self.tenant_key or "", tenant)

    def close(self) -> None:
        """Close the connections, where they are this process's."""
        if self.in_its_process:
            self.pool.close()

    def _check_and_install(self) -> None:
        with TypedErrors(self.name), self.pool.borrow_connection(10.0) as lease:
            db = lease.connection
            if db is not None and not self._is_checked:  # by one who came before
                check_server(db, self.name)
                if check_role(db, self.name) == db.info.backend_pid:  # a pooler has told a number of its own
                    self.pool.prepared_after = db.prepare_threshold = 1
                with db.transaction():
                    check_rights(db, self.name, self.schema)
                    install_schema(db, self.name, self.schema)
                    key = self.tenant_key or read_signing_key(db, self.name, self.schema)
                    check_signing_key(db, self.name, self.schema, key)
                self.tenant_key, self._is_checked = key, True
            lease.sound = True


_SERVERS: dict[tuple[str, int], PostgresServer] = {}
_SERVERS_LOCK = threading.RLock()  # held for bookkeeping only, never over a wait for a server


def _renew_lock() -> None:
    global _SERVERS_LOCK  # noqa: PLW0603 - another thread of the parent may have held the old one
    _SERVERS_LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def borrow_server(address: str) -> PostgresServer:
    """Return the server at an address, to be given back with `return_server`. Raise InvalidQuery for no address."""
    with _SERVERS_LOCK:
        key = (address, os.getpid())
        found = _SERVERS.get(key)
        if found is None:
            found = _SERVERS[key] = PostgresServer(*key)
        found.users += 1
        return found


def return_server(found: PostgresServer) -> None:
    """Give a server back; with the last memory that used it, it is closed; the next open checks its tables anew."""
    with _SERVERS_LOCK:
        found.users -= 1
        is_last = not found.users
        if is_last:
            _SERVERS.pop(found.key, None)
    if is_last:
        found.close()


def _connection_parameters(address: ServerAddress) -> tuple[str, float]:
    """Return an address as psycopg takes it, and for how long a silent server is waited for."""
    parameters = DEFAULT_PARAMETERS | address.parameters
    seconds = int(parameters["tcp_user_timeout"]) / 1000 or SILENCE_SECONDS
    try:
        return psycopg.conninfo.make_conninfo(**parameters), seconds
    except psycopg.Error:
        pass  # its text names the parameter, which may be part of a password
    raise InvalidQuery(f"the address has a parameter that libpq does not know; expected those, {KEY} and {SCHEMA}")
