"""LlamaIndex: a memory block for its `Memory`, and a retriever."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

from ..api.checked_arguments import checked_items, checked_kind, checked_text
from ..api.memory import Memory
from ..embedding.static_embedder import count_tokens
from ..errors import MissingExtra
from ..loaders.chat_messages import ChatMessage as SaidMessage
from ..loaders.chat_messages import read_message
from ..text.memory_fence import without_blocks
from ..types.values import Hit
from .message_log import new_turns

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.llms import ChatMessage
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
    from pydantic import PrivateAttr
except ImportError as _error:
    raise MissingExtra("evimem.adapters.llama_index", "llama-index") from _error


class EvimemBlock(BaseMemoryBlock[list[ChatMessage]]):
    """A block for `llama_index.core.memory.Memory(memory_blocks=[...])`: quoted turns for the last user message.

    It is a user message before the chat, whatever `insert_method` says: quoted turns never stand in a system message.
    Messages that leave the short-term memory are stored in the session of LlamaIndex's name. A block serves one chat.

    Attributes:
        memory: The memory; it stays the caller's, to close.
        tokens: At most this many tokens, see `Memory.block`; fewer where LlamaIndex truncates.
        priority: From 1 on LlamaIndex may truncate the block; at 0 it may not.
    """

    name: str = "evimem"
    priority: int = 1
    memory: Memory
    tokens: int = 1500

    _question: str = PrivateAttr("")

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> list[ChatMessage]:
        said = [message.content or "" for message in messages or [] if message.role.value == "user"]
        self._question = next((text for text in reversed(said) if text.strip()), "")
        return await self._quote_messages(self.tokens)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        by_session: dict[str, list[SaidMessage]] = {}
        for message in checked_items("messages", messages, "messages of LlamaIndex"):
            checked_kind("a message", message, ChatMessage)
            if without_blocks(message.content or "").strip():
                session = checked_text("session_id", message.additional_kwargs.get("session_id")) or ""
                by_session.setdefault(session, []).append(read_message(message))
        for session, said in by_session.items():
            await asyncio.to_thread(self._store, session, said)

    async def atruncate(self, content: list[ChatMessage], tokens_to_truncate: int) -> list[ChatMessage] | None:
        """Quote less, with a closed fence; None where nothing is left."""
        said = sum(count_tokens(message.content or "") for message in content)
        fewer = said - tokens_to_truncate * 5 // 4  # LlamaIndex counts otherwise, by up to a quarter
        return (await self._quote_messages(fewer) or None) if fewer > 0 else None

    async def _quote_messages(self, tokens: int) -> list[ChatMessage]:
        if not self._question:
            return []
        block = await asyncio.to_thread(self.memory.block, self._question, tokens=tokens)
        return [ChatMessage(role="user", content=block.text)] if block.text else []

    def _store(self, session: str, said: Iterable[SaidMessage]) -> None:
        newest: Iterator[Any] = self.memory.turns(session=session, limit=1, newest=True) if session else iter(())
        self.memory.extend(new_turns(said, session, self.memory.now(), newest), strict=True)


class EvimemNodeRetriever(BaseRetriever):
    """A retriever: the turns that are the best evidence for a query, as nodes with speaker, session and time.

    Args:
        memory: The memory; it stays the caller's, to close.
        k: How many turns to return.
    """

    def __init__(self, memory: Memory, k: int = 10) -> None:
        super().__init__()
        self._memory = memory
        self._k = k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(hit) for hit in self._memory.search(query_bundle.query_str, self._k)]


def _node(hit: Hit) -> NodeWithScore:
    turn = hit.turn
    text = "\n".join(part for part in (turn.text, turn.caption) if part)
    metadata = {"speaker": turn.speaker, "session": turn.session, "time": turn.time.isoformat()}
    return NodeWithScore(node=TextNode(id_=turn.id, text=text, metadata=metadata), score=hit.score)
