"""Other memories and indexes behind the seam of benchmarks.scoring.scored_memory, on what needs no language model.

Each stores a turn as "speaker: text caption". BM25 has k1 2 and b .95, its best on long messages, over the Snowball
stems of PyStemmer, as bm25s's own documentation has it. Those with vectors have evimem's static embedder, so that what
differs is the store. Each also scores our chats: `python -m benchmarks chats benchmarks/chats --adapter
benchmarks.peers:Bm25s`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from evimem import Turn
from evimem.embedding.static_embedder import StaticEmbedder

from .scoring.answer_overlap import words
from .scoring.scored_memory import OwnMemory, PlainBm25

K1, B = 2.0, 0.95
BATCH = 1000


def text_of(turn: Turn) -> str:
    """Return what is stored of a turn."""
    return f"{turn.speaker}: {' '.join(filter(None, (turn.text, turn.caption)))}"


def stems(text: str) -> list[str]:
    """Return the terms of a text."""
    stemmed: list[str] = _stemmer().stemWords(words(text))
    return stemmed


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    return import_module("Stemmer").Stemmer("english")


class _InPython:
    """BM25 over terms in memory, indexed anew at the first search after an addition; nothing on disk."""

    library: str
    keeps = False
    stores = "words, in memory only; a new index at the first search"

    def __init__(self, folder: Path) -> None:
        self._module = import_module(self.library)
        self._ids: list[str] = []
        self._terms: list[list[str]] = []
        self._index: Any = None

    def add(self, turns: Sequence[Turn]) -> None:
        """Store turns."""
        self._ids += [turn.id for turn in turns]
        self._terms += [stems(text_of(turn)) for turn in turns]
        self._index = None

    def close(self) -> None:
        """Nothing is held."""


class RankBm25(_InPython):
    """rank-bm25: BM25 in Python lists."""

    library = "rank_bm25"

    def search(self, question: str, k: int, asked_at: str | None) -> list[str]:
        """Return the ids of the k best turns."""
        self._index = self._index or self._module.BM25Okapi(self._terms, k1=K1, b=B)
        scores = self._index.get_scores(stems(question))
        return [self._ids[place] for place in np.argsort(-scores, kind="stable")[:k]]


class Bm25s(_InPython):
    """bm25s: BM25 with scores computed when indexing."""

    library = "bm25s"

    def search(self, question: str, k: int, asked_at: str | None) -> list[str]:
        """Return the ids of the k best turns."""
        if self._index is None:
            self._index = self._module.BM25(k1=K1, b=B)
            self._index.index(self._terms, show_progress=False)
        most = min(k, len(self._ids))
        places, _ = self._index.retrieve([stems(question)], k=most, show_progress=False)
        return [self._ids[place] for place in places[0]]


class Hybrid(Bm25s):
    """bm25s and an exact scan of vectors by numpy, each divided by its best: what one writes oneself."""

    stores = "words and a vector a turn, in memory only; a new index at the first search"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._embedder = StaticEmbedder()
        self._vectors = np.zeros((0, self._embedder.dimension), np.float32)

    def add(self, turns: Sequence[Turn]) -> None:
        """Store turns."""
        super().add(turns)
        self._vectors = np.vstack([self._vectors, self._embedder.embed([text_of(turn) for turn in turns])])

    def search(self, question: str, k: int, asked_at: str | None) -> list[str]:
        """Return the ids of the k best turns."""
        if self._index is None:
            self._index = self._module.BM25(k1=K1, b=B)
            self._index.index(self._terms, show_progress=False)
        near = self._vectors @ self._embedder.embed([question])[0]
        known = [term for term in stems(question) if term in self._index.vocab_dict]
        said = self._index.get_scores(known) if known else np.zeros_like(near)
        scores = near / max(float(near.max()), 1e-9) + said / max(float(said.max()), 1e-9)
        return [self._ids[place] for place in np.argsort(-scores, kind="stable")[:k]]


class Fts5:
    """SQLite's full-text index with its own BM25 (k1 1.2, b .75) and Porter stems; a batch is synced to disk."""

    library = "sqlite3"
    keeps = True
    stores = "words; no vectors, facts, dates or links"

    def __init__(self, folder: Path) -> None:
        self._file = sqlite3.connect(folder / "fts5.sqlite", check_same_thread=False)
        self._file.execute("PRAGMA journal_mode=WAL")
        self._file.execute("PRAGMA synchronous=FULL")
        self._file.execute("CREATE VIRTUAL TABLE turns USING fts5(id UNINDEXED, text, tokenize='porter unicode61')")

    def add(self, turns: Sequence[Turn]) -> None:
        """Store turns."""
        with self._file:
            self._file.executemany("INSERT INTO turns VALUES (?, ?)", [(turn.id, text_of(turn)) for turn in turns])

    def search(self, question: str, k: int, asked_at: str | None) -> list[str]:
        """Return the ids of the k best turns."""
        asked = " OR ".join(f'"{word}"' for word in words(question))
        sql = "SELECT id FROM turns WHERE turns MATCH ? ORDER BY bm25(turns) LIMIT ?"
        return [row[0] for row in self._file.execute(sql, (asked, k))] if asked else []

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Chroma:
    """A Chroma collection on disk, searched by vectors."""

    library = "chromadb"
    keeps = True
    stores = "a vector a turn; no words, facts, dates or links"

    def __init__(self, folder: Path) -> None:
        module = import_module(self.library)
        settings = module.config.Settings(anonymized_telemetry=False)
        client = module.PersistentClient(path=str(folder / "chroma"), settings=settings)
        self._turns = client.create_collection("turns", metadata={"hnsw:space": "cosine"}, embedding_function=None)
        self._embedder = StaticEmbedder()

    def add(self, turns: Sequence[Turn]) -> None:
        """Store turns."""
        for start in range(0, len(turns), BATCH):
            some = turns[start : start + BATCH]
            texts = [text_of(turn) for turn in some]
            self._turns.add(ids=[turn.id for turn in some], embeddings=self._embedder.embed(texts), documents=texts)

    def search(self, question: str, k: int, asked_at: str | None) -> list[str]:
        """Return the ids of the k best turns."""
        found: list[str] = self._turns.query(self._embedder.embed([question]), n_results=k)["ids"][0]
        return found

    def close(self) -> None:
        """It has no way to be closed."""


