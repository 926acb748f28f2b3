"""`evimem doctor` names each kind of damage and what to do, repairs what is derived, and never touches a turn."""

import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import apsw
import pytest

import evimem
from evimem import Memory
from evimem.api.core import Core
from evimem.cli import page
from evimem.cli.arguments import Exit
from evimem.cli.page import Progress
from evimem.embedding.static_embedder import StaticEmbedder
from evimem.loaders.examples import load_example
from evimem.store.sqlite import SqliteStore
from evimem.types.trace import Found, Trace
from tests.doubles import FakeClock


@dataclass(frozen=True)
class Damage:
    """What is done to a file, and which words the doctor finds for it."""

    sql: str
    says: str


DERIVED = {
    "facts": Damage("UPDATE fact SET object = 'a zebra' WHERE row = 5", "has a fact that is not what was stored"),
    "a fact of no turn": Damage("UPDATE fact SET seq = 9999 WHERE row = 7", "refer to missing rows of 'turn'"),
    "postings": Damage("DELETE FROM posting WHERE term = (SELECT max(term) FROM posting)", "the postings of 1 term(s)"),
    "spoilt vectors": Damage("UPDATE document SET vector = zeroblob(length(vector))", "a vector that is not what was"),
    "places in time": Damage("UPDATE turn SET instant = instant + 1 WHERE seq < 4", "sorted by another time"),
    "unreadable vectors": Damage("UPDATE segment SET vectors = x'00'", "cannot be read"),
    "a trace": Damage("UPDATE trace SET body = x'00'", "trace 1 cannot be read"),
    "the index of ids": Damage("lies about t1", "the index 'sqlite_autoindex_turn_1' of table 'turn'"),
}


@pytest.fixture(autouse=True)
def stopped_clock(monkeypatch):
    """Stop the clock of the progress line, which goes to stderr once work has taken a second: nothing does here."""
    monkeypatch.setattr(page, "Progress", partial(Progress, clock=FakeClock()))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A memory with sealed and open segments, links, and a trace."""
    path = tmp_path_factory.mktemp("whole") / "m.evimem"
    embedder = StaticEmbedder()
    store = SqliteStore(path, embedder.name, embedder.dimension, segment=32)
    with Memory(Core(store, embedder)) as memory:
        memory.extend(load_example("friends")[:48], strict=True)
        memory.enrich()
        memory.keep_trace(Trace("Where?", "iris", (Found(1, "anchor", (next(iter(memory.turns())).id,)),)))
    return path


@pytest.fixture
def path(whole, tmp_path):
    for file in whole.parent.iterdir():
        shutil.copy(file, tmp_path)
    return tmp_path / "m.evimem"


def spoil(path: Path, sql: str) -> None:
    """Change rows behind the memory's back; or an index, so that it no longer leads to its rows."""
    db = apsw.Connection(str(path))
    db.execute("PRAGMA foreign_keys=OFF")
    if sql == "lies about t1":
        db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_turn_1'").get
        db.execute("CREATE TABLE spare (id TEXT NOT NULL UNIQUE)")
        db.execute("INSERT INTO spare SELECT id FROM turn WHERE seq > 3")
        spare = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_spare_1'").get
        db.execute("PRAGMA writable_schema=ON")
        for name, page in (("sqlite_autoindex_turn_1", spare), ("sqlite_autoindex_spare_1", root)):
            db.execute("UPDATE sqlite_schema SET rootpage = ? WHERE name = ?", (page, name))
        db.execute("PRAGMA writable_schema=RESET")
    else:
        db.execute(sql)
    db.close()


def turns_of(path: Path) -> list[evimem.Turn]:
    with evimem.open(path) as memory:
        return list(memory.turns())


@pytest.mark.parametrize("kind", DERIVED)
def test_derived_damage_is_named_repaired_and_gone(cli, path, kind):
    before = turns_of(path)
    spoil(path, DERIVED[kind].sql)
    found = cli("doctor", path, "--json")
    assert found.code == Exit.STORE
    named = [problem for problem in found.data["problems"] if DERIVED[kind].says in problem]
    assert named, found.data["problems"]
    assert all("`evimem doctor --repair`" in problem for problem in named)
    assert cli("doctor", path, "--repair").code == Exit.OK
    cli("enrich", path)
    again = cli("doctor", path)
    assert (again.code, "  ok" in again.out) == (Exit.OK, True)
    assert turns_of(path) == before


@pytest.mark.parametrize("column", ["text = 'I never said this.'", "speaker = 2", "time = 'soon'", "digest = x'00'"])
def test_an_altered_turn_is_named_and_left_alone_until_it_is_forgotten(cli, path, column):
    first = turns_of(path)[0]
    spoil(path, f"UPDATE turn SET {column} WHERE seq = 1")
    found = cli("doctor", path, "--json")
    assert (found.code, len(found.data["problems"])) == (Exit.STORE, 1)
    assert f"turn {first.id!r} is not what was stored: restore a backup, or forget it" in found.data["problems"][0]
    content = path.read_bytes()
    repaired = cli("doctor", path, "--repair")
    assert (repaired.code, "nothing was repaired" in repaired.err) == (Exit.STORE, True)
    assert path.read_bytes() == content
    assert cli("forget", path, "--turn", first.id, "--yes").code == Exit.OK
    assert cli("doctor", path).code == Exit.OK


@pytest.mark.parametrize(
    ("table", "says"),
    [("turn", "restore a backup"), ("fact", "rows of table 'fact'"), ("edge", "rows of table 'edge'")],
)
def test_damaged_pages_are_reported_with_their_table(cli, path, table, says):
    before = turns_of(path)
    db = apsw.Connection(str(path))
    leaf = db.execute("SELECT max(pageno) FROM dbstat WHERE name = ? AND pagetype = 'leaf'", (table,)).get
    db.close()
    with path.open("r+b") as file:
        file.seek((leaf - 1) * 4096)
        file.write(b"\x0d\xff\xff\xff\xff" * 8)
    found = cli("doctor", path)
    assert found.code == Exit.STORE
    assert says in " ".join(f"{found.out} {found.err}".split())
    if table != "turn":  # and what it advises can be done
        with evimem.open(path) as old, evimem.open(path.with_name("new.evimem")) as new:
            assert new.extend(old.turns()).added == len(before)
