import json
import zipfile
from contextlib import suppress
from copy import deepcopy
from datetime import datetime, timezone

import pytest

import evimem
from evimem.errors import ImportFailed
from evimem.loaders import load
from evimem.loaders.formats import detect_format
from tests.loaders.writers import places, with_value

NOON = datetime(2024, 3, 12, 12, tzinfo=timezone.utc)
CHATGPT = {
    "id": "c1",
    "title": "Pears",
    "mapping": {
        "a": {
            "parent": None,
            "children": [],
            "message": {
                "id": "a",
                "author": {"role": "user"},
                "create_time": NOON.timestamp(),
                "content": {"content_type": "text", "parts": ["I moved to Lyon."]},
            },
        }
    },
    "current_node": "a",
}
CLAUDE = {
    "uuid": "c1",
    "name": "Pears",
    "created_at": "2024-03-12T12:00:00.1234567Z",
    "chat_messages": [{"uuid": "a", "sender": "human", "text": "I moved to Lyon.", "created_at": NOON.isoformat()}],
}
TELEGRAM = {
    "name": "Ben",
    "type": "personal_chat",
    "id": 7,
    "messages": [
        {"id": 0, "type": "service", "date": "2024-03-12T12:00:00", "action": "pin_message", "text": ""},
        {
            "id": 1, "type": "message", "date": "2024-03-12T13:00:00", "date_unixtime": str(int(NOON.timestamp())),
            "from": "Ana", "text": ["I moved to ", {"type": "bold", "text": "Lyon"}, "."],
        },
    ],
}  # fmt: skip
DISCORD = {
    "guild": {"id": "1"},
    "channel": {"id": "7", "name": "home"},
    "messages": [
        {"id": "0", "type": "ChannelPinnedMessage", "timestamp": NOON.isoformat(), "content": "Pinned.", "author": {}},
        {
            "id": "1", "type": "Default", "timestamp": "2024-03-12T12:00:00.1+00:00", "content": "I moved to Lyon.",
            "author": {"id": "3", "name": "ana9", "nickname": "Ana"},
        },
    ],
}  # fmt: skip
SLACK = [
    {"type": "message", "subtype": "channel_join", "user": "U1", "ts": "1710244799.1", "text": "<@U1> has joined"},
    {"type": "message", "user": "U1", "ts": "1710244800.000100", "text": "I moved to <https://lyon.example|Lyon>."},
]
WHATSAPP = "[12.03.24, 12:00:00] Ana: \u200eMessages are encrypted.\n[12.03.24, 12:00:00] Ana: I moved to Lyon.\n"
EXPORTS = {
    "chatgpt": [CHATGPT], "claude": [CLAUDE], "telegram": TELEGRAM, "discord": DISCORD, "slack": SLACK,
    "whatsapp": WHATSAPP,
}  # fmt: skip


WRONG = (None, 7, "x", [], {}, [7], {"x": 7}, True)


def text_of(export):
    return export if isinstance(export, str) else json.dumps(export)


def turns_of(path, refused=None, **options):
    refuse = {} if refused is None else {"refuse": refused.append}
    return [turn for one in load(path, **refuse, **options) for turn in one.turns]


@pytest.fixture
def kept(tmp_path):
    def keep(export, name="given"):
        path = tmp_path / name
        path.write_text(text_of(export), encoding="utf-8")
        return path

    return keep


@pytest.fixture
def zipped(tmp_path):
    def pack(**members):
        path = tmp_path / "given"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, export in members.items():
                archive.writestr(name.replace("__", "/"), text_of(export))
        return path

    return pack


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_is_known_by_what_it_holds_and_read(name, kept):
    path = kept(EXPORTS[name])
    assert detect_format(path) == name
    (turn,) = turns_of(path)
    assert turn.text == "I moved to Lyon."
    assert turn.time.replace(tzinfo=timezone.utc, microsecond=0) == NOON


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_in_a_zip_is_known_by_what_it_holds(name, kept, zipped):
    member = {"chatgpt": "conversations.json", "claude": "conversations.json", "slack": "home__2024-03-12.json"}
    path = zipped(**{member.get(name, "x.json"): EXPORTS[name], "user.json": {"id": "u"}})
    assert detect_format(path) == name
    assert [turn.text for turn in turns_of(path)] == ["I moved to Lyon."]


