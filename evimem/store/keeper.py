"""Every verb of a store, each where it is done, on any engine: those that loops need (`Store`), and its care."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from ..db.encryption import Key
from ..errors import InvalidQuery
from . import check, erase, find_facts, reads, rebuild, sequence, summaries, writes
from .handle import StoreHandle, one_transaction


class Keeper(StoreHandle, ABC):
    """A memory that is open. An engine adds how it is opened, copied and removed."""

    @abstractmethod
    def backup(self, target: Path) -> None:
        """Copy the memory into a new file that appears only when it is whole; raise StoreError where it exists."""

    def rekey(self, key: Key) -> None:
        """Encrypt the memory with another key."""
        del key
        raise InvalidQuery(f"{self.name!r} is on a server, which encrypts by its disk; only files have a key")

    @abstractmethod
    def remove(self) -> bool:
        """Delete an empty memory; return False where somebody else has it open."""

    known = reads.known
    recall = reads.recall
    recall_unless_pending = reads.recall_unless_pending
    recall_facts = find_facts.recall_facts
    nearest_facts = find_facts.nearest_facts
    linked_facts = find_facts.linked_facts
    expand = reads.expand
    read = reads.read
    find = reads.find
    contexts = reads.contexts
    order = reads.order
    turns = reads.turns
    pairs = reads.pairs
    export_rows = reads.export_rows
    session_names = sequence.session_names
    keep_marks = one_transaction(sequence.keep_marks)
    keep_places = one_transaction(sequence.keep_places)
    take_places = one_transaction(sequence.take_places)
    facts = reads.facts
    about = reads.about
    keywords = reads.keywords
    holding = reads.holding
    mentions = reads.mentions
    roster = reads.roster
    due = reads.due
    backlog = reads.backlog
    new_jobs = reads.new_jobs
    waiting = reads.waiting
    postponed_jobs = reads.postponed_jobs
    turns_to_extract = reads.turns_to_extract
    past = reads.past
    setting = reads.setting
    trace = reads.trace
    health = reads.health
    stats = reads.stats
    days = summaries.days
    sessions = summaries.sessions
    speaker_counts = summaries.speaker_counts
    subject_counts = summaries.subject_counts
    kept_traces = summaries.kept_traces
    jobs_of = summaries.jobs_of

    write = one_transaction(writes.write)
    continue_session = one_transaction(writes.continue_session)
    complete_jobs = one_transaction(writes.complete_jobs)
    enqueue_missing = one_transaction(writes.enqueue_missing)
    lease = one_transaction(writes.lease)
    release = one_transaction(writes.release)
    hold = one_transaction(writes.hold)
    postpone = one_transaction(writes.postpone)
    retry_now = one_transaction(writes.retry_now)
    keep_setting = one_transaction(writes.keep_setting)
    keep_trace = one_transaction(writes.keep_trace)
    forget = one_transaction(erase.forget)
    forget_where = one_transaction(erase.forget_where)

    check = check.check
    change_embedder = one_transaction(rebuild.change_embedder)
    index_vectors = rebuild.index_vectors
    rebuild = rebuild.rebuild
