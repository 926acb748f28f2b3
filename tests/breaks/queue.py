"""Breaks of queued jobs: order, retries, completion."""

import time
from typing import Any

from evimem.db.jobs import Jobs
from evimem.index.segments import Segments
from evimem.ingest import deferred
from evimem.llm.extract_facts import RetryPlan
from evimem.store.handle import StoreHandle
from tests.breaks.gates import KILLS, MACHINE, POWER, QUEUE, SCHEDULES
from tests.breaks.patch import put
from tests.breaks.registry import breaks


@breaks(gate=MACHINE, says="has no vector, and no job")
def jobs_are_completed_without_their_result() -> None:
    put(Segments, "set_vectors", lambda self, packed: None)


@breaks(gate=KILLS, says="derived rows differ|has no vector")
@breaks(gate=POWER, says="derived rows differ|has no vector")
def jobs_are_queued_in_a_separate_transaction() -> None:
    enqueue, after_commit = Jobs.enqueue, StoreHandle.after_commit
    postponed: list[Any] = []

    def later(self: Jobs, kind: str, seqs: Any) -> None:
        postponed.append((self, kind, list(seqs)))

    def then(self: StoreHandle) -> None:
        time.sleep(0.002 * bool(postponed))  # as a busy disk would take
        with self.db.writing():
            while postponed:
                jobs, kind, seqs = postponed.pop(0)  # some of which may be forgotten by now
                there = [seq for seq in seqs if self.db.read_value("SELECT 1 FROM turn WHERE seq = ?", (seq,))]
                enqueue(jobs, kind, there)
        after_commit(self)

    put(Jobs, "enqueue", later)
    put(StoreHandle, "after_commit", then)


@breaks(gate=SCHEDULES, says="still pending|skipped")
def progress_is_a_high_water_mark() -> None:
    honest = Jobs.due_jobs

    def due(self: Jobs, kind: str, limit: int, *rest: Any) -> list[tuple[int, int]]:
        found = honest(self, kind, limit, *rest)
        reached = self._db.read_value("SELECT max(seq) FROM job WHERE kind = ? AND state = 'done'", (kind,)) or 0
        return [(seq, tries) for seq, tries in found if seq > reached]

    put(Jobs, "due_jobs", due)


@breaks(gate=QUEUE, says="held up others|not given up")
def the_head_of_the_queue_is_retried_forever() -> None:
    put(
        deferred,
        "plan_retry",
        lambda error, attempts: RetryPlan(0.0, halt=True, certain=True, last=False, reason="try again"),
    )


@breaks(gate=f"{QUEUE}::test_one_poisoned_turn_of_each_user_holds_up_no_other_and_is_given_up", says="held up others")
def failed_jobs_come_first() -> None:
    honest = Jobs.due_jobs
    put(
        Jobs,
        "due_jobs",
        lambda self, kind, limit, reason=None: (
            self._db.rows(*self.select_due(kind, limit)) if reason is None else honest(self, kind, limit, reason)
        ),
    )


@breaks(
    gate=f"{QUEUE}::test_a_bad_reply_from_a_cache_is_requested_again_and_never_taken_for_done", says="the same bytes"
)
def a_retry_sends_the_same_bytes() -> None:
    honest = deferred.extract_facts
    put(deferred, "extract_facts", lambda turn, previous, attempt, *more: honest(turn, previous, 1, *more))


@breaks(gate=SCHEDULES, says="has no vector, and no job")
def jobs_up_to_the_last_done_are_deleted() -> None:
    honest = Jobs.complete

    def complete(self: Jobs, kind: str, seqs: Any) -> None:
        honest(self, kind, seqs)
        if kind == "vector":
            self._db.execute("DELETE FROM job WHERE kind = 'vector' AND seq < ?", (max(seqs, default=0),))

    put(Jobs, "complete", complete)


@breaks(
    gate="tests/llm/test_end_to_end.py::test_a_server_that_asks_for_a_pause_gets_it_and_all_queued_jobs_wait",
    says="assert",
)
def the_queue_ignores_retry_after() -> None:
    put(deferred, "_defer_all_jobs", lambda store, kind, error: None)
