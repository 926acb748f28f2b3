"""Breaks of replies of a model, and what is read from turns."""

import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

from evimem import Memory, ReplyError, Turn, UnknownTurn, loops
from evimem.extract.rule_extractor import RuleExtractor
from evimem.index import updates
from evimem.llm import extract_facts, llm_judge, request
from evimem.llm.evidence_prompt import ShownEvidence
from evimem.store.sqlite import SqliteStore
from evimem.text import prompt_text
from tests.breaks.gates import ASKING, FUZZ, MALFORMED, MODEL, POISONING, QUEUE, SCHEDULES
from tests.breaks.patch import put
from tests.breaks.registry import breaks


@breaks(gate=SCHEDULES, says="skipped")
@breaks(gate=MALFORMED, says="bad output is told from none nowhere|was not read")
@breaks(gate=QUEUE, says="assert")
def a_bad_reply_counts_as_no_facts() -> None:
    honest = extract_facts.read_extraction

    def read(text: str, turn: Turn, *more: Any) -> Any:
        try:
            return honest(text, turn, *more)
        except ReplyError:
            return extract_facts.Extraction(())

    put(extract_facts, "read_extraction", read)


@breaks(gate=f"{MODEL}::test_no_reply_changes_a_turn_and_asking_writes_nothing", says="a turn was changed, or is gone")
def a_reply_can_delete_turns() -> None:
    honest, complete_jobs = extract_facts.read_extraction, SqliteStore.complete_jobs
    doomed: list[str] = []

    def read(text: str, turn: Turn, *more: Any) -> Any:
        doomed.extend(["t1"] * ('"delete"' in text))
        return honest(text, turn, *more)

    def settled(self: SqliteStore, kind: Any, entries: Any) -> Any:
        if doomed:
            with suppress(UnknownTurn):  # it is gone already
                self.forget(["t1"])
        return complete_jobs(self, kind, entries)

    put(extract_facts, "read_extraction", read)
    put(SqliteStore, "complete_jobs", settled)


@breaks(
    gate="tests/index/test_updates.py::test_a_fact_of_the_same_turn_by_another_extractor_replaces_nothing",
    says="assert",
)
def a_model_can_retract_facts_of_the_same_turn() -> None:
    put(updates, "_read_twice", lambda one, other: False)


@breaks(gate=f"{MODEL}::test_no_reply_changes_a_turn_and_asking_writes_nothing", says="asking wrote something")
def asking_stores_a_trace() -> None:
    honest = Memory.ask

    def ask(self: Memory, *args: Any, **options: Any) -> Any:
        answer = honest(self, *args, **options)
        self.keep_trace(answer.trace)
        return answer

    put(Memory, "ask", ask)


@breaks(gate=MALFORMED, says="an ungrounded fact was stored|a fact that stands nowhere")
@breaks(gate=f"{POISONING}::test_statements_of_others_never_become_a_persons_wish", says="ungrounded|stands nowhere")
def facts_of_a_model_are_not_grounded() -> None:
    class Trusting(extract_facts.SourceWords):
        def anchor(self, *_: Any, **__: Any) -> bool:
            return True

        means = names = anchor  # type: ignore[assignment]

    put(extract_facts, "find_quote", lambda quote, text, *rest: (0, len(text)))
    put(extract_facts, "SourceWords", Trusting)  # the gate has Sources of its own


@breaks(gate=f"{ASKING}::test_a_model_that_is_never_satisfied_is_stopped", says="as long as the model likes")
def a_loop_has_no_limit() -> None:
    def endless(task: Any) -> Any:
        return honest(replace(task, budget=replace(task.budget, iterations=30)))

    honest: Any = loops.LOOPS["iris"]
    put(loops, "LOOPS", {**loops.LOOPS, "iris": endless})


@breaks(gate=f"{POISONING}::test_statements_of_others_never_become_a_persons_wish", says="spoke for Mira")
def the_role_of_a_turn_is_ignored() -> None:
    honest = extract_facts.read_extraction
    put(
        extract_facts,
        "read_extraction",
        lambda text, turn, *more: honest(text, replace(turn, role="user"), *more),
    )


@breaks(gate=FUZZ, says="KeyError")
def unknown_labels_are_looked_up() -> None:
    put(ShownEvidence, "turn", lambda self, label: {turn.id: turn for turn in self.turns}[label])


@breaks(gate=FUZZ, says="TypeError|AttributeError")
def reply_fields_are_not_validated() -> None:
    put(request, "names", lambda value, limit=0: value)
    put(request, "text", lambda value, limit=0: value)


@breaks(
    gate="tests/extract/test_contract.py::test_only_a_user_turn_states_what_the_user_likes_or_wants", says=r"== \(\)"
)
def assistant_turns_count_as_the_users() -> None:
    honest = RuleExtractor.extract
    put(RuleExtractor, "extract", lambda self, turn: honest(self, replace(turn, speaker="Mira", role="user")))


@breaks(
    gate="tests/llm/test_llm_judge.py::test_the_papers_pattern_writes_no_query_that_is_never_searched",
    says="refine' == 'sufficiency",
)
def a_query_is_written_after_the_last_search() -> None:
    put(llm_judge, "find_stop_reason", lambda verdict, before, *, temporal: None)


@breaks(gate="tests/llm/test_quoting.py::test_no_marker_of_a_chat_template_can_be_written", says=r"im_start.* not in ")
def markers_of_chat_templates_are_passed_on() -> None:
    put(prompt_text, "_MARKER", re.compile("(?!)"))
