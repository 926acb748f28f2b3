"""Detect the format of a file from its beginning, and load it."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from ..db.file_header import check_readable
from ..errors import ImportFailed, StoreError, shown
from ..types.paths import AnyPath
from .chatgpt_export import read_chatgpt
from .conversation import Conversation, Refuse, raise_refused
from .json_list import elements
from .locomo_format import read_locomo
from .longmemeval_format import read_longmemeval
from .openai_messages import read_messages
from .turn_lines import read_turns

_MESSAGES = re.compile(rb'\{\s*("messages"\s*:\s*\[|"role"\s*:\s*"[a-z]+"\s*,\s*"content")')
FORMATS = ("turns", "messages", "locomo", "longmemeval", "chatgpt")


def detect(path: AnyPath) -> str:
    """Return which of `FORMATS` a file has. Raise ImportFailed if none."""
    path = Path(path)
    _check_file(path)
    if zipfile.is_zipfile(path):
        return "chatgpt"
    with path.open("rb") as file:
        start = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        return _of_list(path)
    if start.startswith(b"{"):
        return _of_object(path, start)
    raise ImportFailed(
        f"{str(path)!r} begins with {shown(bytes(start[:20]), 40)}; expected lines of turns, a list of messages, a "
        "LoCoMo or LongMemEval file or a ChatGPT export; if it is one of them, name its format with --format"
    )


def load(
    path: AnyPath,
    format: str | None = None,
    *,
    start: datetime | None = None,
    session: str | None = None,
    refuse: Refuse = raise_refused,
) -> Iterator[Conversation]:
    """Yield the conversations of a file, one per memory.

    `format` is one of `FORMATS`, detected by default; `start` and `session` are for messages (see `read_messages`);
    `refuse` is called for each refused item. Raise ImportFailed for a file of another format.
    """
    path = Path(path)
    _check_file(path)
    name = format or detect(path)
    if name == "turns":
        yield Conversation("", read_turns(path, refuse))
    elif name == "messages":
        yield Conversation("", read_messages(path, start=start, session=session, refuse=refuse))
    elif name == "chatgpt":
        yield Conversation("", read_chatgpt(path, refuse))
    elif name == "locomo":
        yield from (Conversation(sample.id, sample.turns) for sample in read_locomo(path))
    elif name == "longmemeval":
        yield from (Conversation(case.id, case.turns) for case in read_longmemeval(path))
    else:
        raise ImportFailed(f"there is no format {name!r}; expected one of {', '.join(FORMATS)}")


def _check_file(path: Path) -> None:
    """Raise ImportFailed for a pipe, a folder or a device, which would wait for ever or have no end, and a database."""
    if path.exists() and not path.is_file():
        raise ImportFailed(f"{str(path)!r} is no regular file; expected one: save what is to be read, and name that")
    try:
        check_readable(path)
    except StoreError as error:
        raise ImportFailed(f"{error}, or open a memory with evimem.open") from error


def _of_list(path: Path) -> str:
    with path.open("rb") as file:
        first = next(elements(file, path.name), None)
    marks = {"conversation": "locomo", "haystack_sessions": "longmemeval", "mapping": "chatgpt", "role": "messages"}
    found = [name for mark, name in marks.items() if isinstance(first, dict) and mark in first]
    if not found:
        raise ImportFailed(
            f"{str(path)!r} is a list of {shown(first, 40)}; expected messages with role and content, or the elements "
            "of a LoCoMo, LongMemEval or ChatGPT file"
        )
    return found[0]


def _of_object(path: Path, start: bytes) -> str:
    if start.startswith(b'{"evimem"'):
        raise ImportFailed(f"{str(path)!r} is an evimem export; read it with `evimem import` (Memory.import_)")
    return "messages" if _MESSAGES.match(start) else "turns"
