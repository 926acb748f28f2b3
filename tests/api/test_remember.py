"""Messages of chat APIs as turns: what they say, whose they are, and each of them once."""

import json
from base64 import b64encode
from datetime import datetime
from typing import Any

import pytest

import evimem
from evimem import InvalidQuery, InvalidTurn

CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Porto"}'}}
CHAT: list[dict[str, Any]] = [
    {"role": "developer", "content": "Be kind."},
    {
        "role": "user",
        "name": "mira",
        "content": [{"type": "text", "text": "Weather"}, {"type": "text", "text": "now?"}],
    },
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": '{"sky": "blue"}'},
    {"role": "assistant", "content": "Blue sky in Porto."},
]
AT = "2024-03-12T18:20"


def test_each_message_is_a_turn_of_its_role(memory):
    assert memory.remember(CHAT, session="chat", time=AT).added == 5
    assert [(turn.role, turn.speaker, turn.text) for turn in memory.turns(session="chat")] == [
        ("system", "system", "Be kind."),
        ("user", "mira", "Weather\nnow?"),
        ("assistant", "assistant", 'get_weather({"city": "Porto"})'),
        ("tool", "tool", '{"sky": "blue"}'),
        ("assistant", "assistant", "Blue sky in Porto."),
    ]


def test_the_messages_come_back_byte_for_byte(memory):
    chat = [*CHAT, {"role": "user", "content": "caf\u00e9 \ud83d", "b": 1, "a": [1.0, 1, None, {}]}]
    memory.remember(chat, session="chat", time=AT)
    assert [turn.metadata["message"] for turn in memory.turns(session="chat")] == [json.dumps(one) for one in chat]


def test_a_message_has_its_own_time_or_that_of_the_call(memory):
    memory.remember([{"role": "user", "content": "Hi.", "created_at": "2024-01-02T10:00"}], session="s")
    assert next(memory.turns()).time.isoformat() == "2024-01-02T10:00:00"
    with pytest.raises(InvalidTurn, match="give time="):
        memory.remember([{"role": "user", "content": "Hello."}], session="s")


@pytest.mark.parametrize("seconds", ["1714644300", "1714644300.0", "1714644300000"])
def test_a_time_in_seconds_may_be_a_text(memory, seconds):
    memory.remember([{"role": "user", "content": "Hi.", "timestamp": seconds}], session="s")
    assert next(memory.turns()).time.isoformat() == "2024-05-02T10:05:00+00:00"


def test_an_edge_of_the_calendar_and_a_deep_message_are_errors_of_evimem(tmp_path):
    deep: Any = "x"
    for _ in range(3000):
        deep = [deep]
    with evimem.open(tmp_path / "m.evimem", timezone="Asia/Kathmandu") as memory:
        report = memory.remember([{"role": "user", "content": "Hi."}], time=datetime(1, 1, 1))
        assert [status.outcome for status in report.statuses] == ["refused"]
        with pytest.raises(InvalidQuery, match="nested too deeply"):
            memory.block([{"role": "user", "content": deep}, {"role": "user", "content": "Where?"}])


def test_in_a_group_what_the_asker_said_of_themselves_comes_first(memory):
    likes = {"Ana": "peanuts", "Ben": "shellfish", "Cem": "gluten", "Finn": "celery"}
    for minute, (name, food) in enumerate(likes.items()):
        said = [{"role": "user", "name": name, "content": f"I'm allergic to {food}."}]
        memory.remember(said, session="s", time=f"2024-03-12T18:0{minute}")
    for name in likes:
        asked = [{"role": "user", "name": name, "content": "What am I allergic to?"}]
        assert name in {turn.speaker for turn in memory.block(asked, tokens=90).turns}


