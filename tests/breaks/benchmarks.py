"""Breaks of what makes a benchmark's figures trustworthy: LongMemEval's statements (L1 to L3), and long runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from benchmarks.scoring import bert_score, g_eval, longmemeval_tables, readme_report, run_locomo, run_longmemeval
from benchmarks.scoring.asking import Approach, Asker, Checkpoint
from benchmarks.scoring.estimates import estimate
from benchmarks.scoring.model_facts import FactsRead
from benchmarks.scoring.spending import PaidModel
from evimem.cli import bench_runs
from evimem.loaders import locomo_format, longmemeval_format
from tests.breaks.patch import changed, put
from tests.breaks.registry import breaks

MODEL = "tests/cli/test_bench_model.py"
LONGMEMEVAL = "tests/bench/test_longmemeval_run.py"


@breaks(gate="tests/loaders/test_longmemeval.py::test_no_label_reaches_a_turn", says="assert 'answer' not in")
def labels_enter_the_memory() -> None:
    honest = longmemeval_format._turn

    def turn(session: str, place: int, time: Any, message: Any) -> Any:
        labels = {name: value for name, value in message.items() if name == "has_answer"}
        return replace(honest(session, place, time, message), metadata=labels)

    put(longmemeval_format, "_turn", turn)


@breaks(
    gate=f"{LONGMEMEVAL}::test_the_corpus_is_of_the_users_turns_and_others_of_an_evidence_session_are_no_gold",
    says="At index 1 diff: 's1_2'",
)
def every_turn_of_an_evidence_session_counts_as_its() -> None:
    changed(run_longmemeval, "_benchmark_id", lambda name: name.removeprefix("other-"))


@breaks(gate=f"{LONGMEMEVAL}::test_a_question_is_asked_at_its_date_and_a_failure_counts_as_wrong", says="30 May 2023")
def today_is_another_day() -> None:
    changed(longmemeval_format, "_case", lambda case: replace(case, asked_at=case.asked_at - timedelta(days=3)))


@breaks(gate=f"{LONGMEMEVAL}::test_a_judge_marks_what_was_said_and_a_missing_answer_is_wrong", says=r"1\.0 == 0\.5")
def a_missing_answer_is_left_out() -> None:
    def judged(results: Any) -> Any:
        said = [one for one in results if one.correct is not None]
        return estimate(said, lambda one: one.correct, lambda one: one.case)

    put(longmemeval_tables, "_judged", judged)


@breaks(
    gate="tests/bench/test_asking.py::test_what_was_answered_is_not_asked_again_and_what_failed_is",
    says=r"\['a', 'b', 'c'\]",
)
def nothing_is_resumed() -> None:
    put(Checkpoint, "get", lambda self, key: None)


@breaks(gate="tests/bench/test_asking.py::test_whatever_a_question_meets_ends_no_run", says="KeyError: 'b'")
def what_a_question_meets_ends_the_run() -> None:
    put(Asker, "_one", lambda self, key, question, ask, restore, give_up: ask(question))


@breaks(
    gate="tests/bench/test_asking.py::test_what_is_left_is_not_asked_once_the_money_is_spent_by_failures_too",
    says=r"\[False, True, False, True\]",
)
def a_failure_costs_nothing() -> None:
    def complete(self: PaidModel, request: Any) -> Any:
        self._spending.check()
        reply = self._model.complete(request)
        self._spending.add(reply.cost)
        return reply

    put(PaidModel, "complete", complete)


@breaks(
    gate=f"{MODEL}::test_facts_are_asked_of_a_mailbox_all_at_once_and_questions_wait_for_them",
    says="assert .*'judge'",
)
def questions_do_not_wait_for_facts() -> None:
    changed(run_locomo, "read_facts", lambda read: replace(read, barred=""))


@breaks(gate=f"{MODEL}::test_facts_are_extracted_once_for_a_checkpoint_and_a_refusal_ends_no_run", says=r"\(8, 8\)")
def facts_are_paid_for_again() -> None:
    put(run_locomo, "Mailbox", object)


@breaks(
    gate="tests/bench/test_paper_tables.py::test_facts_of_a_model_decide_in_the_rows_that_have_an_index",
    says=r"3 == \(3 \+ 2\)",
)
def a_model_extracts_nothing() -> None:
    put(run_locomo, "read_facts", lambda memory, model: FactsRead())


@breaks(gate=f"{MODEL}::test_a_checkpoint_of_other_data_is_not_used", says="assert ")
def results_of_other_data_are_used() -> None:
    put(bench_runs, "digest", lambda path: "")


@breaks(gate="tests/bench/test_missing_data.py::test_a_loader_says_where_to_get_its_data", says="FileNotFoundError")
def a_missing_data_set_is_an_error_of_the_system() -> None:
    put(locomo_format, "check_present", lambda name, path: None)


@breaks(gate=f"{MODEL}::test_another_model_marks_and_the_result_says_which_and_how", says=r"0, set\(\)\)")
def who_is_asked_marks_its_own_answers() -> None:
    put(Approach, "marks", property(lambda self: self.llm))


@breaks(
    gate=f"{LONGMEMEVAL}::test_every_type_weighs_the_same_in_their_mean_and_what_cannot_be_answered_has_a_row",
    says=r"es': 0\.4",
)
def types_weigh_by_their_questions() -> None:
    def mean(rows: Any, column: int) -> Any:
        return sum(row[1] * row[column].value for row in rows) / sum(row[1] for row in rows)

    put(longmemeval_tables, "_mean", mean)


@breaks(
    gate="tests/bench/test_readme_report.py::test_a_figure_that_was_changed_by_hand_is_seen",
    says="assert .# Benchmarks",
)
def blocks_are_left_as_they_are() -> None:
    put(readme_report, "_BLOCK", readme_report.re.compile(r"(?!)"))


@breaks(gate="tests/bench/test_readme_report.py::test_no_table_or_chart_stands_without_a_result_file", says=r"\| ---")
def a_table_in_a_block_counts_as_written_by_hand() -> None:
    put(readme_report, "outside", lambda text: text)


@breaks(
    gate="tests/bench/test_g_eval.py::test_a_reply_without_a_grade_is_a_failure_and_not_the_lowest_grade",
    says="DID NOT RAISE",
)
def a_reply_without_a_grade_is_the_lowest() -> None:
    put(g_eval, "_digit", lambda reply: g_eval.LOWEST)


@breaks(
    gate="tests/bench/test_g_eval.py::test_a_grade_is_the_mean_of_the_digits_by_their_probabilities",
    says="no digit from 1 to 5",
)
def probabilities_are_not_read() -> None:
    put(g_eval, "_weights", lambda reply: [])


@breaks(
    gate="tests/bench/test_bert_score.py::test_marks_around_a_text_are_partners_and_no_part_of_the_means",
    says="assert ",
)
def marks_count_as_words() -> None:
    honest = bert_score.bert_score
    put(bert_score, "bert_score", lambda answer, gold: honest(_all_counted(answer), _all_counted(gold)))


def _all_counted(text: Any) -> Any:
    return replace(text, counted=text.counted | True)


@breaks(
    gate="tests/bench/test_paper_tables.py::test_one_run_makes_every_table_and_says_that_no_model_was_asked",
    says=r"zip\(\) argument 2 is longer",
)
def every_view_counts_as_a_check() -> None:
    honest = run_locomo._covered

    def covered(answer: Any, question: Any) -> Any:
        for event, whole in honest(answer, question):
            yield event, whole
            yield event, whole

    put(run_locomo, "_covered", covered)
