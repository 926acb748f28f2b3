"""The commands that fill, check, correct and take out a memory: each is a function of a memory and a screen."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any

import evimem

from ..errors import InvalidQuery, StoreCorrupt, StoreError
from ..loaders import load
from ..loaders.conversation import RefusedItem
from ..types.public_value import AnyPath, is_server
from ..types.results import AddReport
from ..types.values import DateOrder, ExportFormat
from . import views
from .arguments import Exit, Misused, Settings, display_path, open_existing, read_key_from_environment
from .page import Screen, make_line
from .views import count_noun

MAX_COUNTED_TURNS = 50_000  # turns of a file that are read before the first is stored, so that their number is known


def ingest(  # noqa: PLR0913 - the options
    screen: Screen,
    path: AnyPath,
    file: Path,
    *,
    format: str | None = None,
    start: str | None = None,
    replace: bool = False,
    session: str | None = None,
    columns: str | None = None,
    strict: bool = False,
    **opening: Any,
) -> Exit:
    """Add a conversation from a file to a memory.

    FILE is one of these; which one is seen from what it holds:

      an export of ChatGPT, Claude or Slack   its zip, its folder, or a file of it
      a WhatsApp chat                         the .txt or the zip
      a Telegram chat                         result.json, or the folder of messages.html
      a Discord channel                       the JSON of DiscordChatExporter, or Discord's own package
      a Messenger or Instagram chat           Facebook's JSON, its folder or zip
      Gemini's history                        MyActivity.json or .html of Google Takeout
      memories of mem0                        the JSON of get_all() or of an export
      conversations of ShareGPT               JSON with from and value, a list or one a line
      chat messages                           JSON with role and content, a list or one a line;
                                              chats exported by LibreChat or Open WebUI
      a table                                 CSV with a header: speaker, text, time
      a transcript                            lines "Name: text", or Markdown
      turns                                   JSON with speaker, text and time, one a line; it may
                                              also have id, session, caption, role, metadata

    What is stored already is skipped: after Ctrl-C the same command goes on, and a newer export adds what is new; what
    was edited or answered anew in ChatGPT since is replaced. What is left out is counted by kind, with places and
    reasons; where something could not be read the exit code is 4.

    Args:
        file: The file to read, or the folder of an export.
        format: What FILE is: turns, messages, chatgpt, claude, whatsapp, telegram, slack, discord, discord-package,
            messenger, gemini, mem0, sharegpt, csv or transcript.
        start: For messages without times: when the first was sent, such as 2024-03-12T18:20.
        replace: Where an id is stored with other content, erase that and store this.
        session: Where FILE is one conversation: the name of the session; by default the file's.
        columns: Of a table: columns that are not known by their names, such as speaker=Von,text=Nachricht.
        strict: Stop at the first item that cannot be read.
    """
    try:
        first = None if start is None else datetime.fromisoformat(start)
    except ValueError as error:
        raise InvalidQuery(f"--start is {start!r}; expected ISO 8601, such as 2024-03-12T18:20") from error
    refusals: list[RefusedItem] = []
    refuse, order = None if strict else refusals.append, opening.get("date_order")
    options: dict[str, Any] = {"session": session, "date_order": order, "columns": columns}
    (found,) = load(file, format, start=first, refuse=refuse, **options)
    is_new = isinstance(path, Path) and not path.exists()
    opening |= read_key_from_environment(path)
    turns = iter(found.turns)
    ahead = list(islice(turns, MAX_COUNTED_TURNS))
    total = len(ahead) if len(ahead) < MAX_COUNTED_TURNS else None
    with screen.start_progress(display_path(path), "turns", total) as progress, evimem.open(path, **opening) as memory:
        try:
            report = memory.extend(chain(ahead, turns), strict=strict, replace=replace, progress=progress)
        except KeyboardInterrupt:
            done = f"{progress.done:,} turns are stored"
            screen.print_note(f"\nevimem: interrupted; {done}, the same command continues from there")
            raise
        finally:
            if is_new and not memory.stats().turns:
                with suppress(StoreError):  # another process has stored turns in it since
                    memory._core.store.remove()
    data = {"path": display_path(path), **_add_report_fields(report, refusals), "doubts": found.log.doubts}
    left_out = [
        {"kind": one.kind, "count": one.count, "reason": one.reason, "places": list(one.places)}
        for one in found.left_out
    ]
    rows = [f"{one.count:,} x {one.kind}: {one.reason}; first: {one.places[0]}" for one in found.left_out]
    for doubt in found.log.doubts:
        screen.print_note(f"evimem: {doubt}")
    whole = {"memories": [data | {"left_out": left_out}]}
    return _print_added(data | {"left_out": rows}, whole, path, progress.seconds, screen)


def import_(screen: Screen, path: AnyPath, file: Path, **opening: Any) -> Exit:
    """Add what `evimem export` wrote to a memory.

    Turns that are stored already stay as they are. For other files use `evimem ingest`.

    Args:
        file: A file or folder that `evimem export` wrote.
    """
    from ..ingest.import_file import count_exported_turns  # noqa: PLC0415 - most of the package, not for a call for help

    opening |= read_key_from_environment(path)
    total = count_exported_turns(file)
    with evimem.open(path, **opening) as memory, screen.start_progress("importing", "turns", total) as progress:
        report = memory.import_(file, progress=progress)
    data = _add_report_fields(report)
    return _print_added(data, data, path, progress.seconds, screen)


def reembed(
    screen: Screen, *, pool: Path, model: str | None = None, base_url: str | None = None, dimension: int = 0
) -> Exit:
    """Switch every memory of a pool to another embedder.

    Repeat the command after whatever ended it; what is done is not done again. Afterwards open the pool with it.

    Args:
        pool: The folder of a pool.
        model: An embedding model behind an OpenAI-compatible endpoint; by default the embedder that ships with evimem.
        base_url: The endpoint, such as http://localhost:8000/v1; the key is that of OPENAI_API_KEY.
        dimension: The width of its vectors, where the model offers several.
    """
    if model is None and (base_url or dimension):
        raise Misused("--base-url and --dimension are of a --model; name that")
    if not pool.is_dir():
        raise InvalidQuery(f"there is no folder {str(pool)!r}; give that of a pool")
    new = evimem.StaticEmbedder() if model is None else evimem.OpenAIEmbedder(model, dimension, base_url)
    with (
        evimem.MemoryPool(pool, embedder=new, **read_key_from_environment(pool)) as memories,
        screen.start_progress(display_path(pool), "memories", sum(1 for _ in pool.glob("*/*.evimem"))) as progress,
    ):
        done = memories.reembed(new, progress=progress)
    data = {"pool": display_path(pool), "embedder": new.name, "memories": done}
    screen.print_page_or_json(views.fields_page(f"{done:,} memories have their vectors by {new.name}", data), data)
    return Exit.OK


def vacuum(screen: Screen, path: AnyPath) -> Exit:
    """Have a server rewrite its tables, without what was forgotten.

    No file of the server holds the words then; its log and backups may. Each table is locked meanwhile. Give the role
    that owns the tables. A memory in a file forgets by itself.

    Args:
        path: A server's address (postgresql://...).
    """
    if not is_server(path):
        raise Misused(f"{display_path(path)!r} is a file, which keeps no byte of what was forgotten; expected a server")
    from ..db.postgres import rewrite_tables  # noqa: PLC0415 - an extra

    report = rewrite_tables(str(path))
    remains = ["the server's log and its backups, for as long as it keeps those"]
    if report.has_statistics:
        remains.insert(0, "statistics gathered before: have the owner of the database run VACUUM FULL pg_statistic")
    data = {"tables": report.tables, "kept": list(report.kept), "remains": remains}
    why = "an older transaction or another caller holds what is kept: repeat this when they have ended"
    told = why if report.kept else "what was forgotten is gone from the tables"
    screen.print_page_or_json(views.fields_page(told, data, "tables", "remains"), data)
    return Exit.STORE if report.kept else Exit.OK


def copy(screen: Screen, source: AnyPath, target: AnyPath, *, user: str | None = None, verify: bool = False) -> Exit:
    """Copy a memory between a file and a PostgreSQL server.

    Everything is copied, or nothing. TARGET must be a new file, or a user of a server who has no memory yet.

    Args:
        source: The memory: a file, or a server's address.
        target: Where it is copied to: a new file, or a server's address.
        user: Whose memory it is on a server.
        verify: Read every row again at the target, and compare it, before it is committed.
    """
    keys = read_key_from_environment(source) | {
        f"target_{name}": value for name, value in read_key_from_environment(target).items()
    }
    with screen.start_progress("copying", "turns", None) as progress:
        report = evimem.copy(source, target, user=user, verify=verify, progress=progress, **keys)
    screen.print_page_or_json(
        views.fields_page(f"copied to {display_path(target)}", report.to_dict()), report.to_dict()
    )
    return Exit.OK


def restore(screen: Screen, backup: AnyPath, path: AnyPath) -> Exit:
    """Put a backup in the place of a memory that no process has open.

    What the memory had forgotten since is forgotten again, where it can still be read; its files are set aside.

    Args:
        backup: The backup, which stays as it is.
        path: The file of the memory.
    """
    report = evimem.restore(backup, path, **read_key_from_environment(path))
    screen.print_page_or_json(
        views.fields_page(f"{display_path(path)} is as it was when backed up", report.to_dict()), report.to_dict()
    )
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
    """Build the memories of many users from a file of turns.

    A line is a turn, as `evimem ingest` reads it, with one more field that names its user. TARGET is the folder of a
    pool (MemoryPool in Python), or a server's address. After Ctrl-C or a crash the same command goes on. A user whose
    memory cannot be built is set aside and named. Exits with code 4 if anything was refused or set aside.

    Args:
        dataset: The file of turns, or a folder of .jsonl files.
        target: The folder of the memories, or a server's address.
        by: The field that names the user.
        workers: How many processes to use; by default one a processor.
        manifest: Where to note who is done; by default in the folder, or beside the data set.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # of the workers: there are enough of them
    given: dict[str, Any] = {"workers": workers, "manifest": manifest, "timezone": timezone, "date_order": date_order}
    with screen.start_progress("building", "turns") as progress:
        report = evimem.build(dataset, target, by=by, progress=progress, **given)
    screen.print_page_or_json(
        views.fields_page(f"{views.count_noun(report.users, 'user')} built", report.to_dict()), report.to_dict()
    )
    return Exit.INPUT if report.refused or report.set_aside else Exit.OK


