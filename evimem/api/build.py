"""`build` and `copy`: whole memories, from files of turns by several processes, or from another memory."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from threading import Thread
from typing import Any, TypeAlias

from ..db.atomic_files import create_database, kind_of
from ..db.connection import Connection
from ..db.encryption import Key, optional_key
from ..db.postgres_schema import copy_rows, find_differing_tables
from ..db.schema import migrate
from ..db.tables import Tables
from ..errors import DiskFull, EvimemError, InvalidQuery, StoreCorrupt, StoreError, StoreReadOnly, shown
from ..ingest.partitions import UserTask, list_dataset_files, lock_build, split_by_user
from ..loaders.formats import parse_turn
from ..store.open_file import open_checked, resolve_memory_path
from ..types.public_value import AnyPath, is_server
from ..types.results import AddReport, BuildReport, CopyReport
from ..types.values import Turn
from .checked_arguments import Progress, checked_count, checked_path, checked_progress
from .memory import Memory
from .open import key_of, make_core, place_of

_MAX_KILLS = 3  # workers that a user may end before it is set aside
_OPTIONS = frozenset(("key", "embedder", "extractor", "clock", "timezone", "date_order"))
_FATAL = {one.__name__: one for one in (DiskFull, InvalidQuery, StoreReadOnly)}  # the next user would fare no better


def build(
    dataset: AnyPath,
    target: AnyPath,
    *,
    by: str = "user",
    workers: int | None = None,
    executor: Executor | None = None,
    manifest: AnyPath | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> BuildReport:
    """Build the memory of each user of a data set, and derive all that follows from its turns (see `Memory.enrich`).

    Repeat the call after whatever ended it: users that are done are skipped, turns that are stored are not stored
    again. A user whose lines raise, or end three workers, is set aside with the reason, and the rest go on. A script
    that calls it needs `if __name__ == "__main__":` around the call: its workers import the script.

    Args:
        dataset: A file of turns, one JSON object a line, in any order, or a folder of .jsonl files: see
            `loaders.formats.read_turns`, with one more field that names the user. It is copied once, ordered by user,
            into a folder beside the manifest.
        target: The folder of a `MemoryPool`, or the address of a server.
        by: The field that names the user.
        workers: Processes; by default as many as there are processors.
        executor: The executor of the tasks, such as of a cluster, whose machines see the same paths; it stays open.
        manifest: Where it is noted which users are done; by default `build.manifest` in the folder, or of a server
            beside `dataset`.
        progress: Called with the number of turns of each user that is done.
        options: `key`, `embedder`, `extractor`, `clock`, `timezone` and `date_order` of every memory (see
            `evimem.open`), such as can be pickled.

    Returns:
        Counts, refused lines, and the users that were set aside.

    Raises:
        ImportFailed: There is no data set at the path.
        InvalidQuery: `workers` is below 1, or an option is not as `evimem.open` describes.
        StoreBusy: Another build uses the manifest.
        StoreError: The memories cannot be written at all, such as DiskFull; finished users stay done.
    """
    started, said = time.monotonic(), checked_progress(progress)
    count = checked_count("workers", workers or os.cpu_count() or 1, 1)
    files = list_dataset_files(checked_path("dataset", dataset))
    place_of(target, "target")  # makes it
    noted = f"{files[0]}.manifest" if is_server(target) else os.path.join(target, "build.manifest")
    if unknown := sorted(options.keys() - _OPTIONS):
        raise InvalidQuery(f"build takes no {unknown[0]}=; expected {', '.join(sorted(_OPTIONS))}")
    work = partial(build_user, os.fspath(target), by, options)
    tally = _Tally()
    with lock_build(checked_path("manifest", manifest or noted)) as (known, parts):

        def left() -> Iterator[UserTask]:
            for task in split_by_user(files, by, parts, lambda item: tally.refuse(str(item))):
                if known.is_done(key_of(task.user), task.digest):
                    tally.counts["done"] += 1
                else:
                    yield task

        def record_done(done: list[tuple[UserTask, Built]]) -> None:
            whole = [(task, built) for task, built in done if not built.error]
            known.mark_done(
                [
                    {"user": key_of(task.user), "digest": task.digest, "turns": built.turns, "facts": built.facts}
                    for task, built in whole
                ]
            )
            for task, built in done:
                tally.add(task.user, built)
                said(built.turns)

        with closing(_Runner(count, executor)) as runner:
            runner.run(work, left(), record_done)
    return tally.report(time.monotonic() - started)


@dataclass(frozen=True, slots=True)
class Built:
    """The outcome for a user: counts, refusals and the memory's size; or an error, of evimem's with its class."""

    turns: int = 0
    added: int = 0
    existing: int = 0
    facts: int = 0
    refused: tuple[str, ...] = ()
    error: str = ""
    kind: str = ""


Work: TypeAlias = "Callable[[UserTask], Built]"  # the work of a worker on a task


def build_user(target: str, by: str, options: Mapping[str, Any], task: UserTask) -> Built:
    """Build one memory, in a worker: an error comes back as text, for not every one can be pickled."""
    for attempt in range(_MAX_KILLS):
        try:
            return _built(target, by, options, task)
        except EvimemError as error:
            retried = getattr(error, "retryable", False) and attempt + 1 < _MAX_KILLS
            if not retried:
                return Built(error=str(error), kind=type(error).__name__)
            # Retry after 0.2 seconds, then after twice as long each time.
            time.sleep(0.2 * 2**attempt)
        except Exception as error:  # noqa: BLE001 - of the user's own extractor or embedder; the rest go on
            return Built(error=f"{type(error).__name__}: {error}")
    raise AssertionError("the last attempt returns")


def _built(target: str, by: str, options: Mapping[str, Any], task: UserTask) -> Built:
    refused: list[str] = []

    def turns() -> Iterator[Turn]:
        for number, line in enumerate(task.read_lines(), start=1):
            try:
                yield parse_turn(line, beside=by)
            except ValueError as error:
                refused.append(f"{shown(task.user)}, line {number} of theirs: {error}")

    key = key_of(task.user)
    with Memory(make_core(_place(target).locate(key), owner=key, **options), None) as memory:
        report: AddReport = memory.extend(turns())
        memory.enrich()
        facts = memory.stats().facts
    for one in report.statuses:
        if one.outcome == "refused":
            refused.append(f"{shown(task.user)}, turn {one.id!r}: {one.reason}")
    return Built(len(report.statuses), report.added, report.existing, facts, tuple(refused))


@cache
def _place(target: str) -> Any:
    """Return where memories stand; of a server, with a connection that is kept from one user to the next."""
    if is_server(target):
        from ..db.postgres_connections import borrow_server  # noqa: PLC0415 - it needs an extra

        borrow_server(target)
    return place_of(target, "target")


class _Tally:
    """The outcomes for all users so far."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.refusals: list[str] = []
        self.set_aside: dict[str, str] = {}

    def refuse(self, *reasons: str) -> None:
        self.counts["refused"] += len(reasons)
        # At most 100 refusals are kept with their reasons.
        self.refusals += reasons[: max(0, 100 - len(self.refusals))]

    def add(self, user: str, built: Built) -> None:
        if built.error:
            self.set_aside[user] = built.error
            return
        self.counts.update(users=1, turns=built.turns, added=built.added, existing=built.existing)
        self.refuse(*built.refused)

    def report(self, seconds: float) -> BuildReport:
        counts = {name: self.counts[name] for name in ("users", "done", "turns", "added", "existing", "refused")}
        return BuildReport(**counts, refusals=tuple(self.refusals), set_aside=self.set_aside, seconds=seconds)


