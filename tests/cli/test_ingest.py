import json

import pytest

import evimem
from evimem.cli.arguments import Exit
from evimem.loaders.conversation import Conversation
from evimem.loaders.examples import load_example


def lines(turns):
    for turn in turns:
        row = {"id": turn.id, "session": turn.session, "speaker": turn.speaker, "text": turn.text}
        yield json.dumps(row | {"time": turn.time.isoformat(), "caption": turn.caption})


@pytest.fixture
def chat(tmp_path):
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(lines(load_example("friends"))))
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.evimem"


def stored(path):
    with evimem.open(path) as memory:
        return list(memory.turns())


def test_ingest_keeps_every_turn_and_says_how_many(cli, chat, path):
    ran = cli("ingest", path, chat)
    assert ran.code == Exit.OK
    assert " ".join(ran.out.split()).startswith(f"{path} 183 turns added in ")
    assert [turn.text for turn in stored(path)] == [turn.text for turn in load_example("friends")]


def test_after_an_interrupt_the_same_command_goes_on(cli, chat, path, monkeypatch):
    monkeypatch.setattr("evimem.ingest.add.BATCH_TURNS", 40)
    monkeypatch.setattr("evimem.cli.state.MAX_COUNTED_TURNS", 60)

    def interrupted(*args, **options):
        turns = load_example("friends")
        yield Conversation(iter_then_interrupt(turns[:100]))

    monkeypatch.setattr("evimem.cli.state.load", interrupted)
    ran = cli("ingest", path, chat)
    assert ran.code == Exit.INTERRUPTED
    assert "interrupted; 80 turns are stored, the same command continues from there" in ran.err
    monkeypatch.undo()
    report = cli("ingest", path, chat, "--json").data["memories"][0]
    assert (report["existing"], report["added"]) == (80, 103)
    assert [turn.id for turn in stored(path)] == [turn.id for turn in load_example("friends")]


def test_progress_has_a_share_where_the_number_of_turns_is_known(cli, chat, path, tmp_path, monkeypatch):
    monkeypatch.setattr("evimem.cli.page._QUIET_SECONDS", 0.0)
    assert "100%  183 turns" in cli("ingest", path, chat).err
    cli("export", path, tmp_path / "export.jsonl")
    assert "importing [########################] 100%  183 turns" in (
        cli("import", tmp_path / "copy.evimem", tmp_path / "export.jsonl").err
    )
    monkeypatch.setattr("evimem.cli.state.MAX_COUNTED_TURNS", 183)
    more = cli("ingest", tmp_path / "more.evimem", chat).err
    assert "183 turns" in more
    assert "%" not in more


def iter_then_interrupt(turns):
    yield from turns
    raise KeyboardInterrupt


def test_bad_lines_are_refused_and_counted_and_the_others_kept(cli, chat, path):
    rows = chat.read_text().splitlines()
    rows[3:5] = ["{oops", '{"speaker": "Mira", "text": " ", "time": "2024-03-12"}']
    chat.write_text("\n".join(rows))
    ran = cli("ingest", path, chat)
    assert ran.code == Exit.INPUT
    assert "evimem: 2 refused (181 turns added, 0 there already); the first: chat.jsonl line 4: not JSON" in ran.err
    assert "181 turns added" in ran.out
    assert "chat.jsonl line 4, reason not JSON" in " ".join(ran.out.split())
    assert "neither text nor caption" in ran.out
    strict = cli("ingest", path, chat, "--strict")
    assert (strict.code, strict.err.startswith("evimem: chat.jsonl line 4: not JSON")) == (Exit.INPUT, True)


def test_turns_of_the_other_kind_of_times_are_refused_unless_the_timezone_is_said(cli, tmp_path, path):
    chat = tmp_path / "mixed.jsonl"
    row = {"speaker": "Mira", "text": "Hello."}
    chat.write_text("\n".join(json.dumps(row | {"time": f"2024-03-12T10:00{offset}"}) for offset in ("", "Z")))
    ran = cli("ingest", path, chat)
    assert (ran.code, "evimem: 1 refused" in ran.err, "timezone=" in ran.err) == (Exit.INPUT, True, True)
    assert cli("ingest", path, chat, "--timezone", "Europe/Madrid").code == Exit.OK
    assert cli("ingest", path, chat).code == Exit.OK  # it is kept in the memory
    assert [turn.time.hour for turn in stored(path)] == [10, 11]


