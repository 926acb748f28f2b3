"""Counters of a server as Prometheus reads them: of all its workers together, without an id or a word of any user."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import orjson

BUCKET_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # upper bounds of the histogram
Labels = tuple[tuple[str, str], ...]
METRIC_HELP = {  # the type and meaning of each metric
    "evimem_request_seconds": ("histogram", "Seconds from a request to the end of its response."),
    "evimem_answers_total": ("counter", "Answers of ask, by kind and tier."),
    "evimem_turns_added_total": ("counter", "Turns that were stored."),
    "evimem_turns_forgotten_total": ("counter", "Turns that were erased."),
    "evimem_chats_total": ("counter", "Chats that went through the proxy, by whether the memory gave them anything."),
    "evimem_requests_under_way": ("gauge", "Requests under way in the worker that answers."),
    "evimem_users": ("gauge", "Users who have a memory."),
    "evimem_stored_bytes": ("gauge", "Bytes of all memories on disk."),
}


@dataclass
class Metrics:
    """Counts of one worker, written into the `folder` of the server for the other workers to add up."""

    folder: Path
    counts: dict[str, float] = field(default_factory=dict)
    _written: dict[str, float] = field(default_factory=dict)

    def increment(self, name: str, labels: Mapping[str, str] = MappingProxyType({}), amount: float = 1) -> None:
        """Count something; `labels` are of small sets of values, never ids."""
        key = _metric_key(name, labels)
        self.counts[key] = self.counts.get(key, 0) + amount

    def time_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request by the template of its route."""
        labels = {"route": route, "method": method, "status": str(status)}
        at = bisect_left(BUCKET_SECONDS, seconds)
        for bound in (*(f"{one:g}" for one in BUCKET_SECONDS[at:]), "+Inf"):
            self.increment("evimem_request_seconds_bucket", {**labels, "le": bound})
        self.increment("evimem_request_seconds_sum", labels, seconds)
        self.increment("evimem_request_seconds_count", labels)

    def write_counts(self) -> None:
        """Write the counts of this worker, if there are new ones."""
        if self.counts == self._written:
            return
        fresh = self.folder / f"{os.getpid()}.new"
        fresh.write_bytes(orjson.dumps(self.counts))
        fresh.replace(self._worker_file())
        self._written = dict(self.counts)

    def prometheus_text(self, gauges: Mapping[str, float]) -> str:
        """Return the counts of all workers, and gauges, in Prometheus' text format.

        Those of another worker are a second old at most.
        """
        whole: Counter[str] = Counter(self.counts)  # type: ignore[arg-type]
        for path in self.folder.glob("*.metrics"):
            if path != self._worker_file():
                with suppress(OSError, ValueError):  # a worker that ends
                    whole.update(orjson.loads(path.read_bytes()))
        return "".join(_metric_lines([*whole.items(), *gauges.items()]))

    def _worker_file(self) -> Path:
        return self.folder / f"{os.getpid()}.metrics"


def _metric_key(name: str, labels: Mapping[str, str]) -> str:
    shown = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return f"{name}{{{shown}}}" if shown else name


def _metric_lines(counts: Iterable[tuple[str, float]]) -> Iterable[str]:
    by_name: dict[str, list[str]] = {}
    for key, value in counts:
        name = key.partition("{")[0]
        family = next(
            (one for one in METRIC_HELP if name in {one, *(f"{one}_{part}" for part in ("bucket", "sum", "count"))}),
            name,
        )
        by_name.setdefault(family, []).append(
            f"{key} {value:.6g}\n" if isinstance(value, float) else f"{key} {value}\n"
        )
    for family, (kind, says) in METRIC_HELP.items():
        if family in by_name:
            yield f"# HELP {family} {says}\n# TYPE {family} {kind}\n"
            yield from by_name[family]
