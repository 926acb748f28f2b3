"""Asking a model for a reply of a form: read it, have it repaired once, and keep an account of every request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ..errors import ModelError, ReplyError
from ..flow import Flow, complete
from ..types.model import Complete, Reply
from ..types.trace import Called

T = TypeVar("T")


class Ledger:
    """The requests of one judgement or answer, in order."""

    def __init__(self, iteration: int) -> None:
        self._iteration = iteration
        self._calls: list[Called] = []

    @property
    def calls(self) -> tuple[Called, ...]:
        """What was asked so far."""
        return tuple(self._calls)

    def note(self, role: str, outcome: str, reply: Reply | None, *, repairs: int) -> None:
        """Record a request and how it ended."""
        cost = reply or Reply("")
        self._calls.append(
            Called(
                self._iteration,
                role,
                outcome,
                cost.input_tokens,
                cost.output_tokens,
                cost.seconds,
                repairs,
                cost.retries,
                cost.text,
                cost.cost,
            )
        )


def ask(request: Complete, read: Callable[[str], T], ledger: Ledger) -> Flow[T]:
    """Return what `read` makes of the model's reply; one that it cannot read is asked for once more.

    Raise ModelError, with the requests made so far in `calls`, when there is no usable reply then either.
    """
    try:
        return (yield from _once(request, read, ledger, repairs=0))
    except ReplyError as error:
        again = replace(request, prompt=f"{request.prompt}\n\n{_complaint(error)}")
    return (yield from _once(again, read, ledger, repairs=1))


def _once(request: Complete, read: Callable[[str], T], ledger: Ledger, *, repairs: int) -> Flow[T]:
    reply: Reply | None = None
    try:
        reply = yield from complete(request)
        value = read(reply.text)
    except ModelError as error:
        received = reply or getattr(error, "received", None)
        ledger.note(request.role, type(error).__name__, received, repairs=repairs)
        error.calls = ledger.calls
        raise
    ledger.note(request.role, "ok", reply, repairs=repairs)
    return value


def _complaint(error: ReplyError) -> str:
    """Return what to tell the model: the reason only, for its bad reply may repeat what somebody planted."""
    return f"Your previous reply could not be used: {error.why}. Reply once more, with the JSON object alone."
