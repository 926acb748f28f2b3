"""Chat models and embedders behind any OpenAI-compatible endpoint: bounded calls, typed errors, no secret in sight."""

from .batch import collect_batch, start_batch
from .chat import AsyncOpenAI, OpenAI
from .embedding import AsyncOpenAIEmbedder, OpenAIEmbedder

__all__ = ["AsyncOpenAI", "AsyncOpenAIEmbedder", "OpenAI", "OpenAIEmbedder", "collect_batch", "start_batch"]
