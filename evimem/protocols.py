"""The seams: methods that evimem needs of embedders, models and extractors, and loops of stores."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from .types.results import AddReport, EraseReport
from .types.stored import (
    ANY_FACT,
    EVERYTHING,
    About,
    Entry,
    FactFilter,
    Holding,
    Job,
    JobKind,
    Keyword,
    Listing,
    MemoryOverview,
    Scope,
    Settled,
)
from .types.trace import Complete, Reply
from .types.values import Fact, FactHit, Hit, Query, Turn, Where
from .types.vectors import Neighbours, Vectors


class Embedder(Protocol):
    """Turns texts into unit vectors, one row each; a row of zeros for a text that has no embedding."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors: ...


class AsyncEmbedder(Protocol):
    """`Embedder` for an event loop."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    async def embed(self, texts: Sequence[str]) -> Vectors: ...


class Reranker(Protocol):
    """Scores texts by how well they answer a query: one finite number a text, in their order, larger is better."""

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]: ...


class AsyncReranker(Protocol):
    """`Reranker` for an event loop."""

    async def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]: ...


class ChatModel(Protocol):
    """Answers one request."""

    def complete(self, request: Complete) -> Reply: ...


class Extractor(Protocol):
    """Finds the facts of a turn; every span lies in the turn. `name` is stored with each fact."""

    @property
    def name(self) -> str: ...

    def extract(self, turn: Turn) -> tuple[Fact, ...]: ...


class VectorIndex(Protocol):
    """Nearest neighbours by cosine, safe to use from any thread."""

    def search(self, vector: Vectors, k: int) -> Neighbours:
        """Return the k nearest, or all of them when there are fewer."""
        ...


class Searcher(Protocol):
    """The smallest backend a loop can run on: the k best turns for a text, none of them excluded."""

    def search(self, query: str, k: int, *, exclude: Collection[str] = ()) -> Sequence[Hit]: ...


class Store(Protocol):
    """The three layers behind one door: no row ids, no SQL, no shared buffers; safe to call from any thread."""

    def known(self, turns: Sequence[Turn]) -> tuple[bool, ...]:
        """Return which of these turns are stored with the same content."""
        ...

    def write(
        self, entries: Sequence[Entry], *, strict: bool = False, replace: bool = False, gone: Sequence[str] = ()
    ) -> AddReport:
        """Store the first turns of a batch in one transaction; known ids with the same content are no-ops.

        It takes as many as keep other writers waiting only briefly, at least one, and the report tells how many:
        go on with the rest. A turn that contradicts a stored one is refused in the report; with `strict` it raises
        TurnConflict or InvalidTurn, and nothing of the batch is kept. With `replace`, a known id with other content is
        erased and stored anew in that transaction; of several versions in one batch the last is stored. The turns of
        the ids in `gone` that are there are erased with the whole batch, in one transaction.
        """
        ...

    def recall(self, query: Query, *, facts: bool = True) -> tuple[Hit, ...]:
        """Return the k best distinct turns, best first; ties in order of arrival. Their facts are read with `facts`."""
        ...

    def recall_facts(self, query: Query, only: FactFilter = ANY_FACT) -> tuple[FactHit, ...]:
        """Return the k best facts of the turns that a query lets through, best first; ties in order of arrival."""
        ...

    def nearest_facts(self, query: Query) -> tuple[FactHit, ...]:
        """Return the k facts whose vectors are nearest to the query's, as HNSW finds them; none without a vector."""
        ...

    def linked_facts(self, fact_ids: Sequence[str], scope: Scope = EVERYTHING) -> tuple[FactHit, ...]:
        """Return every fact of a scope one edge away, in order of arrival, none given.

        Edges are of LaceMem's two kinds: each pair of facts of a turn, and each pair of alike facts of different turns.
        """
        ...

    def expand(self, turn_ids: Sequence[str], limit: int, scope: Scope = EVERYTHING) -> tuple[Hit, ...]:
        """Return up to `limit` turns of a scope one edge away, best edge first, none given; `path` names the edge."""
        ...

    def read(self, turn_ids: Sequence[str]) -> tuple[Turn, ...]:
        """Return these turns in the order asked; raise UnknownTurn for one that is not there."""
        ...

    def find(self, turn_ids: Sequence[str]) -> tuple[Turn | None, ...]:
        """Return these turns in the order asked; None for each that is not there."""
        ...

    def contexts(self, turn_ids: Sequence[str], before: int, after: int) -> tuple[tuple[Turn, ...], ...]:
        """Return, for each of these turns, those around it in dialogue order, it included; raise UnknownTurn."""
        ...

    def order(self, turn_ids: Sequence[str]) -> tuple[str, ...]:
        """Return these ids in dialogue order: by time, those of one time as they came; raise UnknownTurn."""
        ...

    def turns(self, listing: Listing | None = None) -> Iterator[Turn]:
        """Yield the turns of a listing in dialogue order; without one, every turn in order of arrival."""
        ...

    def facts(self, turn_ids: Sequence[str]) -> tuple[Fact, ...]:
        """Return the facts of these turns, in the order of the turns and of their spans."""
        ...

    def about(self, entity: str, limit: int, scope: Scope = EVERYTHING) -> About:
        """Return the facts of a scope whose subject, object or speaker is the entity, newest first.

        Names are compared by word boundary.
        """
        ...

    def keywords(self, words: Sequence[str], scope: Scope = EVERYTHING) -> tuple[Keyword, ...]:
        """Return the keywords of a scope that words match, in the order of the words, each keyword once.

        A word matches its own stem or, where no turn has that, up to `MOST_NEAR` stems that mean nearly the same,
        nearest first.
        """
        ...

    def holding(self, terms: Collection[str], limit: int, scope: Scope = EVERYTHING) -> Holding:
        """Return how many turns of a scope have all of these terms, and the newest `limit`; every turn for no term."""
        ...

    def mentions(self, terms: Collection[str], limit: int, most: int, scope: Scope = EVERYTHING) -> tuple[Turn, ...]:
        """Return the newest `limit` turns of a scope that have each of these terms, in order of arrival.

        A term that more than `most` turns have brings none.
        """
        ...

    def roster(self, *, allow_cached: bool = False) -> MemoryOverview:
        """Return who speaks here and the time of the first and last turn.

        With `allow_cached`, a remote store may return those of its last search, without waiting: see `by_hints`.
        """
        ...

    def due(self, kind: JobKind, limit: int, reason: str | None = None) -> tuple[Job, ...]:
        """Return up to `limit` queued jobs of a kind that may be tried now, oldest first, failed ones last.

        A job that was put off for longer than `MOST_SECONDS` may be tried now: the clock was set back, or a server
        asked for years. With a reason, return the jobs that wait for it instead (see `hold`).
        """
        ...

    def complete_jobs(self, kind: JobKind, entries: Sequence[Entry]) -> Settled:
        """Store the results of jobs, of at least one: of the first of them, as in `write`.

        They are vectors ("vector"), linked facts ("link"), all facts by rule ("facts") or further ones ("extract").
        """
        ...

    def hold(self, kind: JobKind, turn_ids: Sequence[str], reason: str, seconds: float) -> None:
        """Offer no job on these turns for so many seconds, for a reason; it is no failure."""
        ...

    def postpone(self, kind: JobKind, failures: Mapping[str, tuple[str, float | None]]) -> None:
        """Record failed jobs, by turn: why, and after how many seconds to try again; None keeps one as failed."""
        ...

    def setting(self, name: str) -> str | None:
        """Return the text kept under a name, None where there is none."""
        ...

    def keep_setting(self, name: str, value: str | None) -> None:
        """Keep a text that derives from no turn; None deletes it. Erasing every turn deletes all of them."""
        ...

    def forget(self, turn_ids: Sequence[str]) -> EraseReport:
        """Erase turns and every derived row that they reached; an unknown id raises UnknownTurn, and none is erased.

        An id that was forgotten is not unknown: there is nothing of it to erase.
        """
        ...

    def forget_where(
        self,
        *,
        session: str | None = None,
        before: datetime | None = None,
        speaker: str | None = None,
        where: Where | None = None,
    ) -> EraseReport:
        """Erase the turns of a session, said before a time, by a speaker and with such metadata; without any, all."""
        ...
