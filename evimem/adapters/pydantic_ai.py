"""Pydantic AI: a toolset to recall, ask and take notes, for `Agent(..., toolsets=[memory_toolset(memory)])`.

There is no history processor: its insertions stay in `all_messages()` and would come back as if they had been said.
"""

from __future__ import annotations

from typing import Any

from ..api.async_memory import AsyncMemory
from ..errors import MissingExtra
from .openai_agents import recall_of

try:
    from pydantic_ai.toolsets import FunctionToolset
except ImportError as _error:
    raise MissingExtra("evimem.adapters.pydantic_ai", "pydantic-ai") from _error


def memory_toolset(memory: AsyncMemory, *, tokens: int = 1500, read_only: bool = False) -> Any:
    """Return a `FunctionToolset` with the tools `recall`, `ask` and, unless `read_only`, `note`.

    `recall` returns a block of quoted turns, `ask` an answer with its citations or why there is none. A note is a turn
    of the assistant: its statements about a person are reports, never that person's word.

    Args:
        memory: The memory; it stays the caller's, to close.
        tokens: At most this many tokens of a block, see `Memory.block`.
        read_only: Leave `note` out.
    """

    async def ask(question: str) -> dict[str, Any]:
        """Answer a question from earlier conversations, with citations. Where it abstains, say that you do not know.

        Args:
            question: The question, which names who it is about.
        """
        answer = await memory.ask(question)
        return {
            "kind": answer.kind,
            "answer": answer.text,
            "reason": answer.reason,
            "confidence": round(answer.confidence, 4),
            "citations": [{"id": citation.turn_id, "quote": citation.quote} for citation in answer.citations],
        }

    async def note(text: str) -> str:
        """Keep something for later conversations, such as what the user wants to be remembered.

        Args:
            text: What to keep, as a whole sentence that names who it is about.
        """
        report = await memory.add("assistant", text, time=await memory.now(), role="assistant")
        return report.statuses[0].outcome

    recall = recall_of(memory, tokens)
    return FunctionToolset([recall, ask] if read_only else [recall, ask, note])
