"""Signals and cancellations at a chosen place of a call.

Python runs signal handlers only between certain bytecodes: after a call, at the start of a function, when a loop jumps
back. Raising from a trace function would also raise elsewhere, as inside of the exit of a `with` statement, where no
handler ever runs. So a trace function counts those places, and at the n-th a real signal becomes pending.
"""

import _thread
import asyncio
import dis
import signal
import sys
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, TypeVar

T = TypeVar("T")
Tracer = Callable[[FrameType, str, Any], Any]
_WHERE_HANDLERS_RUN = {
    code for name, code in dis.opmap.items() if any(part in name for part in ("CALL", "JUMP", "RESUME", "FOR_ITER"))
}


class Alarm(Exception):
    """What a signal handler of the program raises."""


class _Pending(int):
    """A signal number; reading `now` makes the signal pending from C, so that no handler runs before the next place."""

    now = property(_thread.interrupt_main)


@contextmanager
def handlers() -> Iterator[None]:
    """Have SIGINT raise KeyboardInterrupt and SIGUSR1 raise Alarm."""

    def alarm(number: int, frame: FrameType | None) -> None:
        raise Alarm

    kept = {signal.SIGINT: signal.default_int_handler, signal.SIGUSR1: alarm}
    kept = {number: signal.signal(number, handler) for number, handler in kept.items()}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def places(call: Callable[[], object], files: tuple[str, ...]) -> int:
    """Return how many places there are in a call where a handler may run, in files whose paths contain one of these."""
    return _run(call, files, 0, None)


def interrupted(call: Callable[[], object], files: tuple[str, ...], place: int, number: int) -> BaseException | None:
    """Make a signal pending at a place of a call; return what it raised, with its traceback, or None."""
    try:
        _run(call, files, place, _Pending(number))
        _pause()
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - a caller may wrap an Alarm
        return error
    return None


def _pause() -> None:
    """Be a place for a signal that was pending at the end of the call."""


def _run(call: Callable[[], object], files: tuple[str, ...], place: int, pending: _Pending | None) -> int:
    passed = 0
    codes: dict[CodeType, bytes] = {}

    def entering(frame: FrameType, event: str, argument: object) -> Tracer | None:
        if not any(part in frame.f_code.co_filename for part in files):
            return None
        codes[frame.f_code] = frame.f_code.co_code
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return within

    def within(frame: FrameType, event: str, argument: object) -> Tracer | None:
        nonlocal passed
        if event == "opcode" and codes[frame.f_code][frame.f_lasti] in _WHERE_HANDLERS_RUN:
            passed += 1
            if passed == place and pending is not None:
                sys.settrace(None)
                pending.now  # noqa: B018 - nothing may be called after it
        return within

    sys.settrace(entering)
    try:
        call()
    finally:
        sys.settrace(None)
    return passed


class CancelledAt(Awaitable[T]):
    """An awaitable that cancels its task at its n-th suspension, counting from 1; `suspensions` tells how many."""

    def __init__(self, work: Awaitable[T], suspension: int) -> None:
        self._work = work
        self._suspension = suspension
        self.suspensions = 0

    def __await__(self) -> Generator[Any, Any, T]:
        inner = self._work.__await__()
        try:
            waiting_for = next(inner)
            while True:
                self.suspensions += 1
                task = asyncio.current_task()
                if self.suspensions == self._suspension and task is not None:
                    task.cancel()
                try:
                    sent = yield waiting_for
                except BaseException as error:  # noqa: BLE001 - handed on
                    waiting_for = inner.throw(error)
                else:
                    waiting_for = inner.send(sent)
        except StopIteration as done:
            value: T = done.value
            return value
