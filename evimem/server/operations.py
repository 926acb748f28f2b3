"""Work that outlasts its request, an import or an enrichment: under way in one worker, seen and cancelled from any."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Any, Literal

import orjson

from .problems import Refusal, encode_json, problem_document

OperationKind = Literal["import", "enrich"]
Work = Callable[[Callable[[int], None]], Awaitable[dict[str, Any]]]
_MAX_OPERATIONS = 1_000  # operations that can still be looked at; the oldest that have ended are dropped
_PROGRESS_NOTE_SECONDS = 0.5


class _Cancelled(Exception):
    """Ends the work of an operation from within its progress."""


@dataclass
class Operations:
    """The operations of all workers of a server, a file each in their common `folder`, without a word of any memory."""

    folder: Path
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def start(self, kind: OperationKind, user: str, work: Work) -> dict[str, Any]:
        """Begin the work of a user in this worker; return its state, whose `id` tells where it stands later."""
        name = secrets.token_urlsafe(12)
        state = {"id": name, "kind": kind, "status": "running", "done": 0, "result": None, "problem": None}
        kept = {**state, "user": _hash_user(user), "worker": os.getpid()}
        self._write_state(kept)
        self._delete_oldest()
        task = asyncio.create_task(self._run_operation(kept, work))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return state

    def read_state(self, user: str, name: str) -> dict[str, Any]:
        """Return the state of an operation of a user. Raise Refusal (404) where there is none of this id."""
        try:
            if not name.replace("-", "").replace("_", "").isalnum():
                raise FileNotFoundError
            kept = orjson.loads(self._state_file(name).read_bytes())
        except (OSError, ValueError):
            kept = {}
        if kept.pop("user", None) != _hash_user(user):
            raise Refusal(
                404, "UnknownOperation", "no operation of this id; expected one that an import or enrich gave"
            )
        if not is_running(kept.pop("worker")) and kept["status"] == "running":
            gone = Refusal(
                500, "WorkerEnded", "the worker ended meanwhile; repeat the request, which goes on from there"
            )
            kept |= {"status": "failed", "problem": problem_document(gone)}
        return dict(kept)

    def cancel(self, user: str, name: str) -> dict[str, Any]:
        """End an operation before its next batch; durable turns stay. Raise Refusal as `read` does."""
        state = self.read_state(user, name)
        if state["status"] == "running":
            self._state_file(name, "cancel").touch()
        return state

    async def end_all(self) -> None:
        """End those of this worker, each before its next batch."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _run_operation(self, kept: dict[str, Any], work: Work) -> None:
        noted = monotonic()

        def tell(count: int) -> None:
            nonlocal noted
            kept["done"] += count
            if monotonic() - noted >= _PROGRESS_NOTE_SECONDS:
                noted = monotonic()
                self._write_state(kept)
            if self._state_file(kept["id"], "cancel").exists():
                raise _Cancelled

        try:
            kept |= {"result": await work(tell), "status": "done"}
        except (_Cancelled, asyncio.CancelledError):
            kept |= {"status": "cancelled"}
        except Exception as error:  # noqa: BLE001 - told to who asks for the operation, and logged
            kept |= {"status": "failed", "problem": problem_document(error)}
        self._write_state(kept)
        self._state_file(kept["id"], "cancel").unlink(missing_ok=True)

    def _state_file(self, name: str, kind: str = "operation") -> Path:
        return self.folder / f"{name}.{kind}"

    def _write_state(self, kept: dict[str, Any]) -> None:
        fresh = self._state_file(kept["id"], "new")
        fresh.write_bytes(encode_json(kept))
        fresh.replace(self._state_file(kept["id"]))

    def _delete_oldest(self) -> None:
        there = sorted(self.folder.glob("*.operation"), key=lambda path: path.stat().st_mtime)
        for path in there[:-_MAX_OPERATIONS]:
            with suppress(OSError):  # another worker drops it too
                path.unlink()


def _hash_user(user: str) -> str:
    return blake2b(user.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def is_running(process: int) -> bool:
    """Return whether a process of this machine runs."""
    if process == os.getpid() or not hasattr(os, "fork"):  # without that there is one worker
        return process == os.getpid()
    try:
        os.kill(process, 0)
    except PermissionError:  # of another user
        return True
    except OSError:
        return False
    return True
