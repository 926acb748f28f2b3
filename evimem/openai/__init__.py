"""Chat models and embedders behind any OpenAI-compatible endpoint: calls with deadlines, typed errors, redacted."""

from .chat_client import AsyncOpenAI, OpenAI
from .embedding_client import AsyncOpenAIEmbedder, OpenAIEmbedder

start_batch = OpenAI.start_batch
collect_batch = OpenAI.collect_batch

__all__ = ["AsyncOpenAI", "AsyncOpenAIEmbedder", "OpenAI", "OpenAIEmbedder", "collect_batch", "start_batch"]
