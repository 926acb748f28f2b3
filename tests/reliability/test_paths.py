"""A user id is never part of a path and never a pattern: each id has its own memory in the folder of the pool."""

import re
from pathlib import Path
from random import Random

import pytest

from evimem import InvalidQuery, MemoryPool
from tests.sizes import sizes

from .support.world import EMBEDDER, EXTRACTOR, NOON

PIECES = (
    "..", "../", "/", "\\", "/etc/passwd", "C:\\", "CON", "nul", "aux.txt", "~", "$HOME", "%2F", "%", "_", "*", "?",
    "[a]", ".", " ", "\t", "\n", "\x00", "a", "A", "acme", "acme2", "é", "e\u0301", "\u00c5", "\u212b", "ﬁ", "\u202e",
    "\u200b", "\ud800", "x" * 300, "x" * 4096, "'", '"', ";", "-wal", ".mark", ".evimem", "🧒",
)  # fmt: skip
OURS = re.compile(r"[0-9a-f]{2}/[0-9a-f]{40}\.evimem(-wal|-shm|\.mark)?$")
TWINS = (
    ("acme", "acme2"), ("a/b", "a%2Fb"), ("ana", "ana "), ("ana", "Ana"), ("é", "e\u0301"), ("acme", "acm_"),
    ("a", "%"),
)  # fmt: skip


def names(count: int, random: Random) -> list[str]:
    made = {"".join(random.choices(PIECES, k=random.randint(1, 4))): None for _ in range(2 * count)}
    return list(made)[:count]


def put(pool: MemoryPool, user: str, text: str) -> None:
    with pool.open(user) as memory:
        memory.add("Mira", text, time=NOON, id="1")


def text_of(pool: MemoryPool, user: str) -> list[str]:
    with pool.open(user) as memory:
        return [turn.text for turn in memory.turns()]


@pytest.mark.parametrize("linked", [False, True], ids=["a folder", "a link to one"])
@pytest.mark.parametrize("count", sizes(100, nightly=2_000, reduced=20))
def test_no_user_id_leads_out_of_the_folder_or_to_another_users_memory(disk, seed, count, linked, tell):
    root = disk / "deep" / "pool"
    root.mkdir(parents=True)
    given = disk / "link"
    given.symlink_to(root, target_is_directory=True)
    users = names(count, Random(seed))
    with MemoryPool(given if linked else root, capacity=8, embedder=EMBEDDER, extractor=EXTRACTOR) as pool:
        for number, user in enumerate(users):
            put(pool, user, f"I am {number}.")
        for number, user in enumerate(users):
            assert text_of(pool, user) == [f"I am {number}."], f"{user!r} has the memory of another"
        for user in users[::2]:
            assert pool.erase(user).turns == 1
        for number, user in enumerate(users[1::2]):
            assert text_of(pool, user) == [f"I am {2 * number + 1}."], f"erasing another took what {user!r} had"
    files = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    strange = [name for name in files if not OURS.match(name)]
    outside = [path for path in disk.rglob("*") if path.is_file() and root not in path.parents]
    assert (strange, outside) == ([], [])
    tell(f"{len(users)} hostile user ids: 0 files outside the pool, 0 shared")


@pytest.mark.parametrize("user", [None, "", 0, 7, b"ana", 1.5, ["ana"], ("ana",), Path("ana"), True])
def test_an_invalid_user_id_is_refused(disk, user):
    with MemoryPool(disk, embedder=EMBEDDER) as pool:
        for call in (lambda: pool.open(user).__enter__(), lambda: pool.erase(user)):
            with pytest.raises(InvalidQuery, match="user id"):
                call()
    assert list(disk.iterdir()) == []


@pytest.mark.parametrize(("one", "other"), TWINS)
def test_similar_user_ids_have_separate_memories(disk, one, other):
    with MemoryPool(disk, embedder=EMBEDDER) as pool:
        put(pool, one, "I have a secret.")
        assert text_of(pool, other) == []
        report = pool.erase(other)
        assert report.turns == 0
        assert text_of(pool, one) == ["I have a secret."]


def test_an_unknown_user_is_distinguished_from_one_without_results(disk):
    with MemoryPool(disk, embedder=EMBEDDER) as pool:
        assert "no memory" in str(pool.erase("nobody").reason)
        put(pool, "ana", "I have a secret.")
        assert ("ana" in pool, "Ana" in pool, "an" in pool, "nobody" in pool) == (True, False, False, False)
        pool.erase("ana")
        assert "ana" not in pool
        with pytest.raises(InvalidQuery, match="user id"):
            assert None in pool
