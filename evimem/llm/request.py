"""One model call: send it, parse the reply, ask once more where it cannot be parsed, and log every request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ..errors import ModelError, PromptTooLong, ReplyError
from ..flow import Flow, complete
from ..types.trace import Called, Complete, Reply

T = TypeVar("T")
MORE = 4  # times as many tokens for the reply that follows a cut one
LEAST_CONTEXT = 400  # tokens: a smaller number is no context that a server has, but a usage that means nothing
SHORT = 4_000  # characters of a request, below which no server cuts it
MOST_PER_TOKEN = 7.5  # characters: text has 3 to 5 in a token, and 6 in a word


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
                cost.uses,
            )
        )


def ask_model(
    request: Complete, parse: Callable[[str], T], ledger: Ledger, at_last: Callable[[str], T] | None = None
) -> Flow[T]:
    """Return what `ask` does, of a reply whose text is all that is read."""
    last = parse if at_last is None else at_last
    return ask(request, lambda reply: parse(reply.text), ledger, lambda reply: last(reply.text))


def ask(
    request: Complete, parse: Callable[[Reply], T], ledger: Ledger, at_last: Callable[[Reply], T] | None = None
) -> Flow[T]:
    """Return the model's reply as `parse` reads it. Where it raises ReplyError, ask once more, naming the reason.

    The second reply is read by `at_last`, if given. It may be longer, where the first was cut: models think at length.
    Raise ModelError, with the requests so far in `calls`, when the second reply cannot be parsed either, and
    PromptTooLong when the model did not read all of the request.
    """
    try:
        return (yield from _attempt(request, parse, ledger, repairs=0))
    except ReplyError as error:
        again = replace(request, prompt=f"{request.prompt}\n\n{_complaint(error)}")
        if error.cut and request.most_tokens is not None:
            again = replace(again, most_tokens=MORE * request.most_tokens)
    return (yield from _attempt(again, at_last or parse, ledger, repairs=1))


def _attempt(request: Complete, parse: Callable[[Reply], T], ledger: Ledger, *, repairs: int) -> Flow[T]:
    reply: Reply | None = None
    try:
        reply = yield from complete(request)
        _check_read(request, reply)
        value = parse(reply)
    except ModelError as error:
        ledger.record(request.role, type(error).__name__, reply or error.received, repairs=repairs)
        error.calls = ledger.calls
        raise
    ledger.record(request.role, "ok", reply, repairs=repairs)
    return value


def _check_read(request: Complete, reply: Reply) -> None:
    """Raise PromptTooLong where the usage says that the server read only a part of the request.

    Some servers drop what exceeds their context without a word, instructions first; such a reply means nothing.
    """
    length = len(" ".join(request.text.split()))
    if length > SHORT and LEAST_CONTEXT <= reply.input_tokens < length / MOST_PER_TOKEN:
        raise PromptTooLong(
            f"the server read {reply.input_tokens} tokens of a request of {length} characters; raise its context size",
            retryable=False,
        )


def _complaint(error: ReplyError) -> str:
    """Return the repair request: the reason only, because the bad reply may repeat instructions planted in a turn."""
    return f"Your previous reply could not be used: {error.why}. Reply once more, with the JSON object alone."