def _add_report_fields(report: AddReport, refused: Sequence[RefusedItem] = ()) -> dict[str, Any]:
    """Return the counts of a report, what is queued, and the refused ones: there may be very many of the rest."""
    data = report.to_dict()
    del data["statuses"]
    left_out: list[dict[str, Any]] = [{"id": one.where, "reason": one.why} for one in refused]
    left_out += [{"id": one.id, "reason": one.reason} for one in report.statuses if one.outcome == "refused"]
    queued = Counter(kind for one in report.statuses for kind in one.pending if kind != "facts")  # read when needed
    return data | {"pending": dict(queued), "refused": left_out}


def _print_added(
    data: Mapping[str, Any], whole: Mapping[str, Any], path: AnyPath, seconds: float, screen: Screen
) -> Exit:
    """Print the added turns, and on stderr the refused ones; return the exit code. The `whole` is for programs."""
    added, refused = count_noun(data["added"], "turn"), data["refused"]
    title = f"{display_path(path)}  {added} added in {seconds:.1f} s"
    screen.print_page_or_json(views.fields_page(title, data, "path", "added"), whole)
    if not refused:
        return Exit.OK
    done = f"{added} added, {data['existing']:,} there already"
    screen.print_note(
        f"evimem: {len(refused):,} refused ({done}); the first: {refused[0]['id']}: {refused[0]['reason']}"
    )
    return Exit.INPUT


