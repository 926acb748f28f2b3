"""A memory for chatbots that keeps every turn, dates every fact, and knows when it does not know."""

import typing as _typing
from importlib import import_module as _import_module

from .types.version import __version__ as __version__

if _typing.TYPE_CHECKING:
    from .api.async_memory import AsyncMemory
    from .api.build import build, copy
    from .api.memory import Memory
    from .api.observer import Restarted
    from .api.open import open, open_async
    from .api.pool import MemoryPool
    from .api.replaying import ask_searcher, replay
    from .api.restore import restore
    from .calibration import Calibration, Labelled
    from .embedding.checked_embedder import CallableEmbedder
    from .embedding.static_embedder import StaticEmbedder
    from .errors import (
        DimensionMismatch,
        DiskFull,
        EmbedderError,
        EmbedderMismatch,
        EvimemError,
        ImportFailed,
        InvalidQuery,
        InvalidTurn,
        MissingExtra,
        ModelError,
        ModelTimeout,
        ModelUnavailable,
        NewerSchema,
        NoModel,
        NotAMemory,
        PoolFull,
        PromptTooLong,
        ReplyError,
        StoreBusy,
        StoreClosed,
        StoreCorrupt,
        StoreError,
        StoreReadOnly,
        StoreRolledBack,
        StoreUnavailable,
        TraceMismatch,
        TurnConflict,
        UnknownTurn,
        WrongKey,
    )
    from .llm.list_reranker import ModelReranker
    from .openai import EndpointReranker, OpenAI, OpenAIEmbedder
    from .query.bounded_reranker import Reranking
    from .times import find_times
    from .types.results import (
        AddReport,
        Answer,
        BatchReport,
        Block,
        Budget,
        BuildReport,
        Citation,
        CopyReport,
        EnrichReport,
        EraseReport,
        Estimate,
        Health,
        RestoreReport,
        Stats,
        TurnStatus,
        Usage,
    )
    from .types.trace import Trace
    from .types.values import Edge, Fact, FactHit, Gap, Hit, Query, Tier, TimeSpan, Turn

__all__ = [
    "AddReport", "Answer", "AsyncMemory", "BatchReport", "Block", "Budget", "BuildReport", "Calibration",
    "CallableEmbedder", "Citation", "CopyReport", "DimensionMismatch", "DiskFull", "Edge", "EmbedderError",
    "EmbedderMismatch", "EndpointReranker", "EnrichReport", "EraseReport", "Estimate", "EvimemError", "Fact",
    "FactHit", "Gap", "Health", "Hit", "ImportFailed", "InvalidQuery", "InvalidTurn", "Labelled", "Memory",
    "MemoryPool", "MissingExtra", "ModelError", "ModelReranker", "ModelTimeout", "ModelUnavailable", "NewerSchema",
    "NoModel", "NotAMemory", "OpenAI", "OpenAIEmbedder", "PoolFull", "PromptTooLong", "Query", "ReplyError",
    "Reranking", "Restarted", "RestoreReport", "StaticEmbedder", "Stats", "StoreBusy", "StoreClosed", "StoreCorrupt",
    "StoreError", "StoreReadOnly", "StoreRolledBack", "StoreUnavailable", "Tier", "TimeSpan", "Trace",
    "TraceMismatch", "Turn", "TurnConflict", "TurnStatus", "UnknownTurn", "Usage", "WrongKey",
    "__version__", "ask_searcher", "build", "copy", "find_times", "open", "open_async", "replay", "restore",
]  # fmt: skip

_PLACES = {  # imported at first use, errors apart: most processes need few of them, and `import evimem` stays fast
    "calibration": "Calibration Labelled",
    "api.async_memory": "AsyncMemory",
    "api.build": "build copy",
    "api.memory": "Memory",
    "api.open": "open open_async",
    "api.pool": "MemoryPool",
    "api.restore": "restore",
    "api.replaying": "ask_searcher replay",
    "api.observer": "Restarted",
    "embedding.checked_embedder": "CallableEmbedder",
    "embedding.static_embedder": "StaticEmbedder",
    "llm.list_reranker": "ModelReranker",
    "openai": "EndpointReranker OpenAI OpenAIEmbedder",
    "query.bounded_reranker": "Reranking",
    "times": "find_times",
    "types.results": (
        "AddReport Answer BatchReport Block Budget BuildReport Citation CopyReport EnrichReport EraseReport Estimate "
        "Health RestoreReport Stats TurnStatus Usage"
    ),
    "types.trace": "Trace",
    "types.values": "Edge Fact FactHit Gap Hit Query Tier TimeSpan Turn",
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}


def __getattr__(name: str) -> _typing.Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(f".{_MODULES.get(name, 'errors')}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
