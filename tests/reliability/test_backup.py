"""A backup of a busy memory is a whole memory of some moment after it began; a killed backup leaves no file."""

import re
from contextlib import closing
from mmap import mmap
from pathlib import Path
from random import Random
from time import process_time, sleep

import apsw
import pytest

import evimem
from tests.sizes import REDUCED, sizes

from .support.children import Send, killed_after, start
from .support.world import open_memory, said, small_thresholds

MOST = 400 if REDUCED else 1_500  # turns: each backup is read through
PER_SECOND = 200  # turns that come in at least


@pytest.mark.parametrize("count", sizes(6, nightly=100, reduced=2))
def test_a_backup_of_a_busy_memory_holds_every_turn_committed_before_it(disk, count, tell):
    kept, seen = mmap(-1, 8), mmap(-1, 1)  # shared with the process that writes

    def write(send: Send) -> None:
        with open_memory(disk / "m.evimem") as memory:
            send("writing")
            number = 0
            while number < MOST or (number < 5 * MOST and not seen[0]):  # fast as it is, some come in meanwhile
                memory.extend([said(number)], strict=True)
                number += 1
                kept[:] = number.to_bytes(8, "little")
        send(process_time())

    def so_far() -> int:
        return int.from_bytes(kept[:], "little")

    during = number = 0
    with small_thresholds():
        writer = start(write)
        messages = writer.messages()
        assert next(messages) == "writing"
        with open_memory(disk / "m.evimem") as memory:
            # where the writer had no processor while they were made, more are
            while number < count or (during <= count / 4 and so_far() < 5 * MOST):
                while (before := so_far()) < MOST * min(number, count) // (2 * count):
                    sleep(0.001)  # the backups are spread over the first half of what is written
                memory.backup(disk / f"{number}.copy")
                during += so_far() - before
                with open_memory(disk / f"{number}.copy") as copy:
                    stored = [turn.id for turn in copy.turns()]
                    assert stored == [f"t{place}" for place in range(len(stored))], "the copy is no prefix"
                    assert len(stored) >= before, f"the copy lacks turns: {before} were kept when it began"
                    assert copy.check().problems == ()
                number += 1
        seen[0] = True
        seconds = next(messages)
        assert writer.wait() == 0
    assert during > count / 4, "nothing came in while backups were made"
    assert so_far() / seconds > PER_SECOND
    tell(
        f"{count} backups by one process while another kept {so_far()} turns, {so_far() / seconds:.0f} a second of its "
        f"processor, {during} of them during a backup: each whole and not older than its beginning"
    )


@pytest.mark.parametrize("count", sizes(8, nightly=200, reduced=3))
def test_a_killed_backup_leaves_no_file_under_its_name(disk, seed, count):
    random, left = Random(seed), 0
    with small_thresholds(), open_memory(disk / "m.evimem") as memory:
        memory.extend([said(number) for number in range(300)])

    def back_up(send: Send) -> None:
        with open_memory(disk / "m.evimem") as memory:
            send("began")
            memory.backup(disk / "copy")

    for number in range(10 * count):
        if number >= count and left:
            break
        killed_after(random.uniform(0.0, random.choice((0.004, 0.02))), back_up)
        if (disk / "copy").exists():
            with small_thresholds(), open_memory(disk / "copy") as copy:
                assert copy.stats().turns == 300
                assert copy.check().problems == ()
            (disk / "copy").unlink()
        names = {file.name for file in disk.glob("copy*") if not re.fullmatch(r"copy\.\d+\.tmp(-\w+)?", file.name)}
        assert names <= {"copy.mark", "copy.ann", "copy.ann.json", "copy-wal", "copy-shm"}
        for leftover in disk.glob("copy.*.tmp"):
            left += 1
            assert turns_in(leftover) in (0, 300), "half a backup looks like one"
        for name in names:
            (disk / name).unlink()
    assert left > 0, "no kill came in the middle"
    with open_memory(disk / "m.evimem") as memory:
        memory.backup(disk / "copy")
    assert list(disk.glob("copy*")) == [disk / "copy"], "files of a killed backup are left"


def turns_in(path: Path) -> int:
    """Return how many turns a copy of the file holds, 0 where it is no database with turns."""
    taken = path.with_name("taken")
    taken.write_bytes(path.read_bytes())
    try:
        with closing(apsw.Connection(str(taken))) as db:
            return int(db.execute("SELECT count(*) FROM turn").get)
    except apsw.Error:
        return 0


def test_nothing_in_the_package_copies_files():
    """A copied file lacks what is still in the log, so backup() is the only way to copy a memory."""
    sources = [path.read_text(encoding="utf-8") for path in Path(evimem.__file__).parent.rglob("*.py")]
    assert not [one for one in sources if re.search(r"shutil\.copy(2|file|tree)?\b", one)]
