"""An encrypted memory works as another, no byte that it leaves is readable, and no key but its own opens it."""

import asyncio
import os
import secrets
import shutil
import traceback
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import evimem
from evimem import InvalidQuery, Memory, MemoryPool, StoreBusy, StoreError, StoreRolledBack, WrongKey
from evimem.api.core import Core
from evimem.cli.arguments import run_command_line
from evimem.db.encryption import Key
from evimem.raw.commit_mark import mark_path
from evimem.store.sqlite import SqliteStore
from tests.copies import copied
from tests.doubles import WordEmbedder
from tests.reliability.support.residue import hits
from tests.reliability.support.world import small_thresholds
from tests.reliability.test_erasure import CANARIES, EMBEDDER, SECRET, filled

pytestmark = pytest.mark.skipif(not hasattr(apsw, "mc_version"), reason="apsw cannot encrypt: see test_with_cipher.py")

KEY, OTHER = b"k" * 32, b"o" * 32
AT = "2024-05-02T10:00"
WORDS = ("zanzibar", "quokka", "vera")  # what was stored, as it may stand in text, in terms and in facts


def made(path: Path, key: bytes | str = KEY) -> Path:
    with evimem.open(path, key=key) as memory:
        memory.add("Vera", "My quokka is called Zanzibar.", time=AT, id="1")
        memory.add("Vera", "I moved to Zanzibar in May 2023.", time=AT, id="2")
        memory.enrich()
        memory.keep_trace(memory.ask("Where did Vera move?").trace)
    return path


def readable(folder: Path) -> list[tuple[str, str]]:
    """Return the words that can be read in a file of a folder, in any case and as UTF-8 or UTF-16."""
    found = []
    for file in folder.rglob("*"):
        held = file.read_bytes().lower() if file.is_file() else b""
        found += [(file.name, word) for word in WORDS if word.encode() in held or word.encode("utf-16-le") in held]
    return found


def test_no_word_is_readable_in_any_byte_of_any_file(tmp_path):
    path = tmp_path / "m.evimem"
    with evimem.open(path, key=KEY) as memory:
        memory.add("Vera", "My quokka is called Zanzibar.", time=AT, id="1")
        memory.enrich()
        memory.keep_trace(memory.ask("What is the quokka called?").trace)
        memory.backup(tmp_path / "backup")
        assert (tmp_path / "m.evimem-wal").stat().st_size > 0
        assert readable(tmp_path) == []
        memory.add("Vera", "Zanzibar is a quokka.", time=AT)
        memory.rekey(OTHER)
        assert readable(tmp_path) == []
    assert readable(tmp_path) == []
    (tmp_path / "plain").mkdir()
    evimem.copy(path, tmp_path / "plain" / "m", key=OTHER)
    assert {word for _, word in readable(tmp_path / "plain")} == set(WORDS)


@pytest.mark.parametrize("key", [KEY, "a passphrase"])
def test_it_answers_as_a_plain_memory_does(tmp_path, key):
    def told(path: Path, **options: object) -> tuple[object, ...]:
        with evimem.open(path, **options) as memory:
            hits = memory.search("Zanzibar", 2)
            return [(hit.turn, hit.score) for hit in hits], memory.facts(about="Vera"), memory.ask("Where is she?").text

    path = made(tmp_path / "m.evimem", key)
    plain = evimem.copy(path, tmp_path / "plain", key=key, verify=True)
    again = evimem.copy(tmp_path / "plain", tmp_path / "again", target_key=OTHER, verify=True)
    assert plain.turns == again.turns == 2
    assert told(path, key=key) == told(tmp_path / "plain") == told(tmp_path / "again", key=OTHER)


@pytest.mark.parametrize("key", [None, OTHER, "k" * 32, KEY.hex()])
def test_a_wrong_or_missing_key_is_an_error_that_shows_none(tmp_path, key):
    path = made(tmp_path / "m.evimem")
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(WrongKey) as caught:
            evimem.open(path, key=key, read_only=read_only)
        chain = f"{caught.value!r} {caught.value.__cause__!r}"
        assert not any(str(one) in chain for one in (KEY.hex(), OTHER.hex(), "k" * 32, "o" * 32))
    assert path.read_bytes() == before


def test_a_backup_that_was_never_opened_says_that_its_key_is_another(tmp_path):
    with evimem.open(made(tmp_path / "m.evimem"), key=KEY) as memory:
        memory.backup(tmp_path / "backup")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    calls = {
        "open": lambda: evimem.open(tmp_path / "backup", key=OTHER),
        "open to read": lambda: evimem.open(tmp_path / "backup", key=OTHER, read_only=True),
        "restore": lambda: evimem.restore(tmp_path / "backup", tmp_path / "m.evimem", key=OTHER),
        "restore anew": lambda: evimem.restore(tmp_path / "backup", tmp_path / "new", key=OTHER),
        "copy": lambda: evimem.copy(tmp_path / "backup", tmp_path / "new", key=OTHER),
    }
    for call in calls.values():
        with pytest.raises(WrongKey, match="another key"):
            call()
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_plain_memory_is_not_opened_with_a_key(tmp_path):
    evimem.open(tmp_path / "m.evimem").close()
    with pytest.raises(WrongKey, match="not encrypted"):
        evimem.open(tmp_path / "m.evimem", key=KEY)


