"""Files, logs and marks of two users that are exchanged, cut, lost or put back in any combination.

What opens is a whole state of the user's own memory, and none older than its mark says; everything else is refused.
"""

import os
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import apsw
import pytest

import evimem
from evimem import EvimemError, Memory, StoreRolledBack
from evimem.db.encryption import Key, optional_key
from tests.sizes import sizes

from .support.world import EMBEDDER, open_memory, said, small_thresholds

USERS = ("ana", "bo")
PARTS = ("", "-wal", ".mark")
PAGES_IN_LOG = 12  # before it is checkpointed: so few that most files are checkpointed in the middle


@dataclass(slots=True)
class Person:
    """A user at work: the live memory, every state that was acknowledged, and sets of its files as they once were."""

    name: str
    memory: Memory
    states: list[list[str]] = field(default_factory=list)
    kept: list[tuple[Path, int]] = field(default_factory=list)  # a folder, and the number of the state in it
    said: int = 0

    def live(self, random: Random) -> None:
        """Add, forget or replace a turn."""
        ids, act = self.states[-1] if self.states else [], random.random()
        if act < 0.7 or not ids:
            turn = said(self.said)
            turn = type(turn)(
                f"{self.name}{self.said}", turn.session, turn.speaker, f"{self.name} {turn.text}", turn.time
            )
            self.said += 1
            self.memory.extend([turn], strict=True)
        elif act < 0.85:
            self.memory.forget([random.choice(ids)])
        else:
            self.memory.update(random.choice(ids), f"{self.name} took that back")
        self.states.append([turn.id for turn in self.memory.turns()])

    def keep(self, folder: Path) -> None:
        """Copy the files as a crash at this moment would leave them."""
        folder.mkdir()
        path = Path(self.memory._core.store.name)
        for part in PARTS:
            if os.path.exists(f"{path}{part}"):
                shutil.copyfile(f"{path}{part}", folder / f"m.evimem{part}")
        self.kept.append((folder, len(self.states) - 1))


def person(disk: Path, name: str, random: Random, key: Key | None = None) -> Person:
    memory = open_memory(disk / f"{name}.evimem", owner=name, key=key)
    memory._core.store.db.execute(f"PRAGMA wal_autocheckpoint={PAGES_IN_LOG}")
    made = Person(name, memory)
    for number in range(12):
        for _ in range(random.randint(1, 4)):
            made.live(random)
        made.keep(disk / f"{name}-{number}")
    return made


