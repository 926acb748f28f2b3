"""A disk that fails at the n-th operation, once or from then on: full, broken, or with short reads."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import apsw

Kind = Literal["full", "broken", "short read"]


@dataclass(slots=True)
class Disk:
    """Counts operations and fails a chosen one (and, if it `stays`, all after it)."""

    at: int = -1
    kind: Kind = "broken"
    stays: bool = False
    count: int = 0
    fired: bool = False
    met: list[str] = field(default_factory=list)  # the operations since it was armed, in order

    def arm(self, at: int, kind: Kind, *, stays: bool) -> None:
        """Fail the `at`-th operation from now on."""
        self.at, self.kind, self.stays = at, kind, stays
        self.count, self.fired, self.met = 0, False, []

    def disarm(self) -> None:
        """Fail no more."""
        self.at = -1

    def meet(self, operation: str) -> bool:
        """Count an operation; raise, or return True for a short read."""
        number, self.count = self.count, self.count + 1
        self.met.append(operation)
        if self.at < 0 or number < self.at or (number > self.at and not self.stays):
            return False
        if self.kind == "short read":
            self.fired = self.fired or operation == "read"
            return operation == "read"
        self.fired = True
        error = apsw.FullError if self.kind == "full" else apsw.IOError
        raise error(f"injected at operation {number}, {operation}")


@contextmanager
def failing(*, for_all: bool = False) -> Iterator[tuple[str, Disk]]:
    """Register a VFS by name and yield the disk behind it; with `for_all` every new handle uses it."""
    disk = Disk()
    vfs = _FailingVFS("failing", disk, for_all=for_all)
    told = sys.unraisablehook

    def unraisable(found: Any) -> None:  # where SQLite takes no error, apsw reports ours as one that nobody caught
        if "injected" not in str(found.exc_value):
            told(found)

    sys.unraisablehook = unraisable
    try:
        yield "failing", disk
    finally:
        sys.unraisablehook = told
        disk.disarm()
        vfs.unregister()


@contextmanager
def failing_files(disk: Disk) -> Iterator[None]:
    """Make Python's operations on the mark and the index file fail as well."""

    def met(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            try:
                disk.meet(name)
            except apsw.Error as error:
                code = errno.ENOSPC if isinstance(error, apsw.FullError) else errno.EIO
                raise OSError(code, str(error)) from None
            return real(*args, **options)

        return call

    with (
        patch("os.fsync", met("fsync", os.fsync)),
        patch.object(Path, "replace", met("rename", Path.replace)),
        patch.object(Path, "unlink", met("unlink", Path.unlink)),
    ):
        yield


class _FailingVFS(apsw.VFS):
    def __init__(self, name: str, disk: Disk, *, for_all: bool) -> None:
        self._base = apsw.vfs_names()[0]  # the default, by name: "" would come back here once this is the default
        super().__init__(name, base=self._base, makedefault=for_all)
        self._disk = disk

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        self._disk.meet("open")
        return _FailingFile(self._base, self._disk, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        self._disk.meet("delete")
        super().xDelete(name, syncdir)


class _FailingFile(apsw.VFSFile):
    def __init__(self, base: str, disk: Disk, name: Any, flags: list[int]) -> None:
        super().__init__(base, name, flags)
        self._disk = disk
        self._main = bool(flags[0] & apsw.SQLITE_OPEN_MAIN_DB)

    def xRead(self, amount: int, offset: int) -> bytes:
        short = self._disk.meet("read")
        if short and self._main and offset + amount <= self.xFileSize():
            # SQLite takes a short read for the end of the file, and the rest for zeros. Its own VFS therefore reads
            # on inside a file, and gives what it then cannot read as an error.
            raise apsw.IOError(f"injected at operation {self._disk.count - 1}, the rest of a read inside the file")
        return super().xRead(amount, offset)[: amount // 2 if short else amount]

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.meet("write")
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:
        self._disk.meet("truncate")
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:
        self._disk.meet("sync")
        super().xSync(flags)
