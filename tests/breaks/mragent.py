"""Breaks of MRAgent's statements (tests/statements/README.md), one for each of their tests."""

from __future__ import annotations

import sys
from datetime import timedelta

from evimem.judging import exploring
from evimem.loops import memory_views
from evimem.loops.memory_views import MemoryViews
from evimem.offline.offline_judge import OfflineJudge
from tests.breaks.patch import changed, put
from tests.breaks.registry import breaks

mragent = sys.modules["evimem.loops.mragent"]  # the package has its function by this name
GATES = "tests/statements/test_mragent.py"


@breaks(
    gate=f"{GATES}::test_r1_cues_have_tags_tags_have_turns_and_there_is_a_way_back",
    says=r"\['mentioned'\] == \['break'\]",
)
def facts_class_no_turn() -> None:
    put(memory_views, "tags", lambda hit, cue: (memory_views.MENTIONED,))


@breaks(
    gate=f"{GATES}::test_r2_tags_are_listed_with_counts_before_any_content_and_content_comes_in_pages",
    says=r"\(20, 0, 20\) == \(5",
)
def a_page_has_everything() -> None:
    put(memory_views, "PAGE", 20)


@breaks(
    gate=f"{GATES}::test_r3_a_time_that_a_turn_brings_up_leads_to_what_the_question_never_named", says="'2023-07' in"
)
@breaks(
    gate=f"{GATES}::test_r3_where_no_reply_can_be_read_the_moves_lead_from_the_puppy_by_its_july_to_the_wrist",
    says="not in list",
)
def a_turn_brings_up_no_time() -> None:
    put(memory_views, "time_cues", lambda facts: ())


@breaks(gate=f"{GATES}::test_r4_a_call_is_made_once_a_few_in_a_turn_and_turns_have_an_end", says="assert 0 >= 2")
def a_call_may_be_repeated() -> None:
    put(MemoryViews, "_check", lambda self, call, place: None)


@breaks(
    gate=f"{GATES}::test_r5_an_answer_is_supported_by_what_was_returned_and_has_a_confidence", says="AssertionError"
)
def supports_are_not_checked() -> None:
    put(mragent, "grounded", lambda witnesses, shown: ("puppy", "wrist"))


@breaks(
    gate=f"{GATES}::test_r6_times_are_intervals_and_what_happened_is_apart_from_when_it_was_said",
    says=r"== \(\['porto'",
)
def a_month_is_its_first_day() -> None:
    def shortened(when: object) -> object:
        return when and (when[0], when[0] + timedelta(days=1))  # type: ignore[index]

    changed(memory_views, "interval", shortened)


@breaks(
    gate=f"{GATES}::test_r_by_rule_no_call_is_made_twice_and_the_exploring_ends",
    says="AssertionError|assert not",
)
def the_moves_forget_what_was_called() -> None:
    put(exploring, "_made", lambda explored: frozenset())


@breaks(
    gate=f"{GATES}::test_r_without_a_model_nothing_is_explored_and_the_answer_says_what_was_done",
    says="AssertionError|assert ",
)
def the_offline_judge_explores() -> None:
    put(OfflineJudge, "explores", True)