@pytest.mark.parametrize("key", [b"", b"short", "", 7, b"k" * 33])
def test_what_is_no_key_is_refused_without_being_shown(tmp_path, key):
    with pytest.raises(InvalidQuery) as caught:
        evimem.open(tmp_path / "m.evimem", key=key)
    assert "short" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_the_file_of_another_program_with_the_same_key_is_no_memory(tmp_path):
    db = apsw.Connection(str(tmp_path / "m.evimem"))
    for pragma, value in (("cipher", "chacha20"), ("kdf_iter", 1), ("hexkey", KEY.hex())):
        db.pragma(pragma, value)
    db.execute("CREATE TABLE t (x)")
    db.close()
    with pytest.raises(evimem.NotAMemory):
        evimem.open(tmp_path / "m.evimem", key=KEY)


def test_with_another_key_every_turn_is_there_and_the_old_key_opens_nothing(tmp_path):
    path = made(tmp_path / "m.evimem")
    with evimem.open(path, key=KEY) as memory:
        memory.rekey("a passphrase")
        memory.add("Vera", "One more.", time=AT)
        assert len(list(memory.turns())) == 3
    with pytest.raises(WrongKey):
        evimem.open(path, key=KEY)
    with evimem.open(path, key="a passphrase") as memory:
        assert memory.check().problems == ()
        assert len(list(memory.turns())) == 3
    assert {file.name for file in tmp_path.iterdir()} == {path.name, mark_path(path).name}


def test_a_memory_that_is_open_elsewhere_keeps_its_key(tmp_path):
    path = made(tmp_path / "m.evimem")
    with evimem.open(path, key=KEY) as memory, evimem.open(path, key=KEY) as other:
        with pytest.raises(StoreBusy):
            memory.rekey(OTHER)
        other.add("Vera", "One more.", time=AT)
        assert len(list(memory.turns())) == 3
    evimem.open(path, key=KEY).close()


def test_a_key_that_is_changed_on_an_event_loop_opens_the_memory(tmp_path):
    path = made(tmp_path / "m.evimem")

    async def change() -> None:
        async with evimem.open_async(path, key=KEY) as memory:
            await memory.rekey(OTHER)

    asyncio.run(change())
    evimem.open(path, key=OTHER).close()


def test_a_backup_keeps_the_key_and_is_restored_over_a_log(tmp_path):
    path, backup = made(tmp_path / "m.evimem"), tmp_path / "backup"
    memory = evimem.open(path, key=KEY)
    memory.backup(backup)
    memory.forget(["1"])
    (tmp_path / "killed").mkdir()
    killed = copied(path, tmp_path / "killed" / "m.evimem")
    memory.close()
    with pytest.raises(WrongKey):
        evimem.restore(backup, killed)
    assert evimem.restore(backup, killed, key=KEY).forgotten == 1
    with evimem.open(killed, key=KEY) as restored:
        assert [turn.id for turn in restored.turns()] == ["2"]


def test_a_log_that_is_left_is_read_and_that_of_another_state_or_memory_refused(tmp_path):
    path = made(tmp_path / "m.evimem")
    older = copied(path, tmp_path / "older")
    with evimem.open(path, key=KEY) as memory:
        memory.forget(["1"])
        memory.add("Vera", "One more.", time=AT, id="3")
    base = copied(path, tmp_path / "base")
    with evimem.open(path, key=KEY) as memory:
        memory.add("Vera", "Left in the log.", time=AT, id="4")
        memory.update("2", "I moved.")
        left = copied(path, tmp_path / "left")
    for read_only in (True, False):
        with evimem.open(left, key=KEY, read_only=read_only) as memory:
            assert [turn.id for turn in memory.turns()] == ["3", "4", "2"]
    shutil.copy(tmp_path / "left.mark", mark_path(older)), mark_path(older).unlink()
    with evimem.open(path, key=KEY) as memory:
        memory.add("Vera", "Five.", time=AT, id="5")
        memory.add("Vera", "Six.", time=AT, id="6")
        shutil.copy(path.with_name("m.evimem-wal"), tmp_path / "older-wal")
        shutil.copy(path.with_name("m.evimem-wal"), tmp_path / "base-wal")
        other = made(tmp_path / "other.evimem")
        mark_path(other).unlink()
        shutil.copy(path.with_name("m.evimem-wal"), tmp_path / "other.evimem-wal")
    mark_path(base).unlink()
    for wrong in (older, base, other):
        for read_only in (True, False):
            with pytest.raises(StoreRolledBack):
                evimem.open(wrong, key=KEY, read_only=read_only)


