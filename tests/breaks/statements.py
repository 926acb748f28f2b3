"""Breaks of the papers' statements: under each the test of its statement (tests/statements/README.md) is red."""

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from evimem.api import pool
from evimem.api.memory import Memory
from evimem.api.replaying import SearchedStore
from evimem.errors import DimensionMismatch
from evimem.extract import labels
from evimem.extract.rule_extractor import RuleExtractor
from evimem.judging import apply_verdict
from evimem.judging.judge import TOOLS
from evimem.llm import llm_judge, read_verdict, request
from evimem.loops import answering, evidence_view, iris, memr3, mgretrieval, mragent, retrieve, session
from evimem.page.quoted_lines import Notes
from evimem.store.sqlite import SqliteStore
from evimem.text.names import NameSearch
from evimem.types.results import Citation

from .patch import changed, put
from .registry import breaks

STATEMENTS = "tests/statements"
IRIS, LETTER, FIXTURES = (f"{STATEMENTS}/test_{name}.py" for name in ("iris", "letter", "fixtures"))
MEMR3, CLAIMS = f"{STATEMENTS}/test_memr3.py", f"{STATEMENTS}/test_memr3_claims.py"
MGRETRIEVAL, MRAGENT = f"{STATEMENTS}/test_mgretrieval.py", f"{STATEMENTS}/test_mragent.py"
RED = "assert|Error|DID NOT RAISE"


def nothing(*_: Any, **__: Any) -> Any:
    """Stand in for a step of a loop that finds nothing."""
    yield from ()


@breaks(gate=f"{IRIS}::test_e5_each_iteration_searches_the_anchor_and_the_refined_query_for_more", says=RED)
@breaks(gate=f"{IRIS}::test_e14_the_trace_has_both_queries_the_evidence_of_each_path_tier_confidence_and_gap", says=RED)
def gaps_are_never_searched_for() -> None:
    put(iris.Refining, "_refine", lambda self, k, number, check: nothing())


@breaks(
    gate=f"{IRIS}::test_e6_what_is_found_first_in_an_iteration_is_seen_by_its_check_and_may_be_answered_from", says=RED
)
@breaks(gate=f"{FIXTURES}::test_f1_all_facts_that_are_new_in_an_iteration_are_seen_in_its_check", says=RED)
@breaks(gate=f"{LETTER}::test_e6_every_check_is_given_all_facts_found_so_far_and_the_answer_their_turns_too", says=RED)
def a_view_has_one_turn() -> None:
    changed(session, "_view", lambda view: replace(view, shown=view.shown[:1], context={}))


@breaks(gate=f"{IRIS}::test_e7_a_name_with_too_few_facts_lowers_the_tier_and_is_looked_for", says=RED)
@breaks(gate=f"{LETTER}::test_e7_a_short_entity_caps_a_question_about_time_at_sixty", says=RED)
def no_name_is_short_of_facts() -> None:
    put(apply_verdict, "lacks_facts", lambda count: False)


@breaks(gate=f"{IRIS}::test_e8_confidence_about_a_time_has_a_floor_and_caps", says=RED)
@breaks(gate=f"{LETTER}::test_e8_the_confidence_of_an_inferred_time_is_told_as_it_is", says=RED)
def an_inferred_time_is_capped_lower() -> None:
    put(apply_verdict, "INFERRABLE_CAP", 0.6)


@breaks(gate=f"{IRIS}::test_e9_the_search_ends_where_the_evidence_suffices", says=RED)
@breaks(gate=f"{FIXTURES}::test_f8_what_can_be_inferred_ends_a_general_question_at_once", says=RED)
def nothing_suffices() -> None:
    put(apply_verdict, "is_sufficient", lambda tier, confidence, *, temporal: False)


@breaks(gate=f"{IRIS}::test_e10_the_next_query_is_made_from_question_gap_place_and_strategy_and_is_new", says=RED)
@breaks(gate=f"{FIXTURES}::test_f9_without_a_gap_the_search_widens_and_never_repeats_a_query", says=RED)
def every_query_is_new() -> None:
    put(iris, "is_new_query", lambda query, earlier: True)


