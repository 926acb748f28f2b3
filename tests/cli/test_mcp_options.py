"""`evimem mcp` refuses options that do not fit together before it opens anything, and `evimem token` makes tokens."""

import pytest

from evimem.adapters.user_tokens import TokenFile, TokenHolder


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "give the PATH of a memory, or --pool DIR"),
        (("m", "--pool", "d", "--user", "x"), "give the PATH of a memory, or --pool DIR"),
        (("m", "--port", "1"), "--port needs --http"),
        (("m", "--user", "x"), "--user chooses among the memories of --pool"),
        (("m", "--http", "--tokens", "t"), "--tokens chooses among the memories of --pool"),
        (("--pool", "d"), "--pool needs either --user ID or, with --http, --tokens FILE"),
        (("--pool", "d", "--http", "--tokens", "t", "--user", "x"), "--pool needs either"),
        (("m", "--http", "--host", "0.0.0.0"), "without --tokens only this machine may come"),
        (("m", "--http", "--host", "example.org"), "without --tokens only this machine may come"),
        (("m", "--deadline", "3"), "--deadline needs --llm"),
    ],
)
def test_options_that_do_not_fit_together_are_named(cli, tmp_path, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    ran = cli("mcp", *words)
    assert ran.code == 2
    assert says in ran.err
    assert [*tmp_path.iterdir()] == []


def test_token_prints_a_token_that_the_file_knows(cli, tmp_path):
    token = cli("token", tmp_path / "t", "--user", "mira", "--scope", "read", "--json").data["token"]
    assert cli("token", tmp_path / "t", "--user", "tomas").out.strip() != token
    assert TokenFile(tmp_path / "t").holder(token) == TokenHolder("mira", "read")
