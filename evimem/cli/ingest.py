"""The commands that bring conversations into a memory: ingest and import."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import evimem

from ..db.atomic_files import make_folder
from ..errors import InvalidQuery, StoreError
from ..loaders import Conversation, RefusedItem, detect, load, raise_refused
from ..loaders.data_sets import known_file
from ..types.public_value import AnyPath
from ..types.reports import AddReport
from ..types.values import Turn
from . import views
from .arguments import Exit, shown_path
from .page import Screen, line

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")


def ingest(  # noqa: PLR0913 - the options
    screen: Screen,
    path: AnyPath,
    file: Path,
    *,
    format: str | None = None,
    start: str | None = None,
    replace: bool = False,
    session: str | None = None,
    only: str | None = None,
    strict: bool = False,
    **opening: Any,
) -> Exit:
    """Add conversations to a memory: exports of ChatGPT, Claude, WhatsApp, Telegram, Slack and Discord, and others.

    Read are lines of turns, chat messages, LoCoMo, LongMemEval, the zip, folder or file of a ChatGPT, Claude or Slack
    export, WhatsApp's .txt or zip, Telegram's result.json, and the JSON of DiscordChatExporter. The format is detected
    from what the file holds. A line of turns is a JSON object with speaker, text and time, and optionally id, session,
    caption, role and metadata. A message that cannot be read is left out and counted. For a file of several
    conversations, PATH becomes a folder with one memory each.
    Turns that are stored already are skipped: after Ctrl-C, the same command continues where it stopped, and a newer
    export adds what is new. Turns that ChatGPT's export now holds on an abandoned branch are erased. Exits with code 4
    if any turn was refused; the others are stored.

    Args:
        path: The file of the memory, or a server's address.
        file: The file to read, or the folder of an export.
        format: Of FILE: turns, messages, locomo, longmemeval, chatgpt, claude, whatsapp, telegram, slack or discord; by
            default detected.
        start: For messages without times: when the first was sent, such as 2024-03-12T18:20.
        replace: Where an id is stored with other content, erase that and store this turn.
        session: For messages: the session; by default the file's name.
        only: Of several conversations, add only the one of this name, to the file PATH.
        strict: Stop at the first turn that is refused, instead of reporting it.
    """
    name = format or detect(file)
    if name == "locomo" and known_file(file) is None:
        screen.note(f"evimem: {file} is none of the LoCoMo files known by digest; figures may not be comparable")
    refusals: list[RefusedItem] = []
    refuse = raise_refused if strict else refusals.append
    found = load(file, name, start=_start(start), session=session, date_order=opening.get("date_order"), refuse=refuse)
    results: list[dict[str, Any]] = []
    code = Exit.OK
    for conversation in _chosen(found, only, file):
        place = _memory_of(conversation, path, file, only)
        with screen.progress(shown_path(place), "turns", _total(conversation, file, name)) as progress:
            turns = conversation.turns
            report = _keep(place, turns, screen, opening, strict=strict, replace=replace, progress=progress)
        refused = [str(refusal) for refusal in refusals]
        screen.page(views.added_page(shown_path(place), report, refused, progress.seconds))
        results.append({"path": shown_path(place), **_added_data(report)})
        results[-1]["refused"] += [{"id": one.where, "reason": one.why} for one in refusals]
        refusals.clear()
        code = max(code, _code_of_refused(report, refused, screen))
    screen.show([], {"memories": results})
    return code


def import_(screen: Screen, path: AnyPath, file: Path, **opening: Any) -> Exit:
    """Add the turns and facts of an evimem export to a memory. For other files use `evimem ingest`.

    Turns that are stored already stay unchanged.

    Args:
        path: The file of the memory, or a server's address.
        file: A file that `evimem export` wrote.
    """
    with evimem.open(path, **opening) as memory, screen.progress("importing", "turns") as progress:
        report = memory.import_(file, progress=progress)
    screen.show(views.added_page(shown_path(path), report, (), progress.seconds), _added_data(report))
    return _code_of_refused(report, (), screen)


def copy(screen: Screen, source: AnyPath, target: AnyPath, *, user: str | None = None, verify: bool = False) -> Exit:
    """Copy a memory between a file and a PostgreSQL server, either way: whole, or not at all.

    Everything is copied: turns, facts, edges, queued jobs, traces, and what was forgotten is still known to be. TARGET
    must be a new file, or a user of a server who has no memory yet.

    Args:
        source: The memory: a file, or a server's address.
        target: Where it is copied to: a new file, or a server's address.
        user: Whose memory it is on a server.
        verify: Read every row again at the target, and compare it, before it is committed.
    """
    with screen.progress("copying", "turns") as progress:
        report = evimem.copy(source, target, user=user, verify=verify, progress=progress)
    done = f"{views.counted(report.turns, 'turn')} and {views.counted(report.facts, 'fact')} copied"
    compared = f", {views.counted(report.rows, 'row')} compared" if verify else ""
    screen.show([line(f"{done} to {shown_path(target)}{compared}")], report.to_dict())
    return Exit.OK


def _keep(path: AnyPath, turns: Iterable[Turn], screen: Screen, opening: Mapping[str, Any], **given: Any) -> AddReport:
    """Add turns to a memory. After Ctrl-C every committed batch is stored; print how many turns that is.

    Where nothing was stored, no file is left that was not there.
    """
    is_new = isinstance(path, Path) and not path.exists()
    with evimem.open(path, **opening) as memory:
        try:
            return memory.extend(turns, **given)
        except KeyboardInterrupt:
            done = f"{given['progress'].done:,} turns are stored"
            screen.note(f"\nevimem: interrupted; {done}, the same command continues from there")
            raise
        finally:
            if is_new and not memory.stats().turns:
                with suppress(StoreError):  # another process has stored turns in it since
                    memory._core.store.remove()


def _chosen(conversations: Iterator[Conversation], only: str | None, file: Path) -> Iterator[Conversation]:
    if only is None:
        yield from conversations
        return
    names = []
    for conversation in conversations:
        if conversation.name == only:
            yield conversation
            return
        names.append(conversation.name)
    raise InvalidQuery(f"{str(file)!r} has no conversation {only!r}; expected one of {', '.join(names) or 'none'}")


def _memory_of(conversation: Conversation, path: AnyPath, file: Path, only: str | None) -> AnyPath:
    if not conversation.name or only:
        return path
    if not isinstance(path, Path) or path.is_file():
        raise InvalidQuery(
            f"{str(file)!r} holds several conversations but {shown_path(path)!r} is one memory; give a folder, or "
            f"--only {conversation.name} to add one of them"
        )
    make_folder(path)
    return path / f"{_file_name(conversation.name)}.evimem"


def _added_data(report: AddReport) -> dict[str, Any]:
    """Return the counts of a report, and the turns that were refused: of the others there may be very many."""
    data = report.to_dict()
    statuses = data.pop("statuses")
    refused = [{"id": one["id"], "reason": one["reason"]} for one in statuses if one["outcome"] == "refused"]
    return data | {"refused": refused}


def _code_of_refused(report: AddReport, refused: Sequence[str], screen: Screen) -> Exit:
    """Return the exit code of a command that added turns; where some were refused, note how many and the first why."""
    reasons = [*refused, *views.refused_turns(report)]
    if not reasons:
        return Exit.OK
    done = f"{views.counted(report.added, 'turn')} added, {report.existing:,} there already"
    screen.note(f"evimem: {len(reasons):,} refused ({done}); the first: {reasons[0]}")
    return Exit.INPUT


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
