"""`open` and `open_async` make a memory of a file; `ask_searcher` asks any `Searcher` in the place of one (M8)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from datetime import datetime
from hashlib import blake2b
from time import time
from typing import TYPE_CHECKING, Any, get_args

from ..embedding import StaticEmbedder
from ..errors import InvalidQuery, shown
from ..flow import Effect, run
from ..protocols import AsyncEmbedder, Embedder, Extractor, Searcher
from ..raw.commit_mark import mark_path
from ..store.keeper import Keeper
from ..store.sqlite import SqliteStore
from ..types.answer import Answer, Budget
from ..types.public_value import AnyPath, is_server
from ..types.stored import COUNTED, Roster
from ..types.trace import Complete
from ..types.values import DateOrder, Hit, Query, Turn
from .checked_arguments import (
    checked_choice,
    checked_clock,
    checked_items,
    checked_kind,
    checked_part,
    checked_path,
    checked_time,
)
from .core import Core, OnModelError, needed
from .memory import Memory
from .places import Users
from .watching import Observer

if TYPE_CHECKING:
    from ..judging.evidence import Ablation
    from ..judging.judge import Judge
    from ..llm.llm_judge import LLMJudge
    from ..loops import Loop
    from .async_memory import AsyncMemory

# What only our own store has: facts and vectors, edges between facts, the number of facts about a name.
_OURS: frozenset[Ablation] = frozenset(("index", "edges", "entities"))


def open(  # noqa: PLR0913 - what a memory is made of
    path: AnyPath,
    *,
    user: str | None = None,
    llm: Any = None,
    embedder: Embedder | None = None,
    extractor: Extractor | None = None,
    clock: Callable[[], float] = time,
    timezone: str | None = None,
    date_order: DateOrder | None = None,
    on_model_error: OnModelError = "raise",
    observer: Observer | None = None,
) -> Memory:
    """Open a memory, or create it if there is none: one SQLite file, with at most two small files next to it.

    Without `llm` and with a local embedder, nothing ever leaves the machine.

    Args:
        path: The file; its folder must exist. The other files are named after it. A symbolic link is followed; a file
            with several hard links is refused. Files are created readable by their owner only. Or the address of a
            PostgreSQL server, "postgresql://role:password@host/database", with `user`.
        user: Whose memory to open on a server: any non-empty string; no one else's is ever read or written.
        llm: The chat model that judges, answers and extracts facts: an `OpenAI`, the name of a model ("gpt-4o-mini"
            is `OpenAI(model="gpt-4o-mini")`), or any object with `complete(request)`. Without one, rules do all of it.
        embedder: Must be the one that the memory was built with (its `name` and `dimension` are stored); by default
            `StaticEmbedder`, which ships with evimem and needs no network.
        extractor: Finds facts in a turn when it is added; by default the rules that ship with evimem.
        clock: Returns seconds since 1970; dates queued jobs and their retries, and tells `now`.
        timezone: Where the user is, as an IANA name such as "Europe/Madrid"; it is stored in the file for every later
            `open`. Times with a UTC offset become local times of the zone and times without one are meant in it,
            so that both mix, and "yesterday", the default session and the day of an answer are those of the user's
            calendar. A memory that holds naive times keeps naive local times. Turns that were stored before with
            another offset count by its calendar until `rebuild` reads them in the zone. Without a timezone, times
            stay as they are given, and a memory holds either naive or aware ones.
        date_order: How the user writes dates in figures: 03/04/2024 is 3 April with "dmy" and 4 March with "mdy"; with
            "ymd" 24/03/04 is 4 March. It is stored in the file. Another date of the same turn that can be read in one
            order only outweighs it (25/12/2024). By default a turn is read as its language writes dates, one in English
            as the country of the timezone does; where neither tells, such a date is left unread. After a change,
            `rebuild` reads the turns again.
        on_model_error: What `ask` does where the model fails, in whatever way. "raise" raises the ModelError; "offline"
            has the offline judge answer, as without `llm`, in what is left of the budget. Such an answer says so:
            `fell_back` is True, `reason` names the failure, and what the model was asked stays in its trace and usage.
        observer: Hears of every call while it runs, such as `evimem.adapters.otel.Spans()`. Without one there is the
            log "evimem" of `logging`: a line a call at DEBUG, and warnings; no content.

    Raises:
        InvalidQuery: `llm` is neither a model nor the name of one, `on_model_error` neither "raise" nor "offline",
            `path` is ":memory:", `timezone` is no zone or another than that of the memory's turns, or
            `date_order` is none of the three.
        MissingExtra: `llm` is a name, and the `openai` package is not installed; or `path` is that of a server, and
            `psycopg` is not.
        StoreUnavailable: The server cannot be reached.
        NotAMemory: The file is something else.
        NewerSchema: A later version of evimem wrote it.
        EmbedderMismatch: It was built with an embedder of another name.
        DimensionMismatch: It was built with vectors of another dimension.
        StoreRolledBack: It is older than its commit mark, emptied or missing while its mark or log is not.
        StoreReadOnly: The folder does not exist, or the file cannot be written.
        StoreError: It cannot be used for another reason, such as StoreBusy or StoreCorrupt.
    """
    model = chat_model(llm)
    owner = _owner(path, user)
    core = make_core(path, model, embedder, extractor, clock, timezone, date_order, on_model_error, observer, owner)
    return Memory(core, model)


def open_async(  # noqa: PLR0913 - what a memory is made of
    path: AnyPath,
    *,
    user: str | None = None,
    llm: Any = None,
    embedder: Embedder | AsyncEmbedder | None = None,
    extractor: Extractor | None = None,
    clock: Callable[[], float] = time,
    timezone: str | None = None,
    date_order: DateOrder | None = None,
    on_model_error: OnModelError = "raise",
    observer: Observer | None = None,
) -> AsyncMemory:
    """Open a memory for an event loop: `async with evimem.open_async(path) as memory: ...`.

    Opening itself is not awaited; it takes milliseconds. It takes and raises what `open` does: see `open`. The model is
    used through its `as_async()`, without which it is refused with InvalidQuery, and an embedder whose `embed` is a
    coroutine function is awaited.
    """
    from .async_memory import AsyncMemory  # asyncio, which a synchronous memory does without

    model = chat_model(llm)
    if model is not None and not callable(getattr(model, "as_async", None)):
        raise InvalidQuery(f"llm is a {type(llm).__name__}; an event loop needs a model with as_async(), as OpenAI has")
    owner = _owner(path, user)
    core = make_core(path, model, embedder, extractor, clock, timezone, date_order, on_model_error, observer, owner)
    return AsyncMemory(core, None if model is None else model.as_async())


def make_core(  # noqa: PLR0913, PLR0917 - the arguments of open, in its order
    path: AnyPath,
    llm: Any = None,
    embedder: Embedder | AsyncEmbedder | None = None,
    extractor: Extractor | None = None,
    clock: Callable[[], float] = time,
    timezone: str | None = None,
    date_order: DateOrder | None = None,
    on_model_error: OnModelError = "raise",
    observer: Observer | None = None,
    owner: str | None = None,
) -> Core:
    """Open the store and combine it with its parts: `llm` is a model that `chat_model` returned.

    `owner` (a pool's key of a user) is stored and checked; on a server it is whose memory to open.
    """
    chosen = StaticEmbedder() if embedder is None else embedder
    checked_part("embedder", chosen, ("embed",), {"name": str, "dimension": int})
    if extractor is not None:
        checked_part("extractor", extractor, ("extract",), {"name": str})
    clock = checked_clock(clock)
    checked_on_model_error(on_model_error)
    if observer is not None:
        checked_part("observer", observer, ("begin",), {})
    how: dict[str, Any] = {"clock": clock, "timezone": timezone, "date_order": date_order}
    store: Keeper
    if is_server(path) and owner is not None:
        from ..store.postgres_store import PostgresStore

        store = PostgresStore(str(path), owner, chosen.name, chosen.dimension, **how)
    else:
        store = SqliteStore(checked_path("path", path), chosen.name, chosen.dimension, owner=owner, **how)
    name = str(getattr(llm, "judge_model", None) or getattr(llm, "model", None) or type(llm).__name__)
    judge = None if llm is None else _llm_judge()
    return Core(store, chosen, judge, extractor, name, on_model_error, clock, observer=observer)


def has_memory(path: AnyPath, user: str | None = None) -> bool:
    """Return whether there is a memory at a path: a file, or what its mark says was one; on a server, of a user."""
    if (owner := _owner(path, user)) is not None:
        return Users(str(path)).has(owner)
    file = checked_path("path", path)
    return file.exists() or mark_path(file).exists()


def key_of(user_id: object) -> str:
    """Return what stands for a user: a digest of the id, byte for byte, so that no two ids share one."""
    if not isinstance(user_id, str) or not user_id:
        raise InvalidQuery(f"the user id is {shown(user_id)}; expected a non-empty string")
    return blake2b(user_id.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def _owner(path: AnyPath, user: str | None) -> str | None:
    """Return the key of the user whose memory to open on a server; None for a file, which is one memory."""
    if is_server(path):
        if user is None:
            raise InvalidQuery("the path is that of a server, which has a memory a user; say whose, with user=")
        return key_of(user)
    checked_path("path", path)
    if user is not None:
        raise InvalidQuery(
            f"user is {shown(user)} but the path is that of a file, which is one memory; leave user= out, or give the "
            "address of a server, or use MemoryPool for a file a user"
        )
    return None


def checked_on_model_error(value: OnModelError) -> OnModelError:
    """Return what to do where the model fails. Raise InvalidQuery for anything else than "raise" and "offline"."""
    return checked_choice("on_model_error", value, get_args(OnModelError))


def chat_model(llm: Any) -> Any:
    """Return the model that `llm` names or is. Raise InvalidQuery for anything else."""
    if isinstance(llm, str) and llm.strip():
        from ..openai import OpenAI

        return OpenAI(model=llm)
    if inspect.iscoroutinefunction(getattr(llm, "complete", None)):
        raise InvalidQuery(
            f"llm is a {type(llm).__name__}, whose complete() must be awaited; expected the model that it was made "
            "from: open_async uses its as_async()"
        )
    if llm is None or (callable(getattr(llm, "complete", None)) and not isinstance(llm, type)):
        return llm
    raise InvalidQuery(
        f"llm is a {type(llm).__name__}; expected evimem.OpenAI(model=...), the name of a model, or an object with "
        "complete(request)"
    )


def _llm_judge() -> LLMJudge:
    from ..llm.llm_judge import LLMJudge

    return LLMJudge()


class SearchedStore:
    """What a loop reads of a store, answered by a searcher: who speaks, the best turns, what stands around them.

    A searcher knows no neighbours of a turn, so each stands alone, and not how many turns there are, so that its end
    shows only by searches that bring nothing.
    """

    def __init__(self, searcher: Any, speakers: Sequence[str], asked_at: datetime | None) -> None:
        """Take the names of who speaks, and the time that counts as today."""
        self._searcher = searcher
        self._roster = Roster(tuple(speakers), None, asked_at, COUNTED)
        self._turns: dict[str, Turn] = {}

    def __getattr__(self, name: str) -> Any:
        """Refuse what else a loop reads of a store. Raise InvalidQuery."""
        if name.startswith("__"):  # asked for by Python itself, to copy or print this
            raise AttributeError(name)
        raise _not_of_a_searcher(name)

    def roster(self) -> Roster:
        """Return who speaks and the time that counts as today."""
        return self._roster

    def recall(self, query: Query) -> tuple[Hit, ...]:
        """Return the hits for the text of a query. Raise InvalidQuery for what are none."""
        hits = self._searcher.search(query.text, query.k, exclude=query.exclude)
        found = checked_items("what the searcher found", hits, "evimem.Hit")
        for hit in found:
            checked_kind("what the searcher found", hit, Hit)
            checked_kind("the turn of a hit", hit.turn, Turn)
        self._turns.update((hit.turn.id, hit.turn) for hit in found)
        return tuple(found)

    def contexts(self, turn_ids: Sequence[str], before: int, after: int) -> tuple[tuple[Turn, ...], ...]:
        """Return each turn alone."""
        return tuple((self._turns[turn_id],) for turn_id in turn_ids)

    def order(self, turn_ids: Sequence[str]) -> tuple[str, ...]:
        """Return no id: a searcher knows of no turn whether it came before another of its time."""
        return ()


def ask_searcher(
    question: str,
    searcher: Searcher,
    *,
    llm: Any = None,
    speakers: Sequence[str] = (),
    asked_at: datetime | str | None = None,
    loop: str | Loop = "memr3",
    budget: Budget = Budget(),
) -> Answer:
    """Answer a question from what a searcher finds, with a loop, as `Memory.ask` does from a memory.

    Without a model, the probability below which nothing is given was fitted to the scores of our own search: over
    another backend give `budget.abstain_below`. A `Memory` is a searcher too, but knows more of itself: ask it.

    Args:
        question: 1 to 100,000 characters.
        searcher: The backend: `search(query, k, exclude=ids)` returns at most k `Hit`s, none of a turn in `exclude`.
        llm: The model, as for `evimem.open`; None judges and answers without one.
        speakers: The names of who speaks, by which a question is read.
        asked_at: "Today" for the question; None leaves times in the question unread.
        loop: The loop's name: "iris", "memr3" or "single_pass"; the others read what only our own store has. Or a loop
            of your own that only searches.
        budget: Limits of the loop. What only our own store has is left out, which the trace records.

    Raises:
        InvalidQuery: An argument is none that can be used, the searcher returned no hits but something else, or the
            loop reads more than a searcher has.
        NoModel: A loop of your own asks a model, and there is none.
        ModelError: The model failed; `partial` of the error is an `Answer` with the evidence so far.
    """
    from ..loops import LOOPS, OVER_SEARCHERS, Task, answer_question, check_budget
    from ..offline.offline_judge import OfflineJudge

    checked_part("searcher", searcher, ("search",))
    if inspect.iscoroutinefunction(searcher.search):
        raise InvalidQuery(f"the search of {type(searcher).__name__} must be awaited; expected one that returns hits")
    wanted, model = checked_kind("budget", budget, Budget), chat_model(llm)
    check_budget(wanted)
    named = checked_items("speakers", speakers, "names")
    for name in named:
        checked_kind("the name of a speaker", name, str)
    if isinstance(loop, str) and loop in LOOPS and loop not in OVER_SEARCHERS:
        usable = ", ".join(sorted(OVER_SEARCHERS))
        raise InvalidQuery(
            f"the loop {shown(loop)} reads more of a memory than a searcher has; expected one of {usable}"
        )
    today = checked_time("asked_at", asked_at)
    store: Any = SearchedStore(searcher, named, today)
    judge: Judge = OfflineJudge(extractor=Core.default_extractor()) if model is None else _llm_judge()
    flow = answer_question(Task(question, judge, store, today, wanted, lacking=_OURS), loop)

    def perform(effect: Effect) -> Any:
        if isinstance(effect, Complete):
            return needed(model).complete(effect)
        raise _not_of_a_searcher(type(effect).__name__)

    return run(flow, perform)


def _not_of_a_searcher(name: str) -> InvalidQuery:
    from ..loops import OVER_SEARCHERS

    usable = ", ".join(sorted(OVER_SEARCHERS))
    return InvalidQuery(
        f"the loop asked for {name!r}, which a searcher has not; expected a loop that only searches: {usable}, or one "
        "of your own that does"
    )
