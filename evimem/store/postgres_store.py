"""A memory on a PostgreSQL server: the rows of one user, among those of others that no statement of it can reach."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from uuid import UUID

from ..db.postgres import PostgresConnection, count_tenants, drop_tenant, is_tenant, size_of_tables
from ..db.postgres_address import parse_address
from ..db.postgres_checks import NO_TENANT
from ..errors import StoreError
from ..raw.validate import settle_timezone
from ..types.values import DateOrder
from .handle import IDENTITY
from .keeper import Keeper
from .nearest import AnnIndexCache

# Rows of a sealed segment: who opens the memory reads its columns as they are, and of its postings those of a question.
# Of 10,000 turns that takes half the time of reading rows, and 7 waits for 5.
SEGMENT = 2_048


class Census:
    """The users of a server, each with rows that no statement of another reaches."""

    def __init__(self, address: str) -> None:
        """Read the address; the server is connected to when it is first asked, and may be down until then.

        Raises:
            InvalidQuery: The address cannot be read, or says what cannot be honoured.
        """
        parse_address(address)
        self._address = address

    def of(self, user: str) -> str:
        """Return the address, where a user is found by the key."""
        del user
        return self._address

    def has(self, user: str) -> bool:
        """Return whether a user has a memory."""
        with closing(PostgresConnection(self._address, tenant_of(user))) as db:
            return is_tenant(db)

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


class PostgresStore(Keeper):
    """The `Store` on a server: each verb is that of a file, over the same rows with a tenant before each key."""

    def __init__(  # noqa: PLR0913 - what a memory is opened with
        self,
        address: str,
        user: str,
        embedder: str,
        dimension: int,
        *,
        clock: Callable[[], float] = time.time,
        busy_seconds: float = 5.0,
        segment: int = SEGMENT,
        timezone: str | None = None,
        date_order: DateOrder | None = None,
    ) -> None:
        """Open or create the memory of a user.

        `address` is "postgresql://user:password@host:port/database", `user` the key of a user in hex digits (see
        `doors.pool.key_of`); what else is given is as for a file (`SqliteStore`).

        Raises:
            InvalidQuery: The address cannot be read, or `timezone` is no zone or another than that of the turns.
            EmbedderMismatch, DimensionMismatch: The memory was made with another embedder.
            StoreUnavailable: The server cannot be reached.
            StoreError: The memory cannot be opened; see its subclasses.
        """
        db = PostgresConnection(address, tenant_of(user), busy_seconds=busy_seconds)

        def begin() -> None:
            with db.writing():
                own = partial(db.read_meta, *IDENTITY)
                db.ahead(partial(db.meta, "store"), own, partial(settle_timezone, db, timezone))
                kept = db.read_meta("store", "segment")
                if "store" not in kept:
                    new = {"store": secrets.token_hex(16), "commits": "0", "epoch": "0", "links": "0"}
                    db.insert("meta", "key, value", list(new.items()))
                size = int(kept.get("segment", segment))
                super(PostgresStore, self).__init__(db, dimension, size, clock, AnnIndexCache(None))
                self.identify(embedder, user, timezone, date_order)

        try:
            db.repeating(begin)
        except BaseException:
            db.close()
            raise

    def backup(self, target: Path) -> None:
        """Raise StoreError: a server is backed up whole, by who runs it."""
        raise StoreError(
            f"{self.name!r} is on a server, and is backed up with it (pg_basebackup); export() writes the "
            f"turns and facts of this memory to a file such as {str(target)!r}"
        )

    def remove(self) -> bool:
        """Delete what is left of an empty memory; what it has forgotten is known no more."""
        db = self.db
        with self.writing():
            if self.raw.count():
                raise StoreError(f"{self.name!r} holds turns; forget everything before it is deleted")
            for table in ("meta", "counter", "forgotten", "place", "calls", "trace_turn", "trace"):
                db.delete(table)
            drop_tenant(db)
        return True