@breaks(gate=f"{LETTER}::test_e10_a_query_is_asked_for_without_a_gap_and_no_requirement_is_told", says=RED)
@breaks(gate=f"{LETTER}::test_e10_the_next_query_is_asked_for_with_the_current_one", says=RED)
def no_query_is_asked_for() -> None:
    def ask(view: Any, verdict: Any, ledger: Any) -> Any:
        yield from ()
        return ""

    put(llm_judge, "_ask_next_query", ask)


@breaks(gate=f"{IRIS}::test_e11_it_abstains_without_a_tier_after_two_checks", says=RED)
@breaks(gate=f"{LETTER}::test_e11_it_abstains_without_a_tier_after_an_end_of_its_own_too", says=RED)
def without_a_tier_it_answers() -> None:
    put(apply_verdict, "_paper_abstention", lambda verdict, checks, most: None)


@breaks(gate=f"{IRIS}::test_e11_it_abstains_on_thin_evidence_and_never_for_a_failure", says=RED)
def thin_evidence_is_answered_from() -> None:
    put(apply_verdict, "PAPER_ABSTAIN_BELOW", 0.0)


@breaks(gate=f"{IRIS}::test_e12_a_chain_is_laid_out_unless_the_evidence_is_exact", says=RED)
@breaks(gate=f"{FIXTURES}::test_f7_a_chain_is_kept_whatever_words_are_in_it", says=RED)
def a_chain_has_no_steps() -> None:
    changed(llm_judge, "read_chain", lambda steps: ())


@breaks(gate=f"{IRIS}::test_e13_the_wording_follows_tier_time_and_confidence_and_doubt_costs_some", says=RED)
def doubt_costs_nothing() -> None:
    put(apply_verdict, "APPROXIMATE_COST", 0.0)


@breaks(gate=f"{IRIS}::test_e_citations_are_of_what_was_shown", says=RED)
@breaks(gate=f"{MRAGENT}::test_r5_an_answer_is_supported_by_what_was_returned_and_has_a_confidence", says=RED)
def every_citation_is_kept() -> None:
    put(answering, "check_citations", lambda citations, citable, facts: (tuple(citations), 0))


@breaks(gate=f"{LETTER}::test_e5_what_is_searched_and_counted_are_facts", says=RED)
def edges_of_facts_are_not_followed() -> None:
    put(retrieve.TupleRetrieval, "follow_edges", lambda self, fact_ids, iteration: None)


@breaks(gate=f"{LETTER}::test_e7_names_that_the_model_finds_are_counted_too", says=RED)
def names_of_the_model_are_dropped() -> None:
    def ask(view: Any, ledger: Any) -> Any:
        yield from ()
        return ()

    put(llm_judge, "_ask_names", ask)


@breaks(gate=f"{LETTER}::test_e14_only_the_answer_is_asked_of_the_answering_model_and_all_at_one_temperature", says=RED)
def no_temperature_is_set() -> None:
    put(iris, "_at_temperature", lambda flow, degree: flow)


@breaks(gate=f"{FIXTURES}::test_f2_the_answer_prompt_holds_what_edges_brought", says=RED)
def what_edges_bring_is_dropped() -> None:
    honest = retrieve.Retrieval.expand
    put(retrieve.Retrieval, "expand", lambda self, seeds, limit, iteration: honest(self, (), limit, iteration))


@breaks(gate=f"{FIXTURES}::test_f3_a_failure_at_the_last_check_is_an_error_with_a_partial_result", says=RED)
def a_failure_has_no_partial_result() -> None:
    put(answering, "partial_answers", nullcontext)


@breaks(gate=f"{FIXTURES}::test_f12_every_name_in_the_question_counts", says=RED)
@breaks(gate=f"{FIXTURES}::test_f11_a_time_that_is_asked_for_or_named_makes_a_question_one_about_time", says=RED)
def a_question_has_one_name_and_no_time() -> None:
    changed(
        session, "analyse", lambda found: replace(found, entities=found.entities[:1], wants="thing", temporal=False)
    )


