"""Where the explorer's memories come from: one that is open, or a pool with one for each user."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import ClassVar, Protocol

from ..api.memory import Memory
from ..api.pool import MemoryPool
from ..errors import InvalidQuery


class Source(Protocol):
    """Opens the memory that a page shows.

    Attributes:
        name: A name for headings, such as that of the file.
        has_users: Whether there is a memory for each user, so that a page names its user.
        suggested_user: The user whom the page that asks for one suggests; empty for none.
    """

    @property
    def name(self) -> str: ...

    @property
    def has_users(self) -> bool: ...

    @property
    def suggested_user(self) -> str: ...

    def open_memory(self, user: str) -> AbstractContextManager[Memory]: ...


@dataclass(frozen=True)
class OneMemory:
    """A memory that is open for as long as the explorer runs."""

    has_users: ClassVar[bool] = False
    suggested_user: ClassVar[str] = ""

    memory: Memory
    name: str

    @contextmanager
    def open_memory(self, user: str) -> Iterator[Memory]:
        """Yield the memory; `user` is not needed."""
        yield self.memory


@dataclass(frozen=True)
class PoolOfMemories:
    """A pool: each page names the user whose memory it shows. Memories are never made by looking."""

    has_users: ClassVar[bool] = True

    pool: MemoryPool
    name: str
    suggested_user: str = ""

    @contextmanager
    def open_memory(self, user: str) -> Iterator[Memory]:
        """Yield the memory of a user.

        Raises:
            InvalidQuery: The user has no memory.
        """
        if user not in self.pool:
            raise InvalidQuery("there is no memory of this user; give the id under which its turns were stored")
        with self.pool.open(user) as memory:
            yield memory
