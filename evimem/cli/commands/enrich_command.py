"""Process queued jobs: embeddings, edges, and with --llm facts. Safe to interrupt and to repeat.

--dry-run estimates the requests to a model and their cost. --batch uses the provider's Batch API, at a lower price:
repeat the command, within a day, until no turns are waiting.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

import evimem

from ..exit_codes import Exit
from ..open_memory import add_model, add_path, existing
from ..page import Block, field, line
from ..screen import Screen
from ..views.wording import counted


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `enrich`."""
    add_path(parser)
    parser.add_argument("--dry-run", action="store_true", help="only estimate the requests to a model and their cost")
    parser.add_argument("--batch", action="store_true", help="use the provider's Batch API: cheaper, within a day")
    parser.add_argument("--retry-now", action="store_true", help="also try what was put off or given up")
    add_model(parser)


def misused(options: argparse.Namespace) -> str | None:
    """Return what is wrong with the options; None if nothing is."""
    if options.batch and options.dry_run:
        return "--batch and --dry-run exclude each other; give one of them"
    return "--batch needs --llm and --model NAME" if options.batch and not options.llm else None


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Process the queue."""
    with existing(options) as memory:
        if options.dry_run:
            _estimate(memory, screen)
        elif options.batch:
            _batch(memory, screen)
        else:
            _enrich(memory, screen, retry_now=options.retry_now)
    return Exit.OK


def _enrich(memory: evimem.Memory, screen: Screen, *, retry_now: bool) -> None:
    pending = memory.health().pending
    total = (
        sum(pending.values()) if "extract" in pending or not pending else None
    )  # else the number of turns left for the model is unknown
    with screen.progress("enriching", "jobs", total or None) as progress:
        report = memory.enrich(retry_now=retry_now, progress=progress)
    left = memory.health()
    page: list[Block] = [line(f"{counted(report.done, 'job')} done, {sum(left.pending.values()):,} left")]
    if report.until:
        page.append(
            field("put off", f"{counted(report.put_off, 'job')}, first until {report.until:%Y-%m-%d %H:%M} UTC")
        )
    page += [field("because", f"{reason}: {counted(count, 'job')}") for reason, count in report.reasons.items()]
    page += [field("failed", f"{counted(count, 'turn')}: {kind}") for kind, count in report.failed.items()]
    data = asdict(report) | {"until": report.until and report.until.isoformat(), "pending": dict(left.pending)}
    screen.show(page, data)


def _estimate(memory: evimem.Memory, screen: Screen) -> None:
    estimate = memory.estimate()
    cost = (
        "unknown; give --llm, --model NAME and --price IN OUT"
        if estimate.cost is None
        else f"about ${estimate.cost:,.2f}"
    )
    page: list[Block] = [
        line(f"{counted(estimate.turns, 'turn')} not yet read by a model"),
        field("requests", f"{estimate.requests:,}"),
        field("tokens", f"about {estimate.input_tokens:,} in, {estimate.output_tokens:,} out"),
        field("cost", cost),
    ]
    screen.show(page, asdict(estimate))


def _batch(memory: evimem.Memory, screen: Screen) -> None:
    report = memory.enrich_batch()
    page: list[Block] = [
        line(f"{counted(report.collected, 'turn')} collected, {report.failed:,} failed"),
        line(f"{counted(report.handed_in, 'turn')} submitted, {report.waiting:,} waiting"),
    ]
    if report.waiting:
        page.append(line("repeat this command to collect the waiting turns; a batch takes up to a day"))
    screen.show(page, asdict(report))
