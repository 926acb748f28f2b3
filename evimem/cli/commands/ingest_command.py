"""Read a conversation into a memory: lines of turns, chat messages, LoCoMo, LongMemEval, a ChatGPT export.

The format is seen from the file. A line of turns is JSON with speaker, text and time, and may have id, session,
caption, role and metadata. A file of several conversations makes PATH a folder with a memory for each. What is there
already is left as it is: after Ctrl-C, the same command goes on from where it was.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import evimem

from ...db.atomic_files import make_folder
from ...errors import InvalidQuery
from ...loaders import FORMATS, Conversation, Refusal, detect, load, strictly
from ...loaders.locomo_format import known_file
from ...types.reports import AddReport
from ...types.values import Turn
from ..exit_codes import Exit
from ..json_output import added_data
from ..open_memory import add_path
from ..screen import Screen
from ..views.added_view import added_page

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ingest`."""
    add_path(parser)
    parser.add_argument("file", metavar="FILE", type=Path, help="the conversation")
    parser.add_argument("--format", choices=FORMATS, help="what the file is, if that cannot be seen from it")
    parser.add_argument("--start", metavar="TIME", help="when a list of messages without times began")
    parser.add_argument("--session", metavar="NAME", help="the session of a list of messages (the file's name)")
    parser.add_argument("--only", metavar="NAME", help="of several conversations, read this one into PATH")
    parser.add_argument("--strict", action="store_true", help="stop at the first turn that cannot be kept")


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Read the file."""
    name = options.format or detect(options.file)
    if name == "locomo" and known_file(options.file) is None:
        screen.note(f"evimem: {options.file} is none of the LoCoMo files known by digest; figures may not compare")
    refusals: list[Refusal] = []
    conversations = load(
        options.file,
        name,
        start=_start(options.start),
        session=options.session,
        refuse=strictly if options.strict else refusals.append,
    )
    results: list[dict[str, Any]] = []
    for conversation in _chosen(conversations, options):
        path = _memory_of(conversation, options)
        with screen.progress(str(path), "turns", _total(conversation, options.file, name)) as progress:
            report = keep(path, conversation.turns, screen, progress, strict=options.strict)
        refused = [str(refusal) for refusal in refusals]
        screen.page(added_page(str(path), report, refused, progress.seconds))
        results.append({"path": str(path), **added_data(report)})
        results[-1]["refused"] += [{"id": one.where, "reason": one.why} for one in refusals]
        refusals.clear()
    screen.show([], {"memories": results})
    return Exit.OK


def keep(path: Path, turns: Iterable[Turn], screen: Screen, progress: Any, *, strict: bool = False) -> AddReport:
    """Keep turns in a memory. Ctrl-C loses nothing of what a transaction has ended with; say so."""
    with evimem.open(path) as memory:
        try:
            return memory.extend(turns, strict=strict, progress=progress)
        except KeyboardInterrupt:
            screen.note(f"\nevimem: interrupted; {progress.done:,} turns are kept, the same command goes on from there")
            raise


def _chosen(conversations: Iterator[Conversation], options: argparse.Namespace) -> Iterator[Conversation]:
    if not options.only:
        yield from conversations
        return
    names = []
    for conversation in conversations:
        if conversation.name == options.only:
            yield conversation
            return
        names.append(conversation.name)
    raise InvalidQuery(
        f"{str(options.file)!r} has no conversation {options.only!r}; there are {', '.join(names) or 'none'}"
    )


def _memory_of(conversation: Conversation, options: argparse.Namespace) -> Path:
    path: Path = options.path
    if not conversation.name or options.only:
        return path
    if path.is_file():
        raise InvalidQuery(
            f"{str(options.file)!r} holds several conversations and {str(path)!r} is one file; give a folder, or "
            f"--only {conversation.name} for one of them"
        )
    make_folder(path)
    return path / f"{_file_name(conversation.name)}.evimem"


def _file_name(name: str) -> str:
    # A name from a file never becomes a path.
    return name if _PLAIN_NAME.fullmatch(name) else blake2b(name.encode(), digest_size=12).hexdigest()


def _start(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidQuery(f"--start is {text!r}; expected ISO 8601, such as 2024-03-12T18:20") from error


def _total(conversation: Conversation, file: Path, name: str) -> int | None:
    if isinstance(conversation.turns, tuple):
        return len(conversation.turns)
    if name != "turns":
        return None
    with file.open("rb") as lines:
        return sum(1 for _ in lines)
