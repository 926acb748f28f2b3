"""A memory for chatbots that keeps every turn, dates every fact, and knows when it does not know."""

import typing as _typing
from importlib import import_module as _import_module

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
)

__version__ = "0.1.0"

if _typing.TYPE_CHECKING:
    from .calibration import Calibration, Labelled
    from .doors.async_memory import AsyncMemory
    from .doors.build import build
    from .doors.copy import copy
    from .doors.memory import Memory
    from .doors.open import ask_searcher, ask_searcher_async, open, open_async
    from .doors.pool import MemoryPool
    from .doors.replay import replay
    from .doors.streaming import Restarted
    from .embedding import CallableEmbedder, StaticEmbedder
    from .openai import OpenAI, OpenAIEmbedder
    from .times import find_times
    from .types.answer import Answer, Block, Budget, Citation, Usage
    from .types.reports import (
        AddReport,
        BatchReport,
        BuildReport,
        CopyReport,
        EnrichReport,
        EraseReport,
        Estimate,
        Health,
        Stats,
        TurnStatus,
    )
    from .types.trace import Trace
    from .types.values import Edge, Fact, FactHit, Gap, Hit, Query, Tier, TimeSpan, Turn

_LAZY = {  # imported at first use: most processes need few of them, and `import evimem` stays fast
    "AddReport": "types.reports",
    "Answer": "types.answer",
    "AsyncMemory": "doors.async_memory",
    "BatchReport": "types.reports",
    "Block": "types.answer",
    "Budget": "types.answer",
    "Calibration": "calibration",
    "BuildReport": "types.reports",
    "CallableEmbedder": "embedding",
    "Citation": "types.answer",
    "CopyReport": "types.reports",
    "Edge": "types.values",
    "EnrichReport": "types.reports",
    "EraseReport": "types.reports",
    "Estimate": "types.reports",
    "Fact": "types.values",
    "FactHit": "types.values",
    "Gap": "types.values",
    "Health": "types.reports",
    "Hit": "types.values",
    "Labelled": "calibration",
    "Memory": "doors.memory",
    "MemoryPool": "doors.pool",
    "OpenAI": "openai",
    "OpenAIEmbedder": "openai",
    "Query": "types.values",
    "Restarted": "doors.streaming",
    "StaticEmbedder": "embedding",
    "Stats": "types.reports",
    "Tier": "types.values",
    "TimeSpan": "types.values",
    "Trace": "types.trace",
    "Turn": "types.values",
    "TurnStatus": "types.reports",
    "Usage": "types.answer",
    "ask_searcher": "doors.open",
    "ask_searcher_async": "doors.open",
    "build": "doors.build",
    "copy": "doors.copy",
    "find_times": "times",
    "open": "doors.open",
    "open_async": "doors.open",
    "replay": "doors.replay",
}

__all__ = [
    "AddReport",
    "Answer",
    "AsyncMemory",
    "BatchReport",
    "Block",
    "Budget",
    "BuildReport",
    "Calibration",
    "CallableEmbedder",
    "Citation",
    "CopyReport",
    "DimensionMismatch",
    "DiskFull",
    "Edge",
    "EmbedderError",
    "EmbedderMismatch",
    "EnrichReport",
    "EraseReport",
    "Estimate",
    "EvimemError",
    "Fact",
    "FactHit",
    "Gap",
    "Health",
    "Hit",
    "ImportFailed",
    "InvalidQuery",
    "InvalidTurn",
    "Labelled",
    "Memory",
    "MemoryPool",
    "MissingExtra",
    "ModelError",
    "ModelTimeout",
    "ModelUnavailable",
    "NewerSchema",
    "NoModel",
    "NotAMemory",
    "OpenAI",
    "OpenAIEmbedder",
    "PoolFull",
    "PromptTooLong",
    "Query",
    "ReplyError",
    "Restarted",
    "StaticEmbedder",
    "Stats",
    "StoreBusy",
    "StoreClosed",
    "StoreCorrupt",
    "StoreError",
    "StoreReadOnly",
    "StoreRolledBack",
    "StoreUnavailable",
    "Tier",
    "TimeSpan",
    "Trace",
    "TraceMismatch",
    "Turn",
    "TurnConflict",
    "TurnStatus",
    "UnknownTurn",
    "Usage",
    "__version__",
    "ask_searcher",
    "ask_searcher_async",
    "build",
    "copy",
    "find_times",
    "open",
    "open_async",
    "replay",
]


def __getattr__(name: str) -> _typing.Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(f".{module}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