def test_a_refusal_of_the_system_shows_no_key(tmp_path):
    path = made(tmp_path / "m.evimem")
    with evimem.open(path, key=KEY) as memory:
        db = memory._core.store.db._handle()
        with pytest.raises(apsw.Error) as caught:
            Key.check_given(OTHER).copy_encrypted(db, tmp_path / "missing" / "copy")
    assert OTHER.hex() not in "".join(traceback.format_exception(caught.value))


def test_what_was_forgotten_is_not_in_the_file_for_those_who_have_the_key(tmp_path):
    path = tmp_path / "m.evimem"
    store = SqliteStore(path, EMBEDDER.name, EMBEDDER.dimension, key=Key.check_given(KEY))
    with small_thresholds(), Memory(Core(store, EMBEDDER)) as memory:
        filled(memory, 150)
        salt = path.read_bytes()[:16]
        memory.forget(session=SECRET)
    assert path.read_bytes()[:16] != salt, "it was not rewritten: unused parts of pages may hold copies of rows"
    assert hits({"canary": CANARIES[0].encode()}, [decrypted(path).parent]) == []


def decrypted(path: Path) -> Path:
    """Return a copy of a file with its encryption taken off, page by page as they are, in a folder of its own."""
    plain = path.parent / "plain" / path.name
    plain.parent.mkdir()
    shutil.copy(path, plain)
    db = apsw.Connection(str(plain))
    for pragma, value in (("cipher", "chacha20"), ("kdf_iter", 1), ("hexkey", KEY.hex())):
        db.pragma(pragma, value)
    db.execute("PRAGMA journal_mode=DELETE").fetchall()
    db.pragma("rekey", "")
    db.close()
    assert plain.read_bytes()[:15] == b"SQLite format 3"
    return plain


def test_a_pool_has_a_key_for_all_or_one_for_each(tmp_path):
    keys = {user: secrets.token_bytes(32) for user in ("ana", "bo")}
    with MemoryPool(tmp_path / "each", key=keys.__getitem__) as each, MemoryPool(tmp_path / "all", key=KEY) as of_all:
        for pool in (each, of_all):
            for user in keys:
                with pool.open(user) as memory:
                    memory.add("Vera", f"Zanzibar of {user}.", time=AT, id="1")
    assert readable(tmp_path) == []
    with MemoryPool(tmp_path / "each", key=keys.__getitem__, capacity=1) as pool:
        for user in keys:
            with pool.open(user) as memory:
                assert memory.turn("1").text == f"Zanzibar of {user}."
    first, second = sorted((tmp_path / "all").rglob("*.evimem"))
    shutil.copy(first, second)
    mark_path(second).unlink()
    with MemoryPool(tmp_path / "all", key=KEY) as pool:
        opened = [attempt(lambda user=user: pool.open(user).__enter__()) for user in keys]
    assert sorted(opened) == ["Memory", "StoreError"]


def attempt(call: Callable[[], object]) -> str:
    try:
        return type(call()).__name__
    except StoreError as error:
        return type(error).__name__


def test_commands_take_the_key_from_the_environment(tmp_path, monkeypatch, capsys):
    path = made(tmp_path / "m.evimem")
    monkeypatch.setenv("EVIMEM_KEY", KEY.hex())
    assert run_command_line(["doctor", str(path)]) == 0
    assert run_command_line(["search", str(path), "quokka", "--json"]) == 0
    assert "Zanzibar" in capsys.readouterr().out
    assert run_command_line(["export", str(path), str(tmp_path / "export.jsonl")]) == 0
    assert run_command_line(["import", str(tmp_path / "new.evimem"), str(tmp_path / "export.jsonl")]) == 0
    monkeypatch.setenv("EVIMEM_KEY", "another")
    assert run_command_line(["doctor", str(path)]) == 5
    (tmp_path / "export.jsonl").unlink()
    assert readable(tmp_path) == []
    assert not any(part in capsys.readouterr().err for part in ("another'", KEY.hex()))


def test_another_embedder_of_an_encrypted_memory(tmp_path):
    path = made(tmp_path / "m.evimem")
    with evimem.open(path, key=KEY) as memory:
        memory.reembed(WordEmbedder(16))
    assert readable(tmp_path) == []


def test_a_child_process_that_is_killed_leaves_every_acknowledged_turn(tmp_path):
    path = made(tmp_path / "m.evimem")
    if not (child := os.fork()):
        memory = evimem.open(path, key=KEY)
        for number in range(5):
            memory.add("Vera", f"Quokka {number}.", time=AT)
        os._exit(0)
    os.waitpid(child, 0)
    assert readable(tmp_path) == []
    with evimem.open(path, key=KEY) as memory:
        assert len(list(memory.turns())) == 7
