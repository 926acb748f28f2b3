"""Child processes of the tests: one killed in the middle of its work, one that may crash, many at once.

A parent must have no memory open when it forks; children report over a pipe and leave without running any clean-up.
"""

import os
import pickle
import resource
import selectors
import signal
import struct
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")
Send = Callable[[Any], None]
_LENGTH = struct.Struct("<I")


class ChildFailed(AssertionError):
    """A child raised, or was ended by a signal; the message says what."""


@dataclass(slots=True)
class Child:
    """A running child and the pipe it reports on."""

    pid: int
    pipe: int

    def messages(self) -> Iterator[Any]:
        """Yield what the child sends until it ends, without a message that was cut off."""
        while len(head := self._read(_LENGTH.size)) == _LENGTH.size:
            size = _LENGTH.unpack(head)[0]
            body = self._read(size)
            if len(body) < size:
                return
            yield pickle.loads(body)

    def kill(self) -> None:
        """End it as a crash would, at once."""
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Wait for its end; return its exit code, or minus the signal that ended it."""
        _, status = os.waitpid(self.pid, 0)
        os.close(self.pipe)
        return os.waitstatus_to_exitcode(status)

    def _read(self, size: int) -> bytes:
        got = b""
        while len(got) < size and (more := os.read(self.pipe, size - len(got))):
            got += more
        return got


def start(work: Callable[[Send], None], limits: Mapping[int, int] | None = None) -> Child:
    """Start a child that does some work, within resource limits."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that numpy's threads do not live on in the child
        pid = os.fork()
    if pid:
        os.close(writing)
        return Child(pid, reading)
    try:
        os.close(reading)
        for limit, value in (limits or {}).items():
            resource.setrlimit(limit, (value, value))

        def send(message: Any) -> None:
            body = pickle.dumps(message)
            os.write(writing, _LENGTH.pack(len(body)) + body)

        try:
            work(send)
        except BaseException:  # noqa: BLE001 - the parent raises it
            send(_Raised(traceback.format_exc()))
            os._exit(1)
        os._exit(0)
    finally:
        os._exit(2)


def in_child(work: Callable[[], T], limits: Mapping[int, int] | None = None) -> T:
    """Return what a function returns in a child. Raise ChildFailed where it raises or crashes."""
    child = start(lambda send: send(work()), limits)
    received = list(child.messages())
    code = child.wait()
    if code != 0 or not received:
        raised = received[-1].text if received and isinstance(received[-1], _Raised) else ""
        raise ChildFailed(f"child ended with {code}: {raised}")
    result: T = received[-1]
    return result


def all_in_children(works: Sequence[Callable[[], T]]) -> list[T]:
    """Return what functions return, each in a child of its own, all at the same time. One that fails ends them all."""
    children = [start(lambda send, work=work: send(work())) for work in works]  # type: ignore[misc]
    results: dict[int, T] = {}
    with selectors.DefaultSelector() as waiting:
        for child in children:
            waiting.register(child.pipe, selectors.EVENT_READ, child)
        while waiting.get_map():
            for key, _ in waiting.select():
                message = next(key.data.messages(), None)
                waiting.unregister(key.data.pipe)
                if message is None or isinstance(message, _Raised):
                    for child in children:
                        child.kill()
                    codes = [child.wait() for child in children]
                    raise ChildFailed(f"children ended with {codes}: {message.text if message else 'nothing said'}")
                results[key.data.pid] = message
    for child in children:
        child.wait()
    return [results[child.pid] for child in children]


def killed_after(
    seconds: float, work: Callable[[Send], None], heard: Callable[[Any], bool] = lambda message: True
) -> list[Any]:
    """Run work in a child, kill it so many seconds after a message that is waited for; return all it sent."""
    child = start(work)
    received = []
    try:
        messages = child.messages()
        for message in messages:
            received.append(message)
            if heard(message):
                break
        time.sleep(seconds)
    finally:
        child.kill()
    received += messages
    child.wait()
    for message in received:
        if isinstance(message, _Raised):
            raise ChildFailed(message.text)
    return received


@dataclass(frozen=True, slots=True)
class _Raised:
    text: str
