"""Compare the ingest speed of evimem and mem0 on the same turns, with the same embedder, in one run.

    pip install mem0ai && python -m benchmarks.beside_mem0 --turns 500

mem0 stores each message verbatim (`infer=False`) in its default store, a local Qdrant, without a model. evimem stores
the same turns durably (each commit is synced) with facts, dates, postings and edges: in batches, and turn by turn.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import evimem
from benchmarks.speed import chat
from evimem.embedding import StaticEmbedder

WORDS = 25  # per turn, about as long as LoCoMo's


class SameEmbedder:
    """evimem's embedder behind the interface that mem0 calls."""

    def __init__(self) -> None:
        self._embedder = StaticEmbedder()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        vector: list[float] = self._embedder.embed([text])[0].tolist()
        return vector

    def embed_batch(self, texts: list[str], memory_action: str | None = "add") -> list[list[float]]:
        vectors: list[list[float]] = self._embedder.embed(texts).tolist()
        return vectors


def mem0_in(folder: Path) -> Any:
    """Return a mem0 memory in a folder, with evimem's embedder in place of a remote one."""
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder / "mem0"), "OPENAI_API_KEY": "none"}
    memory_class = import_module("mem0").Memory  # imported here, because it reads these settings at import

    store = {"path": str(folder / "qdrant"), "embedding_model_dims": StaticEmbedder().dimension, "on_disk": True}
    config = {"vector_store": {"provider": "qdrant", "config": store}, "history_db_path": str(folder / "history.db")}
    memory = memory_class.from_config(config)
    memory.embedding_model = SameEmbedder()
    return memory


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds that work took: wall-clock and processor time."""
    wall, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - processor


def main() -> None:
    """Print turns per second of each, and the ratios to mem0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=500)
    count = parser.parse_args().turns
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        turns = list(chat(count, WORDS))
        theirs = mem0_in(folder)
        rows: dict[str, tuple[float, float]] = {}

        def add_theirs() -> None:
            for turn in turns:
                message = {"role": "user", "content": f"{turn.speaker}: {turn.text}"}
                theirs.add([message], user_id="one", metadata={"time": turn.time.isoformat()}, infer=False)

        rows["mem0, infer=False"] = timed(add_theirs)
        kept = theirs.get_all(filters={"user_id": "one"}, top_k=count)["results"]
        with evimem.open(folder / "a.evimem") as batched, evimem.open(folder / "b.evimem") as single:
            for memory in (batched, single):
                memory.extend(turns[:1])  # warm up: loading at first use is not measured
            rows["evimem, in batches"] = timed(lambda: batched.extend(turns))
            rows["evimem, one by one"] = timed(lambda: [single.extend([turn], strict=True) for turn in turns])
            if not len(kept) == batched.stats().turns == single.stats().turns == count:
                raise SystemExit(f"mem0 holds {len(kept)} of {count} turns; expected all of them: nothing was compared")
        first = rows["mem0, infer=False"]
        print(f"{count} turns of {WORDS} words        turns/s   ratio   ratio of processor time")
        for what, (wall, processor) in rows.items():
            print(f"{what:<28}{count / wall:>8.0f}{first[0] / wall:>8.1f}{first[1] / processor:>8.1f}")


if __name__ == "__main__":
    main()
