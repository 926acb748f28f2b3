"""A disk that loses power: every write is logged, and each moment of the log gives the files that might be left then.

What was synced is there. Of what was written since, each write may be there, be missing, or be torn at a sector; of
the names changed in a folder since it was synced, some first ones hold. Shared memory is never left.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Literal
from unittest.mock import patch

import apsw

Damage = Literal["random", "lost", "kept", "last"]
SECTOR = 512
_JOURNALS = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL


@dataclass(slots=True)
class Log:
    """The operations on the disk, in order, and what had been acknowledged at which point."""

    ops: list[tuple[Any, ...]] = field(default_factory=list)
    acks: list[tuple[int, Any]] = field(default_factory=list)
    bad_sync: int = -1  # which sync fails, once: what it should have kept is then never kept, as systems do
    syncs: int = 0

    def ack(self, promise: Any) -> None:
        """Record that this state was acknowledged to a caller."""
        self.acks.append((len(self.ops), promise))

    def promised(self, point: int) -> tuple[Any, Any]:
        """Return the last acknowledged state at a point of the log, and the one being written there."""
        made = [index for index, (position, _) in enumerate(self.acks) if position <= point]
        last = made[-1] if made else -1
        return (self.acks[last][1] if made else None), (self.acks[last + 1][1] if last + 1 < len(self.acks) else None)


class _LoggedVFS(apsw.VFS):
    def __init__(self, name: str, log: Log) -> None:
        super().__init__(name, base="")
        self.log = log

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return _LoggedFile(self.log, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        super().xDelete(name, syncdir)
        self.log.ops.append(("unlink", name))
        if syncdir:
            self.log.ops.append(("folder", os.path.dirname(name)))


class _LoggedFile(apsw.VFSFile):
    def __init__(self, log: Log, name: Any, flags: list[int]) -> None:
        self._path = name.filename() if isinstance(name, apsw.URIFilename) else name
        fresh = self._path is not None and not os.path.exists(self._path)
        super().__init__("", name, flags)
        self._log = log if self._path is not None else Log()
        self._names_folder = fresh and bool(flags[0] & _JOURNALS)
        if fresh:
            self._log.ops.append(("create", self._path))

    def xWrite(self, data: bytes, offset: int) -> None:
        super().xWrite(data, offset)
        self._log.ops.append(("write", self._path, offset, bytes(data)))

    def xTruncate(self, size: int) -> None:
        super().xTruncate(size)
        self._log.ops.append(("truncate", self._path, size))

    def xSync(self, flags: int) -> None:
        self._log.syncs += 1
        if self._log.syncs - 1 == self._log.bad_sync:
            self._log.ops.append(("drop", self._path))
            raise apsw.IOError(f"injected at sync {self._log.bad_sync}")
        super().xSync(flags)
        self._log.ops.append(("sync", self._path))
        if self._names_folder:  # SQLite syncs the folder of a new journal with its first sync
            self._log.ops.append(("folder", os.path.dirname(self._path)))
            self._names_folder = False


@contextmanager
def logged(log: Log) -> Iterator[str]:
    """Log the operations of SQLite on the named VFS, and those of Python code on files."""
    vfs = _LoggedVFS("logged", log)
    try:
        with _logged_files(log):
            yield "logged"
    finally:
        vfs.unregister()


@contextmanager
def _logged_files(log: Log) -> Iterator[None]:
    fsync, rename, unlink, mknod = os.fsync, Path.replace, Path.unlink, os.mknod

    def logged_mknod(path: Any, mode: int) -> None:
        mknod(path, mode)
        log.ops.append(("create", str(path)))

    def logged_fsync(handle: int) -> None:
        fsync(handle)
        path = os.readlink(f"/proc/self/fd/{handle}")
        log.ops.append(("folder", path) if os.path.isdir(path) else ("content", path, Path(path).read_bytes()))

    def logged_rename(self: Path, target: Any) -> Path:
        content = self.read_bytes()
        done = rename(self, target)
        log.ops.append(("rename", str(self), str(target), content))
        return done

    def logged_unlink(self: Path, *, missing_ok: bool = False) -> None:
        there = self.exists()
        unlink(self, missing_ok=missing_ok)
        if there:
            log.ops.append(("unlink", str(self)))

    with (
        patch("os.fsync", logged_fsync),
        patch("os.mknod", logged_mknod),
        patch.object(Path, "replace", logged_rename),
        patch.object(Path, "unlink", logged_unlink),
    ):
        yield


@dataclass(slots=True)
class _File:
    durable: bytearray = field(default_factory=bytearray)
    pending: list[tuple[Any, ...]] = field(default_factory=list)


class Disk:
    """The state of the disk at a point of the log, and what a power cut there might leave."""

    def __init__(self) -> None:
        self._now: dict[str, _File] = {}
        self._durable: dict[str, _File] = {}
        self._renamed: list[tuple[str, str, _File | None]] = []

    def apply(self, op: tuple[Any, ...]) -> None:
        """Replay one operation of a log."""
        getattr(self, f"_{op[0]}")(*op[1:])

    def left(self, damage: Damage, random: Random) -> dict[str, bytes]:
        """Return the files that a power cut leaves, by path."""
        names = dict(self._durable)
        some = {"lost": 0, "random": random.randint(0, len(self._renamed))}.get(damage, len(self._renamed))
        for _, path, file in self._renamed[:some]:
            if file is None:
                names.pop(path, None)
            else:
                names[path] = file
        return {path: _after(file, damage, random) for path, file in names.items()}

    def _create(self, path: str) -> None:
        self._name(path, _File())

    def _content(self, path: str, data: bytes) -> None:
        self._name(path, _File(bytearray(data)))

    def _rename(self, source: str, target: str, content: bytes) -> None:
        file = self._now.pop(source, None) or _File(pending=[("write", source, 0, content)])
        self._renamed.append(("rename", source, None))
        self._name(target, file)

    def _unlink(self, path: str) -> None:
        self._now.pop(path, None)
        self._renamed.append(("unlink", path, None))

    def _write(self, path: str, *rest: Any) -> None:
        self._now[path].pending.append(("write", path, *rest))

    def _truncate(self, path: str, *rest: Any) -> None:
        self._now[path].pending.append(("truncate", path, *rest))

    def _sync(self, path: str) -> None:
        file = self._now[path]
        for op in file.pending:
            _do(file.durable, op)
        file.pending.clear()

    def _drop(self, path: str) -> None:
        self._now[path].pending.clear()

    def _folder(self, path: str) -> None:
        for _, name, file in self._renamed:
            if file is None:
                self._durable.pop(name, None)
            else:
                self._durable[name] = file
        self._renamed.clear()

    def _name(self, path: str, file: _File) -> None:
        self._now[path] = file
        self._renamed.append(("name", path, file))


def points(log: Log, count: int, random: Random) -> list[tuple[int, Damage]]:
    """Return where to cut the power: half around syncs with each kind of damage, half anywhere, in order of the log."""
    around = [
        (index + shift, damage)
        for index, op in enumerate(log.ops)
        if op[0] in ("sync", "folder")
        for shift in (0, 1, 2)
        for damage in ("random", "lost", "kept", "last")
    ]
    picked = random.sample(around, min(len(around), count // 2))
    anywhere: list[tuple[int, Damage]] = [
        (random.randint(0, len(log.ops)), "random") for _ in range(count - len(picked))
    ]
    return sorted((min(point, len(log.ops)), damage) for point, damage in (*picked, *anywhere))  # type: ignore[misc]


def cuts(log: Log, where: Sequence[tuple[int, Damage]], seed: int) -> Iterator[tuple[int, Damage, dict[str, bytes]]]:
    """Yield what each power cut leaves, in order of the log; `where` must be sorted."""
    disk = Disk()
    done = 0
    for number, (point, damage) in enumerate(where):
        for op in log.ops[done:point]:
            disk.apply(op)
        done = max(done, point)
        yield point, damage, disk.left(damage, Random(f"{seed}/{number}/{point}"))


def _after(file: _File, damage: Damage, random: Random) -> bytes:
    data = bytearray(file.durable)
    last = len(file.pending) - 1
    for index, op in enumerate(file.pending):
        if damage == "kept" or (damage == "last" and index == last):
            _do(data, op)
        elif damage == "random" and random.random() < 0.5:
            _do(data, _torn(op, random) if random.random() < 0.2 else op)
    return bytes(data)


def _torn(op: tuple[Any, ...], random: Random) -> tuple[Any, ...]:
    if op[0] != "write" or len(op[3]) <= SECTOR:
        return op
    return (*op[:3], op[3][: SECTOR * random.randint(0, len(op[3]) // SECTOR)])


def _do(data: bytearray, op: tuple[Any, ...]) -> None:
    if op[0] == "truncate":
        del data[op[2] :]
        data.extend(bytes(op[2] - len(data)))
        return
    offset, written = op[2], op[3]
    data.extend(bytes(max(0, offset + len(written) - len(data))))
    data[offset : offset + len(written)] = written