@pytest.mark.parametrize("count", sizes(1_500, nightly=10_000, reduced=250))
@pytest.mark.parametrize("secret", [None, b"k" * 32], ids=["plain", "encrypted"])
def test_no_foreign_turn_and_no_older_state_is_served_whatever_lies_beside_what(disk, seed, count, secret, tell):
    if secret and not hasattr(apsw, "mc_version"):
        pytest.skip("apsw cannot encrypt: tests/encrypted runs this where it can")
    key = optional_key(secret)
    random, met = Random(seed), Counter[str]()
    with small_thresholds():
        people = [person(disk, name, random, key) for name in USERS]
        for number in range(count):
            owner = random.choice(people)
            folder, at_least = disk / "place", 0
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            main = random.choice(owner.kept)
            for part in PARTS:
                whose = owner if random.random() < 0.85 else random.choice(people)
                kept, state = main if whose is owner and random.random() < 0.5 else random.choice(whose.kept)
                if not (kept / f"m.evimem{part}").exists() or random.random() < 0.05:
                    continue
                shutil.copyfile(kept / f"m.evimem{part}", folder / f"m.evimem{part}")
                if random.random() < 0.1:
                    size = (folder / f"m.evimem{part}").stat().st_size
                    os.truncate(
                        folder / f"m.evimem{part}", random.choice((random.randrange(size + 1), size // 4120 * 4096))
                    )
                elif part == ".mark" and whose is owner:
                    at_least = state
            case = f"seed {seed}, number {number}"
            if random.random() < 0.5:
                met[outcome(folder / "m.evimem", owner, at_least, case, key, read_only=True)] += 1
            met[outcome(folder / "m.evimem", owner, at_least, case, key)] += 1
        for one in people:
            one.memory.close()
    assert met["opened"] > count / 20 < met["refused"]
    tell(f"{count} combinations of files of two users: {dict(met)}; 0 foreign turns, 0 states older than the mark")


@pytest.mark.parametrize("read_only", [False, True])
def test_a_cut_file_beside_a_later_log_that_holds_its_last_page_is_refused(disk, read_only):
    """SQLite alone refuses the file and takes it with the log: its state shows once its end reads as blank pages."""
    place = disk / "place"
    place.mkdir()
    with open_memory(disk / "m.evimem", owner="ana") as memory:
        store = memory._core.store
        memory.extend([said(0)])
        store.db.checkpoint()
        shutil.copyfile(store.name, place / "m.evimem")
        memory.extend([said(1)])
        store.db.checkpoint()
        memory.extend([said(2)])
        shutil.copyfile(f"{store.name}-wal", place / "m.evimem-wal")
    os.truncate(place / "m.evimem", (place / "m.evimem").stat().st_size - 4096)
    with pytest.raises(StoreRolledBack, match="was cut, or lies beside the log"):
        open_memory(place / "m.evimem", owner="ana", read_only=read_only)


@pytest.mark.parametrize("read_only", [False, True])
def test_a_cut_file_beside_its_own_log_is_refused_where_neither_holds_a_page(disk, read_only):
    place = disk / "place"
    place.mkdir()
    with open_memory(disk / "m.evimem", owner="ana") as memory:
        store, long = memory._core.store, said(0)
        memory.extend([type(long)(long.id, long.session, long.speaker, "lantern " * 20_000, long.time)])
        store.db.checkpoint()
        memory.extend([said(1)])
        for part in PARTS:
            shutil.copyfile(f"{store.name}{part}", place / f"m.evimem{part}")
    os.truncate(place / "m.evimem", (place / "m.evimem").stat().st_size // 8192 * 4096)
    with pytest.raises(StoreRolledBack, match="was cut, or lies beside the log"):
        open_memory(place / "m.evimem", owner="ana", read_only=read_only)


def outcome(path: Path, owner: Person, at_least: int, case: str, key: Key | None, *, read_only: bool = False) -> str:
    """Open what lies at a path; return whether it was refused, and check what was served."""
    try:
        with open_memory(path, owner=owner.name, read_only=read_only, key=key) as memory:
            found = [(turn.id, turn.text) for turn in memory.turns()]
            found += [(hit.turn.id, hit.turn.text) for hit in memory.search("took that back", k=5)]
            ids = [turn_id for turn_id, _ in found[: memory.stats().turns]]
    except EvimemError:
        return "refused"
    if not ids and not at_least:
        return "new"
    assert all(turn_id.startswith(owner.name) and text.startswith(owner.name) for turn_id, text in found), case
    assert ids in owner.states[at_least:], f"{case}: no state since the mark"
    return "opened"


def torn(path: Path, size: int) -> None:
    """Overwrite bytes of the page by which a file is told, as a power cut in a checkpoint may leave it."""
    page = path.read_bytes().index(b"evimem-link:") // 4096
    with path.open("rb+") as file:
        file.seek(4096 * page)
        file.write(b"\xff" * size)


def crashed(disk: Path, name: str, *, checkpointed: bool = False) -> Path:
    """Return a folder with the files of a user's memory as a killed process leaves them."""
    folder = disk / f"{name} crashed"
    folder.mkdir()
    with open_memory(disk / f"{name}.evimem") as memory:
        store = memory._core.store
        for number in range(3):
            turn = said(number)
            memory.extend([type(turn)(f"{name}{number}", turn.session, turn.speaker, f"{name} {number}", turn.time)])
            if checkpointed and number == 1:
                store.db.checkpoint()
        for part in PARTS:
            shutil.copyfile(f"{store.name}{part}", folder / f"m.evimem{part}")
    return folder


@pytest.mark.parametrize(("mark", "size"), [("ana", 512), ("bo", 512), (None, 512), ("ana", 4096), (None, 4096)])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_torn_file_beside_a_foreign_log_is_refused(disk, mark, size, read_only):
    ana, bo = (crashed(disk, name, checkpointed=True) for name in USERS)
    shutil.copyfile(bo / "m.evimem-wal", ana / "m.evimem-wal")
    (ana / "m.evimem.mark").unlink()
    if mark is not None:
        shutil.copyfile({"ana": disk / "ana.evimem.mark", "bo": bo / "m.evimem.mark"}[mark], ana / "m.evimem.mark")
    torn(ana / "m.evimem", size)
    with pytest.raises(StoreRolledBack):
        open_memory(ana / "m.evimem", read_only=read_only)


@pytest.mark.parametrize("size", [512, 4096])
def test_a_torn_file_beside_its_own_log_goes_on(disk, size):
    ana = crashed(disk, "ana", checkpointed=True)
    torn(ana / "m.evimem", size)
    with open_memory(ana / "m.evimem") as memory:
        assert [turn.text for turn in memory.turns()] == ["ana 0", "ana 1", "ana 2"]


@pytest.mark.parametrize("checkpointed", [False, True])
def test_a_file_in_use_that_was_copied_without_its_log_says_so(disk, caplog, checkpointed):
    ana = crashed(disk, "ana", checkpointed=checkpointed)
    (ana / "m.evimem-wal").unlink()
    (ana / "m.evimem.mark").unlink()
    with evimem.open(ana / "m.evimem", embedder=EMBEDDER) as memory:
        assert "its log is not beside it" in caplog.text
        assert "its log is not beside it" in memory.health().problems[0]
    caplog.clear()
    with evimem.open(ana / "m.evimem", embedder=EMBEDDER) as memory:
        assert not memory.health().problems
        assert not caplog.text


@pytest.mark.parametrize("size", [512, 4096])
def test_a_torn_file_goes_on_without_a_mark_beside_a_log_that_holds_every_page(disk, size):
    place = disk / "place"
    place.mkdir()
    with open_memory(disk / "m.evimem") as memory:
        memory.extend([said(0)])
        store = memory._core.store
        store.db.execute("VACUUM")
        for part in ("", "-wal"):
            shutil.copyfile(f"{store.name}{part}", place / f"m.evimem{part}")
    torn(place / "m.evimem", size)
    with open_memory(place / "m.evimem") as memory:
        assert len(list(memory.turns())) == 1


@pytest.mark.parametrize("copied", ["closed", "backup", "idle"])
def test_a_copy_that_is_whole_is_opened_without_a_word(disk, caplog, copied):
    with open_memory(disk / "m.evimem") as memory:
        memory.extend([said(0)])
        if copied == "backup":
            memory.backup(disk / "copy.evimem")
        elif copied == "idle":
            memory._core.store.db.park()
            shutil.copyfile(disk / "m.evimem", disk / "copy.evimem")
    if copied == "closed":
        shutil.copyfile(disk / "m.evimem", disk / "copy.evimem")
    with evimem.open(disk / "copy.evimem", embedder=EMBEDDER) as memory:
        assert len(list(memory.turns())) == 1
        assert not memory.health().problems
        assert not caplog.text
