"""The commands that fill, check, correct and take out a memory: each is a function of a memory and a screen."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import evimem

from ..calibration import read_labelled
from ..errors import InvalidQuery, StoreCorrupt, StoreError
from ..loaders import load
from ..loaders.conversation import RefusedItem, raise_refused
from ..loaders.formats import detect
from ..store.open_file import notes
from ..types.public_value import AnyPath
from ..types.reports import AddReport, Health
from ..types.values import DateOrder, Turn
from . import views
from .arguments import Exit, Misused, Settings, existing, shown_path
from .page import Screen, line
from .views import counted


def ingest(  # noqa: PLR0913 - the options
    screen: Screen,
    path: AnyPath,
    file: Path,
    *,
    format: str | None = None,
    start: str | None = None,
    replace: bool = False,
    session: str | None = None,
    strict: bool = False,
    **opening: Any,
) -> Exit:
    """Add a conversation to a memory: exports of ChatGPT, Claude, WhatsApp, Telegram, Slack and Discord, and others.

    Read are lines of turns, chat messages, the zip, folder or file of a ChatGPT, Claude or Slack
    export, WhatsApp's .txt or zip, Telegram's result.json, and the JSON of DiscordChatExporter. The format is detected
    from what the file holds. A line of turns is a JSON object with speaker, text and time, and optionally id, session,
    caption, role and metadata. A message that cannot be read is left out and counted.
    Turns that are stored already are skipped: after Ctrl-C, the same command continues where it stopped, and a newer
    export adds what is new. Turns that ChatGPT's export now holds on an abandoned branch are erased. Exits with code 4
    if any turn was refused; the others are stored.

    Args:
        path: The file of the memory, or a server's address.
        file: The file to read, or the folder of an export.
        format: Of FILE: turns, messages, chatgpt, claude, whatsapp, telegram, slack or discord; by
            default detected.
        start: For messages without times: when the first was sent, such as 2024-03-12T18:20.
        replace: Where an id is stored with other content, erase that and store this turn.
        session: For messages: the session; by default the file's name.
        strict: Stop at the first turn that is refused, instead of reporting it.
    """
    name = format or detect(file)
    refusals: list[RefusedItem] = []
    refuse = raise_refused if strict else refusals.append
    order = opening.get("date_order")
    (found,) = load(file, name, start=_start(start), session=session, date_order=order, refuse=refuse)
    with screen.progress(shown_path(path), "turns", _total(file, name)) as progress:
        report = _keep(path, found.turns, screen, opening, strict=strict, replace=replace, progress=progress)
    data = {"path": shown_path(path), **_added(report, refusals)}
    screen.show([], {"memories": [data]})
    return _told(data, shown_path(path), progress.seconds, screen)


def import_(screen: Screen, path: AnyPath, file: Path, **opening: Any) -> Exit:
    """Add the turns and facts of an evimem export to a memory. For other files use `evimem ingest`.

    Turns that are stored already stay unchanged.

    Args:
        path: The file of the memory, or a server's address.
        file: A file that `evimem export` wrote.
    """
    with evimem.open(path, **opening) as memory, screen.progress("importing", "turns") as progress:
        report = memory.import_(file, progress=progress)
    data = _added(report)
    screen.show([], data)
    return _told(data, shown_path(path), progress.seconds, screen)


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
    screen.show(views.fields_page(f"copied to {shown_path(target)}", report.to_dict()), report.to_dict())
    return Exit.OK


def build(  # noqa: PLR0913 - the options
    screen: Screen,
    dataset: Path,
    target: AnyPath,
    *,
    by: str = "user",
    workers: int | None = None,
    manifest: Path | None = None,
    timezone: str | None = None,
    date_order: DateOrder | None = None,
) -> Exit:
    """Build the memories of many users from a file of turns, by several processes.

    A line is a turn, as `evimem ingest` reads it, with one more field that names its user. TARGET is the folder of a
    pool (MemoryPool in Python), or a server's address. After Ctrl-C or a crash the same command goes on; users that are
    done are skipped. A user whose lines cannot be built is set aside and named. Exits with code 4 if anything was
    refused or set aside.

    Args:
        dataset: The file of turns, or a folder of .jsonl files.
        target: The folder of the memories, or a server's address.
        by: The field that names the user.
        workers: Processes; by default one a processor.
        manifest: Where it is noted who is done; by default in the folder, or beside the data set.
        timezone: Of the users, such as Europe/Madrid.
        date_order: How they write dates in figures.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the workers: there are enough of them
    given: dict[str, Any] = {"workers": workers, "manifest": manifest, "timezone": timezone, "date_order": date_order}
    with screen.progress("building", "turns") as progress:
        report = evimem.build(dataset, target, by=by, progress=progress, **given)
    screen.show(views.fields_page(f"{views.counted(report.users, 'user')} built", report.to_dict()), report.to_dict())
    return Exit.INPUT if report.refused or report.set_aside else Exit.OK


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


