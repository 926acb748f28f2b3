"""Where a pool keeps the memories of its users: a folder with a file a user, or a server with rows of each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..db.atomic_files import make_folder

_SUFFIX = ".evimem"


class Folder:
    """A file a user, named by the user's key, in folders named by its first two digits."""

    def __init__(self, root: Path) -> None:
        self._root = root
        make_folder(root)

    def of(self, key: str) -> Path:
        """Return the path of a user's memory, in a folder that is there."""
        path = self._path(key)
        make_folder(path.parent)
        return path

    def has(self, key: str) -> bool:
        """Return whether a user has a memory."""
        return self._path(key).exists()

    def count(self) -> int:
        """Return how many users have one."""
        return sum(1 for file in self._files() if file.name.endswith(_SUFFIX))

    def bytes(self) -> int:
        """Return their size on disk, with what SQLite and the vector index keep beside them."""
        return sum(_size(file) for file in self._files())

    def _path(self, key: str) -> Path:
        return self._root / key[:2] / f"{key}{_SUFFIX}"

    def _files(self) -> Iterator[os.DirEntry[str]]:
        with os.scandir(self._root) as folders:
            for folder in [entry for entry in folders if len(entry.name) == 2 and entry.is_dir()]:
                with os.scandir(folder) as files:
                    yield from files


class Users:
    """The users of a server, each with rows that no statement of another reaches."""

    def __init__(self, address: str) -> None:
        """Connect, and make the tables where there are none."""
        from ..store.postgres_store import Census  # noqa: PLC0415 - it needs an extra

        self._address = address
        self._census = Census(address)

    def of(self, key: str) -> str:
        """Return the address, where a user is found by the key."""
        del key
        return self._address

    def has(self, key: str) -> bool:
        """Return whether a user has a memory."""
        return self._census.has(key)

    def count(self) -> int:
        """Return how many users have one."""
        return self._census.count()

    def bytes(self) -> int:
        """Return the size of all tables and indexes, with room that PostgreSQL keeps for later rows."""
        return self._census.bytes()


def _size(file: os.DirEntry[str]) -> int:
    try:
        return file.stat(follow_symlinks=False).st_size
    except FileNotFoundError:  # erased, or a log that was emptied, since the folder was read
        return 0
