"""A token file holds digests; it says whose a token is and what it may do, and is read again when it has changed."""

import stat

import pytest

from evimem.adapters.user_tokens import SCOPES, Scope, TokenFile, TokenHolder, new_token
from evimem.errors import InvalidQuery


def test_a_token_is_shown_once_and_kept_as_a_digest_that_only_the_owner_reads(tmp_path):
    path = tmp_path / "tokens"
    token = new_token(path, "Mira Ålund", "write")
    assert token not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert TokenFile(path).holder(token) == TokenHolder("Mira Ålund", "write")
    assert TokenFile(path).holder(f"{token}x") is None


def test_a_server_notices_a_new_token_and_one_that_was_taken_back(tmp_path):
    path = tmp_path / "tokens"
    first = new_token(path, "mira", "read")
    tokens = TokenFile(path)
    second = new_token(path, "tomas", "read")
    assert tokens.holder(second) == TokenHolder("tomas", "read")
    path.write_text("\n".join(line for line in path.read_text().splitlines() if "mira" not in line))
    assert tokens.holder(first) is None
    third = new_token(path, "nadia", "read")  # after a line without its end
    assert [tokens.holder(token) is not None for token in (second, third)] == [True, True]


@pytest.mark.parametrize("line", ["mira read", f"{'0' * 64} owner mira", f"{'0' * 63} read mira", f"{'0' * 64} read"])
def test_a_file_with_another_line_lets_nobody_in_and_says_where(tmp_path, line):
    path = tmp_path / "tokens"
    token = new_token(path, "mira", "read")
    tokens = TokenFile(path)
    path.write_text(f"{path.read_text()}{line}\n")
    with pytest.raises(InvalidQuery, match="line 3 is no token"):
        tokens.holder(token)


@pytest.mark.parametrize("user", ["", " mira", "mira\nread tomas", "mira\x85"])
def test_a_user_id_that_would_make_another_line_is_refused(tmp_path, user):
    with pytest.raises(InvalidQuery, match="user id"):
        new_token(tmp_path / "tokens", user, "read")
    assert not (tmp_path / "tokens").exists()


def test_a_scope_holds_those_below_it():
    def may(scope: Scope) -> list[bool]:
        return [TokenHolder("mira", scope).may(needed) for needed in SCOPES]

    assert [may("read"), may("write"), may("admin")] == [[True, False, False], [True, True, False], [True, True, True]]


def test_a_file_that_is_not_there_is_told_at_the_start(tmp_path):
    with pytest.raises(InvalidQuery, match="cannot be read"):
        TokenFile(tmp_path / "missing")


def test_no_token_is_let_in_while_the_file_is_away(tmp_path):
    token = new_token(tmp_path / "t", "mira", "read")
    tokens = TokenFile(tmp_path / "t")
    (tmp_path / "t").rename(tmp_path / "away")
    assert tokens.holder(token) is None
    (tmp_path / "away").rename(tmp_path / "t")
    assert tokens.holder(token) == TokenHolder("mira", "read")