@pytest.mark.parametrize("name", EXPORTS)
def test_reading_an_export_again_adds_nothing_though_its_chat_has_another_name_now(name, kept, tmp_path):
    renamed = text_of(EXPORTS[name]).replace('"name": "Ben"', '"name": "Benjamin"').replace("Pears", "Apples")
    with evimem.open(tmp_path / "m.evimem") as memory:
        assert memory.extend(turns_of(kept(EXPORTS[name]))).added == 1
        again = memory.extend(turns_of(kept(renamed)))
        assert (again.added, again.existing, again.refused) == (0, 1, 0)


def test_a_message_without_a_time_has_the_one_before_it_and_one_before_all_has_the_next(kept):
    said = [{"id": n, "type": "message", "from": "Ana", "text": f"{n}"} for n in range(4)]
    said[1]["date"], said[2]["date"] = "2024-03-12T13:00:00", "soon"
    refused = []
    turns = turns_of(kept(TELEGRAM | {"messages": said}), refused, format="telegram")
    assert [(turn.text, turn.time.hour) for turn in turns] == [("0", 13), ("1", 13), ("3", 13)]
    assert ["time is 'soon'" in one.why for one in refused] == [True]


@pytest.mark.parametrize("name", sorted(set(EXPORTS) - {"whatsapp"}))
def test_any_value_in_any_place_gives_turns_or_a_typed_error(name, kept):
    read = 0
    for path in places(EXPORTS[name]):
        for value in WRONG:
            file = kept(with_value(EXPORTS[name], path, value))
            with suppress(ImportFailed):
                read += sum(len(list(one.turns)) for one in load(file, name, refuse=lambda item: None))
    assert read > 0


@pytest.mark.parametrize("name", ["telegram", "discord", "slack", "claude"])
def test_a_message_that_cannot_be_read_is_refused_with_its_place_and_the_others_are_kept(name, kept):
    export = json.loads(text_of(EXPORTS[name]))
    (
        export
        if name == "slack"
        else (export[0] if name == "claude" else export)["chat_messages" if name == "claude" else "messages"]
    ).insert(0, 7)
    refused = []
    assert [turn.text for turn in turns_of(kept(export), refused, format=name)] == ["I moved to Lyon."]
    assert ["message 1" in one.where for one in refused] == [True]


@pytest.mark.parametrize("name", sorted(set(EXPORTS) - {"whatsapp"}))
@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9])
def test_a_truncated_export_is_an_error_that_says_what_to_do(name, cut, tmp_path):
    data = text_of(EXPORTS[name]).encode()
    path = tmp_path / "given"
    path.write_bytes(data[: int(len(data) * cut)])
    with pytest.raises(ImportFailed, match=r"expected|again"):
        turns_of(path)


