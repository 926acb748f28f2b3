"""`extend(replace=True)` as the upsert of a vector store, in LangChain's own suite of tests for one.

It is a test of `replace` only: as a vector store every turn would be a document without a speaker or a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests import VectorStoreIntegrationTests

import evimem
from evimem import UnknownTurn


class Documents(VectorStore):
    """Documents as turns."""

    def __init__(self, memory: evimem.Memory) -> None:
        self.memory = memory

    def add_texts(self, texts: Iterable[str], metadatas: Any = None, *, ids: Any = None, **kwargs: Any) -> list[str]:
        said = list(texts)
        named = [one or uuid4().hex for one in ids or [None] * len(said)]
        kept = metadatas or [{}] * len(said)
        noon = "2024-03-12T12:00"
        turns = [
            evimem.Turn(id, "", "tool", text, noon, role="tool", metadata=metadata)  # type: ignore[arg-type]
            for id, text, metadata in zip(named, said, kept, strict=True)
        ]
        self.memory.extend(turns, strict=True, replace=True)
        return named

    def delete(self, ids: Any = None, **kwargs: Any) -> bool:
        for id in ids or []:
            with suppress(UnknownTurn):
                self.memory.forget([id])
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        found = []
        for id in ids:
            with suppress(UnknownTurn):
                found.append(_document(self.memory.turn(id)))
        return found

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        return [_document(hit.turn) for hit in self.memory.search(query, k)]

    @classmethod
    def from_texts(cls, texts: list[str], embedding: Any, metadatas: Any = None, **kwargs: Any) -> Documents:
        store = cls(kwargs["memory"])
        store.add_texts(texts, metadatas)
        return store


def _document(turn: evimem.Turn) -> Document:
    return Document(id=turn.id, page_content=turn.text, metadata=dict(turn.metadata))


class TestDocuments(VectorStoreIntegrationTests):
    """LangChain's standard tests of a vector store."""

    @pytest.fixture
    def vectorstore(self, tmp_path: Path) -> Iterator[VectorStore]:
        with evimem.open(tmp_path / "m.evimem") as memory:
            yield Documents(memory)
