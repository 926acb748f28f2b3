"""The input of a build, ordered by user in bounded memory, and the manifest of the users that are done."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO
from zlib import crc32

from ..db.atomic_files import lock_file, open_private, translate_os_errors
from ..errors import ImportFailed, StoreBusy, shown
from ..loaders.conversation import Refuse, RefusedItem
from ..loaders.json_lines import read_lines
from ..loaders.json_values import parse_json
from ..types.public_value import json_bytes

_PARTITION_COUNT = 256  # a user is in one of them, and one is held in memory at a time


@dataclass(frozen=True, slots=True)
class UserTask:
    """The lines of one user: in a file, from a byte on, so many bytes; and a digest of them."""

    user: str
    path: Path
    start: int
    size: int
    digest: str

    def read_lines(self) -> list[bytes]:
        """Read the lines."""
        with self.path.open("rb") as file:
            file.seek(self.start)
            return file.read(self.size).rstrip(b"\n").split(b"\n")


def list_dataset_files(dataset: Path) -> list[Path]:
    """Return the files of a data set: itself, or the .jsonl files of a folder. Raise ImportFailed for none."""
    found = sorted(dataset.glob("*.jsonl")) if dataset.is_dir() else [dataset] if dataset.is_file() else []
    if not found:
        raise ImportFailed(f"{str(dataset)!r} is no file, nor a folder of .jsonl files; expected turns as JSON lines")
    return found


def split_by_user(files: Sequence[Path], by: str, folder: Path, refuse: Refuse) -> Iterator[UserTask]:
    """Yield each user with all lines of theirs, in the order in which they came. The folder is for copies of them.

    Lines are first dealt out to files by a hash of their user, so that input in any order takes one pass and the memory
    of the largest of those. A line that names no user is refused.
    """
    for part in _write_partitions(files, by, folder, refuse):
        lines: defaultdict[str, list[bytes]] = defaultdict(list)
        with part.open("rb") as file:
            for line in read_lines(file):
                lines[_parse_user(line, by)].append(line)
        with part.open("wb") as file:
            file.writelines(line for some in lines.values() for line in some)
        start = 0
        for user, some in lines.items():
            size = sum(map(len, some))
            yield UserTask(user, part, start, size, blake2b(b"".join(some), digest_size=16).hexdigest())
            start += size


def _write_partitions(files: Sequence[Path], by: str, folder: Path, refuse: Refuse) -> list[Path]:
    paths = [folder / f"{number:03}.jsonl" for number in range(_PARTITION_COUNT)]
    with ExitStack() as opened:
        parts = [opened.enter_context(path.open("wb")) for path in paths]
        for path in files:
            with path.open("rb") as file:
                for number, line in enumerate(read_lines(file), start=1):
                    try:
                        if line.strip():
                            parts[
                                crc32(_parse_user(line, by).encode("utf-8", "surrogatepass")) % _PARTITION_COUNT
                            ].write(line.rstrip(b"\r\n") + b"\n")
                    except ValueError as error:
                        refuse(RefusedItem(f"{path.name} line {number}", str(error)))
    return paths


def _parse_user(line: bytes, by: str) -> str:
    row = parse_json(line)
    user = row.get(by) if isinstance(row, dict) else None
    if isinstance(user, int) and not isinstance(user, bool):
        return str(user)
    if not isinstance(user, str) or not user:
        raise ValueError(f"{by} is {shown(user)}; expected the id of the user whose turn it is, a string or a number")
    return user


class Manifest:
    """Which users of a data set are done: a line each, synced to disk after their memory is whole and closed.

    A user whose lines have changed since is done again, which stores its new lines. Users stand in it as digests.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._done: dict[str, str] = {}
        for line in file.read().splitlines():
            with suppress(ValueError, KeyError):  # one that was cut short is done again
                row = parse_json(line)
                self._done[row["user"]] = row["digest"]
        file.write(b"\n")  # after such a line the next one begins on its own

    def is_done(self, key: str, digest: str) -> bool:
        """Return whether these lines of a user are done."""
        return self._done.get(key) == digest

    def mark_done(self, rows: Sequence[dict[str, object]]) -> None:
        """Note users as done, each with `user`, `digest` and the counts of the memory afterwards."""
        self._file.write(b"".join(json_bytes(row) + b"\n" for row in rows))
        self._file.flush()
        os.fsync(self._file.fileno())


@contextmanager
def lock_build(manifest: Path) -> Iterator[tuple[Manifest, Path]]:
    """Have the manifest of a build and a folder for its input, alone. Raise StoreBusy while another build has them."""
    folder = manifest.with_name(f"{manifest.name}.parts")
    with translate_os_errors(repr(str(manifest)), "nothing was built"):
        file = open_private(manifest, "a+b")
    with file:
        if not lock_file(file):
            raise StoreBusy(f"another build uses {str(manifest)!r}; wait for its end, or name another manifest")
        file.seek(0)
        shutil.rmtree(folder, ignore_errors=True)
        with translate_os_errors(repr(str(folder)), "nothing was built"):
            folder.mkdir(mode=0o700)
        try:
            yield Manifest(file), folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