class LanceDb:
    """A LanceDB table on disk, searched by vectors, each compared."""

    library = "lancedb"
    keeps = True
    stores = "a vector a turn; no words, facts, dates or links"

    def __init__(self, folder: Path) -> None:
        self._base = import_module(self.library).connect(str(folder / "lance"))
        self._table: Any = None
        self._embedder = StaticEmbedder()

    def add(self, turns: Sequence[Turn]) -> None:
        """Store turns."""
        for start in range(0, len(turns), BATCH):
            some = turns[start : start + BATCH]
            texts = [text_of(turn) for turn in some]
            vectors = self._embedder.embed(texts)
            rows = [
                {"id": turn.id, "text": text, "vector": vector}
                for turn, text, vector in zip(some, texts, vectors, strict=True)
            ]
            if self._table is None:
                self._table = self._base.create_table("turns", rows)
            else:
                self._table.add(rows)

    def search(self, question: str, k: int, asked_at: str | None) -> list[str]:
        """Return the ids of the k best turns."""
        query = self._table.search(self._embedder.embed([question])[0]).metric("cosine").limit(k)
        return [row["id"] for row in query.to_list()]

    def close(self) -> None:
        """It has no way to be closed."""


class LanceDbHybrid(LanceDb):
    """The same table with LanceDB's own full-text index, searched by both and ranked by its default."""

    stores = "words and a vector a turn; no facts, dates or links"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._indexed = False

    def add(self, turns: Sequence[Turn]) -> None:
        """Store turns."""
        super().add(turns)
        self._indexed = False

    def search(self, question: str, k: int, asked_at: str | None) -> list[str]:
        """Return the ids of the k best turns."""
        if not self._indexed:
            self._table.create_fts_index("text", replace=True)
            self._indexed = True
        query = self._table.search(query_type="hybrid").vector(self._embedder.embed([question])[0])
        return [row["id"] for row in query.text(" ".join(words(question))).limit(k).to_list()]


