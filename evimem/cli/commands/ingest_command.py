"""Add conversations to a memory: exports of ChatGPT, Claude, WhatsApp, Telegram, Slack and Discord, and others.

Read are lines of turns, chat messages, LoCoMo, LongMemEval, the zip, folder or file of a ChatGPT, Claude or Slack
export, WhatsApp's .txt or zip, Telegram's result.json, and the JSON of DiscordChatExporter. The format is detected from
what the file holds. A line of turns is a JSON object with speaker, text and time, and optionally id, session, caption,
role and metadata. A message that cannot be read is left out and counted. For a file of several conversations, PATH
becomes a folder with one memory each.
Turns that are stored already are skipped: after Ctrl-C, the same command continues where it stopped, and a newer export
adds what is new. Turns that ChatGPT's export now holds on an abandoned branch are erased. Exits with code 4 if any turn
was refused; the others are stored.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import evimem

from ...db.atomic_files import make_folder
from ...errors import InvalidQuery, StoreError
from ...loaders import FORMATS, Conversation, RefusedItem, detect, load, raise_refused
from ...loaders.locomo_format import known_file
from ...loaders.whatsapp import DATE_ORDERS
from ...types.reports import AddReport
from ...types.values import Turn
from ..exit_codes import Exit
from ..json_output import added_data
from ..open_memory import add_path, add_timezone
from ..screen import Screen
from ..views.added_view import added_page, code_of_refused

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ingest`."""
    add_path(parser)
    parser.add_argument("file", metavar="FILE", type=Path, help="the file to read, or the folder of an export")
    parser.add_argument("--format", choices=FORMATS, help="the format of FILE (default: detected)")
    parser.add_argument(
        "--start", metavar="TIME", help="for messages without times: when the first was sent, such as 2024-03-12T18:20"
    )
    parser.add_argument(
        "--replace",
        action="store_true",
        help="where an id is stored with other content, erase that and store this turn",
    )
    parser.add_argument("--session", metavar="NAME", help="for messages: the session (default: the file's name)")
    parser.add_argument(
        "--date-order", choices=DATE_ORDERS, help="for WhatsApp: how its dates are written (default: decided from all)"
    )
    add_timezone(parser)
    parser.add_argument("--only", metavar="NAME", help="of several conversations, add only this one, to the file PATH")
    parser.add_argument(
        "--strict", action="store_true", help="stop at the first turn that is refused, instead of reporting it"
    )


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Read the file."""
    name = options.format or detect(options.file)
    if name == "locomo" and known_file(options.file) is None:
        screen.note(
            f"evimem: {options.file} is none of the LoCoMo files known by digest; figures may not be comparable"
        )
    refusals: list[RefusedItem] = []
    conversations = load(
        options.file,
        name,
        start=_start(options.start),
        session=options.session,
        date_order=options.date_order,
        refuse=raise_refused if options.strict else refusals.append,
    )
    results: list[dict[str, Any]] = []
    code = Exit.OK
    for conversation in _chosen(conversations, options):
        path = _memory_of(conversation, options)
        with screen.progress(str(path), "turns", _total(conversation, options.file, name)) as progress:
            report = keep(path, conversation.turns, screen, progress, options)
        refused = [str(refusal) for refusal in refusals]
        screen.page(added_page(str(path), report, refused, progress.seconds))
        results.append({"path": str(path), **added_data(report)})
        results[-1]["refused"] += [{"id": one.where, "reason": one.why} for one in refusals]
        refusals.clear()
        code = max(code, code_of_refused(report, refused, screen))
    screen.show([], {"memories": results})
    return code


def keep(path: Path, turns: Iterable[Turn], screen: Screen, progress: Any, options: argparse.Namespace) -> AddReport:
    """Add turns to a memory. After Ctrl-C every committed batch is stored; print how many turns that is.

    Where nothing was stored, no file is left that was not there.
    """
    is_new = not path.exists()
    with evimem.open(path, timezone=options.timezone) as memory:
        try:
            return memory.extend(turns, strict=options.strict, replace=options.replace, progress=progress)
        except KeyboardInterrupt:
            screen.note(
                f"\nevimem: interrupted; {progress.done:,} turns are stored, the same command continues from there"
            )
            raise
        finally:
            if is_new and not memory.stats().turns:
                with suppress(StoreError):  # another process has stored turns in it since
                    memory._core.store.remove()


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
        f"{str(options.file)!r} has no conversation {options.only!r}; expected one of {', '.join(names) or 'none'}"
    )


def _memory_of(conversation: Conversation, options: argparse.Namespace) -> Path:
    path: Path = options.path
    if not conversation.name or options.only:
        return path
    if path.is_file():
        raise InvalidQuery(
            f"{str(options.file)!r} holds several conversations but {str(path)!r} is one file; give a folder, or "
            f"--only {conversation.name} to add one of them"
        )
    make_folder(path)
    return path / f"{_file_name(conversation.name)}.evimem"


def _file_name(name: str) -> str:
    # The name comes from an untrusted file: it must not become a path.
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
