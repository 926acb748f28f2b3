"""A memory for chatbots that keeps every turn, dates every fact, and knows when it does not know."""

from .embedding import CallableEmbedder, StaticEmbedder
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
    TurnConflict,
    UnknownTurn,
)
from .memory import AsyncMemory, Memory
from .openai import OpenAI, OpenAIEmbedder
from .opening import open, open_async
from .pool import MemoryPool
from .times import find_times
from .trace import Trace
from .types import (
    AddReport,
    Answer,
    Budget,
    Citation,
    Edge,
    EraseReport,
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
