"""A damaged file opens right, is reported as damaged, or is refused: no altered turn, crash or raw exception."""

import os
import resource
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import process_time

import apsw
import pytest

from evimem import EvimemError, StoreCorrupt, Turn
from tests.sizes import REDUCED, bound, sizes

from .support.children import Send, start
from .support.damage import Damage, flips, headers, heads_of_pages, letters, pages, truncations
from .support.world import open_memory, said, small_thresholds

TURNS = 63
EVERY_CUT = 2_000  # flips in the log at which it is cut at every page too
WINDOW = 5  # commits between two marks under small thresholds: what is lost inside that window cannot be noticed
GIGABYTE = 1 << 30
SLOWEST = 10.0  # seconds of processor time to open and use what is damaged
INDEX_OF_A_LOG = 32_768  # bytes: what SQLite itself makes beside a memory


@dataclass(frozen=True, slots=True)
class Kit:
    """The files of a memory, closed or crashed, and the turns that must be read from them."""

    folder: Path
    truth: list[Turn]

    @property
    def path(self) -> Path:
        return self.folder / "m.evimem"


def made(folder: Path, *, crash: bool) -> Kit:
    """Make a memory of 63 turns, some forgotten; in its log alone if it is to have crashed."""
    folder.mkdir()
    kit = Kit(folder, [])

    def work(send: Send) -> None:
        memory = open_memory(kit.path)
        if crash:
            memory._core.store.db.execute("PRAGMA wal_autocheckpoint=0")
        for number in range(TURNS):
            memory.extend([said(number)])
        if not crash:
            memory.forget(turns=["t5", "t31"])
            memory.enrich()
        send(list(memory.turns()))
        if crash:
            os._exit(0)
        memory.close()

    child = start(work)
    kit.truth.extend(next(child.messages()))
    child.wait()
    return kit


def verdict(kit: Kit, *, log: bool) -> str:
    """Open the files as they are now and use them; return the outcome. With `log`, the newest turns may be missing."""
    try:
        with open_memory(kit.path, busy_seconds=0.2) as memory:
            served: list[Turn] = []
            refused = 0
            for turn in kit.truth:
                try:
                    served.append(memory.turn(turn.id))
                except StoreCorrupt:
                    refused += 1
                except EvimemError:
                    break
            if served != [turn for turn in kit.truth if turn in served]:
                return "SILENT: an altered turn was served"
            memory.search("puppy harbour", k=5)
            memory.ask("What does Mira say?")
            problems = memory.check().problems
            if not problems and served != kit.truth[: len(served)]:
                return "SILENT: turns are missing in the middle"
            missing = len(kit.truth) - len(served)
            if not problems and missing:
                return "in the window" if log and missing <= WINDOW else f"SILENT: {missing} turns are missing"
            return "named" if problems or refused else "right"
    except EvimemError:
        return "refused"


def verdicts(kit: Kit, file: str, damages: Sequence[Damage], *, log: bool) -> Iterator[tuple[Damage, str]]:
    """Yield each damage with its outcome, in children that may crash or exceed their limits."""
    pristine = {path.name: path.read_bytes() for path in kit.folder.iterdir()}
    waiting = list(damages)
    while waiting:
        child = start(lambda send: look_at(kit, file, pristine, waiting, send, log=log), limits())
        done = 0
        for outcome in child.messages():
            if not isinstance(outcome, str):
                break
            yield waiting[done], outcome
            done += 1
        code = child.wait()
        if done < len(waiting):
            yield waiting[done], f"CRASH: the child ended with {code}"
            done += 1
        del waiting[:done]


def look_at(
    kit: Kit, file: str, pristine: dict[str, bytes], damages: Sequence[Damage], send: Send, *, log: bool
) -> None:
    for damage in damages:
        most = max(sum(map(len, pristine.values())), INDEX_OF_A_LOG)  # a log is moved into its file
        shutil.rmtree(kit.folder)
        kit.folder.mkdir()
        for name, content in pristine.items():
            (kit.folder / name).write_bytes(damage.apply(content) if name == file else content)
        began = process_time()
        try:
            outcome = verdict(kit, log=log)
        except Exception as error:  # noqa: BLE001 - the gate is about what may escape
            outcome = f"RAW: {type(error).__name__}: {error}"
        grown = [
            path.name
            for path in kit.folder.iterdir()
            if path.stat().st_size > max(2 * len(pristine.get(path.name, b"")), most)
        ]
        if process_time() - began > SLOWEST:
            outcome = f"SLOW: {process_time() - began:.0f} s"
        send(f"GROWN: {grown}" if grown else outcome)


def limits() -> dict[int, int]:
    with Path("/proc/self/statm").open() as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    return {resource.RLIMIT_AS: size + GIGABYTE, resource.RLIMIT_CPU: 600}


def check(
    kit: Kit, file: str, damages: Sequence[Damage], tell: Callable[[str], None], *, log: bool = False
) -> Counter[str]:
    counts: Counter[str] = Counter()
    with small_thresholds():
        for damage, outcome in verdicts(kit, file, damages, log=log):
            counts[outcome] += 1
            assert outcome in ("right", "named", "refused", "in the window"), f"{file}, {damage.name}: {outcome}"
    tell(f"{len(damages)} damages to {file}: {dict(counts)}, 0 altered turns served, {bound(len(damages))}")
    return counts


@pytest.fixture(scope="module")
def kits(tmp_path_factory):
    """A closed memory and a crashed one: to be copied."""
    folder = tmp_path_factory.mktemp("damage")
    with small_thresholds():
        return [made(folder / str(crash), crash=crash) for crash in (False, True)]