@breaks(gate=f"{MEMR3}::test_m1_it_searches_first_and_ends_with_one_answer_after_at_most_five_decisions", says=RED)
@breaks(gate=f"{MEMR3}::test_m2_the_first_rule_that_holds_says_what_is_done", says=RED)
def the_router_does_as_decided() -> None:
    def route(now: Any) -> Any:
        done = now.decisions > now.most
        return memr3.Route("answer" if done else now.wanted, "as decided")

    put(memr3, "route", route)


@breaks(gate=f"{MEMR3}::test_m2_the_directive_tells_which_action_was_refused_and_why", says=RED)
@breaks(gate=f"{MEMR3}::test_m6_the_last_decision_is_asked_for_a_draft_and_what_is_missing_is_kept", says=RED)
def the_directive_is_silent() -> None:
    put(llm_judge, "directive", lambda view, stage: "")


@breaks(gate=f"{MEMR3}::test_m3_a_search_returns_five_turns_that_none_before_it_returned", says=RED)
@breaks(gate=f"{MEMR3}::test_m4_a_query_is_the_question_with_words_that_were_not_tried", says=RED)
def memr3_searches_for_the_question_alone() -> None:
    put(memr3, "is_new_query", lambda query, earlier: False)
    put(memr3, "query_from_gaps", lambda analysis, gaps, earlier, iteration: "")


@breaks(gate=f"{MEMR3}::test_m5_what_is_supported_stays_so_until_it_is_taken_back_with_a_reason", says=RED)
def a_retraction_changes_nothing() -> None:
    honest = read_verdict._verdict
    put(
        read_verdict,
        "_verdict",
        lambda reply, view, shown, query="": replace(honest(reply, view, shown, query), retracted={}),
    )


@breaks(
    gate=f"{MEMR3}::test_m7_a_decision_that_cannot_be_read_is_asked_for_once_more_and_two_in_a_row_end_the_search",
    says=RED,
)
@breaks(gate=f"{MRAGENT}::test_r4_a_reply_that_cannot_be_read_costs_a_turn_and_two_in_a_row_end_the_search", says=RED)
def lost_replies_end_nothing() -> None:
    put(answering, "MAX_LOST_REPLIES", 99)


@breaks(gate=f"{CLAIMS}::test_m7_what_a_lost_reply_was_shown_is_shown_again", says=RED)
def what_a_lost_reply_was_shown_counts_as_seen() -> None:
    honest = memr3.Deciding._note_shown

    def note(self: Any, view: Any) -> None:
        honest(self, view)
        self.unread = ()

    put(memr3.Deciding, "_note_shown", note)


@breaks(gate=f"{CLAIMS}::test_m9_each_request_has_what_is_known_and_the_newest_turns_alone", says=RED)
def a_decision_is_shown_every_turn() -> None:
    honest = session.Session.show
    put(
        session.Session,
        "show",
        lambda self, iteration, entities=(), *, only=None: honest(self, iteration, entities, only=None),
    )


@breaks(gate=f"{CLAIMS}::test_m10_a_claim_stays_until_it_is_withdrawn_with_a_reason", says=RED)
def claims_are_not_kept() -> None:
    put(apply_verdict, "_new_claims", lambda tracker, claims: iter(()))


@breaks(gate=f"{MGRETRIEVAL}::test_g5_what_each_keyword_has_alone_contains_every_higher_level", says=RED)
def a_pyramid_is_its_base() -> None:
    def groups(terms: Any, size: Any, *, largest_first: bool = False) -> Any:
        yield from ((one,) for one in terms)

    put(mgretrieval, "keyword_groups", groups)


@breaks(
    gate=f"{MGRETRIEVAL}::test_g2_at_most_four_keywords_of_the_memory_are_read_from_all_of_them_to_each_alone", says=RED
)
def a_pyramid_is_read_from_its_base() -> None:
    honest = mgretrieval.keyword_groups

    def groups(terms: Any, size: Any, *, largest_first: bool = False) -> Any:
        yield from reversed(list(honest(terms, size, largest_first=largest_first)))

    put(mgretrieval, "keyword_groups", groups)


