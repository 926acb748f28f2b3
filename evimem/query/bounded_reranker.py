"""A reranker within bounds: so many texts, so many tokens of each, so many seconds; where it fails, no scores."""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Callable, Sequence
from contextvars import copy_context
from threading import Event, Lock, Thread
from typing import Any, TypeAlias

from ..embedding.static_embedder import count_tokens
from ..errors import EvimemError, InvalidQuery, shown
from ..protocols import AsyncReranker, Reranker

Scores: TypeAlias = "tuple[float, ...]"
RerankFunction: TypeAlias = Callable[[str, list[str]], Any]  # as `Reranker.rerank`
MAX_TEXTS, MAX_TOKENS, MAX_SECONDS = 100, 8_192, 60.0
CHARACTERS_A_TOKEN = 8  # at most, of a text that is cut: longer words are one unknown token
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
        self._verb: Callable[[str, list[str]], Any] = verb
        self._problem = ""
        self._lock = Lock()
        self._late: list[Thread] = []

    @property
    def is_coroutine(self) -> bool:
        """Whether the reranker has to be awaited."""
        return inspect.iscoroutinefunction(self._verb)

    @property
    def is_awaited(self) -> bool:
        """Whether an event loop awaits the reranker, or a thread of it."""
        return self.remote or self.is_coroutine or hasattr(self.reranker, "as_async")

    @property
    def problems(self) -> tuple[str, ...]:
        """The failure of the last call, as `Health.problems` tells it; empty after one that succeeded."""
        return (self._problem,) if self._problem else ()

    def score_texts(self, query: str, texts: Sequence[str]) -> Scores | None:
        """Return the reranker's score of each text; None where it failed, which is counted and logged."""
        sent = [self._cut(text) for text in texts]
        return self._outcome(lambda: self._in_time(lambda: checked_scores(self._verb(query, sent), len(sent))))

    async def score_texts_async(self, query: str, texts: Sequence[str]) -> Scores | None:
        """Do what `score_texts` does with a reranker that is awaited; one that is not runs in a thread."""
        import asyncio  # noqa: PLC0415 - a synchronous memory does without

        sent = [self._cut(text) for text in texts]
        if not self.is_coroutine and not hasattr(self.reranker, "as_async"):
            return await asyncio.to_thread(self.score_texts, query, texts)
        try:
            verb = self._verb if self.is_coroutine else self.reranker.as_async().rerank  # type: ignore[union-attr]
            scores = checked_scores(await asyncio.wait_for(verb(query, sent), self.seconds), len(sent))
        except (TimeoutError, asyncio.TimeoutError):
            return self._outcome(self._raise_late)
        except Exception as error:  # noqa: BLE001 - of whatever kind: a search does not fail for its order
            return self._fail(error)
        return self._outcome(lambda: scores)

    def _outcome(self, score: Callable[[], Scores]) -> Scores | None:
        """Return scores, or None where that fails; count either."""
        try:
            scores = score()
        except Exception as error:  # noqa: BLE001 - of whatever kind: a search does not fail for its order
            return self._fail(error)
        with self._lock:
            self.asked += 1
            self._problem = ""
        return scores

    def _fail(self, error: Exception) -> None:
        """Count a failure, and warn of the first in a row; words of others, which may quote a text, are not told."""
        own = isinstance(error, (EvimemError, _Unusable))
        why = str(error) if own else f"it raised {type(error).__name__}"
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

    def _in_time(self, call: Callable[[], Scores]) -> Scores:
        """Return the result of a call in a thread of its own. Raise _Unusable where it takes too long."""
        with self._lock:
            self._late = [thread for thread in self._late if thread.is_alive()]
            if self._late:
                raise _Unusable(f"a call that took longer than {self.seconds:g} s is still running")
        results: list[Scores] = []
        errors: list[BaseException] = []
        done = Event()

        def run() -> None:
            try:
                results.append(call())
            except BaseException as error:  # noqa: BLE001 - raised in the caller's thread
                errors.append(error)
            finally:
                done.set()

        thread = Thread(target=copy_context().run, args=(run,), name="evimem-rerank", daemon=True)
        thread.start()
        if not done.wait(self.seconds):
            with self._lock:
                self._late.append(thread)
            self._raise_late()
        if errors:
            raise errors[0]
        return results[0]

    def _raise_late(self) -> Scores:
        raise _Unusable(f"it took longer than {self.seconds:g} s; raise seconds=, or send less with texts=, tokens=")

    def _cut(self, text: str) -> str:
        """Return the first tokens of a text."""
        text = text[: CHARACTERS_A_TOKEN * self.tokens]
        if count_tokens(text) <= self.tokens:
            return text
        least, most = 0, len(text)
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (middle, most) if count_tokens(text[:middle]) <= self.tokens else (least, middle)
        return text[:least]


class _Unusable(Exception):
    """Says how a reranker failed, in words that quote none of its own."""


def checked_scores(scores: Any, count: int) -> Scores:
    """Return scores as floats. Raise _Unusable for another number of them, or one that is no finite number."""
    try:
        numbers = tuple(float(score) for score in scores if not isinstance(score, (str, bytes)))
    except (TypeError, ValueError):
        raise _Unusable(f"it returned a {type(scores).__name__}; expected {count} numbers") from None
    if len(numbers) != count:
        raise _Unusable(f"it returned {len(numbers)} numbers; expected {count}, one a text")
    if not all(map(math.isfinite, numbers)):
        raise _Unusable("it returned a number that is not finite")
    return numbers


def bound_reranker(reranker: Any) -> Reranking | None:
    """Return what `open(reranker=)` was given within bounds; None for None. Raise InvalidQuery for no reranker."""
    return reranker if reranker is None or isinstance(reranker, Reranking) else Reranking(reranker)


def _check_bound(name: str, value: int, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidQuery(f"{name} is {shown(value)}; expected a whole number from {least} to {most}")