@pytest.fixture
def closed(kits, disk):
    return Kit(shutil.copytree(kits[0].folder, disk / "closed"), kits[0].truth)


@pytest.fixture
def crashed(kits, disk):
    return Kit(shutil.copytree(kits[1].folder, disk / "crashed"), kits[1].truth)


@pytest.mark.parametrize("count", sizes(60, nightly=5_000, reduced=8))
def test_flipped_bits_never_alter_a_turn(closed, seed, count, tell):
    content = closed.path.read_bytes()
    size, random = len(content), Random(seed)
    heads = list(heads_of_pages(size, random))
    damages = [
        *flips(size, count, random),
        *flips(size, count // 10, random, below=200),
        *(random.sample(heads, count) if REDUCED else heads),
        *letters(content, [turn.text for turn in closed.truth], min(count, 20), random),
    ]
    counts = check(closed, "m.evimem", damages, tell)
    assert counts["named"] > 0, "no flip was noticed: the check is blind"


@pytest.mark.parametrize("count", sizes(1_000, reduced=20))
def test_cut_exchanged_and_overwritten_pages_never_alter_a_turn(closed, seed, count, tell):
    size = closed.path.stat().st_size
    random = Random(seed)
    damages = [*truncations(size, random), *pages(size, 25, random), *headers(size)]
    check(closed, "m.evimem", random.sample(damages, min(count, len(damages))), tell)


@pytest.mark.parametrize("count", sizes(50, nightly=EVERY_CUT, reduced=10))
def test_a_damaged_log_loses_nothing_that_was_marked(crashed, seed, count, tell):
    size = crashed.path.with_name("m.evimem-wal").stat().st_size
    random = Random(seed)
    cuts = list(truncations(size, random))
    cuts = cuts if count == EVERY_CUT else random.sample(cuts, count // 2)
    check(crashed, "m.evimem-wal", [*flips(size, count, random), *cuts, *headers(size)], tell, log=True)


@pytest.mark.parametrize("count", sizes(60, nightly=600, reduced=6))
@pytest.mark.parametrize("file", ["m.evimem.mark", "m.evimem.ann", "m.evimem.ann.json"])
def test_a_damaged_mark_or_index_file_does_not_matter(closed, seed, file, count, tell):
    size = (closed.folder / file).stat().st_size
    random = Random(seed)
    damages = [
        *headers(size, 400),  # the whole mark; the whole head of an index
        *flips(size, 60, random),
        *truncations(size, random),
    ]
    some = [*random.sample(damages, min(count, len(damages))), Damage("emptied", lambda data: b"")]
    counts = check(closed, file, some, tell)
    assert counts["right"] == len(some)


ROWS = {  # what single bits have led to
    "a span is text": "UPDATE fact SET span_start = 'x' WHERE row % 3 = 0",
    "a turn is gone": "DELETE FROM turn WHERE seq = 25",
    "a word is a number": "UPDATE fact SET object = 7 WHERE row % 3 = 0",
    "a speaker is out of reach": """UPDATE segment
        SET columns = CAST(substr(columns, 1, 6) || x'00000010' || substr(columns, 11) AS BLOB)""",
    "a vector is short": "UPDATE document SET vector = x'00'",
    "a time is none": "UPDATE turn SET time = 'soon' WHERE seq = 3",
    "metadata is none": "UPDATE turn SET metadata = '{' WHERE seq = 3",
    "a name is gone": "DELETE FROM speaker WHERE ord = 1",
    "a name is bytes": "UPDATE speaker SET name = CAST(name AS BLOB) WHERE ord = 1",
    "a session is bytes": "UPDATE session SET name = CAST(name AS BLOB) WHERE ord = 1",
}


@pytest.mark.parametrize("case", ROWS)
def test_a_row_of_another_type_is_reported_as_damage(closed, case):
    db = apsw.Connection(str(closed.path))
    db.execute("PRAGMA foreign_keys=OFF")
    db.execute(ROWS[case])
    db.close()
    with small_thresholds():
        assert verdict(closed, log=False) in ("named", "refused")


def with_last_number(path: Path, table: str, number: int) -> None:
    """Overwrite the row number of the last row in a table that fits on one page."""
    db = apsw.Connection(str(path))
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    size = db.pragma("page_size")
    root = next(db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)))[0]
    db.close()
    raw = bytearray(path.read_bytes())
    page = (root - 1) * size
    assert raw[page] == 0x0D, "the root is not a leaf of a table"
    count = int.from_bytes(raw[page + 3 : page + 5], "big")
    cell = page + int.from_bytes(raw[page + 8 + 2 * (count - 1) : page + 10 + 2 * (count - 1)], "big")
    while raw[cell] & 0x80:  # the length of the row
        cell += 1
    raw[cell + 1] = number
    path.write_bytes(raw)


def test_rows_out_of_order_are_reported_and_never_read_for_ever(disk):
    """Found by fuzzing: the check asked for what comes after the last turn, and got the same turns again and again."""
    with open_memory(disk / "m.evimem") as memory:
        memory.extend([said(number) for number in range(4)])
    with_last_number(disk / "m.evimem", "turn", 1)
    with open_memory(disk / "m.evimem") as memory:
        with pytest.raises(StoreCorrupt, match="out of their order"):
            list(memory.turns())
        assert "cannot be read (StoreCorrupt)" in " ".join(memory.check().problems)
