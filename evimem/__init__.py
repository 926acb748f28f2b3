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
    NotAMemory,
    ReplyError,
    StoreBusy,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
    StoreRolledBack,
    TraceMismatch,
    TurnConflict,
    UnknownTurn,
)
from .types import (
    AddReport,
    Answer,
    BatchReport,
    Budget,
    Citation,
    Edge,
    EraseReport,
    Estimate,
    Fact,
    Gap,
    Health,
    Hit,
    Query,
    Stats,
    Tier,
    TimeSpan,
    Turn,
    TurnStatus,
    Usage,
)
from .version import __version__

if _typing.TYPE_CHECKING:
    from .async_memory import AsyncMemory
    from .calibration import Calibration, Labelled
    from .embedding import CallableEmbedder, StaticEmbedder
    from .memory import Memory
    from .openai import OpenAI, OpenAIEmbedder
    from .opening import open, open_async
    from .pool import MemoryPool
    from .replaying import replay
    from .times import find_times
    from .trace import Trace

_LATER = {  # imported when first named: most processes need few of them, and none at start
    "AsyncMemory": "async_memory",
    "Calibration": "calibration",
    "CallableEmbedder": "embedding",
    "Labelled": "calibration",
    "Memory": "memory",
    "MemoryPool": "pool",
    "OpenAI": "openai",
    "OpenAIEmbedder": "openai",
    "StaticEmbedder": "embedding",
    "Trace": "trace",
    "find_times": "times",
    "open": "opening",
    "open_async": "opening",
    "replay": "replaying",
}

__all__ = [
    "AddReport",
    "Answer",
    "AsyncMemory",
    "BatchReport",
    "Budget",
    "Calibration",
    "CallableEmbedder",
    "Citation",
    "DimensionMismatch",
    "DiskFull",
    "Edge",
    "EmbedderError",
    "EmbedderMismatch",
    "EraseReport",
    "Estimate",
    "EvimemError",
    "Fact",
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
    "NotAMemory",
    "OpenAI",
    "OpenAIEmbedder",
    "Query",
    "ReplyError",
    "StaticEmbedder",
    "Stats",
    "StoreBusy",
    "StoreClosed",
    "StoreCorrupt",
    "StoreError",
    "StoreReadOnly",
    "StoreRolledBack",
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
    "find_times",
    "open",
    "open_async",
    "replay",
]


def __getattr__(name: str) -> _typing.Any:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(f".{module}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
