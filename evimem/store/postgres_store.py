"""A memory on a PostgreSQL server: the rows of one user; no statement of it can reach those of another."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import UUID

from ..db.postgres import (
    HISTORY,
    NAME_DIGITS,
    PostgresConnection,
    append_commit,
    count_tenants,
    delete_tenant,
    list_tenants,
    size_of_tables,
    tenant_exists,
)
from ..db.postgres_address import parse_address
from ..db.postgres_checks import NO_TENANT
from ..db.safe_context import safe_context
from ..errors import StoreError
from ..index.segments import SEGMENT_ROWS
from ..raw.validate import fix_timezone
from ..types.values import DateOrder
from .handle import COMPARED, FORMER_KEYS, IDENTITY
from .keeper import Keeper
from .nearest import AnnIndexCache


class TenantDirectory:
    """The users of a server, each with rows that no statement of another reaches."""

    def __init__(self, address: str) -> None:
        """Read the address; the server is connected to when it is first asked, and may be down until then.

        Raises:
            InvalidQuery: The address cannot be read, or has settings that cannot be honoured.
        """
        parse_address(address)
        self._address = address

    def locate(self, user: str) -> str:
        """Return the address, where a user is found by the key."""
        del user
        return self._address

    def has_user(self, user: str) -> bool:
        """Return whether a user has a memory."""
        with closing(PostgresConnection(self._address, tenant_of(user))) as db:
            return tenant_exists(db)

    def keys(self) -> list[str]:
        """Return the keys of the users who have one, in a fixed order."""
        with closing(PostgresConnection(self._address, NO_TENANT)) as db:
            tenants = list_tenants(db)
        return [key for key in map(self._read_key, tenants) if key is not None]

    def _read_key(self, tenant: str) -> str | None:
        """Return the key that a tenant's rows say; None where they are gone."""
        with closing(PostgresConnection(self._address, tenant)) as db:
            return db.read_meta("owner").get("owner")

    def count(self) -> int:
        """Return how many users have one."""
        with closing(PostgresConnection(self._address, NO_TENANT)) as db:
            return count_tenants(db)

    def bytes(self) -> int:
        """Return the size of all tables and indexes, with room that PostgreSQL keeps for later rows."""
        with closing(PostgresConnection(self._address, NO_TENANT)) as db:
            return size_of_tables(db)


def tenant_of(user: str) -> str:
    """Return the tenant of a user: the first 128 bits of the key, which is a digest."""
    return str(UUID(hex=user[:32]))


