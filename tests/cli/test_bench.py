import json
import math

import pytest

from evimem.cli.exit_codes import Exit


@pytest.fixture
def locomo(tmp_path):
    said = [{"speaker": "Ada", "dia_id": f"D1:{n}", "text": f"Yesterday I sold {n} pears."} for n in range(1, 31)]
    asked = {"question": "How many pears did Ada sell?", "answer": 7, "evidence": ["D1:7"], "category": 4}
    conversation = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": said}
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"sample_id": "conv-1", "conversation": conversation, "qa": [asked] * 3}]))
    return path


def test_bench_prints_its_tables_and_warns_of_an_unknown_file(cli, locomo):
    ran = cli("bench", "locomo", locomo, "--offline")
    assert ran.code == Exit.OK
    for part in ("Retrieval, by turn", "Answers, official F1", "single-hop  3", "turns/s", "p95"):
        assert part in ran.out
    assert "none of the LoCoMo files known by digest" in ran.err


def test_bench_for_programs_is_strict_json_with_every_figure(cli, locomo):
    ran = cli("bench", "locomo", locomo, "--offline", "--limit", 2, "--json")
    data = json.loads(ran.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert data["overall"]["questions"] == 2
    assert data["turns"] == 30
    assert data["caught"] is None  # there was no adversarial question
    assert math.isfinite(data["ask_p95"])


def test_bench_refuses_a_limit_that_leaves_nothing(cli, locomo):
    assert cli("bench", "locomo", locomo, "--limit", 0).code == Exit.INPUT


def test_offline_and_a_model_exclude_each_other(cli, locomo):
    ran = cli("bench", "locomo", locomo, "--offline", "--llm", "--model", "x")
    assert (ran.code, "exclude each other" in ran.err) == (Exit.USAGE, True)


def test_bench_runs_a_row_of_the_ablations_by_its_name(cli, locomo):
    ran = cli("bench", "locomo", locomo, "--offline", "--limit", 1, "--variant", "raw-only", "--json")
    assert (ran.code, ran.data["variant"]) == (Exit.OK, "raw-only")
    wrong = cli("bench", "locomo", locomo, "--variant", "nothing")
    assert (wrong.code, "basic-loop" in wrong.err) == (Exit.USAGE, True)


@pytest.fixture
def mixed(tmp_path, locomo):
    data = json.loads(locomo.read_text())
    trap = {"question": "How many plums did Bob steal?", "evidence": ["D1:7"], "category": 5, "adversarial_answer": "7"}
    data[0]["qa"] += [trap, trap]
    path = tmp_path / "mixed.json"
    path.write_text(json.dumps(data))
    return path


def test_a_report_has_tables_and_plots_and_no_word_of_the_data_set(cli, mixed, tmp_path):
    ran = cli("bench", "locomo", mixed, "--offline", "--report", tmp_path / "report")
    files = {file.name: file.read_text() for file in (tmp_path / "report").iterdir()}
    assert {"report.md", "reliability.svg", "risk-coverage.svg"} <= set(files)
    assert "| single-hop |" in files["report.md"]
    assert all(f"({name})" in files["report.md"] for name in files if name.endswith(".svg"))
    assert "5 answers, unedited" in ran.out
    assert "How many pears did Ada sell?" in ran.out
    assert not any("pears" in text for text in files.values())