def test_recall_is_not_remembered(memory):
    memory.remember(CHAT, session="chat", time=AT)
    block = memory.block("What is the weather in Porto?").text
    assert block
    asked = {"role": "user", "content": f"{block}\n\nAnd in Leeds?"}
    report = memory.remember([*CHAT, {"role": "system", "content": block}, asked], session="chat", time=AT)
    assert [status.outcome for status in report.statuses][5:] == ["dropped", "added"]
    assert [turn.text for turn in memory.turns(session="chat")][-1] == "And in Leeds?"
    again = memory.remember([*CHAT, {"role": "system", "content": block}, asked], session="chat", time=AT)
    assert (again.added, again.existing, again.dropped, again.refused) == (0, 6, 1, 0)


def test_a_message_of_an_unknown_role_is_kept_as_data(memory):
    said = [{"role": "robot", "content": "I live in Oslo."}, {"content": "Hi."}, {"role": "user", "content": 7}]
    report = memory.remember(said, session="s", time=AT)
    assert (report.added, report.unknown_roles) == (3, 2)
    assert ["no role" in str(status.reason) for status in report.statuses] == [True, True, False]
    kept = [(turn.role, turn.speaker, turn.text) for turn in memory.turns()]
    assert kept == [("tool", "robot", "I live in Oslo."), ("tool", "tool", "Hi."), ("user", "user", "7")]
    assert memory.facts([next(memory.turns()).id]) == ()


def test_a_system_prompt_is_stored_once_and_never_found(memory):
    prompt = {"role": "system", "content": "You help with herons. Ajax the heron lives in Porto."}
    for session, said in (("a", "My heron is called Ajax."), ("b", "Where does a heron sleep?")):
        memory.remember([prompt, {"role": "user", "content": said}], session=session, time=AT)
    asked = "Where does Ajax the heron live?"
    found = [*(hit.turn for hit in memory.search(asked, 9)), *memory.block(asked).turns]
    assert [turn.text for turn in memory.turns(role="system")] == [prompt["content"]]
    assert found
    assert {turn.role for turn in found} == {"user"}
    assert all(memory.turn(one.turn_id).role == "user" for one in memory.ask(asked).citations)
    assert [hit.turn.role for hit in memory.search(asked, 9, role="system")] == ["system"]


def test_what_a_tool_returned_in_a_message_of_the_user_is_no_statement_of_theirs(memory):
    result = {"type": "tool_result", "tool_use_id": "t", "content": "I live in Oslo."}
    memory.remember([{"role": "user", "content": [result, {"type": "text", "text": "I live in Porto."}]}], time=AT)
    turn = next(memory.turns())
    assert turn.text == "> I live in Oslo.\nI live in Porto."
    assert [fact.object for fact in memory.facts([turn.id])] == ["Porto"]


def test_a_picture_of_megabytes_is_kept_out_and_its_sentence_is_stored(memory):
    url = f"data:image/jpeg;base64,{b64encode(bytes(3_100_000)).decode()}"
    parts = [{"type": "text", "text": "This is my cat Biscuit."}, {"type": "image_url", "image_url": {"url": url}}]
    assert memory.remember([{"role": "user", "content": parts}], session="s", time=AT).added == 1
    turn = next(memory.turns())
    assert turn.text == "This is my cat Biscuit.\n[picture, image/jpeg, 3.1 MB]"
    assert len(turn.metadata["message"]) < 300
    assert memory.search("cat", 1)[0].turn == turn


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([7], "a message is 7; expected a mapping"),
        (["Hi."], "a message is a str of length 3; expected a mapping"),
        ([{"role": "user", "content": "Hi.", "at": float("nan")}], "cannot be kept as JSON"),
        ([{"role": "user", "content": "Hi.", 7: 7}], "would not come back"),
    ],
)
def test_what_is_no_message_is_refused_and_nothing_is_stored(memory, messages, message):
    with pytest.raises(InvalidTurn, match=message):
        memory.remember([CHAT[0], *messages], session="s", time=AT)
    assert memory.stats().turns == 0
