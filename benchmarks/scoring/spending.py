"""What the requests of a run cost, whoever makes them and whether or not they could be read; and an end to them."""

from __future__ import annotations

from threading import Lock
from typing import Any

from evimem.embedding.static_embedder import count_tokens
from evimem.errors import ModelError, ModelUnavailable
from evimem.types.trace import Complete, Reply


class Spending:
    """Adds up dollars, from any thread. `limit` is the sum after which nothing more is bought; None for no limit."""

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        self._spent = 0.0
        self._lock = Lock()

    @property
    def dollars(self) -> float:
        """What was spent so far."""
        return self._spent

    def add(self, dollars: float | None) -> None:
        """Add a cost; None is one that is not known."""
        with self._lock:
            self._spent += dollars or 0.0

    def check(self) -> None:
        """Raise ModelUnavailable once the limit is spent."""
        if self.limit is not None and self._spent >= self.limit:
            raise ModelUnavailable(
                f"not asked: {self._spent:.2f} of {self.limit:.2f} dollars are spent", retryable=False
            )


class PaidModel:
    """A `ChatModel` that makes no request once the money is spent, and counts what each one cost.

    Requests that are under way at that moment still end: at most `concurrency` of them. Where a server counts no
    tokens, those of the shipped vocabulary are.
    """

    def __init__(self, model: Any, spending: Spending) -> None:
        self.model: str = model.model
        self.judge_model: str | None = model.judge_model
        self.concurrency: int = model.concurrency
        self._model = model
        self._spending = spending

    def complete(self, request: Complete) -> Reply:
        """Return the model's reply. Raise ModelUnavailable where no money is left, and what the model raises."""
        self._spending.check()
        try:
            reply: Reply = self._model.complete(request)
        except ModelError as error:
            if error.received is not None:
                self._spending.add(error.received.cost)
            raise
        self._spending.add(self._cost(request, reply))
        return reply

    def _cost(self, request: Complete, reply: Reply) -> float | None:
        if reply.cost != 0 or reply.input_tokens or reply.output_tokens:
            return reply.cost
        price = self._model.prices[self._model.model_for(request.role)]
        sent, received = count_tokens(request.text) * price[0], count_tokens(reply.text) * price[1]
        return float(sent + received) / 1e6

    def close(self) -> None:
        """Close the model's connections; requests under way fail."""
        self._model.close()
