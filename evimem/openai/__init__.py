"""Chat models, embedders and rerankers behind endpoints: calls with deadlines, typed errors, redacted."""

from .clients import AsyncOpenAI, AsyncOpenAIEmbedder, OpenAI, OpenAIEmbedder
from .rerank_endpoint import AsyncEndpointReranker, EndpointReranker

__all__ = [
    "AsyncEndpointReranker", "AsyncOpenAI", "AsyncOpenAIEmbedder", "EndpointReranker", "OpenAI", "OpenAIEmbedder",
]  # fmt: skip
