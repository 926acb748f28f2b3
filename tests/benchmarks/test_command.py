import hashlib
import json
import math

import pytest

import evimem
from benchmarks.scoring.result_file import as_json, read_result
from evimem.cli.arguments import Exit


@pytest.fixture
def locomo(tmp_path):
    said = [{"speaker": "Ada", "dia_id": f"D1:{n}", "text": f"Yesterday I sold {n} pears."} for n in range(1, 31)]
    asked = {"question": "How many pears did Ada sell?", "answer": 7, "evidence": ["D1:7"], "category": 4}
    conversation = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": said}
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"sample_id": "conv-1", "conversation": conversation, "qa": [asked] * 3}]))
    return path


def test_bench_for_programs_is_strict_json_with_every_figure(bench, locomo):
    ran = bench("locomo", locomo, "--offline", "--limit", 2, "--json")
    data = json.loads(ran.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    tables = {one["name"]: one for one in data["tables"]}
    answers = {row[0]: dict(zip(tables["answers"]["columns"], row, strict=True)) for row in tables["answers"]["rows"]}
    assert answers["questions"]["all"] == 2
    assert answers["abstained"]["5 adversarial"] is None  # there was no adversarial question
    assert dict(tables["cost"]["rows"])["turns"] == 30
    assert math.isfinite(answers["official F1"]["all"]["value"])
    assert answers["official F1"]["all"]["low"] is None  # one conversation says nothing of another


def test_a_result_says_how_it_was_made_and_names_no_folder(bench, locomo, tmp_path):
    place = tmp_path / "results" / "one.json"
    ran = bench("locomo", locomo, "--offline", "--limit", 2, "--result", place, "--json")
    assert json.loads(place.read_text()) == json.loads(json.dumps(as_json(read_result(place)))) == ran.data
    made = ran.data["made"]
    assert made["command"] == "python -m benchmarks locomo locomo.json --offline --limit 2 --result one.json --json"
    assert made["data"] == {"locomo.json": hashlib.sha256(locomo.read_bytes()).hexdigest()}
    assert made["seconds"] > 0
    assert str(tmp_path) not in place.read_text()


def test_a_data_set_is_held_to_a_digest_where_one_is_given(bench, locomo):
    found = hashlib.sha256(locomo.read_bytes()).hexdigest()
    words = ("locomo", locomo, "--offline", "--limit", 1, "--sha256")
    assert bench(*words, found).code == Exit.OK
    ran = bench(*words, found.replace(found[0], "x"))
    assert (ran.code, f"has the SHA-256 {found}, not " in ran.err) == (Exit.INPUT, True)


def test_questions_are_left_out_by_a_list_or_where_they_are_repeated(bench, locomo, tmp_path):
    words = ("locomo", locomo, "--offline", "--json", "--without")

    def left(ran):
        table = next(one for one in ran.data["tables"] if one["name"] == "answers")
        return next(row[1] for row in table["rows"] if row[0] == "questions")

    listed = tmp_path / "wrong.txt"
    listed.write_text("conv-1 0\nconv-9 7\n\n")
    ran = bench(*words, listed)
    assert (left(ran), ran.data["options"]["without"]) == (2, hashlib.sha256(listed.read_bytes()).hexdigest())
    assert left(bench(*words, "repeated")) == 1  # the same question three times
    for line, why in (("conv-1 3", "names question 3 of conv-1, which has 3"), ("conv-1", "line 1 is 'conv-1'")):
        listed.write_text(line)
        ran = bench(*words, listed)
        assert (ran.code, why in ran.err) == (Exit.INPUT, True)
    assert bench(*words, tmp_path / "nothing.txt").code == Exit.INPUT


def test_bench_runs_a_row_of_the_ablations_by_its_name(bench, locomo):
    ran = bench("locomo", locomo, "--offline", "--limit", 1, "--variant", "raw-only", "--json")
    assert (ran.code, ran.data["options"]["variant"]) == (Exit.OK, "raw-only")
    wrong = bench("locomo", locomo, "--variant", "nothing")
    assert (wrong.code, "basic-loop" in wrong.err) == (Exit.USAGE, True)


@pytest.fixture
def mixed(tmp_path, locomo):
    data = json.loads(locomo.read_text())
    trap = {"question": "How many plums did Bob steal?", "evidence": ["D1:7"], "category": 5, "adversarial_answer": "7"}
    data[0]["qa"] += [trap, trap]
    path = tmp_path / "mixed.json"
    path.write_text(json.dumps(data))
    return path


def test_a_result_has_tables_and_charts_and_no_word_of_the_data_set(bench, mixed, tmp_path):
    place = tmp_path / "one.json"
    ran = bench("locomo", mixed, "--offline", "--wide", "--sample", "--result", place)
    result = read_result(place)
    assert {"reliability", "risk-coverage"} <= set(result.charts)
    assert "5 answers, unedited" in ran.out
    assert "How many pears did Ada sell?" in ran.out
    assert "pears" not in place.read_text()


def test_a_report_is_made_from_results_and_checked_against_them(bench, mixed, tmp_path):
    bench("locomo", mixed, "--offline", "--result", tmp_path / "results" / "one.json")
    page = tmp_path / "README.md"
    blocks = ("retrieval", "chart reliability")
    page.write_text("# Ours\n" + "".join(f"\n<!-- results/one.json: {name} -->\n<!-- end -->\n" for name in blocks))
    assert bench("report", page, "--check").code == Exit.INPUT
    assert bench("report", page).code == Exit.OK
    assert "| R@10 |" in page.read_text()
    assert "<svg" in (tmp_path / "plots" / "reliability.svg").read_text()
    assert bench("report", page, "--check").code == Exit.OK
    page.write_text(page.read_text().replace("| R@10 | ", "| R@10 | 9"))
    ran = bench("report", page, "--check")
    assert (ran.code, "differs  README.md" in ran.out) == (Exit.INPUT, True)


def test_a_report_without_its_result_is_refused(bench, tmp_path):
    page = tmp_path / "README.md"
    page.write_text("<!-- results/none.json: retrieval -->\n<!-- end -->\n")
    assert bench("report", page).code == Exit.INPUT
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "none.json").write_text("{}")
    ran = bench("report", page)
    assert (ran.code, "expected a file written with --result" in ran.err) == (Exit.INPUT, True)


def test_no_result_is_written_over_a_memory(bench, tmp_path):
    memory = tmp_path / "m.evimem"
    evimem.open(memory).close()
    before = memory.read_bytes()
    assert bench("synthetic", "--result", memory).code == Exit.STORE
    assert memory.read_bytes() == before
