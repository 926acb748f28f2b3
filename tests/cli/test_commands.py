import json
import os
import re
from pathlib import Path

import pytest

import evimem
from evimem.cli.arguments import Exit
from evimem.loaders.examples import load_example
from evimem.loops import AS_PUBLISHED, LOOPS
from tests.copies import copied
from tests.doubles import WordEmbedder


def test_ask_answers_with_the_turn_that_the_answer_rests_on_for_people_and_programs(cli, friends):
    ran = cli("ask", friends, "When did Mira adopt her puppy?")
    assert (ran.code, ran.err) == (Exit.OK, "")
    assert "8 March 2024" in ran.out
    assert "adopted a puppy last Friday." in ran.out
    data = cli("ask", friends, "When did Mira adopt her puppy?", "--json").data
    assert (data["kind"], data["abstained"], data["usage"]["requests"]) == ("quote", False, 0)
    assert "8 March 2024" in data["text"].splitlines()[0]
    assert data["citations"][0]["turn_id"] == "s1:4"
    assert "trace" not in data


def test_an_abstention_says_why_and_has_an_exit_code_of_its_own(cli, friends):
    ran = cli("ask", friends, "How old is Bob?")
    assert (ran.code, "I don't know." in ran.out, "because" in ran.out) == (Exit.ABSTAINED, True, True)
    assert "% that nothing was told" in ran.out


