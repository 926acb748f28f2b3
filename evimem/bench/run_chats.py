"""Run labelled chats: a memory a conversation; search for and ask every question."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evimem

from ..doors.memory import Memory
from ..loaders.labelled_chats import ChatQuestion, LabelledChat
from ..types.answer import AnswerKind
from ..types.budget import Budget
from ..types.values import Query
from .right_answer import is_right

DEPTH = 10  # turns of each ranking that are scored


@dataclass(frozen=True, slots=True)
class ChatResult:
    """The result of one question: the best turns of a search and of plain BM25, and the answer.

    `right` is whether a short answer is right, `cites_gold` whether any gold turn is cited. `seconds` is the processor
    time of asking. `confidence` is None where the memory states none.
    """

    chat: str
    register: str
    question: ChatQuestion
    ranked: tuple[str, ...]
    plain: tuple[str, ...]
    kind: AnswerKind
    text: str | None
    confidence: float | None
    right: bool
    cites_gold: bool
    seconds: float
    reason: str = ""

    @property
    def answerable(self) -> bool:
        """Whether the chat tells the answer."""
        return self.question.answer is not None

    @property
    def claim_holds(self) -> bool:
        """Whether what the answer claims is so: it is right, it quotes a gold turn, or nothing was told."""
        if self.kind == "answer":
            return self.right
        return self.answerable and self.cites_gold if self.kind == "quote" else not self.answerable


def run_chats(
    chats: Iterable[LabelledChat],
    *,
    llm: Any = None,
    loop: str = "iris",
    budget: Budget = Budget(),
    progress: Callable[[int], None] = lambda count: None,
) -> list[ChatResult]:
    """Ask every question of every chat; `progress` is called with the number of questions asked since it last was."""
    results: list[ChatResult] = []
    with tempfile.TemporaryDirectory(prefix="evimem-chats-") as folder:
        for number, chat in enumerate(chats):
            with evimem.open(Path(folder) / f"{number}.evimem", llm=llm) as memory:
                memory.extend(chat.turns, strict=True)
                for result in _ask_all(memory, chat, loop, budget):
                    results.append(result)
                    progress(1)
    return results


def _ask_all(memory: Memory, chat: LabelledChat, loop: str, budget: Budget) -> Iterator[ChatResult]:
    for question in chat.questions:
        hits = memory.search(question.text, DEPTH, asked_at=question.asked_at)
        plain = memory._core.store.recall(Query(question.text, DEPTH, bare=True))
        started = time.process_time()
        answer = memory.ask(question.text, loop, asked_at=question.asked_at, budget=budget)
        seconds = time.process_time() - started
        yield ChatResult(
            chat=chat.name,
            register=chat.register,
            question=question,
            ranked=tuple(hit.turn.id for hit in hits),
            plain=tuple(hit.turn.id for hit in plain),
            kind=answer.kind,
            text=answer.text,
            confidence=answer.confidence,
            right=answer.kind == "answer" and is_right(answer.text or "", question.gold),
            cites_gold=any(citation.turn_id in question.evidence for citation in answer.citations),
            seconds=seconds,
            reason=answer.reason or "",
        )