@dataclass(frozen=True, slots=True)
class CommitHistory:
    """How many commits a memory has had, and the names of the newest ones, the newest first.

    A server that was restored, or replaced by one that was behind, may have as many commits as were seen before, or
    more: they have other names.
    """

    count: int = 0
    names: str = ""

    @classmethod
    def parse(cls, kept: str) -> CommitHistory:
        """Return the history that `meta` holds; one of an earlier version is empty."""
        count, _, names = kept.partition(" ")
        return cls(int(count or 0), names)

    def append(self, names: str) -> CommitHistory:
        """Return the history with more commits, of the names that are given."""
        return CommitHistory(self.count + len(names) // NAME_DIGITS, names + self.names)

    def contains_newest_of(self, seen: CommitHistory) -> bool | None:
        """Return whether it has the newest commit that was seen; None where that is too long ago to be known."""
        at = (self.count - seen.count) * NAME_DIGITS
        if at < 0 or not seen.count:
            return not seen.count
        return self.names[at : at + NAME_DIGITS] == seen.names[:NAME_DIGITS] if at < len(self.names) else None


class PostgresStore(Keeper):
    """The `Store` on a server: each verb is that of a file, over the same rows with a tenant before each key.

    Each commit has a name, so that a handle notices that the server has lost one that it has seen.
    """

    compared = (*COMPARED, HISTORY)
    db: PostgresConnection
    _history = CommitHistory()  # the last that was seen, or written here
    _names = ""  # of the commits that the transaction under way is

    def __init__(  # noqa: PLR0913 - the settings of a memory
        self,
        address: str,
        user: str,
        embedder: str,
        dimension: int,
        *,
        clock: Callable[[], float] = time.time,
        busy_seconds: float = 5.0,
        segment: int = SEGMENT_ROWS,
        timezone: str | None = None,
        date_order: DateOrder | None = None,
    ) -> None:
        """Open or create the memory of a user.

        `address` is "postgresql://user:password@host:port/database", `user` the key of a user in hex digits (see
        `api.pool.key_of`); other arguments are as for a file (`SqliteStore`).

        Raises:
            InvalidQuery: The address cannot be read, or `timezone` is no zone or another than that of the turns.
            EmbedderMismatch, DimensionMismatch: The memory was made with another embedder.
            StoreUnavailable: The server cannot be reached.
            StoreError: The memory cannot be opened; see its subclasses.
        """
        db = PostgresConnection(address, tenant_of(user), busy_seconds=busy_seconds)

        def begin() -> None:
            with db.writing():
                read = (("store", "segment"), ("store", FORMER_KEYS), IDENTITY)
                db.prefetch(*(partial(db.read_meta, *names) for names in read), partial(fix_timezone, db, timezone))
                kept = db.read_meta("store", "segment")
                if "store" not in kept:
                    new = {"store": secrets.token_hex(16), "commits": "0", "epoch": "0", "links": "0"}
                    db.insert("meta", "key, value", list(new.items()))
                size = int(kept.get("segment", segment))
                super(PostgresStore, self).__init__(db, dimension, size, clock, AnnIndexCache(None))
                self.identify(embedder, user, timezone, date_order)

        try:
            db.retry_transaction(begin)
        except BaseException:
            db.close()
            raise

    @safe_context
    def writing(self, *asked: Callable[[], object], durably: bool = True) -> Iterator[None]:
        """Hold the tenant's row, as `StoreHandle.writing` says; a commit is remembered by its name."""
        is_inner, written = self.db.is_in_transaction, CommitHistory()
        with super().writing(*asked, durably=durably):
            try:
                yield
            finally:
                if not is_inner:  # still alone: another thread's block comes after the commit
                    written, self._names = self._history.append(self._names), ""
        if written.count > self._history.count:
            self._history = written

    def count_commit(self, *, rewrote: bool = False, relinked: bool = False, durable: bool = True) -> None:
        """Count this transaction, and name it."""
        super().count_commit(rewrote=rewrote, relinked=relinked, durable=durable)
        name = secrets.token_hex(NAME_DIGITS // 2)
        append_commit(self.db, name)
        self._names = name + self._names

    def is_successor_state(self, kept: dict[str, str]) -> bool:
        """Return whether a state has the last commit that was seen; where that is not known, all is read again."""
        if self._names:  # of this transaction, which was compared when it began
            return True
        found = CommitHistory.parse(kept.get(HISTORY, ""))
        follows = found.contains_newest_of(self._history)
        if follows is None:
            self.drop_caches()
        if follows is not False:
            self._history = found
        return follows is not False

    def backup(self, target: Path) -> None:
        """Raise StoreError: a server is backed up whole, by who runs it."""
        raise StoreError(
            f"{self.name!r} is on a server, and is backed up with it (pg_basebackup); export() writes the "
            f"turns and facts of this memory to a file such as {str(target)!r}"
        )

    def remove(self) -> bool:
        """Delete the rest of an empty memory; the marks of its forgotten turns go too."""
        db = self.db
        with self.writing():
            if self.raw.count_turns():
                raise StoreError(f"{self.name!r} holds turns; forget everything before it is deleted")
            for table in ("meta", "counter", "forgotten", "place", "calls", "trace_turn", "trace"):
                db.delete_rows(table)
            delete_tenant(db)
        return True
