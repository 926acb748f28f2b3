"""What a test asks of a real model: requests, replies read, tokens and seconds, and a result file of all tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import evimem
from benchmarks.scoring.provenance import provenance
from benchmarks.scoring.result_file import ResultFile, ResultTable, read_result, write_result
from evimem.api.observer import Operation
from evimem.types.trace import Called, Complete, Event, Reply

COMMAND = "EVIMEM_REAL_RESULT=real_model.json python -m pytest -m nightly tests/real_model".split()
TESTS = ("test", "replies", "read", "schema", "tokens in", "tokens out", "seconds in requests", "seconds in all")
FORMS = ("asked for", "replies", "read", "share", "tokens of a reply", "seconds of a reply")
Row = tuple[Any, ...]


@dataclass
class Bill:
    """What one test came to. It observes the memories that the test opens: `open(..., observer=bill)`."""

    test: str
    schema: bool = True
    replies: int = 0
    read: int = 0
    sent: int = 0
    received: int = 0
    seconds: float = 0.0
    began: float = field(default_factory=monotonic)

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in zip(TESTS, self.row, strict=True))

    @property
    def row(self) -> Row:
        """The row of the test in the table."""
        whole = round(monotonic() - self.began)
        form = "yes" if self.schema else "no"
        return (self.test, self.replies, self.read, form, self.sent, self.received, round(self.seconds), whole)

    def begin(self, operation: Operation) -> Bill:
        """Hear that a call of a memory begins."""
        return self

    def heard(self, event: Event) -> None:
        """Count a reply that was read."""
        if isinstance(event, Called):
            self.read += event.outcome == "ok"

    def asks(self, request: Any) -> Callable[[Any], None]:
        """Count a request, and what comes of it."""
        began = monotonic()

        def told(outcome: Any) -> None:
            reply = outcome if isinstance(outcome, Reply) else getattr(outcome, "received", None)
            self.replies += 1
            self.sent += reply.input_tokens if reply else 0
            self.received += reply.output_tokens if reply else 0
            self.seconds += monotonic() - began

        return told if isinstance(request, Complete) else lambda _: None

    def ends(self, outcome: Any) -> None:
        """Hear what a call of a memory came to."""


def add_to_result(path: Path, bill: Bill) -> None:
    """Add the row of a test to a result file, in place of an earlier one of that test."""
    before = read_result(path).table("tests").rows if path.exists() else ()
    rows = (*(row for row in before if row[0] != bill.test), bill.row)
    tables = (
        ResultTable("tests", "Each test with the small model", TESTS, rows),
        ResultTable("forms", "Replies read, with a schema and without", FORMS, tuple(by_form(rows))),
    )
    write_result(ResultFile("real_model", provenance(COMMAND), {"version": evimem.__version__}, tables), path)


def by_form(rows: tuple[Row, ...]) -> Iterator[Row]:
    """Yield how many replies were read of those that were asked for with a schema, and of those without."""
    for name, form in (("with a schema", "yes"), ("without", "no")):
        of_form = [row for row in rows if row[3] == form]
        replies, read, tokens, seconds = (sum(int(row[at]) for row in of_form) for at in (1, 2, 5, 6))
        each = replies or 1
        yield (name, replies, read, read / each, tokens / each, seconds / each)
