"""Breaks of the paper's statements (tests/statements/README.md), one for each of their tests at least."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from datetime import timedelta
from typing import Any

from evimem import Tier
from evimem.doors.over_searcher import SearchedStore
from evimem.doors.pool import MemoryPool
from evimem.edges import EdgeGraph
from evimem.errors import ModelError, UnknownTurn
from evimem.extract import RuleExtractor
from evimem.judging import apply_verdict
from evimem.judging.evidence import Verdict
from evimem.llm import evidence_prompt, json_reply, llm_judge, prompt_fields, quoting
from evimem.llm.llm_judge import LLMJudge
from evimem.loops import answering, router, select_evidence, session
from evimem.loops.retrieve import Retrieval
from evimem.loops.session import Session
from evimem.raw.validate import TurnValidator
from evimem.store import writes
from evimem.store.sqlite import SqliteStore
from evimem.text import names
from tests.breaks.patch import changed, put
from tests.breaks.registry import breaks

iris = sys.modules["evimem.loops.iris"]  # the package has its function by this name
memr3 = sys.modules["evimem.loops.memr3"]  # so it has this one
IRIS = "tests/statements/test_iris.py"
MEMR3 = "tests/statements/test_memr3.py"
FIXTURES = "tests/statements/test_fixtures.py"


@breaks(
    gate=f"{IRIS}::test_e1_a_turn_is_stored_verbatim_and_once",
    says="At index 0 diff: .I'm off to Porto",
)
def text_is_tidied_up() -> None:
    changed(TurnValidator, "__call__", lambda turn: replace(turn, text=turn.text.strip()))


@breaks(gate=f"{IRIS}::test_e2_a_turn_that_asserts_something_yields_facts_about_its_speaker", says="'I', 'D1:1'")
def the_first_person_stays() -> None:
    changed(RuleExtractor, "extract", lambda facts: tuple(replace(fact, subject="I") for fact in facts))


@breaks(gate=f"{IRIS}::test_e3_a_time_is_reckoned_from_its_turn_as_fine_as_it_was_said", says="'day' == 'month'")
def the_time_of_saying_is_taken_for_the_event() -> None:
    honest = RuleExtractor.extract

    def extract(self: RuleExtractor, turn: Any) -> Any:
        said = {"start": turn.time, "end": turn.time + timedelta(days=1), "granularity": "day"}
        facts = honest(self, turn)
        return tuple(replace(fact, event=fact.event and replace(fact.event, **said)) for fact in facts)

    put(RuleExtractor, "extract", extract)


@breaks(gate=f"{IRIS}::test_e4_facts_are_linked_once_and_both_ways_where_they_are_similar", says="'similar': 0")
def nothing_is_similar_enough() -> None:
    put(writes, "threshold", lambda embedder: 2.0)


@breaks(gate=f"{IRIS}::test_e4_the_facts_of_a_turn_are_a_chain", says="6 == 3")
def every_pair_of_facts_of_a_turn_is_an_edge() -> None:
    honest = EdgeGraph.count
    put(EdgeGraph, "count", lambda self: {**honest(self), "same_turn": 6})


@breaks(
    gate=f"{IRIS}::test_e5_each_iteration_searches_the_anchor_and_the_refined_query_for_more", says=r"'anchor', 10\)"
)
def the_search_does_not_widen() -> None:
    honest = Session.search
    put(Session, "search", lambda self, look, k, **where: honest(self, look, 10, **where))


@breaks(
    gate=f"{IRIS}::test_e6_what_is_found_first_in_an_iteration_is_seen_by_its_check_and_may_be_answered_from",
    says="assert False",
)
@breaks(
    gate=f"{FIXTURES}::test_f1_all_facts_that_are_new_in_an_iteration_are_seen_in_its_check",
    says=r"assert \[.+\] == \[\]",
)
def the_oldest_twenty_are_shown() -> None:
    put(session, "select", lambda evidence, budget, **how: sorted(evidence, key=lambda item: item.iteration)[:20])


@breaks(gate=f"{FIXTURES}::test_f2_the_answer_prompt_holds_what_edges_brought", says=r"assert set\(\)")
def edges_have_no_share() -> None:
    def select(evidence: Any, budget: int, **how: Any) -> Any:
        edges_last = sorted(evidence, key=lambda item: item.path.startswith("edge:"))
        return select_evidence.select(edges_last, budget, **{**how, "iteration": 9, "edge_share": 0.0})

    put(session, "select", select)


@breaks(gate=f"{FIXTURES}::test_f2_the_answer_prompt_holds_what_edges_brought", says=r"assert set\(\)|> 0\) == False")
def what_edges_brought_is_not_shown() -> None:
    def select(evidence: Any, budget: int, **how: Any) -> Any:
        return select_evidence.select([one for one in evidence if not one.path.startswith("edge:")], budget, **how)

    put(session, "select", select)


@breaks(
    gate=f"{FIXTURES}::test_f3_a_failure_at_the_last_check_is_an_error_with_a_partial_result",
    says="DID NOT RAISE ModelTimeout",
)
@breaks(
    gate=f"{IRIS}::test_e11_it_abstains_on_thin_evidence_and_never_for_a_failure", says="DID NOT RAISE ModelTimeout"
)
def a_failure_reads_as_nothing_found() -> None:
    honest = LLMJudge.judge

    def judge(self: LLMJudge, view: Any) -> Any:
        try:
            return (yield from honest(self, view))
        except ModelError:
            return Verdict(Tier.NONE, 0.0)

    put(LLMJudge, "judge", judge)


@breaks(
    gate=f"{FIXTURES}::test_f4_a_decorated_reply_is_read",
    says=r"the judge model's reply of \d+ characters could not be read",
)
def labels_must_be_bare() -> None:
    put(json_reply, "_LABEL", re.compile(r"([A-Z_]+): (.*)"))


@breaks(gate=f"{FIXTURES}::test_f5_remarks_behind_a_value_are_no_part_of_it", says=r"0\.5 != 0\.95")
def a_number_must_stand_alone() -> None:
    def confidence(value: Any) -> float | None:
        try:
            return float(value)
        except (TypeError, ValueError):
            return 0.5

    put(prompt_fields, "confidence", confidence)


@breaks(gate=f"{FIXTURES}::test_f6_what_is_missing_keeps_its_case", says="when mira met bob lee")
def what_is_missing_is_lowered() -> None:
    changed(prompt_fields, "stated", str.lower)


@breaks(
    gate=f"{FIXTURES}::test_f7_a_chain_is_kept_whatever_words_are_in_it",
    says="assert 'find who directed it directly' in",
)
def a_word_drops_a_chain() -> None:
    honest = llm_judge.read_chain
    put(llm_judge, "read_chain", lambda text: () if "direct" in text else honest(text))


@breaks(
    gate=f"{FIXTURES}::test_f8_what_can_be_inferred_ends_a_general_question_at_once",
    says="no reply scripted for request 3",
)
def only_exact_evidence_ends_the_search() -> None:
    put(apply_verdict, "sufficient", lambda tier, confidence, **how: tier is Tier.EXACT)


@breaks(
    gate=f"{FIXTURES}::test_f9_without_a_gap_the_search_widens_and_never_repeats_a_query",
    says=r"assert 1 == \(2 \+ 1\)",
)
@breaks(
    gate=f"{IRIS}::test_e10_the_next_query_is_made_from_question_gap_place_and_strategy_and_is_new",
    says=r"\['bob lee', 'bob lee'\]",
)
def a_query_may_be_repeated() -> None:
    put(iris, "fresh", lambda query, earlier: bool(query))
    put(iris, "compose", lambda analysis, *rest: analysis.question)


@breaks(gate=f"{FIXTURES}::test_f10_a_clause_with_when_is_no_question_about_time", says="assert not True")
def every_when_is_about_time() -> None:
    changed(session, "analyse", lambda found: replace(found, temporal="when" in found.question.lower()))


@breaks(
    gate=f"{FIXTURES}::test_f11_a_time_that_is_asked_for_or_named_makes_a_question_one_about_time", says="assert False"
)
def only_when_is_about_time() -> None:
    changed(session, "analyse", lambda found: replace(found, temporal=found.question.startswith("When")))


@breaks(gate=f"{FIXTURES}::test_f12_every_name_in_the_question_counts", says=r"\['Mira'\] == \['Mira', 'Noah'\]")
def the_first_name_is_enough() -> None:
    changed(session, "analyse", lambda found: replace(found, entities=found.entities[:1]))


@breaks(gate=f"{FIXTURES}::test_f13_a_name_is_a_whole_word", says=r"\{'Jon': 1\} == \{'Jon': 0\}")
def a_name_is_any_part_of_a_word() -> None:
    put(names, "whole_matches", lambda pattern, text: pattern.finditer(text))


@breaks(gate=f"{FIXTURES}::test_f14_what_is_true_of_another_person_is_not_answered", says="'8 March 2024', False")
def the_owner_is_not_compared() -> None:
    put(answering, "abstention", lambda verdict, **how: None)


@breaks(
    gate=f"{FIXTURES}::test_f15_two_memories_with_the_same_ids_never_meet",
    says="TurnConflict",
)
def users_share_a_file() -> None:
    put(MemoryPool, "_path", lambda self, key: self._root / "shared.evimem")
    honest = SqliteStore.__init__
    put(SqliteStore, "__init__", lambda self, *given, **named: honest(self, *given, **{**named, "owner": None}))


@breaks(
    gate=f"{FIXTURES}::test_f16_vectors_of_another_width_are_an_error_that_names_both",
    says="DID NOT RAISE DimensionMismatch",
)
def the_width_is_not_checked() -> None:
    honest = SqliteStore.__init__
    put(SqliteStore, "__init__", lambda self, path, name, width, **named: honest(self, path, name, 64, **named))


@breaks(
    gate=f"{IRIS}::test_e7_a_name_with_too_few_facts_lowers_the_tier_and_is_looked_for",
    says="something about Bartholomew",
)
def facts_of_a_name_are_not_counted() -> None:
    honest = apply_verdict.clamp
    put(apply_verdict, "clamp", lambda verdict, **how: honest(verdict, **{**how, "entities": {}}))


@breaks(gate=f"{IRIS}::test_e8_confidence_about_a_time_has_a_floor_and_caps", says=r"assert 0\.6 == 0\.85")
def confidence_ignores_questions_about_time() -> None:
    put(apply_verdict, "_temporal", lambda tier, confidence: confidence)


@breaks(
    gate=f"{IRIS}::test_e9_the_search_ends_where_the_evidence_suffices",
    says=r"the answer model's reply of \d+ characters could not be read",
)
def less_is_enough() -> None:
    put(apply_verdict, "STOP_AT", 0.6)


@breaks(gate=f"{IRIS}::test_e11_it_abstains_without_a_tier_after_two_checks", says="assert True is False")
def one_check_is_enough_to_abstain() -> None:
    put(apply_verdict, "PAPER_ABSTAIN_CHECKS", 1)


@breaks(
    gate=f"{IRIS}::test_e12_a_chain_is_laid_out_unless_the_evidence_is_exact", says="assert 'find who directed it' in"
)
def a_chain_is_always_laid_out() -> None:
    put(llm_judge, "Tier", type("Tier", (), dict.fromkeys(("EXACT", "INFERRABLE", "PARTIAL"), Tier.EXACT)))


@breaks(
    gate=f"{IRIS}::test_e13_the_wording_follows_tier_time_and_confidence_and_doubt_costs_some",
    says=r"assert 0\.75 == 0\.6 ",
)
def doubt_costs_nothing() -> None:
    put(answering, "approximate", lambda confidence: confidence)


@breaks(
    gate=f"{IRIS}::test_e13_the_answer_is_given_the_turns_themselves_with_the_facts",
    says="assert 'We adopted a puppy last Friday",
)
def facts_stand_alone() -> None:
    put(evidence_prompt, "turn_text", lambda turn, wanted, most, found=None: "")


@breaks(
    gate=f"{IRIS}::test_e14_at_most_one_request_a_check_and_one_for_the_answer", says="no reply scripted for request 3"
)
def every_step_is_a_request() -> None:
    put(LLMJudge, "within", lambda self, budget: replace(self, budget=replace(budget, calls="separate")))


@breaks(
    gate=f"{IRIS}::test_e14_the_papers_pattern_takes_at_most_three_k_plus_three",
    says=r"could not be read: .*\['names'\]",
)
def names_are_asked_for_at_each_check() -> None:
    honest = llm_judge._ask_names
    put(llm_judge, "_ask_names", lambda view, ledger: honest(replace(view, iteration=1), ledger))


@breaks(
    gate=f"{IRIS}::test_e14_the_trace_has_both_queries_the_evidence_of_each_path_tier_confidence_and_gap",
    says=r"\['anchor', 'refined'\] == \['anchor', 'r",
)
def no_edge_is_followed() -> None:
    put(Session, "has", lambda self, part: part != "edges")


@breaks(gate=f"{IRIS}::test_e_citations_are_of_what_was_shown", says=r"\['puppy', 'e999', 'D9:9'\] == \['puppy'\]")
def citations_are_not_checked() -> None:
    put(answering, "check_citations", lambda given, shown, facts: answering.Checked(tuple(given), 0))


@breaks(
    gate=f"{MEMR3}::test_m1_it_searches_first_and_ends_with_one_answer_after_at_most_five_decisions",
    says="no reply scripted for request 7",
)
def decisions_have_no_end() -> None:
    honest = router.route
    put(memr3, "route", lambda now: honest(replace(now, most=now.most + 1)))


@breaks(
    gate=f"{MEMR3}::test_m2_the_first_rule_that_holds_says_what_is_done",
    says="At index 2 diff: .'reflect', 'reflect'",
)
def thinking_has_no_end() -> None:
    honest = router.route
    put(memr3, "route", lambda now: honest(replace(now, reflections=0)))


@breaks(
    gate=f"{MEMR3}::test_m3_a_search_returns_five_turns_that_none_before_it_returned", says="== \\[5, 5, 5, 5, 5\\]"
)
def returned_turns_are_not_masked() -> None:
    put(
        Retrieval,
        "further",
        lambda self, wanted, k, *, path, iteration: self.search(wanted, k, path=path, iteration=iteration),
    )


@breaks(gate=f"{MEMR3}::test_m4_a_query_is_the_question_with_words_that_were_not_tried", says="AssertionError")
def words_may_be_searched_for_twice() -> None:
    put(memr3, "fresh", lambda query, earlier: bool(query))


@breaks(
    gate=f"{MEMR3}::test_m5_what_is_supported_stays_so_until_it_is_taken_back_with_a_reason",
    says=r"\[False, True, True",
)
def support_is_forgotten_at_each_check() -> None:
    honest = session.follow
    put(
        session,
        "follow",
        lambda tracker, verdict, iteration: honest(replace(tracker, supported={}), verdict, iteration),
    )


@breaks(
    gate=f"{MEMR3}::test_m6_the_last_decision_is_asked_for_a_draft_and_what_is_missing_is_kept",
    says="the name of the shelter",
)
def the_end_of_the_budget_erases_the_gaps() -> None:
    put(memr3, "open_gaps", lambda tracker, stated: ())


@breaks(
    gate=f"{MEMR3}::test_m7_a_decision_that_cannot_be_read_is_asked_for_once_more_and_ends_nothing", says="ReplyError"
)
def an_unreadable_decision_ends_the_question() -> None:
    put(memr3, "ReplyError", UnknownTurn)


@breaks(
    gate=f"{MEMR3}::test_m8_the_same_decisions_over_another_backend_lead_to_an_equivalent_trace",
    says=r"At index \d+ diff: \(2, 2\) != \(2, 5\)",
)
def another_backend_returns_turns_twice() -> None:
    honest = SearchedStore.recall
    put(SearchedStore, "recall", lambda self, query: honest(self, replace(query, exclude=frozenset())))


@breaks(
    gate="tests/llm/test_llm_judge.py::test_the_papers_pattern_writes_no_query_that_is_never_searched",
    says="refine' == 'sufficiency",
)
def a_query_is_written_after_the_last_search() -> None:
    put(llm_judge, "enough", lambda verdict, before, *, temporal: None)


@breaks(gate="tests/llm/test_quoting.py::test_no_marker_of_a_chat_template_can_be_written", says=r"im_start.* not in ")
def markers_of_chat_templates_are_passed_on() -> None:
    put(quoting, "_MARKER", re.compile("(?!)"))
