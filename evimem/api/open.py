"""`open` and `open_async` make a memory of a file or of rows on a server; where a pool keeps those of its users."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, get_args

from ..db.atomic_files import make_folder
from ..db.encryption import optional_key
from ..embedding.static_embedder import StaticEmbedder
from ..errors import DimensionMismatch, InvalidQuery, shown
from ..protocols import AsyncEmbedder, Embedder, Extractor
from ..query.bounded_reranker import bound_reranker
from ..raw.commit_mark import mark_path
from ..store.keeper import Keeper
from ..store.sqlite import SqliteStore
from ..types.public_value import AnyPath, is_server
from ..types.values import DateOrder
from .checked_arguments import checked_choice, checked_clock, checked_part, checked_path
from .core import Core, OnModelError
from .memory import Memory
from .observer import Observer, warn_of_missing_log, warn_of_read_only

if TYPE_CHECKING:
    from ..store.postgres_store import TenantDirectory
    from .async_memory import AsyncMemory

_SUFFIX = ".evimem"


def open(  # noqa: PLR0913 - the parts of a memory
    path: AnyPath | None = None,
    *,
    user: str | None = None,
    store: Keeper | None = None,
    llm: Any = None,
    embedder: Embedder | None = None,
    extractor: Extractor | None = None,
    reranker: Any = None,
    clock: Callable[[], float] = time,
    timezone: str | None = None,
    date_order: DateOrder | None = None,
    on_model_error: OnModelError = "raise",
    observer: Observer | None = None,
    read_only: bool | None = None,
    key: bytes | str | None = None,
) -> Memory:
    """Open a memory, or create it if there is none: one SQLite file, with at most two small files next to it.

    Without `llm` and with a local embedder, nothing ever leaves the machine.

    Args:
        path: The file; its folder must exist. The other files are named after it. A symbolic link is followed; a file
            with several hard links is refused. Files are created readable by their owner only. Or the address of a
            PostgreSQL server, "postgresql://role:password@host/database", with `user`; of its parameters, which
            docs/operations.md lists, `evimem_schema` names the schema of the tables.
        user: Whose memory to open on a server, or in the folder of a `MemoryPool`: any non-empty string; no one else's
            is ever read or written.
        store: In the place of a path, a store that is open: a `SqliteStore` with settings of its own, or an engine of
            yours, a subclass of `evimem.store.keeper.Keeper`. The memory closes it. `user`, `timezone`, `date_order`,
            `read_only` and `key` are settings of a store: they are not given beside one.
        llm: The chat model that judges, answers and extracts facts: an `OpenAI`, the name of a model ("gpt-4o-mini"
            is `OpenAI(model="gpt-4o-mini")`), or any object with `complete(request)`. Without one, rules do all of it.
        embedder: Must be the one that the memory was built with (its `name` and `dimension` are stored); by default
            `StaticEmbedder`, which ships with evimem and needs no network.
        extractor: Finds facts in a turn when it is added; by default the rules that ship with evimem.
        reranker: Orders the first hits of each search anew (of `search`, `block` and the loops of `ask`): an object
            with `rerank(query, texts)`, which returns one number a text, larger is better, such as `EndpointReranker`
            and `ModelReranker`; a function like that; or a `Reranking`, which sets how many texts, tokens and seconds
            it may take. Where it fails, hits keep their own order, which the log and `health` tell. By default none.
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
        on_model_error: The reaction of `ask` to any failure of the model. "raise" raises the ModelError; "offline"
            has the offline judge answer, as without `llm`, within the rest of the budget. Such an answer says so:
            `fell_back` is True, `reason` names the failure, and the requests to the model stay in its trace and usage.
        observer: Hears of every call while it runs, such as `evimem.adapters.otel.Spans()`. Without one there is the
            log "evimem" of `logging`: a line a call at DEBUG, and warnings; no content.
        read_only: With True, change neither the file nor anything beside it: it may lie in an image or on a read-only
            volume, or belong to another user. Every method that would change the memory raises StoreReadOnly. Facts of
            turns that wait to be read are left out, but for those that the hits of a search state; `health` counts
            them. Where a process begins to write meanwhile, its commits are seen; a call that reads in that moment
            raises StoreBusy. By default a file that cannot be written is opened so, with a warning in the log. With
            False, that raises StoreReadOnly at once.
        key: With which the file and its log are encrypted: 32 random bytes (`secrets.token_bytes(32)`), or a
            passphrase, which costs some 30 ms at each opening. A new file is encrypted with it; of an encrypted one it
            must be the key. The mark beside it holds a random id and a count, and there is no vector index. It needs
            the extra [encrypted]: see docs/files.md.

    Raises:
        InvalidQuery: `llm` is neither a model nor the name of one, `reranker` no reranker or one to be awaited,
            `on_model_error` neither "raise" nor "offline", `path` is ":memory:" or an address that cannot be read or
            honoured, `store` is no `Keeper` or given beside a path, `timezone` is no zone or another than that of the
            memory's turns, or `date_order` is none of the three.
        MissingExtra: `llm` is a name, and the `openai` package is not installed; or `path` is that of a server, and
            `psycopg` is not; or there is a `key`, and `apsw` cannot encrypt.
        StoreUnavailable: The server cannot be reached.
        NotAMemory: The file is something else.
        WrongKey: It is encrypted and `key` is missing or another one, or it is not encrypted and there is one.
        NewerSchema: A later version of evimem wrote it.
        EmbedderMismatch: It was built with an embedder of another name.
        DimensionMismatch: It was built with vectors of another dimension.
        StoreRolledBack: It is older than its commit mark, emptied or missing while its mark or log is not.
        StoreReadOnly: The folder does not exist. Or nothing can be written, and `read_only` is False, or a timezone or
            date order is given that is not the recorded one, or an earlier version wrote the file.
        StoreError: It cannot be used for another reason, such as StoreBusy or StoreCorrupt.
    """
    model = chat_model(llm)
    if (reranking := bound_reranker(reranker)) is not None and reranking.is_coroutine:
        raise InvalidQuery("the rerank of reranker is a coroutine function, for open_async; expected a plain one")
    settings = {"timezone": timezone, "date_order": date_order, "read_only": read_only, "key": key}
    place = _place_settings(path, store, user, settings)
    core = make_core(
        _file_of(path, place), model, embedder, extractor, clock, on_model_error, observer, reranker, **place
    )
    return Memory(core, model)


def open_async(  # noqa: PLR0913 - the parts of a memory
    path: AnyPath | None = None,
    *,
    user: str | None = None,
    store: Keeper | None = None,
    llm: Any = None,
    embedder: Embedder | AsyncEmbedder | None = None,
    extractor: Extractor | None = None,
    reranker: Any = None,
    clock: Callable[[], float] = time,
    timezone: str | None = None,
    date_order: DateOrder | None = None,
    on_model_error: OnModelError = "raise",
    observer: Observer | None = None,
    read_only: bool | None = None,
    key: bytes | str | None = None,
) -> AsyncMemory:
    """Open a memory for an event loop: `async with evimem.open_async(path) as memory: ...`.

    Opening itself is not awaited; it takes milliseconds. It takes the arguments of `open` and raises the same errors:
    see `open`. The model is used through its `as_async()`, without which it is refused with InvalidQuery, and an
    embedder whose `embed` is a coroutine function is awaited.
    """
    from .async_memory import AsyncMemory  # asyncio, which a synchronous memory does without

    model = chat_model(llm)
    if model is not None and not callable(getattr(model, "as_async", None)):
        raise InvalidQuery(f"llm is a {type(llm).__name__}; an event loop needs a model with as_async(), as OpenAI has")
    settings = {"timezone": timezone, "date_order": date_order, "read_only": read_only, "key": key}
    place = _place_settings(path, store, user, settings)
    core = make_core(
        _file_of(path, place), model, embedder, extractor, clock, on_model_error, observer, reranker, **place
    )
    return AsyncMemory(core, None if model is None else model.as_async())


def _file_of(path: AnyPath | None, place: Mapping[str, Any]) -> AnyPath | None:
    """Return the file of a user in the folder of a pool; any other path as it is given."""
    owner = place.get("owner")
    return (
        path if path is None or owner is None or is_server(path) else Folder(checked_path("path", path)).locate(owner)
    )


def _place_settings(
    path: AnyPath | None, store: Keeper | None, user: str | None, settings: dict[str, Any]
) -> dict[str, Any]:
    """Return how a memory's store is opened, or the open one in place of all that.

    Raise InvalidQuery where neither or both are given.
    """
    if store is None:
        if path is None:
            raise InvalidQuery(
                "neither path nor store is given; expected the path of a file or the address of a server"
            )
        return {**settings, "owner": _owner(path, user)}
    beside = [name for name, value in {"path": path, "user": user, **settings}.items() if value is not None]
    if beside:
        raise InvalidQuery(f"{', '.join(beside)} and store are given; a store that is open has its own: leave them out")
    if not isinstance(store, Keeper):
        raise InvalidQuery(f"store is a {type(store).__name__}; expected an open Keeper, such as a SqliteStore")
    return {"store": store}


def make_core(  # noqa: PLR0913, PLR0917 - the parts of a memory
    path: AnyPath | None,
    llm: Any = None,
    embedder: Embedder | AsyncEmbedder | None = None,
    extractor: Extractor | None = None,
    clock: Callable[[], float] = time,
    on_model_error: OnModelError = "raise",
    observer: Observer | None = None,
    reranker: Any = None,
    *,
    store: Keeper | None = None,
    read_only: bool | None = False,
    **place: Any,
) -> Core:
    """Open the store and combine it with its parts: `llm` is a model that `chat_model` returned.

    `place` is passed to `open_store`.
    """
    chosen = StaticEmbedder() if embedder is None else embedder
    checked_part("embedder", chosen, ("embed",), {"name": str, "dimension": int})
    if extractor is not None:
        checked_part("extractor", extractor, ("extract",), {"name": str})
    clock = checked_clock(clock)
    checked_choice("on_model_error", on_model_error, get_args(OnModelError))
    if observer is not None:
        checked_part("observer", observer, ("begin",), {})
    reranking = bound_reranker(reranker)
    if store is None:
        store = open_store(path, chosen, clock, read_only=read_only, **place)
    else:
        _check_embedder(store, chosen)
    if store.read_only and read_only is None:
        warn_of_read_only(store.name)
    if store.lacks_log:
        warn_of_missing_log(store.name)
    name = str(getattr(llm, "judge_model", None) or getattr(llm, "model", None) or type(llm).__name__)
    judge = None
    if llm is not None:
        from ..llm.llm_judge import LLMJudge

        judge = LLMJudge()
    return Core(store, chosen, judge, extractor, name, on_model_error, clock, observer, reranking)


def open_store(
    path: Any,
    embedder: Embedder | AsyncEmbedder,
    clock: Callable[[], float],
    *,
    owner: str | None = None,
    read_only: bool | None = False,
    key: object = None,
    **how: Any,
) -> Keeper:
    """Open the store at a path or an address, with the timezone and date order in `how`.

    `owner` (a pool's key of a user) is stored and checked; on a server it is whose memory to open.
    """
    made = (embedder.name, embedder.dimension)
    if is_server(path) and owner is not None:
        if key is not None:
            raise InvalidQuery("key is for files; what a server stores is encrypted by the disk of its operator")
        if read_only:
            raise InvalidQuery("read_only is for files; on a server, give the role no more than SELECT on its tables")
        from ..store.postgres_store import PostgresStore

        return PostgresStore(str(path), owner, *made, clock=clock, **how)
    file = checked_path("path", path)
    return SqliteStore(file, *made, owner=owner, read_only=read_only, key=optional_key(key), clock=clock, **how)


def _check_embedder(store: Keeper, embedder: Embedder | AsyncEmbedder) -> None:
    """Raise DimensionMismatch or EmbedderMismatch where an open store was made with another embedder."""
    if embedder.dimension != store.segments.dimension:
        raise DimensionMismatch(embedder.dimension, store.segments.dimension)
    with store.db.reading():
        store.identify(embedder.name, None, None, None)


def has_memory(path: AnyPath, user: str | None = None) -> bool:
    """Return whether there is a memory at a path: a file, or one by its mark; else, of a user."""
    if (owner := _owner(path, user)) is not None:
        return place_of(path, "path").has_user(owner)
    file = checked_path("path", path)
    return file.exists() or mark_path(file).exists()


def key_of(user_id: object) -> str:
    """Return the key of a user: a digest of the id, byte for byte, so that no two ids share one."""
    if not isinstance(user_id, str) or not user_id:
        raise InvalidQuery(f"the user id is {shown(user_id)}; expected a non-empty string")
    return blake2b(user_id.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def _owner(path: AnyPath, user: str | None) -> str | None:
    """Return the key of the user whose memory to open on a server or in a folder; None for a file: one memory."""
    if is_server(path):
        if user is None:
            raise InvalidQuery("the path is that of a server, which has a memory a user; say whose, with user=")
        return key_of(user)
    file = checked_path("path", path)
    if user is None:
        return None
    if file.is_dir():
        return key_of(user)
    raise InvalidQuery(
        f"user is {shown(user)} but the path {shown(str(file))} is no folder that is there; expected the folder of a "
        "pool, which has a file a user (make an empty folder for a new pool), or the address of a server; or no user"
    )


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


def place_of(target: AnyPath, name: str) -> Folder | TenantDirectory:
    """Return where a pool keeps the memories of its users; `name` is that of the argument."""
    if is_server(target):
        from ..store.postgres_store import TenantDirectory

        return TenantDirectory(str(target))
    return Folder(checked_path(name, target))


class Folder:
    """A file a user, named by the user's key, in folders named by its first two digits."""

    def __init__(self, root: Path) -> None:
        self._root = root
        make_folder(root)

    def locate(self, key: str) -> Path:
        """Return the path of a user's memory, in a folder that is there."""
        path = self._path(key)
        make_folder(path.parent)
        return path

    def has_user(self, key: str) -> bool:
        """Return whether a user has a memory."""
        return self._path(key).exists()

    def keys(self) -> list[str]:
        """Return the keys of the users who have one, in a fixed order."""
        return sorted(file.name[: -len(_SUFFIX)] for file in self._files() if file.name.endswith(_SUFFIX))

    def count(self) -> int:
        """Return how many users have one."""
        return sum(1 for file in self._files() if file.name.endswith(_SUFFIX))

    def bytes(self) -> int:
        """Return their size on disk, with the files of SQLite and the vector index beside them."""
        return sum(_size(file) for file in self._files())

    def _path(self, key: str) -> Path:
        return self._root / key[:2] / f"{key}{_SUFFIX}"

    def _files(self) -> Iterator[os.DirEntry[str]]:
        with os.scandir(self._root) as folders:
            for folder in [entry for entry in folders if len(entry.name) == 2 and entry.is_dir()]:
                with os.scandir(folder) as files:
                    yield from files


def _size(file: os.DirEntry[str]) -> int:
    try:
        return file.stat(follow_symlinks=False).st_size
    except FileNotFoundError:  # erased, or a log that was emptied, since the folder was read
        return 0