def _added(report: AddReport, refused: Sequence[RefusedItem] = ()) -> dict[str, Any]:
    """Return the counts of a report, what is queued, and what was refused: of the others there may be very many."""
    data = report.to_dict()
    del data["statuses"]
    left_out: list[dict[str, Any]] = [{"id": one.where, "reason": one.why} for one in refused]
    left_out += [{"id": one.id, "reason": one.reason} for one in report.statuses if one.outcome == "refused"]
    queued = Counter(kind for one in report.statuses for kind in one.pending if kind != "facts")  # read when needed
    return data | {"pending": dict(queued), "refused": left_out}


def _told(data: Mapping[str, Any], path: str, seconds: float, screen: Screen) -> Exit:
    """Print what was added, and on stderr what was refused; return the exit code."""
    added, refused = counted(data["added"], "turn"), data["refused"]
    screen.page(views.fields_page(f"{path}  {added} added in {seconds:.1f} s", data, "path", "added"))
    if not refused:
        return Exit.OK
    done = f"{added} added, {data['existing']:,} there already"
    first = f"{refused[0]['id']}: {refused[0]['reason']}"
    screen.note(f"evimem: {len(refused):,} refused ({done}); the first: {first}")
    return Exit.INPUT


def _start(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidQuery(f"--start is {text!r}; expected ISO 8601, such as 2024-03-12T18:20") from error


def _total(file: Path, name: str) -> int | None:
    if name != "turns":
        return None
    with file.open("rb") as lines:
        return sum(1 for _ in lines)


def stats(memory: evimem.Memory, screen: Screen) -> Exit:
    """Show the counts of a memory: turns, sessions, speakers, facts, edges."""
    found = memory.stats()
    screen.show(views.fields_page(found.path, found.to_dict(), "path"), found.to_dict())
    return Exit.OK


def doctor(screen: Screen, path: AnyPath, *, user: str | None = None, repair: bool = False) -> Exit:
    """Verify a memory: every page, digest and derived row. Reads the whole file.

    Each problem is reported with a remedy. --repair rebuilds derived rows from the turns; turns are never changed.

    Args:
        path: The file of the memory, or a server's address.
        user: On a server: whose memory.
        repair: Rebuild derived rows that are wrong.
    """
    for note in notes(path) if isinstance(path, Path) else ():
        screen.note(note)
    name = shown_path(path)
    try:
        with existing(path, user) as memory:
            health = _checked(memory, screen, repair=repair)
    except StoreCorrupt as error:
        why = error.__cause__ or error
        raise StoreCorrupt(f"{name!r} is too damaged to be checked ({why}); restore a backup") from error
    screen.show(views.fields_page(f"{name}  {health.status}", health.to_dict(), "status"), health.to_dict())
    return Exit.STORE if health.problems or health.failed else Exit.OK


def _checked(memory: evimem.Memory, screen: Screen, *, repair: bool) -> Health:
    with screen.progress("checking", "turns read") as progress:
        health = memory.check(progress=progress)
        if repair and health.problems:
            try:
                health = memory.check(repair=True, progress=progress)
            except StoreCorrupt as error:
                screen.note(f"nothing was repaired: {error}")
    return health


def enrich(
    memory: evimem.Memory,
    screen: Screen,
    settings: Settings,
    *,
    dry_run: bool = False,
    batch: bool = False,
    **given: Any,
) -> Exit:
    """Process queued jobs: facts, embeddings, edges, with --llm facts by it. Safe to interrupt and to repeat.

    --dry-run estimates the requests to a model and their cost. --batch uses the provider's Batch API, at a lower price:
    repeat the command, within a day, until no turns are waiting.

    Args:
        dry_run: Only estimate the requests to a model and their cost.
        batch: Use the provider's Batch API: cheaper, within a day.
    """
    if batch and dry_run:
        raise Misused("--batch and --dry-run exclude each other; give one of them")
    if batch and settings["llm"] is None:
        raise Misused("--batch needs --llm and --model NAME")
    if dry_run:
        estimate = memory.estimate()
        data = estimate.to_dict()
        unknown = {} if estimate.cost is not None else {"cost": "unknown; give --llm, --model NAME and --price IN OUT"}
        title = f"{counted(estimate.turns, 'turn')} not yet read by a model"
        screen.show(views.fields_page(title, data | unknown, "turns"), data)
    elif batch:
        report = memory.enrich_batch()
        again = "; repeat this command to collect them, a batch takes up to a day" if report.waiting else ""
        title = f"{counted(report.waiting, 'turn')} waiting{again}"
        screen.show(views.fields_page(title, report.to_dict(), "waiting"), report.to_dict())
    else:
        pending = memory.health().pending
        # Where turns wait for a model that was not counted, how many is unknown.
        total = sum(pending.values()) if "extract" in pending or not pending else None
        with screen.progress("enriching", "jobs", total or None) as progress:
            data = memory.enrich(progress=progress, **given).to_dict()
        data["pending"] = dict(memory.health().pending)
        screen.show(views.fields_page(f"{counted(data['done'], 'job')} done", data, "done"), data)
    return Exit.OK


def forget(
    memory: evimem.Memory, screen: Screen, *, turn: Collection[str] | None = None, yes: bool = False, **given: Any
) -> Exit:
    """Erase turns from a memory, with everything that was derived from them. This cannot be undone.

    Give exactly one option that says which.

    Args:
        turn: The turn of this id.
        yes: Confirm --everything.
    """
    given |= {} if turn is None else {"turns": turn}
    if len(given) != 1:
        raise Misused("say which turns, by exactly one of the options")
    if "everything" in given and not yes:
        raise Misused("--everything erases the whole memory; add --yes to do it")
    report = memory.forget(**given)
    screen.show(views.fields_page(report.status, report.to_dict(), "status"), report.to_dict())
    return Exit.OK


def export(memory: evimem.Memory, screen: Screen, file: Path, *, force: bool = False) -> Exit:
    """Write every turn of a memory with its facts to a file, one JSON object per line.

    Args:
        file: The file to write.
        force: Replace FILE if it exists.
    """
    if file.exists() and not force:
        raise InvalidQuery(f"{str(file)!r} exists already; give another name, or --force to replace it")
    turns = memory.stats().turns
    with screen.progress("exporting", "turns", turns) as progress:
        memory.export(file, progress=progress)
    screen.show([line(f"{counted(turns, 'turn')} written to {file}")], {"file": str(file), "turns": turns})
    return Exit.OK


def calibrate(
    memory: evimem.Memory,
    screen: Screen,
    labelled: Path,
    *,
    dry_run: bool = False,
    **given: Any,
) -> Exit:
    """Calibrate a memory's probabilities on labelled questions, and report their quality.

    LABELLED has one JSON object per line: {"question": "When did we move?", "answer": "May 2023"}, with null if the
    memory has no answer. Give at least 50 questions, 10 of each kind. The memory stores the fitted map, not the
    questions.

    Args:
        labelled: The labelled questions, one JSON object per line.
        dry_run: Only report; do not change the memory.
    """
    if len(given) > 1:
        raise Misused("--precision and --false-abstention exclude each other; give one of them")
    questions = list(read_labelled(labelled))
    with screen.progress("asking", "questions", len(questions)) as progress:
        found = memory.calibrate(questions, keep=not dry_run, progress=progress, **given)
    title = "not stored: this was a dry run" if dry_run else "stored: ask uses it as long as judge and embedder stay"
    screen.show(views.fields_page(title, found.to_dict(), "knots", "curve"), found.to_dict())
    return Exit.OK
