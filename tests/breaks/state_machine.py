"""Breaks of what a memory holds after any sequence of calls."""

from dataclasses import replace
from typing import Any

from evimem.db.tables import encode_text
from evimem.index.fact_table import Supersession
from evimem.raw.turn_log import RawLog, hash_turn
from evimem.store import reads
from evimem.store.handle import StoreHandle
from evimem.store.sqlite import SqliteStore
from tests.breaks.gates import MACHINE
from tests.breaks.patch import put
from tests.breaks.registry import breaks


@breaks(gate=MACHINE, says="not those that were kept|taken otherwise|DID NOT RAISE")
def a_conflict_overwrites_the_stored_turn() -> None:
    honest = RawLog.compare_with_stored

    def holds(self: RawLog, turns: Any) -> Any:
        for turn in turns:
            values = (encode_text(turn.text), hash_turn(turn), turn.id)
            self._db.execute("UPDATE turn SET text = ?, digest = ? WHERE id = ?", values)
        return honest(self, turns)

    put(RawLog, "compare_with_stored", holds)


@breaks(gate=MACHINE, says="StoreCorrupt|every eligible turn|the postings|FOREIGN KEY")
def rewrites_are_not_announced_to_other_handles() -> None:
    honest = StoreHandle.count_commit
    put(StoreHandle, "count_commit", lambda self, **_: honest(self))


@breaks(gate=MACHINE, says="as many turns as there are")
def filters_apply_after_the_top_k() -> None:
    honest = reads.rank

    def rank(prepared: Any, k: int, *rest: Any) -> Any:
        question, corpus = prepared.query, prepared.corpus
        found = honest(reads.prepare(replace(question, session=None, speaker=None), corpus, prepared.index), k, *rest)
        session, speaker = question.session, question.speaker
        return [
            one for one in found
            if session in (None, corpus.session[one.position]) and speaker in (None, corpus.speaker[one.position])
        ]  # fmt: skip

    put(reads, "rank", rank)


@breaks(gate=MACHINE, says="a number was given twice")
def sequence_numbers_are_reused() -> None:
    honest = RawLog.delete_turns

    def erase(self: RawLog, seqs: Any) -> None:
        honest(self, seqs)
        self._db.execute("UPDATE sqlite_sequence SET seq = (SELECT max(seq) FROM turn) WHERE name = 'turn'")

    put(RawLog, "delete_turns", erase)


@breaks(gate=MACHINE, says="has a fact that is not what was stored")
def replaced_facts_are_overwritten() -> None:
    def overwrite(self: Supersession, rows: Any) -> None:
        sql = "UPDATE fact SET object = (SELECT object FROM fact WHERE id = ?) WHERE row = ?"
        self._db.executemany(sql, [(winner, row) for row, winner in self.wrong(self.topics(rows)).items() if winner])

    put(Supersession, "mark_replaced", overwrite)


@breaks(gate=MACHINE, says="not those that were kept|taken otherwise")
def reopening_deletes_the_memory() -> None:
    honest = SqliteStore.__init__
    opened: dict[Any, int] = {}

    def init(self: SqliteStore, path: Any, *rest: Any, **options: Any) -> None:
        opened[path] = opened.get(path, 0) + 1
        if opened[path] % 4 == 0:
            for file in path.parent.glob(f"{path.name}*"):
                file.unlink()
        honest(self, path, *rest, **options)

    init.__kwdefaults__ = honest.__kwdefaults__
    put(SqliteStore, "__init__", init)
