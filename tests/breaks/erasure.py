"""Breaks of forgetting, and rows derived from forgotten turns."""

from dataclasses import replace
from typing import Any
from unittest.mock import ANY

import numpy as np

from evimem.db import schema
from evimem.db.connection import Connection
from evimem.edges.edge_table import EdgeGraph
from evimem.edges.fact_vectors import CellIndex, FactMatrix
from evimem.index.fact_table import Supersession
from evimem.index.segments import PassageTable, Segments
from evimem.store import erase, sequence, writes
from evimem.store.handle import StoreHandle
from evimem.store.nearest import AnnIndexCache
from evimem.store.sqlite import SqliteStore
from tests.breaks.gates import COMPARED, DERIVED, ERASURE, FORGETTING, MACHINE, NUMBERED_ANEW, WRONG_EDGES
from tests.breaks.patch import opened_with, put
from tests.breaks.registry import breaks


@breaks(gate=f"{FORGETTING}::test_a_trace_that_quotes_what_was_replaced_since_is_not_kept", says="DID NOT RAISE")
def traces_of_replaced_words_are_kept() -> None:
    put(writes, "version_of", lambda turn: ANY)


@breaks(gate=ERASURE, says="m.evimem")
def deletion_is_not_secure() -> None:
    opened_with(lambda db: db.execute("PRAGMA secure_delete=OFF"))


@breaks(gate=ERASURE, says="evimem")
def traces_outlive_cited_turns() -> None:
    put(erase, "delete_traces", lambda handle, numbers: None)


@breaks(gate=ERASURE, says="ann")
def the_vector_index_survives_forgetting() -> None:
    put(AnnIndexCache, "delete_index", lambda self: None)


@breaks(gate=ERASURE, says="wal")
def the_log_is_not_emptied() -> None:
    put(Connection, "checkpoint", lambda self, *, wait=True: True)
    put(Connection, "blank_unused_bytes", lambda self: True)


@breaks(gate=ERASURE, says="vector")
@breaks(gate=MACHINE, says="the index holds what is no turn|has a vector that is not what was stored")
def sealed_vectors_of_forgotten_turns_stay() -> None:
    honest = Connection.patch

    def patch(self: Connection, table: str, column: str, rowid: int, pieces: Any) -> None:
        if column != "vectors":
            honest(self, table, column, rowid, pieces)

    put(Connection, "patch", patch)


@breaks(gate="tests/reliability/test_erasure.py::test_a_backup_can_repeat_later_erasures", says="the backup remembers")
def erasures_of_a_copy_are_not_repeated() -> None:
    put(sequence, "read_ids_of_copy", lambda handle, path: (set(), set()))


@breaks(
    gate="tests/reliability/test_erasure.py::test_forgetting_all_empties_every_table",
    says="a table outlives forgetting",
)
def a_table_is_left_out_of_forgetting() -> None:
    more = (
        "CREATE TABLE saga (seq INTEGER, text)",
        "CREATE TRIGGER saga_of_turn AFTER INSERT ON turn BEGIN INSERT INTO saga VALUES (new.seq, new.text); END",
    )
    put(schema, "MIGRATIONS", ((*schema.THREE_LAYERS, *more), *schema.MIGRATIONS[1:]))


@breaks(gate="tests/reliability/test_erasure.py::test_copies_of_rows_in_page_slack_are_overwritten", says="in m.evimem")
def page_slack_is_not_overwritten() -> None:
    put(Connection, "blank_unused_bytes", lambda self: True)


@breaks(
    gate="tests/reliability/test_erasure.py::test_forgetting_is_pending_while_a_reader_holds_an_older_state",
    says="assert",
)
def a_pending_erasure_is_never_finished() -> None:
    put(StoreHandle, "after_commit", lambda self: None)


@breaks(
    gate="tests/store/test_store_contract.py::test_a_later_fact_replaces_an_earlier_one_in_any_order_of_arrival",
    says="assert",
)
def facts_replaced_by_forgotten_ones_stay_replaced() -> None:
    put(Supersession, "facts_within_reach_of", lambda self, rows: set())


@breaks(gate=DERIVED, says="index")
def sealed_dates_of_forgotten_turns_stay() -> None:
    put(Segments, "_change_events", lambda self, number, changes: None)


@breaks(
    gate="tests/reliability/test_derived.py::test_lost_derived_rows_are_noticed_and_derived_again",
    says="saw nothing wrong",
)
def the_check_reports_nothing() -> None:
    put(SqliteStore, "find_damage", lambda self, extractor: (one for one in ()))


@breaks(gate=NUMBERED_ANEW, says="numbers of erased rows were not given again")
def numbers_of_erased_rows_stay_unused() -> None:
    put(PassageTable, "is_sparse", lambda self, spare: False)


@breaks(gate=NUMBERED_ANEW, says="are not those that its turns give")
def rows_of_sealed_segments_keep_no_terms() -> None:
    honest = Segments._unseal
    put(
        Segments,
        "_unseal",
        lambda self, number: {row: replace(one, terms=b"{}") for row, one in honest(self, number).items()},
    )


@breaks(gate=COMPARED, says="more facts are compared")
def a_fact_is_compared_with_all() -> None:
    put(CellIndex, "positions_sharing_a_cell", lambda self, position, most: np.arange(len(self)))


@breaks(gate=WRONG_EDGES, says="other edges than their vectors give")
def only_edges_that_are_there_are_checked() -> None:
    put(FactMatrix, "find_similar_in_window", lambda self, positions, min_cosine: iter(()))


@breaks(gate=MACHINE, says="the postings")
def postings_of_forgotten_turns_stay() -> None:
    put(Segments, "_remove_from_postings", lambda self, number, leaving: None)


@breaks(gate=DERIVED, says="edge")
@breaks(gate=MACHINE, says="have other edges")
def neighbours_of_forgotten_facts_are_not_relinked() -> None:
    honest = EdgeGraph.erase_facts
    put(EdgeGraph, "erase_facts", lambda self, rows: honest(self, rows) and set())
