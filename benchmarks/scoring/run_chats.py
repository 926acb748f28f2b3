"""Run labelled chats: a memory a conversation; search for and ask every question."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evimem.types.results import AnswerKind

from .asking import Asker
from .labelled_chats import ChatQuestion, LabelledChat
from .right_answer import is_right
from .scored_memory import Factory, MemoryReply, OwnMemory, PlainBm25, SearchedMemory, say

DEPTH = 10  # turns of each ranking that are scored


@dataclass(frozen=True, slots=True)
class ChatResult:
    """The result of one question: the best turns of a search and of plain BM25, and the answer.

    `right` is whether an answer is right, `cites_gold` whether any gold turn is cited, `first_line` whether
    one is in the first line of a quotation. `seconds` is the processor
    time of asking in its thread. `confidence` is None where the memory states none, and `failed` why it said nothing.
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
    cost: float | None = None
    failed: str = ""
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    first_line: bool = False

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


def run_chats(chats: Iterable[LabelledChat], make: Factory = OwnMemory, asker: Asker | None = None) -> list[ChatResult]:
    """Ask every question of every chat, each chat in a memory that `make` opens in an empty folder."""
    asker = asker or Asker()
    results: list[ChatResult] = []
    for chat in chats:
        with (
            tempfile.TemporaryDirectory(prefix="evimem-chats-") as folder,
            closing(make(Path(folder))) as memory,
            closing(PlainBm25(Path(folder))) as plain,
        ):
            memory.add(chat.turns)
            plain.add(chat.turns)
            results += _ask_all(memory, plain, chat, asker)
    return results


def _ask_all(memory: SearchedMemory, plain: PlainBm25, chat: LabelledChat, asker: Asker) -> list[ChatResult]:
    said = {turn.id: turn.text or turn.caption or "" for turn in chat.turns}

    def ask(question: ChatQuestion) -> ChatResult:
        rankings = [tuple(one.search(question.text, DEPTH, question.asked_at)) for one in (memory, plain)]
        started = time.thread_time()
        found = say(memory, question.text, question.asked_at, said)
        return _scored(chat, question, found, rankings, time.thread_time() - started, said)

    def give_up(question: ChatQuestion, why: str) -> ChatResult:
        return _scored(chat, question, MemoryReply("failed", None, failed=why), [(), ()], 0.0, said)

    keyed = ((f"{chat.name} {number}", question) for number, question in enumerate(chat.questions, start=1))
    return asker.each(keyed, ask, _restored, give_up)


def _scored(
    chat: LabelledChat,
    question: ChatQuestion,
    found: MemoryReply,
    rankings: list[tuple[str, ...]],
    seconds: float,
    said: Mapping[str, str],
) -> ChatResult:
    return ChatResult(
        chat=chat.name,
        register=chat.register,
        question=question,
        ranked=rankings[0],
        plain=rankings[1],
        kind=found.kind,
        text=found.text,
        confidence=found.confidence,
        right=found.kind == "answer" and is_right(found.text or "", question.gold),
        cites_gold=any(turn_id in question.evidence for turn_id in found.cited),
        first_line=_holds_gold((found.text or "").partition("\n")[0], said, question),
        seconds=seconds,
        reason=found.reason,
        cost=found.cost,
        failed=found.failed,
        requests=found.requests,
        input_tokens=found.input_tokens,
        output_tokens=found.output_tokens,
    )


def _holds_gold(line: str, said: Mapping[str, str], question: ChatQuestion) -> bool:
    """Return whether a line quotes a gold turn: by at least so many of its characters, or all of it."""
    plain = " ".join(line.split())
    quoted = [part.strip(". ") for part in plain.split('"')[1::2]]
    gold = [" ".join(said.get(turn, "").split()) for turn in question.evidence]
    return any(part and part in one for part in quoted for one in gold)


def _restored(kept: Any) -> ChatResult:
    asked: Any = {name: tuple(value) if isinstance(value, list) else value for name, value in kept["question"].items()}
    lists = {name: tuple(kept[name]) for name in ("ranked", "plain")}
    return ChatResult(**{**kept, **lists, "question": ChatQuestion(**asked)})
