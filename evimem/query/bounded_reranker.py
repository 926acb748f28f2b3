"""A reranker within bounds: so many texts, so many tokens of each, so many seconds; where it fails, no scores."""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Callable, Sequence
from contextvars import copy_context
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeAlias

from ..embedding.static_embedder import count_tokens
from ..errors import EvimemError, InvalidQuery, shown
from ..protocols import AsyncReranker, Reranker

if TYPE_CHECKING:
    from concurrent.futures import Future

Scores: TypeAlias = "tuple[float, ...]"
RerankFunction: TypeAlias = Callable[[str, list[str]], Any]  # as `Reranker.rerank`
MAX_TEXTS, MAX_TOKENS, MAX_SECONDS = 100, 8_192, 60.0
_LOG = logging.getLogger("evimem")


class Reranking:
    """A reranker with its bounds, for `evimem.open(reranker=...)`; a reranker that is given bare has the default ones.

    A reranker never fails a search: where it raises, is late, or returns another number of scores than of texts or one
    that is not finite, hits keep their own order. The first failure in a row is a warning in the log "evimem",
    `failed` counts all of them, and `Memory.health` has a problem until a call succeeds. A call that is late is left to
    end by itself; until then the reranker is not asked again.

    Safe to share between memories and threads, if the reranker is.

    Args:
        reranker: An object with `rerank(query, texts)`, a coroutine function or not, which returns one finite number a
            text, larger is better; or a function like that. With `as_async()`, an event loop awaits that one's
            `rerank`. With a true attribute `remote`, it is waited for as a model is: a pool lends the place meanwhile.
        texts: How many hits of a search are reranked, the first ones, 2 to 100. A search looks for as many, however few
            it is to return.
        tokens: How many tokens of each text are sent, 1 to 8192, counted with the shipped WordPiece vocabulary.
        seconds: How long a call may take, above 0, at most 60.

    Raises:
        InvalidQuery: The reranker is none, or a bound is out of range.

    Attributes:
        texts, tokens, seconds: The bounds.
        asked: How many times the reranker was to be asked.
        failed: How many of these failed.
    """

    def __init__(
        self,
        reranker: Reranker | AsyncReranker | RerankFunction,
        *,
        texts: int = 50,
        tokens: int = 512,
        seconds: float = 5.0,
    ) -> None:
        verb = getattr(reranker, "rerank", reranker)
        if isinstance(reranker, type) or not callable(verb):
            raise InvalidQuery(
                f"reranker is a {type(reranker).__name__}; expected an object with rerank(query, texts), or a function "
                "of a query and texts, that returns one number a text"
            )
        _check_bound("texts", texts, 2, MAX_TEXTS)
        _check_bound("tokens", tokens, 1, MAX_TOKENS)
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds <= MAX_SECONDS:
            raise InvalidQuery(f"seconds is {shown(seconds)}; expected a number above 0, at most {MAX_SECONDS:g}")
        self.reranker = reranker
        self.texts, self.tokens, self.seconds = texts, tokens, float(seconds)
        self.asked = self.failed = 0
        self.remote = bool(getattr(reranker, "remote", False))
        self.is_coroutine = inspect.iscoroutinefunction(verb)
        self._verb: Callable[[str, list[str]], Any] = verb
        self._problem = ""
        self._lock = Lock()
        self._late_words = f"it took longer than {seconds:g} s; raise seconds=, or send less with texts= and tokens="
        self._late: list[Future[Any]] = []

    @property
    def awaited_verb(self) -> Callable[[str, list[str]], Any] | None:
        """The `rerank` that an event loop awaits; None of a reranker that can only be called."""
        if self.is_coroutine:
            return self._verb
        return self.reranker.as_async().rerank if hasattr(self.reranker, "as_async") else None

    @property
    def problems(self) -> tuple[str, ...]:
        """The failure of the last call, as `Health.problems` tells it; empty after one that succeeded."""
        return (self._problem,) if self._problem else ()

    def score_texts(self, query: str, texts: Sequence[str]) -> Scores | None:
        """Return the reranker's score of each of the `texts` for a `query`; None where it failed, which is counted."""
        sent = self.cut_texts(texts)
        try:
            given = self._call(lambda: self._verb(query, sent))
        except Exception as error:  # noqa: BLE001 - of whatever kind: a search does not fail for its order
            self.fail(error)
            return None
        return self.accept(given, len(sent))

    def accept(self, given: Any, count: int) -> Scores | None:
        """Return a reranker's result (`given`) for `count` texts as scores; None, counted, where it is invalid."""
        try:
            scores = checked_scores(given, count)
        except UnusableScores as error:
            self.fail(error)
            return None
        with self._lock:
            self.asked += 1
            self._problem = ""
        return scores

    def fail(self, error: Exception | None = None) -> None:
        """Count a failure, by an `error` or by lateness, and warn of the first in a row.

        Of errors that are not evimem's the type is told, not the words, which may quote a text.
        """
        own = isinstance(error, (EvimemError, UnusableScores))
        why = self._late_words if error is None else str(error) if own else f"it raised {type(error).__name__}"
        with self._lock:
            is_first = not self._problem
            self.asked += 1
            self.failed += 1
            self._problem = (
                f"the reranker failed, and hits keep their own order ({why}; {self.failed} of {self.asked} calls "
                "failed since it was given); correct it, or open the memory without reranker="
            )
        level = logging.WARNING if is_first else logging.DEBUG
        _LOG.log(level, "the reranker failed, and hits keep their own order (%s)", why)

    def cut_texts(self, texts: Sequence[str]) -> list[str]:
        """Return the first tokens of each of the `texts`."""
        return [cut_text(text, self.tokens) for text in texts]

    def _call(self, call: Callable[[], Any]) -> Any:
        """Return the result of a call in a thread of its own. Raise UnusableScores where it takes too long."""
        with self._lock:
            self._late = [late for late in self._late if not late.done()]
            if self._late:
                raise UnusableScores(f"a call that took longer than {self.seconds:g} s is still running")
        from concurrent.futures import Future, wait  # noqa: PLC0415 - only a reranker that is called needs it

        future: Future[Any] = Future()
        Thread(target=copy_context().run, args=(_settle, future, call), name="evimem-rerank", daemon=True).start()
        if not wait([future], self.seconds).done:
            with self._lock:
                self._late.append(future)
            raise UnusableScores(self._late_words)
        return future.result()


