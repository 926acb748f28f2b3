"""The key of an encrypted file. SQLite3 Multiple Ciphers, a build of SQLite, encrypts each page of it and its log.

ChaCha20 and Poly1305: a page that was changed or encrypted with another key is refused. The key of a file is derived
from the given one and from a random salt in the file, so that no page of one file can be read as one of another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from ..errors import InvalidQuery, MissingExtra

KEY_BYTES = 32
_HOW_TO_INSTALL = (
    "pip install 'evimem[encrypted]' && pip install --force-reinstall --no-deps apsw-sqlite3mc (it takes the place of "
    "apsw: docs/files.md)"
)


@dataclass(frozen=True, slots=True)
class Key:
    """The key of an encrypted file: random bytes, or a passphrase, which is derived slowly. It is shown nowhere."""

    _digits: str = field(repr=False)
    _rounds: int = field(repr=False)

    @classmethod
    def check_given(cls, value: object, name: str = "key") -> Key:
        """Return the key that a caller gave. Raise InvalidQuery for another value, MissingExtra without the library."""
        if isinstance(value, Key):
            return value
        if isinstance(value, (bytes, bytearray)) and len(value) == KEY_BYTES:
            found = cls(bytes(value).hex(), 1)
        elif isinstance(value, str) and value:
            # 64,007 rounds of PBKDF2-HMAC-SHA256 take tens of milliseconds each time that a file is opened.
            found = cls(value.encode("utf-8", "surrogatepass").hex(), 64_007)
        else:
            size = f" of {len(value)} bytes" if isinstance(value, (bytes, bytearray)) else ""
            raise InvalidQuery(
                f"{name} is a {type(value).__name__}{size}; expected {KEY_BYTES} random bytes, such as "
                f"secrets.token_bytes({KEY_BYTES}), or a passphrase, a string that is not empty"
            )
        if not hasattr(apsw, "mc_version"):
            raise MissingExtra("an encrypted memory", "encrypted", _HOW_TO_INSTALL)
        return found

    def unlock(self, db: apsw.Connection) -> None:
        """Have a handle that has read nothing yet encrypt and decrypt with this key."""
        for pragma, value in (("cipher", "chacha20"), ("kdf_iter", self._rounds), ("hexkey", self._digits)):
            db.pragma(pragma, value)

    def copy_encrypted(self, db: apsw.Connection, target: Path) -> None:
        """Write the state of a handle into a file, row by row, encrypted with this key; the handle takes URIs."""
        uri = f"{target.resolve().as_uri()}?cipher=chacha20&kdf_iter={self._rounds}&hexkey={self._digits}"
        try:
            db.execute("VACUUM INTO ?", (uri,))
        except apsw.Error as error:
            error.args = (str(error).replace(self._digits, "..."),)  # SQLite's message quotes the URI
            raise


def optional_key(value: Any, name: str = "key") -> Key | None:
    """Return the key that a caller gave, None where none was."""
    return None if value is None else Key.check_given(value, name)
