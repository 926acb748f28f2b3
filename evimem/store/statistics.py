"""Counts and dates of a memory, and its health: pending jobs, failed jobs, unfinished erasures."""

from __future__ import annotations

from collections.abc import Sequence

from ..db.schema import MIGRATIONS
from ..types.reports import Health, Stats
from .erase import UNFINISHED
from .layers import WHOLE_TURNS, Layers


def health(layers: Layers, problems: Sequence[str] = ()) -> Health:
    """Report pending and failed jobs; the status is "degraded" where there is any note, `problems` included."""
    pending, failed = layers.jobs.counts("pending"), layers.jobs.counts("failed")
    notes = [f"{count} turn(s) failed for good in {kind!r}: see enrich()" for kind, count in failed.items()]
    notes += [
        f"{count} turn(s) wait for {kind!r} after a failure ({why}): enrich() tries again"
        for kind, count, why in layers.leases.retries()
    ]
    if layers.meta(WHOLE_TURNS):
        notes.append("long turns are indexed whole, as by an earlier version: rebuild() finds passages of them")
    if layers.meta(UNFINISHED):
        notes.append("forgotten bytes are still in the log, which another reader holds: a later write removes them")
    oldest, found = layers.jobs.oldest(), (*problems, *notes)
    return Health("degraded" if found else "ok", layers.raw.count(), pending, failed, oldest, found)


def stats(layers: Layers) -> Stats:
    """Return counts and dates."""
    roster = layers.raw.roster()
    pages, size = layers.db.value("PRAGMA page_count"), layers.db.value("PRAGMA page_size")
    return Stats(
        str(layers.db.path),
        layers.raw.count(),
        int(layers.db.value("SELECT count(*) FROM session")),
        roster.speakers,
        layers.facts.count(),
        layers.edges.count(),
        roster.first,
        roster.last,
        layers.meta("embedder") or "",
        layers.segments.dimension,
        pages * size,
        len(MIGRATIONS),
    )