def stats(memory: evimem.Memory, screen: Screen) -> Exit:
    """Show what a memory holds: turns, sessions, speakers, facts."""
    found = memory.stats()
    screen.print_page_or_json(views.fields_page(found.path, found.to_dict(), "path"), found.to_dict())
    return Exit.OK


def doctor(screen: Screen, path: AnyPath, *, user: str | None = None, repair: bool = False) -> Exit:
    """Check a memory for damage, and repair what can be repaired.

    The whole file is read. Each problem comes with what to do about it. --repair derives again, from the turns, what is
    damaged beside them; turns are never changed.

    Args:
        repair: Derive again what is damaged.
    """
    from ..store.open_file import describe_oddities  # noqa: PLC0415 - the engine, which a call for help does without

    for note in describe_oddities(path) if isinstance(path, Path) else ():
        screen.print_note(note)
    name = display_path(path)
    try:
        with open_existing(path, user) as memory:
            turns = memory.health().turns
            with screen.start_progress("checking", "turns read", turns or None) as progress:
                health = memory.check(progress=progress)
            if repair and health.problems:
                try:
                    with screen.start_progress("repairing", "turns read", turns or None) as progress:
                        health = memory.check(repair=True, progress=progress)
                except StoreCorrupt as error:
                    screen.print_note(f"nothing was repaired: {error}")
    except StoreCorrupt as error:
        why = error.__cause__ or error
        raise StoreCorrupt(f"{name!r} is too damaged to be checked ({why}); restore a backup") from error
    screen.print_page_or_json(
        views.fields_page(f"{name}  {health.status}", health.to_dict(), "status"), health.to_dict()
    )
    return Exit.STORE if health.status == "degraded" else Exit.OK