class LangGraphStore:
    """LangGraph's store in memory with an index of vectors, each compared; nothing on disk."""

    library = "langgraph.store.memory"
    keeps = False
    stores = "a vector a turn, in memory only"

    def __init__(self, folder: Path) -> None:
        memory = import_module(self.library)
        self._put = import_module("langgraph.store.base").PutOp
        embedder = StaticEmbedder()

        def embed(texts: Sequence[str]) -> list[list[float]]:
            vectors: list[list[float]] = embedder.embed(texts).tolist()
            return vectors

        self._store = memory.InMemoryStore(index={"dims": embedder.dimension, "embed": embed, "fields": ["text"]})

    def add(self, turns: Sequence[Turn]) -> None:
        """Store turns."""
        for start in range(0, len(turns), BATCH):
            some = turns[start : start + BATCH]
            self._store.batch([self._put(("turns",), turn.id, {"text": text_of(turn)}) for turn in some])

    def search(self, question: str, k: int, asked_at: str | None) -> list[str]:
        """Return the ids of the k best turns."""
        return [item.key for item in self._store.search(("turns",), query=question, limit=k)]

    def close(self) -> None:
        """Nothing is held."""


class Mem0:
    """mem0 with infer=False: each message verbatim in its default store, a local Qdrant; without a model."""

    library = "mem0"
    keeps = True
    stores = "a vector a turn, one turn a call; no facts or dates without a model"

    def __init__(self, folder: Path) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder / "mem0"), "OPENAI_API_KEY": "none"}
        memory_class = import_module(self.library).Memory  # imported here, because it reads these settings at import
        store = {"path": str(folder / "qdrant"), "embedding_model_dims": StaticEmbedder().dimension, "on_disk": True}
        config = {
            "vector_store": {"provider": "qdrant", "config": store},
            "history_db_path": str(folder / "history.db"),
        }
        self._memory = memory_class.from_config(config)
        self._memory.embedding_model = _Mem0Embedder()

    def add(self, turns: Sequence[Turn]) -> None:
        """Store turns one by one: one call is one user's messages of one time."""
        for turn in turns:
            message = {"role": "user", "content": text_of(turn)}
            known = {"turn": turn.id, "time": turn.time.isoformat()}
            self._memory.add([message], user_id="one", metadata=known, infer=False)

    def search(self, question: str, k: int, asked_at: str | None) -> list[str]:
        """Return the ids of the k best turns."""
        found = self._memory.search(question, top_k=k, filters={"user_id": "one"}, threshold=0.0)["results"]
        return [one["metadata"]["turn"] for one in found]

    def close(self) -> None:
        """Close the store."""
        self._memory.close()


class _Mem0Embedder:
    """evimem's embedder behind the interface that mem0 calls."""

    def __init__(self) -> None:
        self._embedder = StaticEmbedder()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        vector: list[float] = self._embedder.embed([text])[0].tolist()
        return vector

    def embed_batch(self, texts: list[str], memory_action: str | None = "add") -> list[list[float]]:
        vectors: list[list[float]] = self._embedder.embed(texts).tolist()
        return vectors


class Own(OwnMemory):
    """evimem, which makes blocks besides."""

    def block(self, question: str) -> None:
        """Make the block of a question."""
        self._memory.block(question)


PEERS: dict[str, Any] = {
    "evimem": Own,
    "evimem's BM25": PlainBm25,
    "rank-bm25": RankBm25,
    "bm25s": Bm25s,
    "bm25s and a scan": Hybrid,
    "SQLite FTS5": Fts5,
    "Chroma": Chroma,
    "LanceDB": LanceDb,
    "LanceDB, hybrid": LanceDbHybrid,
    "LangGraph's store": LangGraphStore,
    "mem0, infer=False": Mem0,
}