@pytest.mark.parametrize("name", EXPORTS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_another_encoding_is_read_or_refused(name, encoding, tmp_path):
    path = tmp_path / "given"
    path.write_bytes(text_of(EXPORTS[name]).encode(encoding))
    if encoding == "utf-8-sig":
        assert detect_format(path) == name
    else:
        with pytest.raises(ImportFailed, match="expected one of"):
            detect_format(path)


@pytest.mark.parametrize("given", ["a,b\n1,2\n", "[INFO] started\n", "{}", '{"name": "x", "list": []}', "[12] Ana: hi"])
def test_what_is_unknown_is_told_with_all_that_was_looked_for(given, kept):
    with pytest.raises(ImportFailed) as told:
        detect_format(kept(given))
    for looked in ("ChatGPT", "Claude", "WhatsApp", "Telegram", "Slack", "Discord", "speaker", "role"):
        assert looked in str(told.value)


def test_all_chats_of_telegram_are_sessions_with_names_for_deleted_accounts(kept):
    other = json.loads(json.dumps(TELEGRAM)) | {"id": 8, "name": None}
    other["messages"][1] |= {"from": None, "from_id": "user5", "photo": "(File not included)", "text": ""}
    turns = turns_of(kept({"about": "x", "chats": {"about": "x", "list": [TELEGRAM, other]}}))
    assert [(turn.session, turn.speaker, turn.caption) for turn in turns] == [
        ("7", "Ana", None),
        ("8", "user5", "[picture]"),
    ]


def test_slack_names_threads_bots_and_files_are_read(zipped):
    day = [
        {"type": "message", "user": "U1", "ts": "1.0", "thread_ts": "1.0", "text": "<@U2> &amp; <#C1|home> <!here>"},
        {"type": "message", "user": "USLACKBOT", "subtype": "slackbot_response", "ts": "2.0", "text": "Hello"},
        {"type": "message", "user": "U9", "ts": "3.0", "text": "", "files": [{"name": "plan.pdf"}]},
        {"type": "message", "subtype": "tombstone", "ts": "4.0", "text": "This message was deleted."},
        {"type": "message", "ts": "5.0", "text": "Who?"},
    ]
    users = [{"id": "U1", "profile": {"display_name": "Ana"}}, {"id": "U2", "real_name": "Ben"}]
    refused = []
    turns = turns_of(zipped(**{"users.json": users, "home__2024-03-12.json": day}), refused)
    assert [(turn.session, turn.speaker, turn.role, turn.text, turn.caption) for turn in turns] == [
        ("home/1.0", "Ana", "user", "@Ben & #home @here", None),
        ("home", "USLACKBOT", "assistant", "Hello", None),
        ("home", "U9", "user", "", "[file plan.pdf]"),
    ]
    assert ["no sender is named" in one.why for one in refused] == [True]


def test_a_folder_is_read_as_the_zip_of_it(tmp_path):
    (tmp_path / "export" / "home").mkdir(parents=True)
    (tmp_path / "export" / "home" / "2024-03-12.json").write_text(json.dumps(SLACK))
    assert detect_format(tmp_path / "export") == "slack"
    assert [turn.session for turn in turns_of(tmp_path / "export")] == ["home"]


def test_claude_files_are_captions_pasted_texts_are_words_and_thoughts_are_left_out(kept):
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Said."}, {"type": "tool_use"}]
    files = [{"file_name": "plan.pdf"}, {"file_name": "paste.txt", "extracted_content": "Pasted."}]
    message = {"uuid": "b", "sender": "assistant", "text": "", "content": blocks, "attachments": files}
    empty = {"uuid": "c", "sender": "human", "text": "", "content": []}
    (turn,) = turns_of(kept([CLAUDE | {"chat_messages": [message, empty]}]))
    assert (turn.text, turn.caption, turn.role) == ("Said.\n\nPasted.", "[file plan.pdf]", "assistant")
    assert turn.time.year == 2024


def test_one_message_of_a_hostile_form_is_refused_and_the_others_are_read(kept):
    deep = "x"
    for _ in range(600):
        deep = [deep]
    for change in ({"id": ["a"]}, {"content": {"content_type": "multimodal_text", "parts": [{"content_type": deep}]}}):
        bad = deepcopy(CHATGPT) | {"id": "c2"}
        bad["mapping"]["a"]["message"] |= change
        refused = []
        assert [turn.text for turn in turns_of(kept([bad, CHATGPT]), refused)] == ["I moved to Lyon."]
        assert len(refused) == 1


def test_people_of_slack_whose_ids_are_no_text_are_left_without_names(zipped):
    export = zipped(**{"users.json": [{"id": ["U1"], "name": "a"}], "home__2024-03-12.json": SLACK})
    assert [turn.speaker for turn in turns_of(export)] == ["U1"]
