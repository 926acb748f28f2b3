"""`open` and `open_async`: from a path and some collaborators to a door."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from time import time
from typing import Any

from ..embedding import StaticEmbedder
from ..llm.llm_judge import LLMJudge
from ..protocols import AsyncEmbedder, Embedder, Extractor
from ..store.sqlite import SqliteStore
from .async_memory import AsyncMemory
from .memory import Memory
from .operations import Core

AnyPath = str | PathLike[str]


def open(
    path: AnyPath,
    *,
    llm: Any = None,
    embedder: Embedder | None = None,
    extractor: Extractor | None = None,
    clock: Callable[[], float] = time,
) -> Memory:
    """Open a memory, or create it: one file, and small companions beside it, which only their owner can read.

    Without `llm` nothing ever leaves the machine. `embedder` must be the one that the memory was built with; the
    default needs no network. `clock` (seconds since 1970) only dates the queue of deferred work.

    A symbolic link is followed; a file with several hard links is refused. Raise NotAMemory, NewerSchema,
    StoreRolledBack, EmbedderMismatch, DimensionMismatch or another StoreError.
    """
    return Memory(make_core(path, llm=llm, embedder=embedder, extractor=extractor, clock=clock), llm)


def open_async(
    path: AnyPath,
    *,
    llm: Any = None,
    embedder: Embedder | AsyncEmbedder | None = None,
    extractor: Extractor | None = None,
    clock: Callable[[], float] = time,
) -> AsyncMemory:
    """Open a memory for an event loop: `async with evimem.open_async(path) as memory: ...`. See `open`."""
    core = make_core(path, llm=llm, embedder=embedder, extractor=extractor, clock=clock)
    return AsyncMemory(core, None if llm is None else llm.as_async())


def make_core(
    path: AnyPath,
    *,
    llm: Any = None,
    embedder: Embedder | AsyncEmbedder | None = None,
    extractor: Extractor | None = None,
    clock: Callable[[], float] = time,
    owner: str | None = None,
) -> Core:
    """Return what a door needs. `owner` is kept in the file and checked: a pool's memory belongs to one user."""
    chosen = embedder or StaticEmbedder()
    store = SqliteStore(Path(path), chosen.name, chosen.dimension, clock=clock, owner=owner)
    return Core(store, chosen, None if llm is None else LLMJudge(), extractor, _judge(llm))


def _judge(llm: Any) -> str:
    """Return the name of the model that judges."""
    named = getattr(llm, "judge_model", None) or getattr(llm, "model", None)
    return str(named or type(llm).__name__)
