"""What a prompt needs from memory: quoted turns within a token budget, and what is missing from them."""

from __future__ import annotations

from dataclasses import dataclass

from .values import Gap, Tier, Turn


@dataclass(frozen=True, slots=True)
class Block:
    """Context from memory for a model of your own, and how far it suffices. See `Memory.block`.

    Attributes:
        text: The text for a user message of the prompt; empty if no turn was found or fits. Never put it into a system
            message: it quotes what people, assistants and tools wrote.
        turns: The turns that are quoted, whole or in part, in the order of the text.
        tokens: The tokens of `text`, counted with the shipped WordPiece vocabulary.
        tier: How far the evidence answers the question, judged by rule.
        confidence: Probability, 0 to 1, that the memory answers the question; 0 if nothing was found.
        missing: What is missing from the evidence, the worst first.
    """

    text: str
    turns: tuple[Turn, ...]
    tokens: int
    tier: Tier
    confidence: float
    missing: tuple[Gap, ...]