def enrich(
    memory: evimem.Memory,
    screen: Screen,
    settings: Settings,
    *,
    dry_run: bool = False,
    batch: bool = False,
    **given: Any,
) -> Exit:
    """Do the work that waits: read facts, with --llm by a model.

    It may be interrupted and repeated. With --batch repeat it, within a day, until no turns are waiting.

    Args:
        dry_run: Only estimate the requests to a model and their cost.
        batch: Use the provider's Batch API: cheaper, within a day.
        retry_now: Try again at once what failed or was put off.
    """
    if batch and dry_run:
        raise Misused("--batch and --dry-run exclude each other; give one of them")
    if batch and settings["llm"] is None:
        raise Misused("--batch needs --llm and --model NAME")
    if dry_run:
        estimate = memory.estimate()
        data = estimate.to_dict()
        unknown = {} if estimate.cost is not None else {"cost": "unknown; give --llm, --model NAME and --price IN OUT"}
        title = f"{count_noun(estimate.turns, 'turn')} not yet read by a model"
        screen.print_page_or_json(views.fields_page(title, data | unknown, "turns"), data)
    elif batch:
        report = memory.enrich_batch()
        again = "; repeat this command to collect them, a batch takes up to a day" if report.waiting else ""
        title = f"{count_noun(report.waiting, 'turn')} waiting{again}"
        screen.print_page_or_json(views.fields_page(title, report.to_dict(), "waiting"), report.to_dict())
    else:
        pending = memory.health().pending
        # Where turns wait for a model that was not counted, how many is unknown.
        total = sum(pending.values()) if "extract" in pending or not pending else None
        with screen.start_progress("enriching", "jobs", total or None) as progress:
            data = memory.enrich(progress=progress, **given).to_dict()
        data["pending"] = dict(memory.health().pending)
        screen.print_page_or_json(views.fields_page(f"{count_noun(data['done'], 'job')} done", data, "done"), data)
    return Exit.OK


def forget(
    memory: evimem.Memory, screen: Screen, *, turn: Collection[str] | None = None, yes: bool = False, **given: Any
) -> Exit:
    """Erase turns for good, with all that was derived from them.

    Give exactly one option that says which. This cannot be undone.

    Args:
        turn: The turn with this id.
        session: Every turn of this session.
        before: Every turn that was said earlier than this time.
        speaker: Every turn of this speaker; what others said about them stays.
        where: Every turn with this metadata, such as '{"topic": "health"}'.
        as_in: What was erased in this other copy of the memory; for a restored backup.
        everything: All of the memory; needs --yes.
        yes: Confirm --everything.
    """
    given |= {} if turn is None else {"turns": turn}
    if len(given) != 1:
        raise Misused("say which turns, by exactly one of the options")
    if "everything" in given and not yes:
        raise Misused("--everything erases the whole memory; add --yes to do it")
    report = memory.forget(**given)
    screen.print_page_or_json(views.fields_page(report.status, report.to_dict(), "status"), report.to_dict())
    return Exit.OK


def export(
    memory: evimem.Memory, screen: Screen, file: Path, *, format: ExportFormat = "jsonl", force: bool = False
) -> Exit:
    """Write every turn of a memory to a file, or to a folder of Markdown.

    The file has one JSON object a line, turns with their facts; the folder has a file a session, for people to read.
    `evimem import` reads both.

    Args:
        file: The file to write; for Markdown the folder.
        format: What to write: lines of JSON, or Markdown.
        force: Replace FILE if it exists; a folder is never replaced.
    """
    if file.exists() and not force:
        raise InvalidQuery(f"{str(file)!r} exists already; give another name, or --force to replace it")
    turns = memory.stats().turns
    with screen.start_progress("exporting", "turns", turns) as progress:
        memory.export(file, format=format, progress=progress)
    screen.print_page_or_json(
        [make_line(f"{count_noun(turns, 'turn')} written to {file}")], {"file": str(file), "turns": turns}
    )
    return Exit.OK


def calibrate(memory: evimem.Memory, screen: Screen, labelled: Path, *, dry_run: bool = False, **given: Any) -> Exit:
    """Fit the confidence of answers to questions that you label.

    LABELLED has one JSON object a line: {"question": "When did we move?", "answer": "May 2023"}, with null where the
    memory has no answer. Give at least 50 questions, 10 of each kind. The memory keeps what is fitted, no questions.

    Args:
        labelled: The file of questions.
        dry_run: Only report; do not change the memory.
        false_abstention: The share of answerable questions that may get no answer, 0 to 1.
        precision: Instead: the share of the answered questions that shall be answerable, 0 to 1.
    """
    from ..calibration import read_labelled  # noqa: PLC0415 - the engine, which a call for help does without

    if len(given) > 1:
        raise Misused("--precision and --false-abstention exclude each other; give one of them")
    questions = list(read_labelled(labelled))
    with screen.start_progress("asking", "questions", len(questions)) as progress:
        found = memory.calibrate(questions, keep=not dry_run, progress=progress, **given)
    title = "not stored: this was a dry run" if dry_run else "stored: ask uses it as long as judge and embedder stay"
    screen.print_page_or_json(views.fields_page(title, found.to_dict(), "knots", "curve"), found.to_dict())
    return Exit.OK