class _Runner:
    """Runs tasks in processes, a few a worker in flight; when a worker dies, those in flight are run again, singly."""

    def __init__(self, workers: int, given: Executor | None) -> None:
        self._workers = workers
        self._given = given
        self._pool = given or self._new()

    def run(
        self, work: Work, tasks: Iterator[UserTask], record_done: Callable[[list[tuple[UserTask, Built]]], None]
    ) -> None:
        """Run all tasks, and hand over their outcomes. Raise the error that ends the build."""
        waiting: dict[Future[Built], UserTask] = {}
        while True:
            # Four tasks a worker, its current one included.
            while len(waiting) < 4 * self._workers and (task := next(tasks, None)):
                waiting[self._pool.submit(work, task)] = task
            if not waiting:
                return
            done, lost = [], []
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                task = waiting.pop(future)
                try:
                    done.append((task, future.result()))
                except BrokenExecutor:
                    lost.append(task)
            record_done(done)
            _raise_fatal(done)
            if lost:
                lost += waiting.values()
                waiting.clear()
                self._renew()
                for task in lost:
                    done = [(task, self._alone(work, task))]
                    record_done(done)
                    _raise_fatal(done)

    def _alone(self, work: Work, task: UserTask) -> Built:
        """Run a task with no other, so that it is known which one a worker dies of."""
        for _ in range(_MAX_KILLS):
            try:
                return self._pool.submit(work, task).result()
            except BrokenExecutor:
                self._renew()
        return Built(error=f"{_MAX_KILLS} worker processes ended while they built this user's memory")

    def _new(self) -> ProcessPoolExecutor:
        pool = ProcessPoolExecutor(self._workers, multiprocessing.get_context("spawn"), initializer=_watch_parent)
        try:
            pool.submit(int).result()
        except BrokenExecutor as error:
            raise InvalidQuery(
                "no worker process could be started: they import the script that calls build, so put the call under "
                "`if __name__ == '__main__':`"
            ) from error
        return pool

    def _renew(self) -> None:
        if self._given is not None:
            raise InvalidQuery("the executor is broken; make a new one and repeat the build, which goes on from here")
        self._pool.shutdown(wait=False)
        self._pool = self._new()

    def close(self) -> None:
        """End the processes; an executor that was given stays open."""
        if self._given is None:
            self._pool.shutdown(cancel_futures=True)


