"""One model call: send it, parse the reply, ask once more where it cannot be parsed, and log every request."""

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
    """The log of the model requests of one judgement or answer, in order."""

    def __init__(self, iteration: int) -> None:
        self._iteration = iteration
        self._calls: list[Called] = []

    @property
    def calls(self) -> tuple[Called, ...]:
        """The requests so far."""
        return tuple(self._calls)

    def record(self, role: str, outcome: str, reply: Reply | None, *, repairs: int) -> None:
        """Record a request and its outcome: "ok", or the name of the error's class."""
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


def ask_model(request: Complete, parse: Callable[[str], T], ledger: Ledger) -> Flow[T]:
    """Return the model's reply as `parse` reads it. Where it raises ReplyError, ask once more, naming the reason.

    Raise ModelError, with the requests so far in `calls`, when the second reply cannot be parsed either.
    """
    try:
        return (yield from _attempt(request, parse, ledger, repairs=0))
    except ReplyError as error:
        again = replace(request, prompt=f"{request.prompt}\n\n{_complaint(error)}")
    return (yield from _attempt(again, parse, ledger, repairs=1))


def _attempt(request: Complete, parse: Callable[[str], T], ledger: Ledger, *, repairs: int) -> Flow[T]:
    reply: Reply | None = None
    try:
        reply = yield from complete(request)
        value = parse(reply.text)
    except ModelError as error:
        received = reply or getattr(error, "received", None)
        ledger.record(request.role, type(error).__name__, received, repairs=repairs)
        error.calls = ledger.calls
        raise
    ledger.record(request.role, "ok", reply, repairs=repairs)
    return value


def _complaint(error: ReplyError) -> str:
    """Return the repair request: the reason only, because the bad reply may repeat instructions planted in a turn."""
    return f"Your previous reply could not be used: {error.why}. Reply once more, with the JSON object alone."
