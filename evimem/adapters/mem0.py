"""The calls of mem0's `Memory` over a pool, for programs that come from there: no model, no network, one file a user.

memory = Memory("users")                                          # where mem0's takes a configuration
memory.add([{"role": "user", "content": "I moved to Porto."}], user_id="mira")
memory.search("Where do I live?", filters={"user_id": "mira"})    # {"results": [{"id", "memory", "score", ...}]}

What is stored is what was said, a turn for each message, and no sentence that a model makes of it: `infer` changes
nothing, and system messages, which programs fill with memories, are left out. The file is that of the user, else of the
agent, else of the run: `filters={"agent_id": ...}` alone finds turns that were added for no user. What evimem has not
it refuses with a sentence: expiry (call `delete`), OR, NOT and text operators in filters. There is no `history`:
nothing is kept of changes.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from os import PathLike
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

from ..api.checked_arguments import checked_items, checked_time
from ..api.memory import Memory as EvimemMemory
from ..api.pool import MemoryPool
from ..errors import InvalidQuery, InvalidTurn, UnknownTurn, shown
from ..loaders.chat_messages import read_message
from ..text.memory_fence import without_blocks
from ..types.stored import CORRECTED_AT, correct_text
from ..types.values import Turn
from .message_log import new_turns

SCOPES = ("user_id", "agent_id", "run_id")
MAX_TIMESTAMP = 253_402_214_400  # seconds since 1970 of the last day of the calendar, in any zone
_COMPARISONS: dict[str, Callable[[datetime, datetime], bool]] = {
    "eq": operator.eq, "ne": operator.ne, "gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le,
}  # fmt: skip
_Span: TypeAlias = list[tuple[str, datetime]]
_ORDERS = {"eq", "ne", "gt", "gte", "lt", "lte", "in"}


class Mem0Memory:
    """mem0's calls. The exceptions are evimem's; each id names the owner of its file, so that it is enough by itself.

    Args:
        root: The folder of the files, or a pool, which stays the caller's to close.
        plain_users: Have a `user_id` be the pool's user of that id, whom other programs of the pool know too. Else
            its file is one that only this class opens, as that of an `agent_id` or `run_id` alone always is.
        options: Options of `MemoryPool`, such as `capacity`.
    """

    def __init__(self, root: str | PathLike[str] | MemoryPool, *, plain_users: bool = False, **options: Any) -> None:
        self.pool: MemoryPool = root if isinstance(root, MemoryPool) else MemoryPool(root, **options)
        self._owns = self.pool is not root
        self._plain_users = plain_users

    def add(
        self,
        messages: str | Mapping[str, Any] | Iterable[Mapping[str, Any]],
        *,
        metadata: Mapping[str, Any] | None = None,
        infer: bool = True,
        timestamp: int | None = None,
        **scope: Any,
    ) -> dict[str, Any]:
        """Store messages, durably on return, and nothing where one cannot be. Raise InvalidTurn, InvalidQuery.

        With or without `infer`, messages are stored verbatim. They were said at their own `created_at` (`time`,
        `timestamp`), else at `timestamp`, in seconds since 1970, else now.
        """
        owner, kept = _scope(scope)
        given = [messages] if isinstance(messages, (str, Mapping)) else checked_items("messages", messages, "messages")
        try:
            read = [read_message({"role": "user", "content": one} if isinstance(one, str) else one) for one in given]
        except ValueError as error:
            raise InvalidTurn(f"a message cannot be stored: {error}") from error
        said = [one for one in read if one.role != "system" and without_blocks(one.text).strip()]
        with self.pool.open(self.key(owner)) as memory:
            now, newest = memory.now(), memory.turns(session=kept.get("run_id"), limit=1, newest=True)
            turns = new_turns(said, kept.get("run_id", ""), now, newest)
            own = {**kept, "metadata": _mapping("metadata", metadata)}
            turns = [
                replace(
                    turn, time=turn.time if at is None else _time_of(at, now, memory), metadata={**turn.metadata, **own}
                )
                for turn, at in zip(turns, [timestamp if one.time is None else one.time for one in said], strict=True)
            ]
            memory.extend(turns, strict=True)
        return {"results": [{"id": _id(owner, one.id), "memory": one.text, "event": "ADD"} for one in turns]}

    def search(
        self, query: str, *, top_k: int = 20, filters: Mapping[str, Any] | None = None, **scope: Any
    ) -> dict[str, Any]:
        """Find messages, best first; a `score` compares the results of one search only."""
        owner, where, span = _where(filters, scope)
        if self.key(owner) not in self.pool:  # opening would make a file
            return {"results": []}
        with self.pool.open(self.key(owner)) as memory:
            # Of a time, all are searched, of which those of the time are taken.
            hits = memory.search(query, max(top_k, memory.stats().turns) if span else top_k, where=where)
        found = [_entry(owner, hit.turn) | {"score": hit.score} for hit in hits if _is_within(hit.turn, span)]
        return {"results": found[:top_k]}

    def get_all(self, *, filters: Mapping[str, Any] | None = None, top_k: int = 20, **scope: Any) -> dict[str, Any]:
        """List the newest turns, in dialogue order."""
        owner, where, span = _where(filters, scope)
        if self.key(owner) not in self.pool:
            return {"results": []}
        with self.pool.open(self.key(owner)) as memory:
            turns = list(memory.turns(where=where, limit=None if span else top_k, newest=not span))
        return {"results": [_entry(owner, turn) for turn in turns if _is_within(turn, span)][-top_k:]}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return the entry of an id; None where there is none."""
        try:
            with self._open_by_id(memory_id) as (owner, memory, turn_id):
                return _entry(owner, memory.turn(turn_id))
        except UnknownTurn:
            return None

    def update(
        self, memory_id: str, text: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> dict[str, str]:
        """Replace the text, or the metadata, of the entry of an id. Raise UnknownTurn, InvalidTurn."""
        with self._open_by_id(memory_id) as (_, memory, turn_id):
            old = memory.turn(turn_id)
            new = old if text is None else correct_text(old, text, memory.now())
            if metadata is not None:
                new = replace(new, metadata={**new.metadata, "metadata": _mapping("metadata", metadata)})
            memory.extend([new], strict=True, replace=True)
        return {"message": "updated"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Forget the entry of an id, with everything derived from it. Raise UnknownTurn."""
        with self._open_by_id(memory_id) as (_, memory, turn_id):
            memory.forget([turn_id])
        return {"message": "deleted"}

    def delete_all(self, **scope: Any) -> dict[str, str]:
        """Forget all entries of a user, or those added with their agent or run. Raise InvalidQuery without one."""
        owner, kept = _scope(scope)
        if len(kept) == 1:
            self.pool.erase(self.key(owner))
        elif self.key(owner) in self.pool:
            with self.pool.open(self.key(owner)) as memory:
                memory.forget(where=kept)
        return {"message": "deleted"}

    def key(self, owner: str) -> str:
        """Return the pool's user for the owner of a file, such as "user_id=mira"."""
        return owner.removeprefix("user_id=") if self._plain_users else owner

    def __enter__(self) -> Mem0Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the pool, unless it was given."""
        if self._owns:
            self.pool.close()

    @contextmanager
    def _open_by_id(self, memory_id: str) -> Iterator[tuple[str, EvimemMemory, str]]:
        if not isinstance(memory_id, str):
            raise UnknownTurn(memory_id)
        owner, turn_id = owner_and_turn(memory_id)
        if not owner or self.key(owner) not in self.pool:
            raise UnknownTurn(memory_id)
        with self.pool.open(self.key(owner)) as memory:
            yield owner, memory, turn_id


class AsyncMem0Memory:
    """The same calls for an event loop, each in a thread. It takes the arguments of `Mem0Memory`."""

    def __init__(self, root: str | PathLike[str] | MemoryPool, **options: Any) -> None:
        self._memory = Mem0Memory(root, **options)

    async def add(self, messages: Any, **given: Any) -> dict[str, Any]:
        """See `Mem0Memory.add`."""
        return await asyncio.to_thread(self._memory.add, messages, **given)

    async def search(self, query: str, **given: Any) -> dict[str, Any]:
        """See `Mem0Memory.search`."""
        return await asyncio.to_thread(self._memory.search, query, **given)

    async def get_all(self, **given: Any) -> dict[str, Any]:
        """See `Mem0Memory.get_all`."""
        return await asyncio.to_thread(self._memory.get_all, **given)

    async def get(self, memory_id: str) -> dict[str, Any] | None:
        """See `Mem0Memory.get`."""
        return await asyncio.to_thread(self._memory.get, memory_id)

    async def update(self, memory_id: str, text: str | None = None, **given: Any) -> dict[str, str]:
        """See `Mem0Memory.update`."""
        return await asyncio.to_thread(self._memory.update, memory_id, text, **given)

    async def delete(self, memory_id: str) -> dict[str, str]:
        """See `Mem0Memory.delete`."""
        return await asyncio.to_thread(self._memory.delete, memory_id)

    async def delete_all(self, **scope: Any) -> dict[str, str]:
        """See `Mem0Memory.delete_all`."""
        return await asyncio.to_thread(self._memory.delete_all, **scope)

    async def __aenter__(self) -> AsyncMem0Memory:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """See `Mem0Memory.close`."""
        await asyncio.to_thread(self._memory.close)


Memory = Mem0Memory  # the names that programs import
AsyncMemory = AsyncMem0Memory


def owner_of(filters: Mapping[str, Any] | None, scope: Mapping[str, Any]) -> str:
    """Return whose file a call is for, such as "user_id=mira". Raise InvalidQuery as the call does."""
    return _where(filters, scope)[0]


def owner_and_turn(memory_id: str) -> tuple[str, str]:
    """Return whose file an id is of, and the id of the turn in it; neither need exist."""
    quoted, _, turn_id = memory_id.partition("/")
    return unquote(quoted), turn_id


def _time_of(given: datetime | int, now: datetime, memory: EvimemMemory) -> datetime:
    """Return a time, or seconds since 1970, as a time of the memory's kind, which is that of `now`.

    Raise InvalidQuery for anything else.
    """
    try:
        time = datetime.fromtimestamp(given, timezone.utc) if isinstance(given, int) else given
        is_same, naive = (time.tzinfo is None) == (now.tzinfo is None), now.tzinfo is None
        return time if is_same else memory._core.store.times.local_now(time.timestamp(), naive=naive)
    except (AttributeError, OverflowError, ValueError, OSError) as error:
        raise InvalidQuery(f"the timestamp is {shown(given)}; expected seconds since 1970 of the calendar") from error


def _mapping(name: str, value: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a mapping, empty for None. Raise InvalidQuery for anything else."""
    if value is None or isinstance(value, Mapping):
        return dict(value or {})
    raise InvalidQuery(f"{name} is {shown(value)}; expected a mapping")


def _scope(given: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the owner of the file, and the scopes. Raise InvalidQuery without any, and for unsupported ones."""
    kept = {name: given[name] for name in SCOPES if given.get(name) is not None}
    other = sorted(name for name in given if name not in SCOPES and given[name] not in (None, False))
    if other:
        raise InvalidQuery(f"evimem has no {', '.join(other)}; leave it out (see evimem.adapters.mem0)")
    if not kept or not all(isinstance(value, str) and value for value in kept.values()):
        raise InvalidQuery(f"the scope is {shown(kept)}; expected a string for one of {', '.join(SCOPES)}")
    return "=".join(next(iter(kept.items()))), kept


def _where(filters: Mapping[str, Any] | None, scope: Mapping[str, Any]) -> tuple[str, dict[str, Any], _Span]:
    """Return whose file it is, the conditions on metadata, and those on the time.

    mem0 takes scopes among the filters, and took them beside them.
    """
    conditions = _mapping("filters", filters)
    for also in [_mapping("AND", one) for one in checked_items("AND", conditions.pop("AND", []), "filters")]:
        conditions |= {
            name: _combine_conditions(name, conditions[name], one) if name in conditions else one
            for name, one in also.items()
        }
    named = {name: conditions.pop(name) for name in SCOPES if name in conditions}
    owner, kept = _scope({**scope, **named})
    if wrong := sorted(name for name in conditions if name in {"OR", "NOT", "AND"}):
        raise InvalidQuery(f"filters have {', '.join(wrong)}; expected conditions that hold all at once")
    span: _Span = []
    for name in ("created_at", "updated_at"):
        span += _span(name, conditions.pop(name)) if name in conditions else []
    own = {"metadata": {k: _condition(k, v) for k, v in conditions.items()}} if conditions else {}
    return owner, {**kept, **own}, span


def _combine_conditions(name: str, one: Any, other: Any) -> Any:
    """Combine two conditions on one name. Raise InvalidQuery where both have the same operator."""
    if one == other:
        return one
    first, second = (dict(each) if isinstance(each, Mapping) else {"eq": each} for each in (one, other))
    if twice := sorted(set(first) & set(second)):
        raise InvalidQuery(f"filters have two conditions {', '.join(twice)} on {shown(name)}; give one of them")
    return first | second


def _span(name: str, wanted: Any) -> Iterator[tuple[str, datetime]]:
    """Yield the conditions on the time of turns. Raise InvalidQuery for any other."""
    for order, value in (wanted if isinstance(wanted, Mapping) else {"eq": wanted}).items():
        time = None if order not in _COMPARISONS else checked_time(name, value)
        if time is None:
            raise InvalidQuery(
                f"the filter of {name} has {shown(order)}; expected {', '.join(sorted(_COMPARISONS))} with a time"
            )
        yield order, time


def _is_within(turn: Turn, span: _Span) -> bool:
    """Return whether a turn was said in a time. A bound without an offset is read as the times of the memory are."""
    for order, bound in span:
        time = turn.time
        if (bound.tzinfo is None) != (time.tzinfo is None):
            time = time.replace(tzinfo=None) if bound.tzinfo is None else time.astimezone(bound.tzinfo)
        if not _COMPARISONS[order](time, bound):
            return False
    return True


def _condition(key: str, wanted: Any) -> Any:
    if not isinstance(wanted, Mapping):
        if wanted == "*":
            raise InvalidQuery(f"the filter of {shown(key)} is '*'; expected a value or {', '.join(sorted(_ORDERS))}")
        return wanted
    if unknown := [shown(name) for name in wanted if name not in _ORDERS]:
        raise InvalidQuery(
            f"the filter of {shown(key)} has {', '.join(unknown)}; expected {', '.join(sorted(_ORDERS))}"
        )
    return {f"${order}": value for order, value in wanted.items()}


def _id(owner: str, turn_id: str) -> str:
    return f"{quote(owner, safe='=@')}/{turn_id}"


def _entry(owner: str, turn: Turn) -> dict[str, Any]:
    scopes = {name: turn.metadata[name] for name in SCOPES if name in turn.metadata}
    at = turn.time.isoformat()
    return {
        "id": _id(owner, turn.id), "memory": turn.text or turn.caption or "", "role": turn.role,
        "metadata": turn.metadata.get("metadata") or None, "created_at": at,
        "updated_at": turn.metadata.get(CORRECTED_AT, at), **scopes,
    }  # fmt: skip