def test_messages_without_times_need_a_start(cli, tmp_path, path):
    chat = tmp_path / "chat.json"
    chat.write_text('[{"role": "user", "content": "Hello there."}]')
    ran = cli("ingest", path, chat)
    assert (ran.code, "--start" in ran.err) == (Exit.INPUT, True)
    ran = cli("ingest", path, chat, "--start", "noon")
    assert (ran.code, "--start is 'noon'; expected ISO 8601" in ran.err) == (Exit.INPUT, True)
    assert cli("ingest", path, chat, "--start", "2024-03-12T18:20", "--session", "s1").code == Exit.OK
    (turn,) = stored(path)
    assert (turn.session, turn.time.isoformat()) == ("s1", "2024-03-12T18:20:00")


def test_turns_of_a_known_id_are_replaced_on_request(cli, tmp_path):
    path, lines = tmp_path / "m.evimem", tmp_path / "turns.jsonl"
    turn = {"id": "a", "session": "s", "speaker": "Mira", "time": "2024-03-12T18:20"}
    for text, options, code in (
        ("Tea.", (), Exit.OK),
        ("Coffee.", (), Exit.INPUT),
        ("Water.", ("--replace",), Exit.OK),
    ):
        lines.write_text(json.dumps({**turn, "text": text}) + "\n", encoding="utf-8")
        ran = cli("ingest", path, lines, *options)
        assert ran.code == code
    assert "replaced 1" in " ".join(ran.out.split())
    assert cli("show", path, "a", "--json").data["turn"]["text"] == "Water."


@pytest.mark.parametrize(
    "given",
    [
        "a,b\n", "[oops", '[{"mapping": {}},', '[{"role": "user", "content": "hi"}]',
        '{"speaker": "A", "text": "", "time": 1}',
    ],
)  # fmt: skip
@pytest.mark.parametrize("strict", [(), ("--strict",)])
def test_a_refused_ingest_leaves_no_file(cli, given, strict, tmp_path, path):
    chat = tmp_path / "given"
    chat.write_text(given)
    assert cli("ingest", path, chat, *strict).code == Exit.INPUT
    assert [one.name for one in tmp_path.iterdir()] == ["given"]


def test_what_was_left_out_is_said_by_kind_with_its_count_its_reason_and_a_place(cli, tmp_path, path):
    chat = tmp_path / "chat.txt"
    chat.write_text(
        '22.03.24, 18:20 - Ana created group "Home"\n22.03.24, 18:20 - Ana: This message was deleted\n'
        "22.03.24, 18:21 - Ana: You deleted this message\n22.03.24, 18:22 - Ana: Hi\n"
    )
    ran = cli("ingest", path, chat)
    shown = " ".join(ran.out.split())
    assert ran.code == Exit.OK
    assert (
        "2 x deleted message: its sender deleted it; the export holds no words of it; first: chat.txt line 2" in shown
    )
    assert "1 x notice: the program wrote it, and no person; first: chat.txt line 1" in shown
    (data,) = cli("ingest", path, chat, "--json").data["memories"]
    assert [(one["kind"], one["count"], one["places"]) for one in data["left_out"]] == [
        ("deleted message", 2, ["chat.txt line 2", "chat.txt line 3"]),
        ("notice", 1, ["chat.txt line 1"]),
    ]


def test_an_order_that_may_be_wrong_is_said(cli, tmp_path, path):
    (tmp_path / "chat.txt").write_text("3.4.24, 18:20 - Ana: Hi")
    ran = cli("ingest", path, tmp_path / "chat.txt")
    assert (ran.code, "--date-order" in ran.err) == (Exit.OK, True)


def test_columns_are_named_and_a_format_is_chosen(cli, tmp_path, path):
    (tmp_path / "t.csv").write_text("Wann,Wer,Was\n2024-03-12T18:20,Ana,Hallo\n")
    options = ("--format", "csv", "--columns", "speaker=Wer,text=Was,time=Wann")
    assert cli("ingest", path, tmp_path / "t.csv", *options).code == Exit.OK
    assert [(turn.speaker, turn.text) for turn in stored(path)] == [("Ana", "Hallo")]


def test_markdown_is_written_and_read_back(cli, chat, path, tmp_path):
    cli("ingest", path, chat)
    assert cli("export", path, tmp_path / "md", "--format", "markdown").code == Exit.OK
    assert cli("import", tmp_path / "b.evimem", tmp_path / "md").code == Exit.OK
    assert stored(tmp_path / "b.evimem") == stored(path)


def test_the_order_of_dates_can_be_named(cli, tmp_path, path):
    (tmp_path / "chat.txt").write_text("3/4/24, 18:20 - Ana: Hi")
    ran = cli("ingest", path, tmp_path / "chat.txt")
    assert (ran.code, "--date-order" in ran.err) == (Exit.INPUT, True)
    assert cli("ingest", path, tmp_path / "chat.txt", "--date-order", "mdy").code == Exit.OK
    assert [turn.time.month for turn in stored(path)] == [3]
