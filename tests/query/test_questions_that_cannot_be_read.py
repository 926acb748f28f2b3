"""A question of which something cannot be read is asked without that, in every way to ask."""

import logging
from typing import Any

import pytest

import evimem
from evimem.calibration import apply_calibration

READINGS = (
    "evimem.query.analysis.find_times", "evimem.query.analysis.asks_when", "evimem.query.analysis.asks_for_several",
    "evimem.query.analysis.answer_form", "evimem.query.analysis.question_words", "evimem.query.analysis._is_named",
    "evimem.query.analysis._other_names", "evimem.query.analysis._keywords", "evimem.query.analysis.stem",
    "evimem.query.analysis.guess_language", "evimem.index.prepared_query.terms", "evimem.page.question.terms",
    "evimem.page.gate.terms", "evimem.page.gate.answer_form", "evimem.page.question.looked_for",
    "evimem.offline.quotation.date_notes", "evimem.offline.quotation.later_mentions",
    "evimem.offline.offline_judge.signals_of", "evimem.offline.offline_judge.likely_turns",
    "evimem.offline.offline_judge.judge_view", "evimem.offline.offline_judge.quote_likely_turns",
    "evimem.offline.offline_judge.quote", "evimem.offline.offline_judge.match_sentences",
    "evimem.offline.offline_judge.is_english", "evimem.offline.quotation.turn_signals",
)  # fmt: skip
QUESTION = "When did Mira plant the cherry tree?"


def fails(*_: Any, **__: Any) -> Any:
    raise RuntimeError("boom about a cherry tree")


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    with evimem.open(tmp_path_factory.mktemp("asked") / "m.evimem") as memory:
        memory.add("Mira", "I planted a cherry tree yesterday.", time="2024-03-12T10:00", id="tree")
        memory.add("Tomas", "We are out of bread.", time="2024-03-13T10:00")
        yield memory


@pytest.mark.parametrize("reading", READINGS)
def test_a_question_is_asked_without_what_cannot_be_read_of_it(memory, monkeypatch, caplog, reading):
    monkeypatch.setattr(reading, fails)
    with caplog.at_level(logging.WARNING, "evimem"):
        assert memory.search(QUESTION, k=1)[0].turn.id == "tree"
        assert "tree" in [turn.id for turn in memory.block(QUESTION).turns]
        answer = memory.ask(QUESTION)
    assert answer.kind in {"quote", "answer"}
    assert "tree" in [citation.turn_id for citation in answer.citations]
    assert "RuntimeError" in caplog.text
    assert "cherry" not in caplog.text


def test_a_block_is_written_without_the_dates_that_cannot_be_read(tmp_path, monkeypatch, caplog):
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("Mira", "Ich habe im Garten einen Kirschbaum.", time="2024-03-12T10:00")
        monkeypatch.setattr("evimem.page.quoted_lines.date_notes", fails)
        assert "Kirschbaum" in memory.block("Wann hatte ich einen Kirschbaum?").text
    assert "RuntimeError" in caplog.text


@pytest.mark.parametrize("reading", ["refers_back", "_telling"])
def test_messages_before_a_question_that_cannot_be_read_are_left_out(memory, monkeypatch, caplog, reading):
    monkeypatch.setattr(f"evimem.page.question.{reading}", fails)
    said = ["I like Mira.", "When did she plant the cherry tree?"]
    assert "cherry" in memory.block([{"role": "user", "content": one} for one in said]).text
    assert "RuntimeError" in caplog.text


def test_a_calibration_that_cannot_be_applied_is_left_out_and_health_says_so(memory, monkeypatch):
    target = memory._core.target
    kept = evimem.Calibration.__new__(evimem.Calibration)
    for name, value in (("judge", target.judge_name), ("embedder", target.embedder)):
        object.__setattr__(kept, name, value)
    monkeypatch.setattr(apply_calibration.Calibration, "from_json", lambda text: kept)
    memory._core.store.keep_setting("calibration.offline", "{}")
    assert memory.ask(QUESTION).text is not None
    assert "run calibrate() again" in memory.health().problems[0]
    memory._core.store.keep_setting("calibration.offline", None)