@breaks(gate=f"{MGRETRIEVAL}::test_g3_a_round_reads_only_what_is_new_and_there_are_at_most_four", says=RED)
@breaks(
    gate=f"{MGRETRIEVAL}::test_g4_a_round_is_given_the_question_the_answer_so_far_what_is_critical_and_what_is_new",
    says=RED,
)
def what_was_read_is_new_again() -> None:
    put(
        mgretrieval.Reading,
        "_new",
        lambda self, number: tuple(item.turn.id for item in self.session.retrieval.evidence),
    )


@breaks(gate=f"{MGRETRIEVAL}::test_g6_the_answer_is_written_from_what_was_critical_in_the_callers_form", says=RED)
def the_answer_is_written_from_the_last_round() -> None:
    put(mgretrieval.Reading, "final", lambda self, check: check)


@breaks(gate=f"{MGRETRIEVAL}::test_g7_as_in_the_paper_the_flag_alone_ends_it", says=RED)
@breaks(gate=f"{MGRETRIEVAL}::test_g3_a_round_reads_only_what_is_new_and_there_are_at_most_four", says=RED)
def nothing_is_accepted() -> None:
    put(mgretrieval.Reading, "stop_reason", lambda self, number, check: "rounds used up" if number == 4 else None)


@breaks(gate=f"{MRAGENT}::test_r1_as_published_it_begins_with_the_cues_alone", says=RED)
def mragent_has_no_cues() -> None:
    put(mragent, "known_cues", lambda session: ())


@breaks(gate=f"{MRAGENT}::test_r2_tags_are_listed_with_counts_before_any_content_and_content_comes_in_pages", says=RED)
def content_needs_no_listed_tag() -> None:
    put(mragent, "_check_listed", lambda call, what, listed, first: None)


@breaks(gate=f"{MRAGENT}::test_r3_a_time_that_a_turn_brings_up_leads_to_what_the_question_never_named", says=RED)
def a_turn_brings_up_no_time() -> None:
    put(mragent, "time_cues", lambda events: ())


@breaks(gate=f"{MRAGENT}::test_r6_times_are_intervals_and_what_happened_is_apart_from_when_it_was_said", says=RED)
def no_time_is_an_interval() -> None:
    put(mragent, "interval", lambda text: None)


@breaks(gate=f"{MRAGENT}::test_r7_what_is_not_kept_of_what_tools_return_joins_no_later_request", says=RED)
def all_that_tools_return_is_kept() -> None:
    put(mragent, "route", lambda results, number, kept: results)


@breaks(gate=f"{MRAGENT}::test_r1_turns_that_are_read_side_by_side_share_their_labels", says=RED)
def labels_are_not_joined() -> None:
    put(labels, "_reuse_known_name", lambda name, known: name)


@breaks(gate=f"{IRIS}::test_e1_a_turn_is_stored_verbatim_and_once", says=RED)
def texts_are_stripped() -> None:
    honest = Memory.add
    put(Memory, "add", lambda self, speaker, text, **given: honest(self, speaker, text.strip(), **given))


@breaks(gate=f"{IRIS}::test_e2_a_turn_that_asserts_something_yields_facts_about_its_speaker", says=RED)
@breaks(gate=f"{IRIS}::test_e3_a_time_is_reckoned_from_its_turn_as_fine_as_it_was_said", says=RED)
@breaks(gate=f"{IRIS}::test_e4_facts_are_linked_once_and_both_ways_where_they_are_similar", says=RED)
@breaks(gate=f"{IRIS}::test_e4_the_facts_of_a_turn_are_a_chain", says=RED)
@breaks(gate=f"{LETTER}::test_e4_from_a_fact_lead_those_of_its_turn_and_those_alike_and_no_others", says=RED)
def a_turn_has_no_facts() -> None:
    changed(RuleExtractor, "extract", lambda found: found[:0])


@breaks(gate=f"{IRIS}::test_e14_at_most_one_request_a_check_and_one_for_the_answer", says=RED)
@breaks(gate=f"{IRIS}::test_e14_the_papers_pattern_takes_at_most_three_k_plus_three", says=RED)
def everything_is_judged_twice() -> None:
    honest = answering.Rounds.judge

    def judge(self: Any, number: int) -> Any:
        yield from honest(self, number)
        return (yield from honest(self, number))

    put(answering.Rounds, "judge", judge)


