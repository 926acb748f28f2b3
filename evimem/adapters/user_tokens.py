"""Read the token file of a server: the user and the scope of each token. Tokens are kept as digests only."""

from __future__ import annotations

import logging
import os
import secrets
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal, get_args

from ..db.connection import check_replaceable
from ..errors import InvalidQuery, shown

Scope = Literal["read", "write", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
_LOG = logging.getLogger("evimem")


@dataclass(frozen=True, slots=True)
class TokenHolder:
    """The user of a token. `scope` "read" asks and searches, "write" adds too, "admin" forgets too."""

    user: str
    scope: Scope

    def may(self, scope: Scope) -> bool:
        """Return whether the token allows calls that need `scope`."""
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


class TokenFile:
    """A file with one token a line: its SHA-256, a scope, the user's id. It is read again when it has changed.

    A token is 256 random bits, so that its digest needs no salt, and a look-up by digest tells a guesser nothing.
    """

    def __init__(self, path: Path) -> None:
        """Read the file. Raise InvalidQuery where there is none, where it cannot be read, or holds something else."""
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._holders: dict[str, TokenHolder] = {}
        try:
            self._refresh()
        except OSError as error:
            raise InvalidQuery(
                f"the token file {str(path)!r} cannot be read ({type(error).__name__}); expected one that "
                "`evimem token` made"
            ) from error

    def holder(self, token: str) -> TokenHolder | None:
        """Return the holder of `token`; None for one that is not in the file, and for all while the file is unreadable.

        Raises:
            InvalidQuery: The file was changed into something else, so that no token is known.
        """
        try:
            self._refresh()
        except OSError as error:
            self._seen, self._holders = None, {}
            _LOG.warning("no token is let in: the token file cannot be read (%s)", type(error).__name__)
        return self._holders.get(_digest(token))

    def _refresh(self) -> None:
        found = self._path.stat()
        seen = (found.st_mtime_ns, found.st_size, found.st_ino)
        if seen != self._seen:
            self._holders = _entries(self._path.read_bytes(), self._path)
            self._seen = seen


def new_token(path: Path, user: str, scope: Scope) -> str:
    """Make a token for a user, append its digest to the file, and return it: nothing else will ever show it.

    The file is created if there is none, readable by its owner only.

    Raises:
        InvalidQuery: The user id is empty or has a line break, `scope` is none, or the file holds something else.
        StoreError: The path is that of a database, or of no regular file.
        OSError: The file cannot be written.
    """
    if not user or user != user.strip() or len(user.splitlines()) != 1:
        raise InvalidQuery(f"the user id is {shown(user)}; expected one line of text without spaces around it")
    if scope not in SCOPES:
        raise InvalidQuery(f"the scope is {shown(scope)}; expected one of {', '.join(SCOPES)}")
    check_replaceable(path)
    token = secrets.token_urlsafe(32)
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "ab+") as file:
        file.seek(0)
        before = file.read()
        _entries(before, path)
        head = "# sha256-of-token scope user\n" if not before else "" if before.endswith(b"\n") else "\n"
        file.write(f"{head}{_digest(token)} {scope} {user}\n".encode())
        file.flush()
        os.fsync(file.fileno())
    return token


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _entries(content: bytes, path: Path) -> dict[str, TokenHolder]:
    """Return the holders of the tokens of a file, by digest. Raise InvalidQuery for any other content."""
    try:
        lines = content.decode().splitlines()
    except UnicodeDecodeError as error:
        raise InvalidQuery(f"{str(path)!r} is no file of tokens, but something else") from error
    return dict(
        _entry(line, f"{str(path)!r}, line {number}")
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.startswith("#")
    )


def _entry(line: str, place: str) -> tuple[str, TokenHolder]:
    parts = line.split(maxsplit=2)
    if len(parts) != 3 or len(parts[0]) != 64 or parts[1] not in SCOPES:
        raise InvalidQuery(f"{place} is no token; expected a SHA-256, one of {', '.join(SCOPES)}, and a user id")
    scope = SCOPES[[*SCOPES].index(parts[1])]
    return parts[0].lower(), TokenHolder(parts[2].rstrip(), scope)
