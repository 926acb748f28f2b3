"""A pool switches all of its memories to another embedder; they are used meanwhile, and the call may be repeated."""

import pytest

from evimem import EmbedderMismatch, InvalidQuery, MemoryPool, OpenAIEmbedder
from evimem.cli.arguments import Exit, run_command_line
from tests.doubles import WordEmbedder
from tests.model_server import ModelServer

OLD, NEW = WordEmbedder(16), WordEmbedder(32)
USERS = ("ana", "bo", "cy")


@pytest.fixture
def root(tmp_path):
    with MemoryPool(tmp_path / "pool", embedder=OLD) as pool:
        for user in USERS:
            with pool.open(user) as memory:
                memory.add("Vera", f"The kite of {user} is red.", time="2024-05-02T12:00")
    return tmp_path / "pool"


def found(pool: MemoryPool, user: str) -> tuple[str, str]:
    with pool.open(user) as memory:
        return memory.search("kite", 1)[0].turn.text, memory.stats().embedder


def test_every_memory_is_switched_and_the_pool_goes_on_with_the_new_embedder(root):
    told: list[int] = []
    with MemoryPool(root, embedder=OLD, capacity=1) as pool:
        assert pool.reembed(NEW, progress=told.append) == len(USERS) == sum(told)
        assert {found(pool, user)[1] for user in USERS} == {NEW.name}
    with MemoryPool(root, embedder=NEW) as pool:
        for user in USERS:
            with pool.open(user) as memory:
                assert memory.health().status == "ok"
                assert not memory.health().pending
    with MemoryPool(root, embedder=OLD) as pool, pytest.raises(EmbedderMismatch), pool.open("ana"):
        pass


@pytest.mark.parametrize("embedder", [OLD, NEW], ids=["made with the old", "made with the new"])
def test_memories_are_used_while_others_are_done_and_a_repeated_call_goes_on(root, embedder):
    seen: list[tuple[str, str]] = []
    with MemoryPool(root, embedder=embedder) as pool:

        def look(_: int) -> None:
            seen.extend(found(pool, user) for user in USERS)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            pool.reembed(NEW, progress=look)
    assert [text for text, _ in seen] == [f"The kite of {user} is red." for user in USERS]
    assert sorted(name for _, name in seen) == [OLD.name, OLD.name, NEW.name]
    with MemoryPool(root, embedder=NEW) as pool:
        assert pool.reembed(NEW) == len(USERS)
        assert {found(pool, user)[1] for user in USERS} == {NEW.name}


def test_users_may_be_named(root):
    with MemoryPool(root, embedder=OLD) as pool:
        assert pool.reembed(NEW, users=["ana", "nobody"]) == 1
        assert found(pool, "ana")[1] == NEW.name
        assert found(pool, "bo")[1] == OLD.name


def test_all_memories_of_a_server_are_switched_without_naming_their_users(postgres):
    with MemoryPool(f"{postgres}&evimem_schema=reembedded", embedder=OLD) as pool:
        for user in USERS:
            with pool.open(user) as memory:
                memory.add("Vera", f"The kite of {user} is red.", time="2024-05-02T12:00")
        assert pool.reembed(NEW) == len(USERS)
        assert [found(pool, user) for user in USERS] == [(f"The kite of {user} is red.", NEW.name) for user in USERS]


def test_where_each_user_has_a_key_their_ids_are_needed(root):
    with MemoryPool(root, key=lambda user: user) as pool, pytest.raises(InvalidQuery, match="users="):
        pool.reembed(NEW)


def test_the_command_switches_a_folder(root, capsys):
    assert run_command_line(["reembed", "--pool", str(root), "--json"]) == 0
    assert '"memories": 3' in capsys.readouterr().out
    with MemoryPool(root) as pool:
        assert found(pool, "bo")[0] == "The kite of bo is red."


def test_the_command_switches_a_folder_to_a_model_behind_an_endpoint(root, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    with ModelServer(dimension=16) as server:
        options = ("--model", "embeds", "--dimension", "16", "--base-url", server.url)
        assert run_command_line(["reembed", "--pool", str(root), *options]) == Exit.OK
        with MemoryPool(root, embedder=OpenAIEmbedder("embeds", 16, server.url)) as pool:
            assert found(pool, "ana")[1] == "embeds"
