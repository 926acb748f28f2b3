"""Chat models and embedders behind any OpenAI-compatible endpoint: bounded calls, typed errors, no secret in sight."""

from .batch_client import collect_batch, start_batch
from .chat_client import AsyncOpenAI, OpenAI
from .embedding_client import AsyncOpenAIEmbedder, OpenAIEmbedder

__all__ = ["AsyncOpenAI", "AsyncOpenAIEmbedder", "OpenAI", "OpenAIEmbedder", "collect_batch", "start_batch"]
