"""Do the work that turns are still owed: vectors, links, and with --llm facts. Safe to interrupt and to repeat.

--dry-run says first what a model would be asked and what that costs. --batch hands the turns to the provider's Batch
API, at a lower price: repeat the command, within a day, until none wait.
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
    parser.add_argument("--dry-run", action="store_true", help="only say what a model would be asked, and the cost")
    parser.add_argument("--batch", action="store_true", help="use the provider's Batch API: cheaper, within a day")
    add_model(parser)


def misused(options: argparse.Namespace) -> str | None:
    """Say what is wrong with the options."""
    if options.batch and options.dry_run:
        return "--batch and --dry-run exclude each other"
    return "--batch is for --llm" if options.batch and not options.llm else None


def run(options: argparse.Namespace, screen: Screen) -> Exit:
    """Work the queue off."""
    with existing(options) as memory:
        if options.dry_run:
            _estimate(memory, screen)
        elif options.batch:
            _batch(memory, screen)
        else:
            _enrich(memory, screen)
    return Exit.OK


def _enrich(memory: evimem.Memory, screen: Screen) -> None:
    pending = memory.health().pending
    total = sum(pending.values()) if "extract" in pending or not pending else None  # else a model may have more to do
    with screen.progress("enriching", "jobs", total or None) as progress:
        done = memory.enrich(progress=progress)
    left = memory.health()
    page: list[Block] = [line(f"{counted(done, 'job')} done, {sum(left.pending.values()):,} left")]
    page += [field("failed", f"{counted(count, 'turn')}: {kind}") for kind, count in left.failed.items()]
    screen.show(page, {"done": done, "pending": dict(left.pending), "failed": dict(left.failed)})


def _estimate(memory: evimem.Memory, screen: Screen) -> None:
    estimate = memory.estimate()
    cost = "unknown: give --llm, --model and --price" if estimate.cost is None else f"about ${estimate.cost:,.2f}"
    page: list[Block] = [
        line(f"{counted(estimate.turns, 'turn')} that no model has read"),
        field("requests", f"{estimate.requests:,}"),
        field("tokens", f"about {estimate.input_tokens:,} in, {estimate.output_tokens:,} out"),
        field("cost", cost),
    ]
    screen.show(page, asdict(estimate))


def _batch(memory: evimem.Memory, screen: Screen) -> None:
    report = memory.enrich_batch()
    page: list[Block] = [
        line(f"{counted(report.collected, 'turn')} read, {report.failed:,} to be asked again"),
        line(f"{counted(report.handed_in, 'turn')} handed in, {report.waiting:,} waiting"),
    ]
    if report.waiting:
        page.append(line("repeat this command to collect them; a batch takes up to a day"))
    screen.show(page, asdict(report))
