"""How a result was made: command, commit, machine, and the digests of its data."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path

from evimem import __version__

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a result was made.

    `command` has the names of files without their folders. `commit` is None outside a clone, and ends in "+" where the
    code had changes. `data` is the SHA-256 of each file by its name; of a folder, that of its files' digests. `seconds`
    is how long the run took by the clock, `load` how many processes wanted a processor at its end, where it was told.
    """

    command: str
    commit: str | None
    date: str
    version: str
    python: str
    system: str
    processor: str
    cores: int
    data: dict[str, str]
    seconds: float | None = None
    load: float | None = None


def provenance(words: Sequence[str], data: Iterable[Path] = (), seconds: float | None = None) -> Provenance:
    """Return how a result is being made, by a command of these words, from these files, in so many seconds."""
    return Provenance(
        command=shlex.join(_without_folder(word) for word in words),
        commit=current_commit(),
        date=datetime.now(timezone.utc).date().isoformat(),
        version=__version__,
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        processor=_processor(),
        cores=os.cpu_count() or 1,
        data={path.name: digest(path) for path in data},
        seconds=None if seconds is None else round(seconds, 1),
        load=round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    )


def digest(path: Path) -> str:
    """Return the SHA-256 of a file; of a folder, that of a line of digest and name for each of its data files."""
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in {".json", ".jsonl"})
        listed = "".join(f"{digest(file)}  {file.name}\n" for file in files)
        return hashlib.sha256(listed.encode()).hexdigest()
    now = path.stat()
    return _digest(path, now.st_size, now.st_mtime_ns)


@lru_cache(maxsize=16)
def _digest(path: Path, _size: int, _changed: int) -> str:
    """Return the digest of a file as it is now: a run asks several times for that of its data set, of gigabytes."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()


def _without_folder(word: str) -> str:
    return Path(word).name if os.sep in word and Path(word).is_absolute() else word


def current_commit() -> str | None:
    """Return the commit of the clone, with a + where its code has changes; None outside of a clone."""
    folder = Path(__file__).parents[2]
    if not (folder / ".git").exists():
        return None
    try:
        head = _git(folder, "rev-parse", "--short=12", "HEAD")
        return f"{head}+" if _git(folder, "status", "--porcelain", "--", "evimem", "benchmarks/*.py") else head
    except (OSError, subprocess.CalledProcessError):
        return None  # a clone without git at hand


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True).stdout.strip()


def _processor() -> str:
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text(encoding="utf-8").splitlines() if cpus.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor()
