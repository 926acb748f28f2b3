"""Breaks of MGRetrieval's statements (tests/statements/README.md), one for each of their tests."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import combinations
from typing import Any

from evimem.index.corpus import Corpus
from evimem.loops import answering, pyramid
from evimem.loops.retrieve import Retrieval
from evimem.loops.session import Session
from evimem.store.handle import StoreHandle
from tests.breaks.patch import changed, put
from tests.breaks.registry import breaks

mgretrieval = sys.modules["evimem.loops.mgretrieval"]  # the package has its function by this name
GATES = "tests/statements/test_mgretrieval.py"


@breaks(
    gate=f"{GATES}::test_g1_each_keyword_has_the_turns_that_say_it_and_a_new_turn_joins_its_own",
    says=r"\[1, 1\] == \[1, 2\]",
)
def a_keyword_has_one_turn() -> None:
    changed(Corpus, "turns_with", lambda turns: turns[:1])


@breaks(
    gate=f"{GATES}::test_g1_each_keyword_has_the_turns_that_say_it_and_a_new_turn_joins_its_own",
    says="the postings were read anew",
)
def each_look_reads_all_postings() -> None:
    honest = StoreHandle.corpus

    def corpus(self: StoreHandle) -> Corpus:
        self.drop_corpus()
        return honest(self)

    put(StoreHandle, "corpus", corpus)


@breaks(
    gate=f"{GATES}::test_g2_at_most_four_keywords_of_the_memory_are_read_from_all_of_them_to_each_alone",
    says="assert 5 == 4",
)
def keywords_have_no_end() -> None:
    put(mgretrieval, "MOST_KEYWORDS", 5)


@breaks(gate=f"{GATES}::test_g3_a_round_reads_only_what_is_new_and_there_are_at_most_four", says=r"\[9\] == \[10, 10")
def what_was_read_is_read_again() -> None:
    put(
        Retrieval,
        "further",
        lambda self, wanted, k, *, path, iteration: self.search(wanted, k, path=path, iteration=iteration),
    )


@breaks(
    gate=f"{GATES}::test_g4_a_round_is_given_the_question_the_answer_so_far_what_is_critical_and_what_is_new",
    says="AssertionError",
)
def a_round_is_given_all_that_was_read() -> None:
    honest = Session.show
    put(Session, "show", lambda self, iteration, entities=(), *, only=None: honest(self, iteration, entities))


@breaks(
    gate=f"{GATES}::test_g5_what_each_keyword_has_alone_contains_every_higher_level",
    says=r"\[1, 4, 6, 0\] == \[1, 4, 6, 4\]",
)
def no_keyword_is_read_alone() -> None:
    put(
        pyramid,
        "combinations",
        lambda terms, size: combinations(terms, size) if size > 1 else iter(()),
    )


@breaks(
    gate=f"{GATES}::test_g6_the_answer_is_written_from_what_was_critical_in_the_callers_form", says="AssertionError"
)
def the_answer_is_written_from_the_last_round() -> None:
    honest = mgretrieval._critical_only
    put(
        mgretrieval,
        "_critical_only",
        lambda session, reading, check: honest(session, replace(reading, critical=()), check),
    )


@breaks(gate=f"{GATES}::test_g_without_a_model_it_ends_and_cites_what_it_has_read", says="assert [56789] <= 4")
def rounds_have_no_end() -> None:
    def session(task: Any, *rest: Any) -> Session:
        return Session(replace(task, budget=replace(task.budget, rounds=9, k=2)), *rest)

    put(answering, "Session", session)
