"""`copy`: a memory between files and servers, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

from ..db.atomic_files import kind_of, new_database
from ..db.connection import Connection
from ..db.postgres_schema import copy_rows, differing
from ..db.schema import migrate
from ..db.tables import Tables
from ..errors import InvalidQuery, StoreCorrupt, StoreError
from ..store.open_file import open_checked, real_path
from ..types.public_value import AnyPath, is_server
from ..types.reports import CopyReport
from .checked_arguments import Progress, checked_path, checked_progress
from .open import key_of


def copy(
    source: AnyPath,
    target: AnyPath,
    *,
    user: str | None = None,
    verify: bool = False,
    progress: Progress | None = None,
) -> CopyReport:
    """Copy a memory, between a file and a server, two servers, or two files.

    The target has every row of the source: turns, facts, edges, queued jobs, traces, and what was forgotten is still
    known to be. It answers as the source does, to the last bit. It is there whole when the call returns, and not at all
    where the call raises or is killed. What is written to the source meanwhile is not in it.

    Args:
        source: The file of a memory, or the address of a server: see `evimem.open`.
        target: A file that is not there yet, or the address of a server where the user has no turn yet, nor ever had.
        user: Whose memory it is on a server; for a file of a `MemoryPool`, the user that it belongs to.
        verify: Read every row again at the target, and compare it, before it is committed.
        progress: Called with the number of turns of each batch.

    Raises:
        InvalidQuery: There is no memory at `source`, or `user` is missing, or given though neither is a server.
        StoreCorrupt: `verify` found other rows than were read; nothing was copied.
        StoreError: The target holds a memory, the source is another user's, or either cannot be opened or written: see
            `evimem.open`.
    """
    said = checked_progress(progress)
    served = is_server(source) or is_server(target)
    if user is not None and not served:
        raise InvalidQuery("user is given but both paths are those of files; leave it out")
    owner = key_of(user) if served else None
    with _source(source, owner) as old, _target(target, owner) as new, old.reading(), new.writing():
        kept = old.read_meta("owner").get("owner", owner)
        if owner is not None and kept != owner:
            raise StoreError(f"{old.name!r} belongs to another user of a pool; give that user's id")
        copied = copy_rows(old, new, said)
        if verify and (wrong := differing(new, copied)):
            raise StoreCorrupt(f"{new.name!r} did not keep what was written to {', '.join(wrong)}; nothing was copied")
        if kept is not None:
            new.set_meta("owner", kept)
    rows = {table: one.rows for table, one in copied.items()}
    return CopyReport(rows["turn"], rows["fact"], sum(rows.values()), verify)


@contextmanager
def _source(path: AnyPath, owner: str | None) -> Iterator[Tables]:
    if owner is not None and is_server(path):
        from ..db.postgres import is_tenant  # noqa: PLC0415 - it needs an extra

        with _served(path, owner) as db:
            if not is_tenant(db):
                raise InvalidQuery(f"there is no memory of this user at {db.name!r}; check the user id")
            yield db
        return
    file = real_path(checked_path("source", path))
    if kind_of(file) is None:
        raise InvalidQuery(f"there is no memory at {str(file)!r}; give the path of one")
    with closing(open_checked(file, None, 5.0)) as opened:
        yield opened


@contextmanager
def _target(path: AnyPath, owner: str | None) -> Iterator[Tables]:
    if owner is not None and is_server(path):
        with _served(path, owner) as db:
            yield db
        return
    file = real_path(checked_path("target", path))
    with new_database(file, "nothing was copied") as temporary, closing(Connection(temporary)) as made:
        migrate(made)
        made.trust()  # its log goes when it is closed
        made.name = str(file)
        yield made


@contextmanager
def _served(address: AnyPath, owner: str) -> Iterator[Tables]:
    from ..db.postgres import PostgresConnection  # noqa: PLC0415 - it needs an extra
    from ..store.postgres_store import tenant_of  # noqa: PLC0415 - it needs an extra

    with closing(PostgresConnection(str(address), tenant_of(owner))) as db:
        yield db