@breaks(gate=f"{LETTER}::test_e_a_memory_without_facts_is_refused_by_name", says=RED)
def facts_are_never_none() -> None:
    put(retrieve.TupleRetrieval, "count", lambda self: 1)


@breaks(gate=f"{LETTER}::test_e7_facts_count_that_contain_a_name_whoever_states_them", says=RED)
def no_statement_counts() -> None:
    put(evidence_view, "_count_statements", lambda facts: 0)


@breaks(gate=f"{FIXTURES}::test_f4_a_reply_in_labelled_lines_is_repaired_once", says=RED)
def the_repair_does_not_say_why() -> None:
    put(request, "_complaint", lambda error: "")
    honest = request._attempt

    def attempt(asked: Any, parse: Any, ledger: Any, *, repairs: int) -> Any:
        return (yield from honest(asked, parse, ledger, repairs=0))

    put(request, "_attempt", attempt)


@breaks(gate=f"{FIXTURES}::test_f5_remarks_behind_a_value_are_no_part_of_it", says=RED)
@breaks(gate=f"{FIXTURES}::test_f6_what_is_missing_keeps_its_case", says=RED)
def gaps_are_written_small() -> None:
    honest = read_verdict._verdict

    def verdict(reply: Any, view: Any, shown: Any, query: str = "") -> Any:
        made = honest(reply, view, shown, query)
        small = tuple(replace(gap, text=gap.text.lower()) for gap in made.gaps)
        return replace(made, gaps=small, confidence=round(made.confidence, 1))

    put(read_verdict, "_verdict", verdict)


@breaks(gate=f"{FIXTURES}::test_f10_a_clause_with_when_is_no_question_about_time", says=RED)
def every_question_is_about_time() -> None:
    changed(session, "analyse", lambda found: replace(found, temporal=True))


@breaks(gate=f"{FIXTURES}::test_f13_a_name_is_a_whole_word", says=RED)
def a_name_is_any_run_of_letters() -> None:
    put(NameSearch, "_search_name", lambda self, name: name.casefold() in self._folded)


@breaks(gate=f"{FIXTURES}::test_f14_what_is_true_of_another_person_is_not_answered", says=RED)
def what_is_told_of_another_is_answered() -> None:
    put(apply_verdict, "DECLINED_GAP_KINDS", ())


@breaks(gate=f"{FIXTURES}::test_f16_vectors_of_another_width_are_an_error_that_names_both", says=RED)
def the_width_of_vectors_is_not_told() -> None:
    honest = DimensionMismatch.__init__
    put(DimensionMismatch, "__init__", lambda self, given, stored: honest(self, stored, given))


@breaks(gate=f"{CLAIMS}::test_m12_each_part_can_be_left_out", says=RED)
@breaks(gate=f"{MGRETRIEVAL}::test_g9_its_ablations_leave_out_one_part_each", says=RED)
def no_part_can_be_left_out() -> None:
    put(session.Session, "has", lambda self, part: True)


@breaks(gate=f"{CLAIMS}::test_m3_what_stands_beside_a_turn_is_shown_on_demand_and_never_returned", says=RED)
def nothing_stands_beside_a_turn() -> None:
    put(retrieve.Retrieval, "around", lambda self, turn_ids: {})


@breaks(gate=f"{CLAIMS}::test_m11_its_numbers_are_settings", says=RED)
def a_search_returns_one_turn_more() -> None:
    honest = retrieve.Retrieval.further

    def further(self: Any, wanted: Any, k: int, *, path: str, iteration: int, without: Any = frozenset()) -> Any:
        return (yield from honest(self, wanted, k + 1, path=path, iteration=iteration, without=without))

    put(retrieve.Retrieval, "further", further)


@breaks(gate=f"{MEMR3}::test_m8_the_same_decisions_over_another_backend_lead_to_an_equivalent_trace", says=RED)
def another_backend_has_three_turns() -> None:
    honest = SearchedStore.recall
    put(SearchedStore, "recall", lambda self, query: honest(self, query)[:3])


