"""A disk that fails at any single operation gives a typed error, and no acknowledged turn is lost."""

import contextlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from evimem import DiskFull, EvimemError, Memory, StoreError
from tests.sizes import REDUCED, bound, sizes

from .support.faults import Disk, Kind, failing, failing_files
from .support.power import Log, cuts, logged, points
from .support.work import complaint, work_log
from .support.world import open_memory, said, small_thresholds
from .test_power_loss import restored

FAILURES: tuple[Kind, ...] = ("broken", "full")
KINDS: tuple[Kind, ...] = (*FAILURES, "short read")


@dataclass(slots=True)
class Promises:
    """The calls made on a memory, and which of them were acknowledged."""

    kept: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    batches: list[set[str]] = field(default_factory=list)
    errors: list[EvimemError] = field(default_factory=list)


def work(memory: Memory, promises: Promises) -> None:
    """Add 15 turns in various ways, forget some; go on after errors, as a server would."""

    def keep(first: int, last: int) -> None:
        turns = [said(number) for number in range(first, last)]
        promises.batches.append({turn.id for turn in turns})
        memory.extend(turns, strict=True)
        promises.kept |= promises.batches[-1]

    def forget(*ids: str) -> None:
        promises.batches.append(set(ids))
        wanted = set(ids) & promises.kept
        promises.kept -= wanted
        memory.forget(turns=sorted(wanted))
        promises.gone |= wanted

    steps: list[Callable[[], object]] = [
        lambda: keep(0, 1), lambda: keep(1, 2), lambda: keep(2, 9), lambda: forget("t1", "t4"),
        lambda: keep(9, 10), memory.enrich, memory.rebuild, lambda: keep(10, 14),
        lambda: memory.search("puppy", k=3), lambda: forget("t0"), lambda: keep(14, 15),
    ]  # fmt: skip
    for step in steps:
        try:
            step()
        except EvimemError as error:
            promises.errors.append(error)


def broken_promise(path: Path, promises: Promises) -> str | None:
    """Return which acknowledged turns are missing, which turns are unexpected, and which batches are half there."""
    with open_memory(path) as memory:
        stored = {turn.id for turn in memory.turns()}
        if lost := promises.kept - stored:
            return f"acknowledged turns are missing: {sorted(lost)}"
        if back := promises.gone & stored:
            return f"forgotten turns are there: {sorted(back)}"
        for batch in promises.batches:
            left = batch - promises.gone
            if stored & left and left - stored - promises.gone and not batch & {"t0", "t1", "t4"}:
                return f"half of a batch is there: {sorted(stored & left)} of {sorted(left)}"
        if problems := memory.check().problems:
            return f"derived rows differ: {problems}"
    return None


def attempt(path: Path, vfs: str, disk: Disk) -> Promises:
    """Work while the disk fails, then after it has recovered, with the same handle if there is one."""
    promises = Promises()
    memory = None
    try:
        memory = open_memory(path, vfs=vfs, index_from=8)
        work(memory, promises)
    except EvimemError as error:
        promises.errors.append(error)
    disk.disarm()
    if memory is None:
        memory = open_memory(path, vfs=vfs, index_from=8)
    memory.extend([said(20)], strict=True)
    promises.kept.add("t20")
    memory.close()
    return promises


def operations(folder: Path, vfs: str, disk: Disk) -> list[str]:
    disk.arm(10**9, "broken", stays=False)
    promises = attempt(folder / "clean.evimem", vfs, disk)
    assert promises.errors == []
    return disk.met


def places(met: Sequence[str], step: int, kinds: int) -> Iterator[tuple[int, Kind, bool]]:
    """Fail every n-th operation of each kind, once and for good, in so many ways; a sync in two, a read also short."""
    turns: Counter[str] = Counter()
    for at, what in enumerate(met):
        place, left = divmod(turns[what], step)
        turns[what] += 1
        if left:
            continue
        some = (FAILURES * 2)[(place + 1) % 2 :][: 2 if "sync" in what else kinds]
        for kind in (*some, *(["short read"] if what == "read" else [])):
            yield from ((at, kind, stays) for stays in (False, True))


