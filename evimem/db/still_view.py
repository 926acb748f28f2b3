"""A database file as its pages stand, with those of its log over them: read without locks, and without any change.

SQLite opens a file with a log only where it can make or write the index of that log. Here it is told that the file
never changes (`immutable`), and a VFS serves each page from the log where that holds it.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw

from .encryption import Key

ENCRYPTING = "multipleciphers-"  # the prefix of the name of a VFS that encrypts the writes of another
MAX_PAGES = (1 << 32) - 2  # of a SQLite file
_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
_NUMBERS = itertools.count(1)
_VIEWS: dict[str, LogPages] = {}  # of the handles that are open, by the number in their URI
_REGISTERED: dict[str, _StillVfs] = {}  # by the VFS below; SQLite keeps no reference to them


class LogPages:
    """The pages that a log holds for a file: the place of each by its number, and how many pages the file then has."""

    def __init__(self, log: apsw.VFSFile | None = None, page_size: int = 0, count: int = 0) -> None:
        """`log` is read at the places of `pages`; without one the file is shown as it is, `count` pages long."""
        self.log = log
        self.page_size = page_size  # bytes
        self.pages: dict[int, int] = {}
        self.count = count  # 0 for those that the file has; missing ones are blank


def open_snapshot(path: Path, vfs: str | None, view: LogPages | None = None, key: Key | None = None) -> apsw.Connection:
    """Open a handle that sees a file as it is, without its log, or with the pages of a view over it.

    Nothing is locked: where another process writes meanwhile, the read pages may be a mixture of two states.
    """
    given = f"{path.resolve().as_uri()}?immutable=1"
    if view is None:
        return open_handle(given, _FLAGS, vfs, key)
    base = vfs or system_vfs()
    if base not in _REGISTERED:
        _REGISTERED[base] = _StillVfs(f"evimem-still-{base}", base)
    number = str(next(_NUMBERS))
    _VIEWS[number] = view
    try:
        return open_handle(f"{given}&view={number}", _FLAGS, f"evimem-still-{base}", key)
    finally:
        del _VIEWS[number]  # the file that was opened has it


def open_handle(name: str, flags: int, vfs: str | None, key: Key | None) -> apsw.Connection:
    """Open a SQLite handle; with a key, by the VFS that encrypts."""
    if key is None:
        return apsw.Connection(name, flags=flags, vfs=vfs)
    flags |= apsw.SQLITE_OPEN_URI  # for `Key.copy_encrypted`
    db = apsw.Connection(
        name if name[:5] == "file:" else Path(name).resolve().as_uri(),
        flags=flags,
        vfs=f"{ENCRYPTING}{vfs or system_vfs()}",
    )
    key.unlock(db)
    return db


def system_vfs() -> str:
    """Return the name of SQLite's own VFS for this system, below any that encrypts."""
    return apsw.vfs_names()[0].removeprefix(ENCRYPTING)


class _StillVfs(apsw.VFS):
    """Opens files that are read only; there is no journal and no log beside them."""

    def __init__(self, name: str, base: str) -> None:
        self._base = base
        super().__init__(name, base)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _StillFile(self._base, name, flags, _VIEWS[name.uri_parameter("view")])

    def xAccess(self, pathname: str, flags: int) -> bool:
        del pathname, flags
        return False


class _StillFile(apsw.VFSFile):
    """The file that a view is over."""

    def __init__(self, base: str, name: Any, flags: list[int], view: LogPages) -> None:
        super().__init__(base, name, flags)
        self._view = view

    def xRead(self, amount: int, offset: int) -> bytes:
        view = self._view
        page, within = divmod(offset, view.page_size) if view.page_size else (0, 0)
        place = view.pages.get(page + 1)
        if place is None or view.log is None:
            return super().xRead(amount, offset)
        return view.log.xRead(amount, place + within)

    def xFileSize(self) -> int:
        return self._view.count * self._view.page_size or super().xFileSize()

    def xClose(self) -> None:
        with suppress(AttributeError):  # of a file that was not opened
            if self._view.log is not None:
                self._view.log.xClose()
        super().xClose()
