"""The commands that look after a memory: stats, doctor, enrich, forget, export, calibrate."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import evimem

from ..calibration import read_labelled
from ..errors import InvalidQuery, StoreCorrupt
from ..store.open_file import notes
from ..types.public_value import AnyPath
from ..types.reports import BatchReport, Estimate, Health
from . import views
from .arguments import Exit, Misused, Settings, existing, shown_path
from .page import Block, Screen, field, line
from .views import counted


def stats(memory: evimem.Memory, screen: Screen) -> Exit:
    """Show the counts of a memory: turns, sessions, speakers, facts, edges."""
    found = memory.stats()
    screen.show(views.stats_page(found), found.to_dict())
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
    screen.show(views.health_page(name, health), health.to_dict())
    return Exit.STORE if health.problems or health.failed else Exit.OK


def _checked(memory: evimem.Memory, screen: Screen, *, repair: bool) -> Health:
    total = 2 * memory.health().turns  # each turn is read twice
    with screen.progress("checking", "turns read", total) as progress:
        health = memory.check(progress=progress)
    if not (repair and health.problems):
        return health
    try:
        with screen.progress("repairing", "turns read", total // 2) as progress:
            memory.rebuild(progress=progress)
    except StoreCorrupt as error:
        screen.note(f"nothing was repaired: {error}")
        return health
    with screen.progress("checking again", "turns read", total) as progress:
        return memory.check(progress=progress)


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
        screen.show(_estimate_page(estimate), estimate.to_dict())
    elif batch:
        report = memory.enrich_batch()
        screen.show(_batch_page(report), report.to_dict())
    else:
        _enrich(memory, screen, given)
    return Exit.OK


def _enrich(memory: evimem.Memory, screen: Screen, given: Mapping[str, Any]) -> None:
    pending = memory.health().pending
    # Where turns wait for a model that was not counted, how many is unknown.
    total = sum(pending.values()) if "extract" in pending or not pending else None
    with screen.progress("enriching", "jobs", total or None) as progress:
        report = memory.enrich(progress=progress, **given)
    left = memory.health().pending
    page: list[Block] = [line(f"{counted(report.done, 'job')} done, {sum(left.values()):,} left")]
    if report.until:
        until = f"first until {report.until:%Y-%m-%d %H:%M} UTC"
        page.append(field("put off", f"{counted(report.put_off, 'job')}, {until}"))
    page += [field("because", f"{reason}: {counted(count, 'job')}") for reason, count in report.reasons.items()]
    page += [field("failed", f"{counted(count, 'turn')}: {kind}") for kind, count in report.failed.items()]
    screen.show(page, report.to_dict() | {"pending": dict(left)})


def _estimate_page(estimate: Estimate) -> list[Block]:
    unknown = "unknown; give --llm, --model NAME and --price IN OUT"
    return [
        line(f"{counted(estimate.turns, 'turn')} not yet read by a model"),
        field("requests", f"{estimate.requests:,}"),
        field("tokens", f"about {estimate.input_tokens:,} in, {estimate.output_tokens:,} out"),
        field("cost", unknown if estimate.cost is None else f"about ${estimate.cost:,.2f}"),
    ]


def _batch_page(report: BatchReport) -> list[Block]:
    page: list[Block] = [
        line(f"{counted(report.collected, 'turn')} collected, {report.failed:,} failed"),
        line(f"{counted(report.handed_in, 'turn')} submitted, {report.waiting:,} waiting"),
    ]
    again = "repeat this command to collect the waiting turns; a batch takes up to a day"
    return [*page, line(again)] if report.waiting else page


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
    text = f"{counted(report.turns, 'turn')} and {counted(report.facts, 'fact')} {report.status}"
    screen.show([line(f"{text}; {report.reason}" if report.reason else text)], report.to_dict())
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
    screen.show(views.calibration_page(found, kept=not dry_run), found.to_dict())
    return Exit.OK
