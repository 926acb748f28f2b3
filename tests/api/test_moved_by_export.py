"""A memory that was moved by an export knows what was forgotten: the history that goes on is stored once."""

from itertools import product
from pathlib import Path
from random import Random

import evimem
from tests.doubles import WordEmbedder

EMBEDDER = WordEmbedder(16)


def opened(path: Path) -> evimem.Memory:
    return evimem.open(path, embedder=EMBEDDER)


def history(count: int, about: str = "the garden") -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": f"Message {at} is about {about}."} for at in range(count)]


def said(memory: evimem.Memory) -> list[str]:
    return [turn.text for turn in memory.turns()]


def moved(memory: evimem.Memory, folder: Path, name: str) -> evimem.Memory:
    memory.export(folder / f"{name}.jsonl")
    new = opened(folder / f"{name}.evimem")
    new.import_(folder / f"{name}.jsonl")
    return new


def test_whatever_was_forgotten_stays_so_and_the_rest_is_stored_once(tmp_path: Path) -> None:
    random = Random(11)
    for number in range(12):
        with opened(tmp_path / f"{number}.evimem") as old:
            old.remember(history(8), session="s", time="2024-05-02T10:00")
            old.remember(history(4, "the cat"), session="t", time="2024-05-02T11:00")
            ids = [turn.id for turn in old.turns()]
            old.forget(random.sample(ids, random.randint(1, 11)))
            if number % 3 == 0:
                old.forget(session="t") if any(turn.session == "t" for turn in old.turns()) else None
            with moved(old, tmp_path, f"{number} once") as once, moved(once, tmp_path, f"{number} twice") as twice:
                for memory, (session, length, about) in product(
                    (old, once, twice), (("s", 10, "the garden"), ("t", 6, "the cat"))
                ):
                    memory.remember(history(length, about), session=session, time="2024-05-03T10:00")
                assert said(once) == said(twice) == said(old), f"history {number}"
                assert once.check().problems == ()


def test_an_import_that_is_repeated_stores_no_place_twice(tmp_path: Path) -> None:
    with opened(tmp_path / "old.evimem") as old:
        old.remember(history(8), session="s", time="2024-05-02T10:00")
        old.forget([turn.id for turn in old.turns()][2:5])
        with moved(old, tmp_path, "new") as new:
            places = new._core.store.db.rows("SELECT * FROM place")
            new.import_(tmp_path / "new.jsonl")
            assert new._core.store.db.rows("SELECT * FROM place") == places
            old.import_(tmp_path / "new.jsonl")
            for memory in (old, new):
                assert memory.remember(history(10), session="s", time="2024-05-03T10:00").added == 2


def test_an_export_holds_no_word_of_what_was_forgotten_and_none_where_nothing_was(tmp_path: Path) -> None:
    with opened(tmp_path / "old.evimem") as old:
        old.remember(history(4), session="s", time="2024-05-02T10:00")
        old.export(tmp_path / "whole.jsonl")
        assert (tmp_path / "whole.jsonl").read_bytes().count(b"\n") == 6, "a header, turns and an end, as ever"
        old.remember([{"role": "user", "content": "My locker code is 7731."}], session="s", time="2024-05-02T10:05")
        old.forget([turn.id for turn in old.turns()][-1:])
        old.export(tmp_path / "after.jsonl")
    assert b"7731" not in (tmp_path / "after.jsonl").read_bytes()
    assert b'"place"' in (tmp_path / "after.jsonl").read_bytes()