@breaks(gate=f"{MGRETRIEVAL}::test_g1_keywords_that_a_model_writes_stand_in_the_place_of_the_stems_of_a_turn", says=RED)
def an_exchange_is_one_turn() -> None:
    put(mgretrieval, "exchanges", lambda turns: [(turn.id,) for turn in turns])


@breaks(gate=f"{MGRETRIEVAL}::test_g8_a_pyramid_is_as_deep_as_it_is_to_be", says=RED)
@breaks(gate=f"{MGRETRIEVAL}::test_g2_the_whole_vocabulary_is_chosen_from_in_pages", says=RED)
def one_keyword_more_is_chosen() -> None:
    def choose(rounds: Any, page: Any) -> Any:
        yield from ()
        return list(page)[: rounds.how.depth + 1]

    put(mgretrieval, "_choose", choose)


@breaks(gate=f"{MRAGENT}::test_r1_cues_have_tags_tags_have_turns_and_there_is_a_way_back", says=RED)
@breaks(gate=f"{MRAGENT}::test_r1_what_an_item_brings_up_is_cues_with_their_tags_which_are_listed_by_it", says=RED)
@breaks(gate=f"{MRAGENT}::test_r1_a_model_files_turns_under_tags_and_under_topics_of_several_sessions", says=RED)
def a_turn_has_no_tag() -> None:
    put(mragent, "tags", lambda hit, cue: ())


@breaks(gate=f"{MRAGENT}::test_r4_how_many_calls_a_turn_makes_is_a_setting", says=RED)
@breaks(gate=f"{MRAGENT}::test_r4_a_call_is_made_once_a_few_in_a_turn_and_turns_have_an_end", says=RED)
def a_turn_makes_one_call() -> None:
    changed(llm_judge, "read_move", lambda move: replace(move, calls=move.calls[:1]))


@breaks(gate=f"{MRAGENT}::test_r5_what_an_answer_rests_on_is_among_its_citations_whatever_its_words_cite", says=RED)
def what_an_answer_rests_on_is_not_cited() -> None:
    put(answering, "_cite_turns", lambda turn_ids: ())


@breaks(gate=f"{MRAGENT}::test_r8_a_graph_without_tags_or_contents_is_not_spoken_of", says=RED)
def every_graph_has_every_tool() -> None:
    put(mragent, "tools_of", lambda graph: TOOLS)


@breaks(gate=f"{MRAGENT}::test_r8_without_reasoning_a_graph_is_walked_by_rule_in_one_turn", says=RED)
def no_graph_is_walked() -> None:
    put(mragent.Exploring, "_walk", lambda self: nothing())


@breaks(gate=f"{MRAGENT}::test_r_without_a_model_nothing_is_explored_and_the_answer_says_what_was_done", says=RED)
def nothing_says_that_no_model_explored() -> None:
    put(mragent, "BY_RULE_REASON", "searched")


@breaks(gate=f"{IRIS}::test_e13_the_answer_is_given_the_turns_themselves_with_the_facts", says=RED)
def no_date_stands_beside_a_line() -> None:
    put(Notes, "on", lambda self, turn, said: ())


@breaks(gate=f"{LETTER}::test_e6_the_callers_tokens_are_the_only_bound_and_what_is_left_out_is_counted", says=RED)
def the_bound_of_tokens_is_ours() -> None:
    put(evidence_view, "count_turn_tokens", lambda evidence: 1)
    put(retrieve.TupleRetrieval, "cost", lambda self, item: 1)


@breaks(gate=f"{MGRETRIEVAL}::test_g1_each_keyword_has_the_turns_that_say_it_and_a_new_turn_joins_its_own", says=RED)
def a_memory_knows_one_keyword() -> None:
    changed(SqliteStore, "keywords", lambda found: found[:1])


@breaks(gate=f"{MGRETRIEVAL}::test_g_without_a_model_it_ends_and_cites_what_it_has_read", says=RED)
def turns_that_were_not_read_are_cited() -> None:
    put(answering, "check_citations", lambda citations, citable, facts: ((Citation("unread", None, ""),), 0))


@breaks(gate=f"{FIXTURES}::test_f15_two_memories_with_the_same_ids_never_meet", says=RED)
def all_users_have_one_file() -> None:
    put(pool, "key_of", lambda user: "00" * 16)
