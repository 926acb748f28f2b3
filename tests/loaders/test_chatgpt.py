import json
import zipfile
from datetime import datetime, timezone
from functools import partial

import pytest

import evimem
from evimem.errors import ImportFailed
from evimem.loaders import conversation
from evimem.loaders.chatgpt import CHATGPT
from evimem.loaders.conversation import ImportLog
from evimem.loaders.export_walk import read_export

read_chatgpt = partial(read_export, CHATGPT)


def node(name, parent, role, text, **message):
    body = {"id": f"m-{name}", "author": {"role": role}, "create_time": 1_700_000_000.5, "recipient": "all"}
    body |= {"content": {"content_type": "text", "parts": [text]}, "metadata": {}} | message
    return {"id": name, "parent": parent, "children": [], "message": body}


PICTURE_AND_TEXT = {"content_type": "multimodal_text", "parts": [{"asset": 1}, "Thanks!"]}
MAPPING = {
    "root": {"id": "root", "parent": None, "children": ["sys"], "message": None},
    "sys": node("sys", "root", "system", "You are ChatGPT."),
    "ask": node("ask", "sys", "user", "How do I prune a pear?"),
    "old": node("old", "ask", "assistant", "With an axe."),
    "search": node("search", "ask", "assistant", "search()", recipient="browser"),
    "found": node("found", "search", "tool", "a page"),
    "think": node("think", "found", "assistant", "", content={"content_type": "thoughts", "thoughts": []}),
    "new": node("new", "think", "assistant", "In February.", create_time=None),
    "hidden": node("hidden", "new", "user", "ctx", metadata={"is_visually_hidden_from_conversation": True}),
    "thanks": node("thanks", "hidden", "user", "", content=PICTURE_AND_TEXT, create_time=1_700_000_060),
}
for name, each in MAPPING.items():
    each["children"] = [child for child, other in MAPPING.items() if other["parent"] == name]
CONVERSATION = {
    "conversation_id": "c1", "title": "Pears", "create_time": 1_700_000_000, "mapping": MAPPING,
    "current_node": "thanks",
}  # fmt: skip


@pytest.fixture
def written(tmp_path):
    def write(*conversations):
        path = tmp_path / "conversations.json"
        path.write_text(json.dumps(conversations))
        return path

    return write


def zipped(path, name, data):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return path


@pytest.mark.parametrize("changed", [{}, {"current_node": None}, {"conversation_id": None}])
def test_only_what_was_shown_on_the_chosen_branch_is_read(written, changed):
    turns = list(read_chatgpt(written(CONVERSATION | changed)))
    assert [(turn.role, turn.text) for turn in turns] == [
        ("user", "How do I prune a pear?"),
        ("assistant", "In February."),
        ("user", "Thanks!"),
    ]


def test_a_conversation_is_a_session_with_its_title(written):
    turns = list(read_chatgpt(written(CONVERSATION, CONVERSATION | {"conversation_id": "c2"})))
    assert [turn.session for turn in turns] == ["c1"] * 3 + ["c2"] * 3
    assert (turns[0].id, turns[3].id) == ("c1/m-ask", "c2/m-ask")
    assert turns[0].metadata == {"title": "Pears"}


def test_a_mapping_that_bites_its_tail_ends(written):
    mapping = {"a": node("a", "b", "user", "one"), "b": node("b", "a", "user", "two")}
    turns = list(read_chatgpt(written(CONVERSATION | {"mapping": mapping, "current_node": "a"})))
    assert [turn.text for turn in turns] == ["two", "one"]


def test_a_broken_conversation_is_refused_by_name_and_the_next_is_read(written):
    refused = []
    turns = list(
        read_chatgpt(written({"id": "c0", "mapping": {}, "current_node": "x"}, CONVERSATION), ImportLog(refused.append))
    )
    assert len(turns) == 3
    assert "conversation 'c0'" in str(refused[0])


def test_a_zip_bomb_is_stopped_by_what_comes_out_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(conversation, "RATIO_COUNTS_FROM", 1 << 20)
    bomb = zipped(tmp_path / "bomb.zip", "conversations.json", b"[" + b" " * (4 << 20) + b"]")
    with pytest.raises(ImportFailed, match="unpacks to 4 MiB"):
        list(read_chatgpt(bomb))


def test_a_damaged_zip_is_an_error_that_says_so(tmp_path):
    path = zipped(tmp_path / "cut.zip", "conversations.json", json.dumps([CONVERSATION] * 50))
    data = bytearray(path.read_bytes())
    data[80:90] = b"\x00" * 10
    path.write_bytes(bytes(data))
    with pytest.raises(ImportFailed, match="is damaged"):
        list(read_chatgpt(path))


