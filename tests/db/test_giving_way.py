"""Long work gives way to whoever waits to write, and one who waits shows it."""

import threading
import time
from pathlib import Path

from evimem.db.connection import Connection
from tests.reliability.support.children import start


def wait_for_the_lock(path: Path) -> None:
    with Connection(path).writing():
        pass


def until_awaited(connection: Connection) -> None:
    deadline = time.monotonic() + 10.0
    while not connection.has_waiting_writer():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_who_waits_writes_before_long_work_goes_on(tmp_path):
    path, order = tmp_path / "m", list[str]()
    long, short = Connection(path), Connection(path)

    def wait() -> None:
        with short.writing():
            order.append("short")

    for _ in range(20):
        waiting = threading.Thread(target=wait)
        with long.writing():
            waiting.start()
            until_awaited(long)
        long.yield_write_lock()
        with long.writing():
            order.append("long")
        waiting.join()
    assert order == ["short", "long"] * 20


def test_nobodyis_awaited_once_who_waited_was_killed(tmp_path):
    connection = Connection(tmp_path / "m")
    with connection.writing():
        child = start(lambda send: wait_for_the_lock(tmp_path / "m"))
        until_awaited(connection)
        child.kill()
        child.wait()
        assert not connection.has_waiting_writer()
    connection.yield_write_lock()
    assert [file.name for file in tmp_path.iterdir() if "-" not in file.name] == ["m"]
