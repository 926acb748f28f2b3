"""What was acknowledged survives a power cut at any moment, whatever the disk had not yet kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from .support.power import Log, cuts, logged, points
from .support.scale import bound, sizes
from .support.work import complaint, work_log
from .support.world import open_memory, small_thresholds

STEPS = 90


def recorded(folder: Path, seed: int, checkpoint: int) -> Log:
    log = Log()
    with logged(log) as vfs, open_memory(folder / "m.evimem", vfs=vfs) as memory:
        memory._core.store._db.execute(f"PRAGMA wal_autocheckpoint={checkpoint}")
        for model in work_log(memory, seed, STEPS):
            log.ack(model)
    return log


def restored(folder: Path, files: dict[str, bytes]) -> Path:
    for old in folder.iterdir():
        old.unlink()
    for name, content in files.items():
        (folder / Path(name).name).write_bytes(content)
    return folder / "m.evimem"


@pytest.mark.parametrize("checkpoint", [8, 1000])
@pytest.mark.parametrize("count", sizes(500, nightly=25_000, reduced=120))
def test_no_acknowledged_turn_is_lost_to_a_power_cut(
    disk: Path, seed: int, count: int, checkpoint: int, tell: Callable[[str], None]
) -> None:
    (disk / "work").mkdir()
    (disk / "left").mkdir()
    with small_thresholds():
        log = recorded(disk / "work", seed, checkpoint)
        for point, damage, files in cuts(log, points(log, count, Random(seed)), seed):
            promised, under_way = log.promised(point)
            allowed = [model for model in (promised or {}, under_way) if model is not None]
            found = complaint(restored(disk / "left", files), allowed)
            assert found is None, f"seed {seed}, point {point} of {len(log.ops)}, damage {damage!r}: {found}"
    tell(f"{count} power cuts in {len(log.ops)} disk operations: 0 acknowledged turns lost, {bound(count)}")
