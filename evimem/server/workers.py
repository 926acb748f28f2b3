"""Running the server: one process, or several that share a socket and are started again where one ends by itself."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import socket as Socket
from tempfile import TemporaryDirectory, gettempdir
from types import FrameType

from starlette.types import ASGIApp

from ..errors import InvalidQuery, MissingExtra
from .operations import is_running

try:
    import uvicorn
except ImportError as _error:
    raise MissingExtra("the server", "server") from _error

_LOG = logging.getLogger("evimem.server")
_MIN_WORKER_SECONDS = 1.0  # a worker that ends sooner is not started again at once
_FOLDER_PREFIX = "evimem-serve-"  # the beginning of the name of a shared folder; the process of its server follows
MakeApp = Callable[[], ASGIApp]


@contextmanager
def shared_folder() -> Iterator[Path]:
    """Make a folder for the shared files of the workers, readable by its owner only, and remove it at the end.

    Those of servers that were killed are removed too: they may hold an upload.
    """
    for left in Path(gettempdir()).glob(f"{_FOLDER_PREFIX}*"):
        process = left.name.removeprefix(_FOLDER_PREFIX).partition("-")[0]
        if process.isdigit() and not is_running(int(process)):
            shutil.rmtree(left, ignore_errors=True)  # another user's stays
    with TemporaryDirectory(prefix=f"{_FOLDER_PREFIX}{os.getpid()}-") as folder:
        yield Path(folder)


def serve(make: MakeApp, listening: Socket, *, workers: int = 1, grace: int = 20) -> None:
    """Serve until a signal comes: SIGTERM or SIGINT end it once the requests under way have ended.

    Args:
        make: Makes the application, in each worker: nothing is opened before.
        listening: Where clients connect.
        workers: How many processes; more than one needs a system that forks.
        grace: Seconds that requests under way have to end.

    Raises:
        InvalidQuery: There are to be several workers, and this system does not fork.
    """
    if workers == 1:
        _serve_alone(make, listening, grace)
    elif hasattr(os, "fork"):
        WorkerProcesses(make, listening, grace).run(workers)
    else:
        raise InvalidQuery(f"workers is {workers}; expected 1 on this system, which does not fork")


def _serve_alone(make: MakeApp, listening: Socket, grace: int) -> None:
    config = uvicorn.Config(
        make(), log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=grace, lifespan="on"
    )
    uvicorn.Server(config).run([listening])


class WorkerProcesses:
    """Worker processes of one socket. The process that runs it serves nothing: it starts, watches and ends them."""

    def __init__(self, make: MakeApp, listening: Socket, grace: int) -> None:
        self._make, self._listening, self._grace = make, listening, grace
        self._started: dict[int, float] = {}
        self._parent_lives, self._open_while_alive = os.pipe()  # the end of this process, however, closes the pipe
        self._ending = False

    def run(self, workers: int) -> None:
        """Keep so many workers running until SIGTERM or SIGINT, then wait until they have ended."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end_workers)
        for _ in range(workers):
            self._start_worker()
        while self._started:
            process, status = os.wait()
            age = time.monotonic() - self._started.pop(process, 0.0)
            if not self._ending:
                _LOG.error("a worker ended (%d); another is started", os.waitstatus_to_exitcode(status))
                if age < _MIN_WORKER_SECONDS:
                    time.sleep(_MIN_WORKER_SECONDS)
                if not self._ending:
                    self._start_worker()

    def _start_worker(self) -> None:
        process = os.fork()
        if process:
            self._started[process] = time.monotonic()
            if self._ending:  # the signal came before it was known
                self._end_workers()
            return
        code = 1
        try:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.default_int_handler)
            os.close(self._open_while_alive)
            threading.Thread(target=self._end_with_parent, daemon=True).start()
            _serve_alone(self._make, self._listening, self._grace)
            code = 0
        except KeyboardInterrupt:
            code = 0
        except Exception as error:  # noqa: BLE001 - the worker ends with it, whatever it is
            sys.stderr.write(f"evimem: a worker could not serve: {type(error).__name__}: {error}\n")
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _end_with_parent(self) -> None:
        """Wait for the end of the process that watches the workers; without it nothing would ever end this one."""
        os.read(self._parent_lives, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _end_workers(self, number: int = 0, frame: FrameType | None = None) -> None:
        self._ending = True
        for process in self._started:
            try:
                os.kill(process, signal.SIGTERM)
            except ProcessLookupError:
                continue
