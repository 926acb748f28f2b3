"""Microsoft agent-framework: a context provider, `Agent(..., context_providers=[EvimemContext(memory)])`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..api.async_memory import AsyncMemory
from ..api.checked_arguments import checked_messages
from ..errors import MissingExtra
from ..text.memory_fence import without_blocks
from .message_log import new_turns

try:
    from agent_framework import ContextProvider, Message
except ImportError as _error:
    raise MissingExtra("evimem.adapters.agent_framework", "agent-framework") from _error

_MAX_SHOWN_TURNS = 200  # newest turns of the session that are compared with the messages in the prompt


class EvimemContext(ContextProvider):
    """A context provider: quotes the memory for each run, and stores the messages of the run.

    The quoted turns are a user message before the question, never an instruction, without those that a history provider
    before this one shows already. Messages of users and of the agent are stored, in the session of the run's name;
    calls of tools and their results are not. A run that fails stores nothing.

    Args:
        memory: The memory; it stays the caller's, to close.
        tokens: At most this many tokens, see `Memory.block`.
        source_id: The name by which other providers know the messages.

    Methods raise the errors of the memory.
    """

    def __init__(self, memory: AsyncMemory, *, tokens: int = 1500, source_id: str = "evimem") -> None:
        super().__init__(source_id)
        self._memory = memory
        self._tokens = tokens

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:
        """Quote the memory for the last message of the user."""
        asked = [message.text for message in context.input_messages if message.role == "user" and message.text.strip()]
        if not asked:
            return
        shown = {message.text for many in context.context_messages.values() for message in many}
        session = context.session_id
        newest = await self._memory.turns(session=session, limit=_MAX_SHOWN_TURNS, newest=True) if shown else []
        seen = [turn.id for turn in newest if turn.text in shown]
        block = await self._memory.block(asked[-1], tokens=self._tokens, exclude=seen)
        if block.text:
            context.extend_messages(self, [Message("user", [block.text])])

    async def after_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:
        """Store the messages of the run, durably on return."""
        await self._store(context.session_id or "", context.input_messages)
        await self._store(context.session_id or "", context.response.messages if context.response else [])

    async def _store(self, session: str, messages: Iterable[Any]) -> None:
        said = checked_messages(
            {"role": message.role, "content": message.text, "name": message.author_name or message.role}
            for message in messages
            if message.role in {"user", "assistant"} and without_blocks(message.text).strip()
        )
        newest = await self._memory.turns(session=session or None, limit=1, newest=True)
        await self._memory.extend(new_turns(said, session, await self._memory.now(), newest), strict=True)