@pytest.mark.parametrize(
    ("step", "kinds"), [(150, 1) if REDUCED else (6, 1), pytest.param(1, 2, marks=pytest.mark.nightly)]
)
def test_a_failing_disk_gives_typed_errors_and_loses_nothing(disk, step, kinds, tell):
    fired: Counter[str] = Counter()
    with small_thresholds(), failing() as (vfs, device), failing_files(device):
        met = operations(disk, vfs, device)
        assert {"open", "read", "write", "sync", "truncate", "delete", "fsync", "rename", "unlink"} <= set(met)
        total = len(met)
        for at, kind, stays in places(met, step, kinds):
            folder = disk / "run"
            folder.mkdir()
            device.arm(at, kind, stays=stays)
            promises = attempt(folder / "m.evimem", vfs, device)
            fired[kind] += device.fired
            case = f"operation {at} of {total}, {met[at]}, {kind}, {'for good' if stays else 'once'}"
            wrong = [error for error in promises.errors if not isinstance(error, StoreError)]
            assert not wrong, f"{case}: {wrong}"
            if kind == "full" and promises.errors and stays:
                assert any(isinstance(error, DiskFull) for error in promises.errors), f"{case}: {promises.errors}"
            found = broken_promise(folder / "m.evimem", promises)
            assert found is None, f"{case}: {found}; errors {promises.errors}"
            shutil.rmtree(folder)
    count = sum(fired.values())
    assert step > 1 or count >= 1_432
    what = f"{count} injected faults, {dict(fired)}, over {total} disk operations"
    tell(f"{what}: 0 acknowledged turns lost, 0 raw errors, {bound(count)}")


@pytest.mark.parametrize("count", sizes(150, nightly=500, reduced=12))
def test_a_disk_that_fails_during_recovery_loses_nothing(disk, seed, count, tell):
    random = Random(seed)
    log = Log()
    (disk / "work").mkdir()
    fired = 0
    with small_thresholds(), failing() as (failing_vfs, device):
        with logged(log) as vfs, open_memory(disk / "work" / "m.evimem", vfs=vfs) as memory:
            for model in work_log(memory, seed, 40):
                log.ack(model)
        for point, damage, files in cuts(log, points(log, count, random), seed):
            folder = disk / "left"
            folder.mkdir()
            for name, content in files.items():
                (folder / Path(name).name).write_bytes(content)
            device.arm(random.randint(0, 40), random.choice(KINDS), stays=random.random() < 0.5)
            with contextlib.suppress(StoreError):
                open_memory(folder / "m.evimem", vfs=failing_vfs).close()
            fired += device.fired
            device.disarm()
            promised, under_way = log.promised(point)
            allowed = [model for model in (promised or {}, under_way) if model is not None]
            found = complaint(folder / "m.evimem", allowed)
            assert found is None, f"seed {seed}, point {point}, damage {damage!r}, {device}: {found}"
            shutil.rmtree(folder)
    tell(f"{fired} faults while recovering from {count} power cuts: 0 acknowledged turns lost")


@pytest.mark.parametrize("checkpoint", [8, 1000])
def test_a_sync_that_fails_once_costs_nothing_that_is_acknowledged_later(disk, seed, checkpoint, tell):
    """After a failed sync the system takes the data for synced: only data that is written again is safe."""
    (disk / "left").mkdir()
    bad, done = 0, False
    with small_thresholds():
        while not done:
            folder, log, promises = disk / f"work-{bad}", Log(bad_sync=bad), Promises()
            folder.mkdir()
            with logged(log) as vfs, contextlib.suppress(StoreError):
                with open_memory(folder / "m.evimem", vfs=vfs, index_from=8) as memory:
                    memory._core.store.db.execute(f"PRAGMA wal_autocheckpoint={checkpoint}")
                    work(memory, promises)
                    memory.extend([said(20)], strict=True)
                    promises.kept.add("t20")
                    end = len(log.ops)
                for damage in ("lost", "random", "kept"):
                    ((_, _, files),) = cuts(log, [(end, damage)], seed)
                    found = broken_promise(restored(disk / "left", files), promises)
                    assert found is None, f"sync {bad}, then {damage!r}: {found}; errors {promises.errors}"
            done = log.syncs <= bad
            bad += 17 if REDUCED else 1
            shutil.rmtree(folder)
    tell(f"{bad} syncs, of which one failed once: 0 acknowledged turns lost to a power cut at the end")