def one(name, parent, role, text):
    return node(name, parent, role, text, id=name)


def branched(current, *nodes, **more):
    mapping = {each["id"]: each for each in nodes}
    return {"conversation_id": "c1", "title": "Home", "mapping": mapping, "current_node": current, **more}


ROME = (one("a", None, "user", "I live in Rome"), one("b", "a", "assistant", "Ciao"))
BARI = (one("a2", None, "user", "I live in Bari"), one("b2", "a2", "assistant", "Bari!"))


@pytest.fixture
def memory(tmp_path):
    with evimem.open(tmp_path / "m.evimem") as memory:
        yield memory


def said(memory):
    return [turn.text for turn in memory.turns()]


def test_turns_of_a_branch_that_was_abandoned_are_erased_with_the_new_ones_stored(written, memory):
    memory.extend(read_chatgpt(written(branched("b", *ROME))))
    report = memory.extend(read_chatgpt(written(branched("b2", *ROME, *BARI))))
    assert (report.added, report.erased) == (2, 2)
    assert said(memory) == ["I live in Bari", "Bari!"]
    assert [hit for hit in memory.search("Rome", k=5) if "Rome" in hit.turn.text] == []
    assert memory.check().problems == ()


def test_going_back_to_the_first_branch_brings_its_turns_back(written, memory):
    for current in ("b", "b2", "b"):
        memory.extend(read_chatgpt(written(branched(current, *ROME, *BARI))))
    assert said(memory) == ["I live in Rome", "Ciao"]


def test_a_turn_that_came_another_way_or_was_changed_since_is_never_erased(written, memory):
    memory.extend(read_chatgpt(written(branched("b", *ROME))))
    memory.update("c1/a", "I live in Roma")
    memory.add("user", "My own note", time="2024-03-12T18:20Z", id="b", session="c1")
    memory.add("assistant", "Ciao", time="2024-03-12T18:20Z", id="b2", session="c2")
    memory.extend(read_chatgpt(written(branched("b2", *ROME, *BARI))))
    assert set(said(memory)) == {"I live in Roma", "My own note", "Ciao", "I live in Bari", "Bari!"}


def test_the_same_messages_in_a_new_chat_are_stored_in_both(written, memory):
    report = memory.extend(read_chatgpt(written(branched("b", *ROME), branched("b", *ROME, conversation_id="c2"))))
    assert (report.added, report.refused) == (4, 0)


@pytest.mark.parametrize(
    "broken", [{"author": None}, {"author": {}}, {"content": {"content_type": "text", "parts": 7}}, {"metadata": 7}]
)
def test_a_message_that_cannot_be_read_is_refused_and_its_conversation_is_kept(broken, written):
    bad = one("x", "a", "user", "x")
    bad["message"] |= broken
    refused = []
    given = branched("b", ROME[0], bad, one("b", "x", "assistant", "Ciao"))
    assert [turn.text for turn in read_chatgpt(written(given), ImportLog(refused.append))] == ["I live in Rome", "Ciao"]
    assert ["conversation 'c1' message 'x'" in item.where for item in refused] == [True]


@pytest.mark.parametrize("gone", [{}, {"gone": None}])
def test_a_part_that_is_missing_is_told_and_what_comes_after_is_read(gone, written):
    refused = []
    given = branched("b", one("b", "gone", "assistant", "Ciao"))
    given["mapping"] |= gone
    assert [turn.text for turn in read_chatgpt(written(given), ImportLog(refused.append))] == ["Ciao"]
    assert ["'gone'" in item.where for item in refused] == [True]


def test_times_are_utc_and_a_message_without_takes_the_one_before(written):
    turns = list(read_chatgpt(written(CONVERSATION)))
    assert turns[0].time == datetime(2023, 11, 14, 22, 13, 20, 500_000, tzinfo=timezone.utc)
    assert turns[1].time == turns[0].time


@pytest.mark.parametrize("known", [{"create_time": 1_700_000_000}, {"update_time": 1_700_000_000}])
def test_messages_without_a_time_have_that_of_their_conversation(known, written):
    untimed = [json.loads(json.dumps(each)) for each in ROME]
    for each in untimed:
        del each["message"]["create_time"]
    turns = list(read_chatgpt(written(branched("b", *untimed, **known))))
    assert [turn.time.timestamp() for turn in turns] == [1_700_000_000] * 2
