"""`restore` puts a backup back."""

from __future__ import annotations

from ..db.encryption import optional_key
from ..errors import InvalidQuery
from ..store.put_back import put_back
from ..types.public_value import AnyPath, is_server
from ..types.results import RestoreReport
from .checked_arguments import checked_path


def restore(backup: AnyPath, path: AnyPath, *, key: bytes | str | None = None) -> RestoreReport:
    """Put a backup in the place of a memory, which no process may have open; the backup itself stays as it is.

    Turns forgotten or replaced since the backup are erased again. Turns that came since are in its files
    alone, which are set aside: delete them when you need them no more. After a crash repeat the call.

    Args:
        backup: A file that `Memory.backup` made, or that was copied with its companions.
        path: The file of the memory, which may be damaged, missing, or lie beside the log of a killed process.
        key: Of an encrypted backup, and of the memory from then on. Where the memory has another one now, the turns
            that it had forgotten cannot be read, and `forgotten` of the report is None.

    Raises:
        InvalidQuery: There is no memory at `backup`, both are one file, or one is the address of a server.
        StoreBusy: The memory is open.
        StoreCorrupt: A turn of the backup is not as it was stored; nothing was changed.
        StoreError: The file at `path` is another memory, or one of the files cannot be used.
    """
    if is_server(backup) or is_server(path):
        raise InvalidQuery("restore takes files; a server restores what it backed up by itself: see pg_basebackup")
    done = put_back(checked_path("backup", backup), checked_path("path", path), optional_key(key))
    replaced = None if done.replaced is None else str(done.replaced)
    return RestoreReport(done.turns, done.forgotten, replaced)
