"""Acknowledged turns survive a power cut at any moment, whatever the disk had not written yet."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from evimem.db import schema
from evimem.db.connection import Connection
from tests.sizes import bound, sizes

from .support.power import Damage, Log, cuts, logged, points
from .support.work import complaint, work_log
from .support.world import open_memory, said, small_thresholds

STEPS = 90


def recorded(folder: Path, seed: int, checkpoint: int) -> Log:
    log = Log()
    with logged(log) as vfs, open_memory(folder / "m.evimem", vfs=vfs) as memory:
        memory._core.store.db.execute(f"PRAGMA wal_autocheckpoint={checkpoint}")
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
@pytest.mark.parametrize("count", sizes(150, nightly=25_000, reduced=25))
def test_no_acknowledged_turn_is_lost_to_a_power_cut(disk, seed, count, checkpoint, tell):
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


def m_next(db: Connection) -> None:
    """A migration like later ones: it alters a table, fills the new column, and replaces another table."""
    db.execute("ALTER TABLE turn ADD COLUMN words INTEGER")
    db.execute("UPDATE turn SET words = length(text)")
    db.execute("CREATE TABLE moved (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    db.execute("INSERT INTO moved SELECT * FROM meta")
    db.execute("DROP TABLE meta")
    db.execute("ALTER TABLE moved RENAME TO meta")


@pytest.mark.parametrize("count", sizes(100, nightly=1_000, reduced=15))
def test_a_migration_that_a_power_cut_interrupts_is_whole_or_has_not_begun(disk, seed, count, monkeypatch, tell):
    for name in ("work", "left"):
        (disk / name).mkdir()
    path = disk / "work" / "m.evimem"
    log = Log()
    with small_thresholds():
        with open_memory(path) as memory:
            turns = list(work_log(memory, seed, 20))[-1]
        log.ops += [("content", str(file), file.read_bytes()) for file in path.parent.iterdir()]
        log.ops += [("folder", str(path.parent))]
        monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, (m_next,)))
        begun = len(log.ops)
        with logged(log) as vfs, open_memory(path, vfs=vfs):
            pass
        log.ack(turns)
        where = [(max(point, begun), damage) for point, damage in points(log, count, Random(seed))]
        for point, damage, files in cuts(log, where, seed):
            left = restored(disk / "left", files)
            case = f"seed {seed}, point {point} of {len(log.ops)}, damage {damage!r}"
            assert complaint(left, [turns]) is None, case
            with open_memory(left) as memory:
                db = memory._core.store.db
                assert schema.count_migrations(db) == len(schema.MIGRATIONS)
                assert db.read_value("SELECT count(*) FROM turn WHERE words IS NULL") == 1, (
                    case
                )  # the one of `complaint`
    tell(f"{count} power cuts in a migration of {len(log.ops) - begun} disk operations: whole or not begun")


@pytest.mark.parametrize("count", sizes(24, nightly=1_000, reduced=12))
def test_a_power_cut_at_any_write_leaves_the_old_or_the_new_version_of_replaced_turns(disk, seed, count, tell):
    (disk / "work").mkdir()
    (disk / "left").mkdir()
    old = {turn.id: replace(turn, role="user") for turn in map(said, range(6))}
    new = [replace(old[name], text=f"I never said so, and have no puppy {name}.") for name in ("t1", "t4")]
    left = {name: turn for name, turn in old.items() if name not in {"t1", "t4"}} | {turn.id: turn for turn in new}
    log = Log()
    with small_thresholds():
        with logged(log) as vfs, open_memory(disk / "work" / "m.evimem", vfs=vfs) as memory:
            memory.extend(old.values(), strict=True)
            log.ack(old)
            first = len(log.ops)
            memory.extend(new, strict=True, replace=True)
            log.ack(left)
        damages: tuple[Damage, ...] = ("kept", "lost")  # as after a kill, and as after a power cut
        every = [(point, damage) for point in range(first, len(log.ops) + 1) for damage in damages]
        chosen = sorted(Random(seed).sample(every, min(count, len(every))))
        for point, damage, files in cuts(log, chosen, seed):
            promised, under_way = log.promised(point)
            allowed = [model for model in (promised, under_way) if model is not None]
            found = complaint(restored(disk / "left", files), allowed)
            assert found is None, f"seed {seed}, point {point} of {len(log.ops)}, damage {damage!r}: {found}"
    tell(f"{len(chosen)} kills and power cuts of {len(every)} in a replacement: the old or the new version was there")
