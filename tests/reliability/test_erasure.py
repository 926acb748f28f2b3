"""Forgotten content is in no byte of the files of a memory; while a reader still holds it, forgetting is pending."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from evimem import EraseReport, InvalidQuery, Memory, MemoryPool, Turn
from evimem.api.core import Core
from evimem.api.pool import key_of
from evimem.embedding.static_embedder import StaticEmbedder
from evimem.index.document import embedding_texts
from evimem.store.sequence import hash_name
from evimem.store.sqlite import SqliteStore
from evimem.types.trace import Found, Trace
from tests.sizes import REDUCED, sizes

from .support.residue import Needles, forms, hits, vector_forms
from .support.world import NOON, small_thresholds

CANARIES = ("Zqobluvek", "Žlutýqaňkr\u0301z")  # one of plain letters, one that folding and normalizing change
EMBEDDER = StaticEmbedder()
SECRET = "wugwqzet"


def opened(path: Path) -> Memory:
    return Memory(Core(SqliteStore(path, EMBEDDER.name, EMBEDDER.dimension, busy_seconds=0.2), EMBEDDER))


def secret(number: int) -> Turn:
    """A turn with a canary in every field that takes one."""
    canary = CANARIES[number % len(CANARIES)]
    text = f"I live in {canary} now. My {canary} likes {canary}{number} and we went to {canary} last Friday."
    return Turn(
        f"{canary}-{number}", SECRET, f"{canary}son", text, NOON - timedelta(days=900, minutes=number),
        caption=f"a {canary} on a beach", metadata={canary: [canary, number]},
    )  # fmt: skip


def plain(number: int, random: Random) -> Turn:
    word = "".join(random.choice("bdfgklmnprst") + random.choice("aeiou") for _ in range(3))
    text = f"I like {word} and tea number {number}. I live in {word.capitalize()} and bought a {word} yesterday."
    return Turn(
        f"{word}{number}", f"s{random.randint(0, 40)}", word.capitalize(), text, NOON + timedelta(minutes=number)
    )


def needles() -> Needles:
    """Every form of what the secret turns hold."""
    found = {f"{canary} {name}": form for canary in (*CANARIES, SECRET) for name, form in forms(canary).items()}
    texts = [text for number in range(2) for text in embedding_texts(secret(number))]
    for number, vector in enumerate(EMBEDDER.embed(texts)):
        found |= {f"vector {number} {name}": form for name, form in vector_forms(vector).items()}
    return found


def filled(memory: Memory, count: int) -> list[bytes]:
    """Fill a memory, one turn in ten a secret; return the others, as they are stored."""
    random = Random(count)
    turns = [secret(number) if number % 10 == 0 or number == 1 else plain(number, random) for number in range(count)]
    for start in range(0, count, 50):
        memory.extend(turns[start : start + 50], strict=True)
        if start == 50:
            memory._core.store.db.read_value(
                "PRAGMA wal_checkpoint(TRUNCATE)"
            )  # so that some of it stands in the file and some in the log
    memory.enrich()
    memory.keep_trace(Trace(f"Where does {CANARIES[0]}son live?", "iris", (Found(1, "anchor", (secret(0).id,)),)))
    memory.search(CANARIES[0])
    return others(memory)


def others(memory: Memory) -> list[bytes]:
    return [
        digest
        for (digest,) in memory._core.store.db.rows(
            "SELECT digest FROM turn WHERE instant > 0 AND id NOT LIKE ? AND id NOT LIKE ? ORDER BY seq",
            tuple(f"{canary}-%" for canary in CANARIES),
        )
    ]


def ids(memory: Memory) -> list[str]:
    return [turn.id for turn in memory.turns() if turn.session == SECRET]


FORGETTING: dict[str, Callable[[Memory], EraseReport]] = {
    "by id": lambda memory: memory.forget(turns=ids(memory)),
    "one by one": lambda memory: [memory.forget(turns=[turn_id]) for turn_id in ids(memory)][-1],
    "by session": lambda memory: memory.forget(session=SECRET),
    "by time": lambda memory: memory.forget(before=NOON - timedelta(days=1)),
    "everything": lambda memory: memory.forget(everything=True),
}


@pytest.fixture
def folders(disk, monkeypatch):
    """The folder of the memory and the one for temporary files: neither may hold erased content."""
    found = [disk / "memory", disk / "tmp"]
    for folder in found:
        folder.mkdir()
    monkeypatch.setenv("SQLITE_TMPDIR", str(found[1]))
    monkeypatch.setenv("TMPDIR", str(found[1]))
    with small_thresholds():
        yield found


@pytest.mark.parametrize("how", FORGETTING)
@pytest.mark.parametrize("count", sizes(150, nightly=5_000, reduced=60))
def test_no_byte_of_what_was_forgotten_is_left(folders, count, how, tell):
    sought = needles()
    with opened(folders[0] / "m.evimem") as memory:
        kept = filled(memory, count)
        before = hits(sought, folders)
        assert len({hit.split(" in ")[0] for hit in before}) > len(sought) / 3, f"the scan finds too little: {before}"
        for file in ("evimem", "evimem-wal", "evimem.ann"):
            assert any(f"m.{file} " in hit for hit in before), f"the scan finds nothing in m.{file}, where it all was"
        assert FORGETTING[how](memory).status == "erased"
        assert hits(sought, folders) == []
        assert others(memory) == ([] if how == "everything" else kept)
        memory.backup(folders[0] / "copy.evimem")
        memory.export(folders[0] / "copy.jsonl")
    assert hits(sought, folders) == []
    tell(f"forgotten {how}: {len(sought)} forms were in {len(before)} places, 0 are left")


def test_copies_of_rows_in_page_slack_are_overwritten(folders):
    """Found at 5,000 turns: balancing a tree leaves copies of rows behind, which secure_delete does not know of."""
    with opened(folders[0] / "m.evimem") as memory:
        filled(memory, 150 if REDUCED else 3000)
        assert FORGETTING["by id"](memory).status == "erased"
        assert hits(needles(), folders) == []
        assert memory.check().problems == ()


def test_the_scan_finds_what_an_insecure_deletion_leaves(folders):
    with opened(folders[0] / "m.evimem") as memory:
        filled(memory, 120)
        memory._core.store.db.execute("PRAGMA secure_delete=OFF")
        memory.forget(session=SECRET)
        assert hits(needles(), folders) != []


def test_forgetting_is_pending_while_a_reader_holds_an_older_state(folders):
    path = folders[0] / "m.evimem"
    with opened(path) as memory:
        filled(memory, 60)
        with opened(path) as reader, reader._core.store.db.reading():
            assert reader.turn(secret(0).id)
            report = memory.forget(session=SECRET)
            assert (report.status, report.turns) == ("pending", 7)
            assert "reader" in str(report.reason)
            assert any("forgotten" in problem for problem in memory.health().problems)
            assert hits(needles(), folders) != []
        memory.extend([plain(999, Random(9))])
        assert hits(needles(), folders) == []
        assert memory.health().status == "ok"


def test_an_interrupted_erasure_is_finished_at_the_next_opening(folders):
    path = folders[0] / "m.evimem"
    memory, reader = opened(path), opened(path)
    filled(memory, 60)
    with reader._core.store.db.reading():
        reader.turn(secret(0).id)
        assert memory.forget(session=SECRET).status == "pending"
    with opened(path):  # beside the two that never got to end it
        assert hits(needles(), folders) == []
    memory.close()
    reader.close()


@pytest.mark.parametrize("how", ["everything", "turn by turn"])
def test_forgetting_all_empties_every_table(folders, how):
    """Tables are listed from the schema, so that a new one cannot be left out of forgetting."""
    # Which file it is; keyed digests of ids; how far numbers have come; places and callers of sessions, without a word.
    kept = {"meta", "forgotten", "sqlite_sequence", "place", "calls"}
    with opened(folders[0] / "m.evimem") as memory:
        filled(memory, 60)
        db = memory._core.store.db
        memory._core.store.jobs.enqueue("extract", [1, 2, 3])
        memory.remember([{"role": "user", "content": f"I live in {CANARIES[0]}."}], session=SECRET, time=NOON)
        empty = {table for table, count in rows(memory).items() if not count}
        assert empty <= {"forgotten", "place"}, f"tables that nothing has filled: {empty}"
        if how == "everything":
            memory.forget(everything=True)
        else:
            memory.forget(turns=[turn.id for turn in memory.turns()])
            blank = "SELECT count(*) FROM segment WHERE hex(columns || vectors || scales) GLOB '*[^0]*'"
            assert db.read_value(blank) == 0, "columns of what is gone"
            kept.add("segment")  # the place of what is gone, in zeros
        assert {table for table, count in rows(memory).items() if count} <= kept, "a table outlives forgetting"


def test_of_a_forgotten_message_no_byte_is_left_and_no_digest_that_could_be_guessed(folders):
    messages = [
        {"role": "user", "content": f"My {CANARIES[0]} is {CANARIES[1]}."},
        {"role": "user", "content": "Thanks."},
    ]
    with opened(folders[0] / "m.evimem") as memory:
        memory.remember(messages, session=SECRET, time=NOON)
        memory.add(CANARIES[0], f"I live in {CANARIES[1]}.", time=NOON, session=SECRET)
        store = memory._core.store
        by_content = [turn.id for turn in memory.turns() if turn.speaker == CANARIES[0]]
        memory.forget(session=SECRET)
        assert hits(needles(), folders) == []
        marks = {mark for (mark,) in store.db.rows("SELECT mark FROM forgotten")}
        assert len(marks) == 4, "of three ids, and of the moment at which all three were said"
        assert marks.isdisjoint(hash_name(store, one) for one in by_content)


def rows(memory: Memory) -> dict[str, int]:
    db = memory._core.store.db
    tables = [name for (name,) in db.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {table: db.read_value(f"SELECT count(*) FROM {table}") for table in tables}


def test_a_backup_can_repeat_later_erasures(folders):
    path, copy = folders[0] / "m.evimem", folders[0] / "copy.evimem"
    with opened(path) as memory:
        filled(memory, 60)
        gone, back = ids(memory)[:-1], ids(memory)[-1]
        again = memory.turn(back)
        memory.backup(copy)
        memory.forget(session=SECRET)
        memory.extend([again])
        kept = set(turn.id for turn in memory.turns())
    with opened(copy) as restored:
        assert set(gone) <= {turn.id for turn in restored.turns()}
        assert restored.forget(as_in=path).turns == len(gone), "the backup remembers"
        assert {turn.id for turn in restored.turns()} == kept, "what came back is kept, all else is not"
        assert restored.forget(as_in=path).turns == 0
        assert restored.check().problems == ()
        restored.forget(turns=[back])
    path.unlink()
    assert hits(needles(), folders) == []


def test_only_a_copy_of_the_same_memory_can_be_followed(folders):
    with opened(folders[0] / "m.evimem") as memory, opened(folders[0] / "other.evimem"):
        memory.extend([secret(0)])
        for path, why in (("other.evimem", "no copy of this memory"), ("nobody.evimem", "no memory at")):
            with pytest.raises(InvalidQuery, match=why):
                memory.forget(as_in=folders[0] / path)
        assert not (folders[0] / "nobody.evimem").exists()
        assert memory.stats().turns == 1


def test_a_forgotten_id_may_be_added_again_and_is_reported(folders):
    with opened(folders[0] / "m.evimem") as memory:
        memory.extend([secret(0)])
        memory.forget(turns=[secret(0).id])
        assert [status.outcome for status in memory.extend([secret(0)]).statuses] == ["readded"]
        assert memory.search(CANARIES[0], k=1)[0].turn.id == secret(0).id


def test_a_user_erased_from_a_pool_leaves_nothing_and_others_stay(folders):
    with MemoryPool(folders[0]) as pool:
        for user in ("ana", "bo"):
            with pool.open(user) as memory:
                memory.extend([secret(0)] if user == "ana" else [plain(1, Random(1))])
        key = key_of("bo")
        of_bo = folders[0] / key[:2]
        before = {file.name: file.read_bytes() for file in of_bo.glob(f"{key}.evimem*") if file.suffix != ".evimem-shm"}
        assert pool.erase("ana").turns == 1
        assert hits(needles(), folders) == []
        assert {name: (of_bo / name).read_bytes() for name in before} == before, "another user's files were changed"
        with pool.open("bo") as memory:
            assert list(memory.turns()) == [replace(plain(1, Random(1)), role="user")]
            assert memory.check().problems == ()


def test_no_error_message_quotes_a_turn(folders):
    """Messages end up in logs, which no erasure can reach."""
    said = json.dumps(secret(0).text)
    with opened(folders[0] / "m.evimem") as memory:
        memory.extend([secret(0)])
        report = memory.extend([Turn(secret(0).id, "s", "Mira", secret(1).text, NOON)])
        assert report.refused == 1
        assert secret(1).text not in str(report)
    assert said not in repr(memory)
