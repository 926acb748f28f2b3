"""Every verb of a store, each where it is done, on any engine: those that loops need (`Store`), and its care."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from ..db.encryption import Key
from ..errors import InvalidQuery
from . import check, erase, find_facts, reads, rebuild, sequence, summaries, writes
from .handle import StoreHandle, retry_transaction


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
    turns_with_facts = reads.turns_with_facts
    export_rows = reads.export_rows
    sessions_by_digest = sequence.sessions_by_digest
    import_forgotten_marks = retry_transaction(sequence.import_forgotten_marks)
    import_forgotten_places = retry_transaction(sequence.import_forgotten_places)
    fill_imported_places = retry_transaction(sequence.fill_imported_places)
    facts = reads.facts
    about = reads.about
    keywords = reads.keywords
    holding = reads.holding
    mentions = reads.mentions
    roster = reads.roster
    due = reads.due
    count_untried_jobs = reads.count_untried_jobs
    new_jobs = reads.new_jobs
    turns_with_pending_job = reads.turns_with_pending_job
    postponed_jobs = reads.postponed_jobs
    turns_to_extract = reads.turns_to_extract
    read_session_window = reads.read_session_window
    setting = reads.setting
    trace = reads.trace
    health = reads.health
    stats = reads.stats
    count_turns_by_day = summaries.count_turns_by_day
    summarize_sessions = summaries.summarize_sessions
    count_turns_by_speaker = summaries.count_turns_by_speaker
    count_facts_by_subject = summaries.count_facts_by_subject
    list_traces = summaries.list_traces
    jobs_of_turn = summaries.jobs_of_turn

    write = retry_transaction(writes.write)
    continue_session = retry_transaction(writes.continue_session)
    complete_jobs = retry_transaction(writes.complete_jobs)
    enqueue_missing = retry_transaction(writes.enqueue_missing)
    lease = retry_transaction(writes.lease)
    release = retry_transaction(writes.release)
    hold = retry_transaction(writes.hold)
    postpone = retry_transaction(writes.postpone)
    retry_now = retry_transaction(writes.retry_now)
    keep_setting = retry_transaction(writes.keep_setting)
    keep_trace = retry_transaction(writes.keep_trace)
    forget = retry_transaction(erase.forget)
    forget_where = retry_transaction(erase.forget_where)

    find_damage = check.find_damage
    change_embedder = retry_transaction(rebuild.change_embedder)
    index_vectors = rebuild.index_vectors
    rebuild = rebuild.rebuild
