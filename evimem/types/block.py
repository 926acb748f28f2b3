"""What a prompt needs from memory: quoted turns within a token budget, and on request how far they suffice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Literal

from .public_value import PublicValue
from .values import Gap, Tier, Turn

Style = Literal["plain", "xml", "json"]
CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class BlockForm:
    """What a block is to be: see the arguments of `Memory.block`. Without `count`, tokens are bounded from above."""

    tokens: int = 1500
    style: Style = "plain"
    gate: bool = True
    check: bool = False
    count: CountTokens | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Block(PublicValue):
    """Context from memory for a model of your own. See `Memory.block`.

    Attributes:
        text: The text for a user message of the prompt; empty if there is nothing to recall, or nothing fits. Never put
            it into a system message: it quotes what people, assistants and tools wrote.
        turns: The turns that are quoted, whole or in part, in the order of the text: the line `[3]` is `turns[2]`.
        tokens: The tokens of `text`: by the caller's `count`, else an upper bound for the tokenizers in common use.
        relevance: How likely it is that the memory has something to say to the message, 0 to 1.
        tier: With `check=True`, how far the evidence answers the question, judged by rule; else None.
        confidence: With `check=True`, the probability, 0 to 1, that the memory answers the question; else None.
        missing: With `check=True`, what is missing from the evidence, the worst first; else None.
    """

    text: str
    turns: tuple[Turn, ...]
    tokens: int
    relevance: float
    tier: Tier | None = None
    confidence: float | None = None
    missing: tuple[Gap, ...] | None = None

    def _repr_html_(self) -> str:
        """Return a notebook's view of it: the text as a prompt gets it; escaped."""
        return f"<div><pre>{escape(self.text)}</pre><p><small>{self.tokens:,} tokens</small></p></div>"