def _settle(future: Future[Any], call: Callable[[], Any]) -> None:
    try:
        result = call()
    except BaseException as error:  # noqa: BLE001 - raised in the caller's thread
        future.set_exception(error)
    else:
        future.set_result(result)


class UnusableScores(Exception):
    """Says how a reranker failed, in words that quote no text; never raised by a memory."""


def cut_text(text: str, tokens: int) -> str:
    """Return the first tokens of a text, in whole characters."""
    # A token has at most 8 characters here: longer words are one unknown token.
    text = text[: 8 * tokens]
    if count_tokens(text) <= tokens:
        return text
    least, most = 0, len(text)
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if count_tokens(text[:middle]) <= tokens else (least, middle)
    return text[:least]


def checked_scores(scores: Any, count: int) -> Scores:
    """Return scores as floats. Raise UnusableScores for another number of them, or one that is no finite number."""
    try:
        numbers = tuple(float(score) for score in scores if not isinstance(score, (str, bytes)))
    except (TypeError, ValueError):
        raise UnusableScores(f"it returned a {type(scores).__name__}; expected {count} numbers") from None
    if len(numbers) != count:
        raise UnusableScores(f"it returned {len(numbers)} numbers; expected {count}, one a text")
    if not all(map(math.isfinite, numbers)):
        raise UnusableScores("it returned a number that is not finite")
    return numbers


def bound_reranker(reranker: Any) -> Reranking | None:
    """Return the reranker of `open(reranker=)` within bounds; None for None. Raise InvalidQuery for no reranker."""
    return reranker if reranker is None or isinstance(reranker, Reranking) else Reranking(reranker)


def _check_bound(name: str, value: int, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidQuery(f"{name} is {shown(value)}; expected a whole number from {least} to {most}")
