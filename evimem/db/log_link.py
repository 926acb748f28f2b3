"""Whether a memory's file and the log beside it belong together, read without SQLite applying one to the other.

SQLite applies whatever valid log lies beside a file, also that of another file or of another state of it, and then
serves a mixture of both. So each transaction writes a link under `LINK` of `meta`: its own random digest, keyed by the
memory's id, and that of the state before it. A log fits a file that is in the state before its first transaction or,
after a checkpoint, in one of its own states.

A handle that is closed notes the state it leaves under `CLOSED`. Any later transaction has another state, so that a
file in another one than it was closed in has, or had, a log beside it.
"""

from __future__ import annotations

import re
import secrets
from hashlib import blake2b

LINK = "link"
CLOSED = "closed"
NO_STATE = "0" * 32  # before the first link of a memory
LINK_FORM = re.compile(rb"evimem-link:([0-9a-f]{32}):[0-9a-f]{16}:([0-9a-f]{32})")


def make_next_link(store: str, link: str | None) -> str:
    """Return the link of the state that follows the one with this link, of the memory with this id."""
    before, nonce = state_after_link(store, link) or NO_STATE, secrets.token_hex(8)
    return f"evimem-link:{before}:{nonce}:{_hash_link(store, before, nonce)}"


def state_after_link(store: str | None, link: str | None) -> str | None:
    """Return the state that a link of a memory led to; `NO_STATE` without one, None for one that was torn."""
    if store is None or link is None:
        return NO_STATE
    _, before, nonce, state = link.split(":") if link.count(":") == 3 else [""] * 4
    return state if state == _hash_link(store, before, nonce) else None


def _hash_link(store: str, before: str, nonce: str) -> str:
    return blake2b(f"{before}:{nonce}".encode(), digest_size=16, key=store.encode()).hexdigest()