def test_no_command_writes_over_a_memory_or_another_kind_of_file(cli, friends, tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_bytes(b"my own notes \xff\n")
    memory = copied(friends, tmp_path / "m.evimem")
    turns = cli("stats", memory, "--json").data["turns"]
    for words in (
        ("export", memory, memory),
        ("export", memory, f"{memory}.mark"),
        ("token", memory, "--user", "mira"),
        ("token", notes, "--user", "mira"),
    ):
        ran = cli(*words)
        assert ran.code not in (Exit.OK, None), (words, ran)
        assert "Traceback" not in ran.err
    assert cli("stats", memory, "--json").data["turns"] == turns
    assert notes.read_bytes() == b"my own notes \xff\n"


@pytest.mark.parametrize("command", ["ingest", "import"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_a_command_never_waits_for_a_pipe_to_be_written(cli, tmp_path, command, kind):
    """Found by ingesting a named pipe, and /dev/zero: neither has an end. A pipe blocks whoever opens it."""
    path = Path("/dev/zero") if kind == "device" else tmp_path / kind
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
        (path / "notes.txt").touch()  # an empty one is the export of a memory without turns
    assert cli(command, tmp_path / "m.evimem", path).code not in (Exit.OK, None)


def test_a_trace_can_be_asked_again_from_its_memory_alone(cli, friends, tmp_path):
    cli("ask", friends, "When did Elio propose?")
    ran = cli("trace", friends, "--replay")
    assert (ran.code, "no model was called" in ran.out) == (Exit.OK, True)
    assert cli("trace", friends, "--replay", "--json").data["replayed"]["text"]


def test_stored_traces_are_listed_with_the_numbers_that_name_them(cli, friends):
    for question in ("When did Elio propose?", "Who has a boat?"):
        cli("ask", friends, question)
    listed = cli("trace", friends, "--list", "--json").data
    newest = [one["question"] for one in listed[:2]]  # other tests ask this memory too
    assert newest == ["Who has a boat?", "When did Elio propose?"]
    assert "When did Elio propose?" in cli("trace", friends, "--number", str(listed[1]["number"])).out
    assert "Who has a boat?" in cli("trace", friends, "--list").out


def test_a_question_is_asked_through_every_loop_side_by_side_and_nothing_is_stored(cli, friends):
    cli("ask", friends, "Who is having twins?")
    kept = cli("trace", friends).out
    ran = cli("compare", friends, "When did Elio propose?")
    assert (ran.code, [name for name in LOOPS if name not in ran.out]) == (Exit.OK, [])
    data = cli("compare", friends, "When did Elio propose?", "--json").data
    assert set(data) == set(LOOPS)
    assert all(one["found"] and one["kind"] in ("answer", "quote") for one in data.values())
    assert cli("compare", friends, "How old is Bob?").code == Exit.ABSTAINED
    more = cli("compare", friends, "When did Elio propose?", "--as-published", "--json").data
    assert set(more) - set(LOOPS) == set(AS_PUBLISHED)
    assert len(more["mgretrieval-as-published"]["found"]) != len(more["mgretrieval"]["found"])
    assert cli("trace", friends).out == kept, "a trace was kept"


@pytest.mark.parametrize(
    ("loop", "step"), [("memr3", "decide"), ("mgretrieval", "keywords"), ("mragent", "as iris does")]
)
def test_a_question_is_asked_through_the_loop_that_is_named_and_its_trace_can_be_asked_again(cli, friends, loop, step):
    ran = cli("ask", friends, "When did Elio propose?", "--loop", loop, "--trace")
    assert (ran.code, f"through {loop}" in ran.out, step in ran.out) == (Exit.OK, True, True)
    assert cli("trace", friends, "--replay").code == Exit.OK


def test_search_lists_turns_best_first_of_those_that_pass_its_filters(cli, friends):
    ran = cli("search", friends, "puppy", "-k", 3, "--json")
    assert (len(ran.data), ran.data[0]["turn"]["id"]) == (3, "s1:4")
    assert " 1. s1:4 Mira, 12 March 2024" in cli("search", friends, "puppy").out
    only = cli("search", friends, "boat", "--speaker", "Mira", "--session", "s11", "--json").data
    assert {(hit["turn"]["speaker"], hit["turn"]["session"]) for hit in only} == {("Mira", "s11")}
    others = cli("search", friends, "puppy", "--exclude", "s1:4", "--json").data
    assert "s1:4" not in [hit["turn"]["id"] for hit in others]


def test_turns_are_chosen_by_their_metadata(cli, tmp_path):
    path = tmp_path / "m.evimem"
    with evimem.open(path) as memory:
        for year in (2023, 2024):
            memory.add("Mira", f"I moved to Leeds in {year}.", time=f"{year}-05-01T12:00", metadata={"year": year})
    late = '{"year": {"$gte": 2024}}'
    found = cli("search", path, "Leeds", "--where", late, "--role", "user", "--json").data
    assert [hit["turn"]["time"][:4] for hit in found] == ["2024"]
    asked = cli("ask", path, "When did Mira move to Leeds?", "--where", '{"year": 2023}', "--asked-at", "now", "--json")
    assert "in 2023" in asked.data["text"]
    assert cli("search", path, "Leeds", "--where", '{"year": {"$like": 1}}').code == Exit.INPUT
    assert cli("forget", path, "--where", late, "--json").data["turns"] == 1


def test_show_tells_what_is_known_about_somebody(cli, tmp_path):
    path = tmp_path / "m.evimem"
    with evimem.open(path) as memory:
        memory.add("Mira", "I live in Leeds.", time="2024-03-12T12:00", id="a")
        memory.add("Mira", "I live in Porto.", time="2024-05-12T12:00", id="b")
    page = cli("show", path, "--about", "Mira").out
    assert page.index("Porto") < page.index("Leeds"), "both are listed, newest first"
    assert [one["object"] for one in cli("show", path, "--about", "Mira", "--json").data] == ["Porto", "Leeds"]
    assert "nothing is known about Tomas" in cli("show", path, "--about", "Tomas").out


def test_show_marks_the_spans_of_facts_and_the_turns_around(cli, friends):
    ran = cli("show", friends, "s1:10")
    assert "allergic to shellfish\u00bb" in ran.out
    assert "Context" in ran.out
    assert "s1:11 Tomas" in ran.out
    data = cli("show", friends, "s1:10", "--around", 1, "--json").data
    assert [turn["id"] for turn in data["around"]] == ["s1:9", "s1:10", "s1:11"]
    assert all(data["turn"]["text"][slice(*fact["span"])] for fact in data["facts"])


def test_a_block_is_printed_as_the_prompt_gets_it(cli, friends):
    ran = cli("block", friends, "When did Elio propose?", "--tokens", 300)
    with evimem.open(friends) as memory:
        block = memory.block("When did Elio propose?", tokens=300)
    assert (ran.code, ran.out, ran.err) == (Exit.OK, f"{block.text}\n", "")
    assert max(map(len, block.text.splitlines())) > 100, "no line is long enough to be wrapped by mistake"
    assert cli("block", friends, "When did Elio propose?", "--tokens", 300, "--json").data == block.to_dict()


def test_a_block_that_is_checked_says_its_verdict_and_one_without_room_says_so(cli, friends):
    ran = cli("block", friends, "When did Mira adopt her puppy?", "--check")
    assert re.search("the evidence is (?:exact|inferrable), \\d+% sure", ran.err)
    ran = cli("block", friends, "When did Mira adopt her puppy?", "--tokens", 20)
    assert (ran.out, "nothing fits into 20 tokens" in ran.err) == ("", True)
    assert "nothing to recall" in cli("block", friends, "thanks!").err


def test_an_unknown_command_is_answered_by_the_nearest_name(cli):
    ran = cli("serch", "m.evimem")
    assert (ran.code, "did you mean 'search'?" in ran.err, "calibrate" in ran.err) == (Exit.USAGE, True, False)
    assert "did you mean" not in cli("qqqq").err


def test_an_export_comes_back_as_it_was_and_replaces_a_file_only_on_request(cli, friends, tmp_path):
    exported, copy = tmp_path / "export.jsonl", tmp_path / "copy.evimem"
    exported.write_text("mine")
    assert cli("export", friends, exported).code == Exit.INPUT
    assert exported.read_text() == "mine"
    assert "183 turns written" in cli("export", friends, exported, "--force").out
    assert cli("import", copy, exported, "--json").data["added"] == 183
    assert cli("import", copy, exported, "--json").data["existing"] == 183
    assert cli("show", copy, "s1:10", "--json").data == cli("show", friends, "s1:10", "--json").data


def test_a_memory_of_another_embedder_is_copied(cli, tmp_path):
    with evimem.open(tmp_path / "m.evimem", embedder=WordEmbedder(16)) as memory:
        memory.add("Mira", "Hello!", time="2024-03-12T18:20")
    cli("copy", tmp_path / "m.evimem", tmp_path / "copy.evimem")
    with evimem.open(tmp_path / "copy.evimem", embedder=WordEmbedder(16)) as memory:
        assert [turn.text for turn in memory.turns()] == ["Hello!"]


def test_forget_erases_what_it_names(cli, tmp_path):
    path = tmp_path / "m.evimem"
    with evimem.open(path) as memory:
        memory.extend(load_example("friends"))
    assert cli("forget", path, "--turn", "s1:4", "--turn", "s1:6", "--json").data["turns"] == 2
    assert cli("forget", path, "--session", "s2", "--json").data["turns"] == 13
    assert cli("forget", path, "--before", "2024-06-01", "--json").data["turns"] == 13 - 2 + 14 + 15
    assert cli("show", path, "s1:4").code == Exit.INPUT
    left = cli("stats", path, "--json").data["turns"]
    assert 0 < cli("forget", path, "--speaker", "Mira", "--json").data["turns"] < left
    assert cli("stats", path, "--json").data["speakers"] == ["Tomas"]
    assert "erased" in cli("forget", path, "--everything", "--yes").out
    assert cli("stats", path, "--json").data["turns"] == 0


def test_the_demo_deletes_its_memory(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    shown = json.loads(cli("demo", "--json").out)
    assert {answer["kind"] for answer in shown["answers"]} <= {"quote", "abstained"}
    assert {(one["kind"], one["tier"]) for one in shown["recorded_answers_of_a_model"]} == {("answer", "exact")}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["ask", "question"], ["search", "words"], ["show", "id"], ["stats"], ["doctor"]])
def test_reading_never_makes_a_memory(cli, tmp_path, words):
    path = tmp_path / "none.evimem"
    ran = cli(words[0], path, *words[1:])
    assert ran.code == Exit.INPUT
    assert ran.err == f"evimem: there is no memory at {str(path)!r}; `evimem ingest {path} FILE` creates one\n"
    assert list(tmp_path.iterdir()) == []


def test_stats_and_doctor_describe_a_memory(cli, friends):
    assert "first      2024-03-12T18:12" in cli("stats", friends).out
    assert cli("stats", friends, "--json").data["turns"] == 183
    doctor = cli("doctor", friends)
    assert (doctor.code, "  ok" in doctor.out) == (Exit.OK, True)
    assert cli("doctor", friends, "--json").data["status"] == "ok"