def _watch_parent() -> None:
    """Have this worker end as soon as its parent does: one that was killed ends no worker, and they hold its output."""
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _raise_fatal(done: list[tuple[UserTask, Built]]) -> None:
    for task, built in done:
        if built.kind in _FATAL:
            raise _FATAL[built.kind](f"the memory of {shown(task.user)} cannot be built, nor any other: {built.error}")


def copy(
    source: AnyPath,
    target: AnyPath,
    *,
    user: str | None = None,
    verify: bool = False,
    progress: Progress | None = None,
    key: bytes | str | None = None,
    target_key: bytes | str | None = None,
) -> CopyReport:
    """Copy a memory, between a file and a server, two servers, or two files.

    The target has every row of the source: turns, facts, edges, queued jobs, traces, and forgotten turns stay
    known to be. It answers as the source does, to the last bit. It is there whole when the call returns, and not at all
    where the call raises or is killed. Later writes to the source are not in it.

    Args:
        source: The file of a memory, or the address of a server: see `evimem.open`.
        target: A file that is not there yet, or the address of a server where the user has no turn yet, nor ever had.
        user: Whose memory it is on a server; for a file of a `MemoryPool`, the user that it belongs to.
        verify: Read every row again at the target, and compare it, before it is committed.
        progress: Called with the number of turns of each batch.
        key: Of a source that is an encrypted file.
        target_key: With which to encrypt the target, a file; without it, it is not encrypted.

    Raises:
        InvalidQuery: There is no memory at `source`, or `user` is missing, or given though neither is a server.
        StoreCorrupt: `verify` found other rows than were read; nothing was copied.
        StoreError: The target holds a memory, the source is another user's, or either cannot be opened or written: see
            `evimem.open`.
    """
    said = checked_progress(progress)
    served = is_server(source) or is_server(target)
    if user is not None and not served:
        raise InvalidQuery("user is given but both paths are those of files; leave it out")
    owner = key_of(user) if served else None
    with (
        _source(source, owner, optional_key(key)) as old,
        _target(target, owner, optional_key(target_key, "target_key")) as new,
        old.reading(),
        new.writing(),
    ):
        kept = old.read_meta("owner").get("owner", owner)
        if owner is not None and kept != owner:
            raise StoreError(f"{old.name!r} belongs to another user of a pool; give that user's id")
        copied = copy_rows(old, new, said)
        if verify and (wrong := find_differing_tables(new, copied)):
            raise StoreCorrupt(f"{new.name!r} did not keep what was written to {', '.join(wrong)}; nothing was copied")
        if kept is not None:
            new.set_meta("owner", kept)
    rows = {table: one.rows for table, one in copied.items()}
    return CopyReport(rows["turn"], rows["fact"], sum(rows.values()), verify)


@contextmanager
def _source(path: AnyPath, owner: str | None, key: Key | None) -> Iterator[Tables]:
    if owner is not None and is_server(path):
        from ..db.postgres import tenant_exists  # noqa: PLC0415 - it needs an extra

        with _open_server(path, owner) as db:
            if not tenant_exists(db):
                raise InvalidQuery(f"there is no memory of this user at {db.name!r}; check the user id")
            yield db
        return
    file = resolve_memory_path(checked_path("source", path))
    if kind_of(file) is None:
        raise InvalidQuery(f"there is no memory at {str(file)!r}; give the path of one")
    with closing(open_checked(file, None, 5.0, key)) as opened:
        yield opened


@contextmanager
def _target(path: AnyPath, owner: str | None, key: Key | None) -> Iterator[Tables]:
    if owner is not None and is_server(path):
        with _open_server(path, owner) as db:
            yield db
        return
    file = resolve_memory_path(checked_path("target", path))
    with create_database(file, "nothing was copied") as temporary, closing(Connection(temporary, key=key)) as made:
        migrate(made)
        made.mark_verified()  # its log goes when it is closed
        made.name = str(file)
        yield made


@contextmanager
def _open_server(address: AnyPath, owner: str) -> Iterator[Tables]:
    from ..db.postgres import PostgresConnection  # noqa: PLC0415 - it needs an extra
    from ..store.postgres_store import tenant_of  # noqa: PLC0415 - it needs an extra

    with closing(PostgresConnection(str(address), tenant_of(owner))) as db:
        yield db
