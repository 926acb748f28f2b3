"""`evimem serve` as a process, for tests and for the runs that try it under load."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import httpx2


@dataclass(frozen=True)
class Served:
    """A server that runs: its process, and where it listens."""

    process: subprocess.Popen[str]
    url: str

    def client(self, token: str | None = None, **headers: str) -> httpx2.Client:
        """Return a client; close it."""
        given = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(base_url=self.url, headers={**given, **headers}, timeout=30, trust_env=False)

    def end(self) -> int:
        """End it as an operator does; return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


def start(*words: object) -> Served:
    """Start the command with these words, and wait until it listens."""
    command = [sys.executable, "-m", "evimem", "serve", "--quiet", "--port", "0", *map(str, words)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    assert "listening at" in line, line + process.stderr.read()
    return Served(process, line.rpartition(" ")[2].strip())


@contextmanager
def serving(*words: object) -> Iterator[Served]:
    """Serve for the time of a block."""
    served = start(*words)
    try:
        yield served
    finally:
        with suppress(ProcessLookupError):
            os.killpg(served.process.pid, signal.SIGKILL)
        served.process.communicate()
