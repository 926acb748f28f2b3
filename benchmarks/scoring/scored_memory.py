"""The seam through which other memories are scored on labelled chats, and the memories that ship with it.

An adapter is a function from an empty folder to an object with `add`, `search` and `close`; `python -m benchmarks chats
PATH --adapter MODULE:FUNCTION` scores it. Where it also has `ask`, its answers are scored, else its best turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

import evimem
from evimem.errors import InvalidQuery, ModelError
from evimem.types.results import AnswerKind
from evimem.types.values import Query, Turn

from .asking import Approach


@dataclass(frozen=True, slots=True)
class MemoryReply:
    """What a memory says to a question: an answer, a quotation, or that it knows nothing.

    `cited` holds the ids of the turns that it rests on; `confidence` is the probability, 0 to 1, that its claim holds,
    None where the memory states none; `failed` is why it could not say anything. Where it asks a model, `requests` and
    the tokens are what that took, and `cost` is in dollars.
    """

    kind: AnswerKind
    text: str | None
    cited: tuple[str, ...] = ()
    confidence: float | None = None
    reason: str = ""
    cost: float | None = None
    failed: str = ""
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class SearchedMemory(Protocol):
    """What an adapter must do. Turns have an id, a session, a speaker, a time, a text and sometimes a caption."""

    def add(self, turns: Sequence[Turn]) -> None:
        """Store turns, in the order in which they were said."""
        ...

    def search(self, question: str, k: int, asked_at: str | None) -> Sequence[str]:
        """Return the ids of the k best turns, best first; `asked_at` is "today" for the question, in ISO 8601."""
        ...

    def close(self) -> None:
        """Release what is held."""
        ...


@runtime_checkable
class AskedMemory(Protocol):
    """An adapter that answers, too."""

    def ask(self, question: str, asked_at: str | None) -> MemoryReply:
        """Answer a question, quote, or abstain."""
        ...


Factory: TypeAlias = Callable[[Path], SearchedMemory]


def say(memory: SearchedMemory, question: str, asked_at: str | None, turns: dict[str, str]) -> MemoryReply:
    """Return what a memory says; of one that does not answer, its best turn as a quotation, out of `turns` by id."""
    if isinstance(memory, AskedMemory):
        return memory.ask(question, asked_at)
    best = memory.search(question, 1, asked_at)
    if not best:
        return MemoryReply("abstained", None, reason="nothing was found")
    if best[0] not in turns:
        raise InvalidQuery(
            f"search found {best[0]!r}, which is the id of no turn; expected ids as `add` was given them"
        )
    return MemoryReply("quote", turns[best[0]], (best[0],))


class OwnMemory:
    """evimem itself, asked as `evimem ask` does."""

    def __init__(self, folder: Path, how: Approach = Approach()) -> None:
        self._memory = evimem.open(folder / "own.evimem", llm=how.llm)
        self._how = how

    def add(self, turns: Sequence[Turn]) -> None:
        """Store turns."""
        self._memory.extend(turns, strict=True)

    def search(self, question: str, k: int, asked_at: str | None) -> Sequence[str]:
        """Return the ids of the k best turns."""
        return [hit.turn.id for hit in self._memory.search(question, k, asked_at=asked_at)]

    def ask(self, question: str, asked_at: str | None) -> MemoryReply:
        """Answer, quote or abstain; where the model fails, say why."""
        try:
            answer = self._memory.ask(question, self._how.loop, asked_at=asked_at, budget=self._how.budget)
        except ModelError as error:
            return MemoryReply("failed", None, failed=str(error) or type(error).__name__)
        used = answer.usage
        return MemoryReply(
            answer.kind,
            answer.text,
            tuple(citation.turn_id for citation in answer.citations),
            answer.confidence,
            answer.reason or "",
            used.cost,
            requests=used.requests,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
        )

    def close(self) -> None:
        """Close the memory."""
        self._memory.close()


class PlainBm25:
    """BM25 over the words of turns: evimem's index without meaning, dialogue, dates and speakers."""

    def __init__(self, folder: Path) -> None:
        self._memory = evimem.open(folder / "plain.evimem")

    def add(self, turns: Sequence[Turn]) -> None:
        """Store turns."""
        self._memory.extend(turns, strict=True)

    def search(self, question: str, k: int, asked_at: str | None) -> Sequence[str]:
        """Return the ids of the k best turns."""
        return [hit.turn.id for hit in self._memory._core.store.recall(Query(question, k, bare=True))]

    def close(self) -> None:
        """Close the memory."""
        self._memory.close()
