"""Reports of imports: by kind with counts, places and reasons, and what each program keeps beside its chats is read."""

import json
from datetime import datetime, timedelta, timezone

import pytest

import evimem
from evimem.errors import ImportFailed
from evimem.loaders import load
from tests.loaders.writers import (
    NOON,
    SAMPLE,
    chatgpt,
    claude,
    discord,
    discord_package,
    dumped,
    gemini_page,
    messenger,
    slack,
    telegram,
    telegram_page,
    zipped,
)

KNOWN = {one.text for one in SAMPLE}


@pytest.fixture
def read(tmp_path):
    """Read an export: bytes as a file, a mapping of names to bytes as a folder."""

    def of(data, name="given", **options):
        path = tmp_path / name
        if isinstance(data, dict):
            for inner, content in data.items():
                file = path / inner
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
        else:
            path.write_bytes(data)
        refused = []
        (found,) = load(path, refuse=refused.append, **options)
        turns = list(found.turns)
        assert refused == []
        return turns, {one.kind: one.count for one in found.left_out}, found

    return of


def changed(data, change):
    value = json.loads(data)
    change(value)
    return dumped(value)


def node(parent, **message):
    body = {"id": "x", "author": {"role": "user"}, "create_time": NOON.timestamp(), "metadata": {}} | message
    return {"parent": parent, "children": [], "message": body}


def with_nodes(*messages):
    """Return a ChatGPT export with more messages at its beginning."""

    def change(value):
        mapping = value[0]["mapping"]
        for at, message in enumerate(messages):
            mapping[f"x{at}"] = node(f"x{at - 1}" if at else "root", **{"id": f"x{at}", **message})
        mapping["n0"]["parent"] = f"x{len(messages) - 1}"

    return changed(chatgpt(SAMPLE), change)


def test_what_is_left_out_of_chatgpt_is_counted_by_kind_with_its_places(read):
    text = {"content_type": "text", "parts": ["x"]}
    given = with_nodes(
        {"author": {"role": "system"}, "content": text},
        {"content": text, "metadata": {"is_visually_hidden_from_conversation": True}},
        {"author": {"role": "assistant"}, "content": {"content_type": "thoughts", "thoughts": []}},
        {"author": {"role": "assistant"}, "content": {"content_type": "code", "text": "x()"}, "recipient": "python"},
        {"author": {"role": "tool"}, "content": text},
    )
    turns, left_out, found = read(given)
    assert [turn.text for turn in turns] == [one.text for one in SAMPLE]
    assert left_out == {"tool call or result": 2, "system message": 1, "hidden message": 1, "thoughts": 1}
    first = found.left_out[0]
    assert first.places == ("given conversation 'c1' message 'x3'", "given conversation 'c1' message 'x4'")
    assert "not shown in the chat" in first.reason


def test_custom_instructions_and_memories_of_chatgpt_are_turns_once(read):
    profile = {"content_type": "user_editable_context", "user_profile": "User profile:\n```I'm a nurse in Leeds.```",
               "user_instructions": "```Be brief.```"}  # fmt: skip
    saved = {
        "content_type": "model_editable_context",
        "model_set_context": "1. [2024-01-02]. Has a dog.\n\n2. [2024-02-03]. Runs.",
    }
    bio = {
        "author": {"role": "assistant"},
        "recipient": "bio",
        "content": {"content_type": "text", "parts": ["Likes tea."]},
    }
    one = json.loads(with_nodes({"content": profile}, {"content": saved}, bio))[0]
    turns, _, _ = read(dumped([one, one | {"conversation_id": "c2"}]))
    noted = [(turn.session, turn.role, turn.text) for turn in turns if turn.text not in KNOWN]
    assert noted == [
        ("c1", "assistant", "Likes tea."),
        ("c2", "assistant", "Likes tea."),
        ("custom instructions", "user", "I'm a nurse in Leeds."),
        ("custom instructions", "user", "Be brief."),
        ("saved memories", "assistant", "Has a dog."),
        ("saved memories", "assistant", "Runs."),
    ]
    assert turns[-1].time == datetime(2024, 2, 3, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("It rains \ue200cite\ue202turn0search1\ue202turn0news2\ue201.", "It rains."),
        ("It rains citeturn2view3turn1search0.", "It rains."),
        ("See 【4:2†source】 and 【12†L1-L9】!", "See and!"),
        ('\ue200entity\ue202["city","Paris","the capital"]\ue201 is far.', "Paris is far."),
        ("I cite turns of phrase.", "I cite turns of phrase."),
    ],
)
def test_citation_marks_of_chatgpt_are_removed_and_names_in_them_stay(text, plain, read):
    turns, left_out, _ = read(chatgpt([SAMPLE[0], SAMPLE[1]._replace(text=text)]))
    assert turns[1].text == plain
    assert ("citation mark" in left_out) == (text != plain)


def test_memories_projects_and_attached_texts_of_claude_are_turns(read):
    def attach(value):
        file = {"file_name": "plan.pdf", "extracted_content": "Step one."}
        value[0]["chat_messages"][0] |= {"attachments": [file], "files": [{"file_name": "cat.jpg"}]}
        value[0]["summary"] = "They talk."

    memories = [{"conversations_memory": "Works as a nurse.", "project_memories": {"p1": "Plans a move."}}]
    document = {"uuid": "d1", "filename": "list.txt", "content": "Boxes.", "created_at": SAMPLE[0].iso}
    project = {"uuid": "p1", "name": "Move", "description": "", "prompt_template": "Be brief.", "docs": [document]}
    project |= {"created_at": SAMPLE[0].iso}
    export = zipped(
        **{
            "conversations.json": changed(claude(SAMPLE), attach), "memories.json": dumped(memories),
            "projects.json": dumped([project]), "users.json": dumped([{"uuid": "u1"}]),
        }
    )  # fmt: skip
    turns, left_out, _ = read(export)
    more = [
        (turn.session, turn.speaker, turn.role, turn.text)
        for turn in turns
        if turn.text not in {one.text for one in SAMPLE}
    ]
    assert more == [
        ("c1", "plan.pdf", "tool", "Step one."),
        ("memories", "assistant", "assistant", "Works as a nurse."),
        ("memories", "assistant", "assistant", "Plans a move."),
        ("project/p1", "user", "user", "Be brief."),
        ("project/p1", "list.txt", "tool", "Boxes."),
    ]
    assert turns[0].caption == "[file plan.pdf] [file cat.jpg]"
    assert left_out == {"summary": 1, "content of a file": 1, "other file": 1}
    assert max(turn.time for turn in turns) == SAMPLE[-1].time  # memories have no time of their own


def test_memories_alone_need_a_time(read):
    given = dumped([{"conversations_memory": "Works as a nurse."}])
    assert [turn.text for turn in read(given, start=NOON)[0]] == ["Works as a nurse."]


def test_places_of_telegram_are_captions_and_its_pages_read_as_its_json(read):
    place = {
        "location_information": {"latitude": 52.5, "longitude": 13.4},
        "place_name": "Café",
        "address": "Main St 1",
    }

    def add(value):
        value["messages"][0] |= {"text": "", **place}
        value["messages"][1] |= {"text": "", "poll": {"question": "Where?", "answers": [{"text": "A"}, {"text": "B"}]}}
        value["messages"].append({"id": 99, "type": "service", "action": "pin_message"})

    turns, left_out, _ = read(changed(telegram(SAMPLE), add))
    assert [turn.caption for turn in turns[:2]] == ["[location Café, Main St 1 (52.5, 13.4)]", "[poll Where? (A, B)]"]
    assert left_out == {"notice": 1}
    page = telegram_page(SAMPLE).replace(
        b'<div class="text">\nI moved to Lyon &amp; like it.\n</div>',
        b'<div class="media_wrap clearfix"><a class="media clearfix pull_left block_link media_location" '
        b'href="https://maps.google.com/maps?q=52.5,13.4"><div class="body"><div class="title bold">Location</div>'
        b'<div class="status details">52.5, 13.4</div></div></a></div>',
    )
    turns, _, _ = read(
        {"messages.html": page, "messages2.html": telegram_page(SAMPLE[:1]), "lists/chats.html": b"<html>"}, "tg"
    )
    assert (turns[0].speaker, turns[0].caption) == ("user", "[location 52.5, 13.4]")
    assert turns[-1].text == SAMPLE[0].text


def test_slack_blocks_lists_quotes_and_attachments_of_bots_are_words(read):
    def text(*pieces):
        return {"type": "rich_text_section", "elements": [*pieces]}

    elements = [
        text(
            {"type": "text", "text": "Ask "},
            {"type": "user", "user_id": "U1"},
            {"type": "emoji", "unicode": "1f389", "name": "x"},
        ),
        {
            "type": "rich_text_list",
            "elements": [text({"type": "text", "text": "one"}), text({"type": "link", "url": "https://a.b"})],
        },
    ]
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "News"}},
        {"type": "rich_text", "elements": elements},
    ]
    day = json.loads(slack(SAMPLE[:2]))
    day[0] |= {"text": "This content can't be displayed.", "blocks": blocks, "reactions": [{"name": "tada"}]}
    day[1] |= {"text": "", "attachments": [{"title": "Build", "text": "passed &amp; green", "fallback": "x"}]}
    day.append({"type": "message", "subtype": "tombstone", "ts": "1710244900.0", "text": "This message was deleted."})
    turns, left_out, _ = read(dumped(day))
    assert [turn.text for turn in turns] == ["News\nAsk @U1\U0001f389\none\nhttps://a.b", "Build\npassed & green"]
    assert left_out == {"reaction": 1, "deleted message": 1}


def test_embeds_of_discord_are_the_words_of_bots_and_previews_of_people(read):
    embed = {"title": "Reminder", "description": "Dentist at nine", "fields": [{"name": "Where", "value": "Leeds"}]}

    def add(value):
        value["messages"][0] |= {"embeds": [embed]}
        value["messages"][1] |= {"content": "", "embeds": [embed], "author": {"id": "9", "name": "Remi", "isBot": True}}

    turns, left_out, _ = read(changed(discord(SAMPLE), add))
    assert turns[0].text == SAMPLE[0].text
    assert (turns[1].role, turns[1].text) == ("assistant", "Reminder\nDentist at nine\nWhere: Leeds")
    assert left_out == {"link preview": 1}


def test_the_own_package_of_discord_names_its_account(read):
    package = {
        "Messages/c7/messages.json": discord_package(SAMPLE), "Messages/c7/channel.json": b'{"id": "7"}',
        "Account/user.json": b'{"id": "1", "username": "mira9", "global_name": "Mira"}',
        "Messages/index.json": b'{"7": "home"}',
    }  # fmt: skip
    turns, left_out, _ = read(package, "package")
    assert {(turn.session, turn.speaker) for turn in turns} == {("7", "Mira")}
    assert left_out == {"other file": 3}


def test_columns_of_a_table_are_named_where_they_are_not_known(read):
    given = b"Wann;Wer;Was;Stimmung\n13.04.2024 18:20;Mira;Hallo;gut\n"
    with pytest.raises(ImportFailed, match=r"--columns speaker=NAME"):
        read(given, format="csv")
    turns, left_out, found = read(given, format="csv", columns="speaker=Wer,text=Was,time=Wann")
    assert [(turn.speaker, turn.text, turn.time) for turn in turns] == [
        ("Mira", "Hallo", datetime(2024, 4, 13, 18, 20))
    ]
    assert left_out == {"column": 1}
    assert found.left_out[0].places == ("given column 4 'Stimmung'",)
    with pytest.raises(ImportFailed, match="no column 'Wo'"):
        read(given, format="csv", columns="speaker=Wo,text=Was")


def test_the_order_of_dates_of_a_table_is_asked_for_where_it_is_open(read):
    given = b"date,sender,message\n3/4/2024 6:20 PM,Mira,Hi\n"
    with pytest.raises(ImportFailed, match=r"dmy or mdy.*--date-order"):
        read(given)
    assert read(given, date_order="mdy")[0][0].time == datetime(2024, 3, 4, 18, 20)


@pytest.mark.parametrize(
    "text",
    [
        "Mira: Hi there.\nHow are you?\n\nTomas: Fine.\nMira: Good.\n",
        "**Mira:** Hi there.\nHow are you?\n\n**Tomas:** Fine.\n\n**Mira:** Good.\n",
        "# Chat\n\n## Mira\n\nHi there.\nHow are you?\n\n## Tomas\n\nFine.\n\n## Mira\n\nGood.\n",
        "2024-03-22\nMira (12:00): Hi there.\nHow are you?\nTomas (12:01): Fine.\nMira (12:02): Good.\n",
        "- **Mira** (2024-03-22 12:00): Hi there.\nHow are you?\n- **Tomas** (12:01): Fine.\n- **Mira** (12:02): Good.",
    ],
)
def test_transcripts_of_every_style_are_read(text, read):
    turns, _, _ = read(text.encode(), start=datetime(2024, 3, 22, 12))
    said = [(turn.speaker, turn.text.strip(), turn.time.minute) for turn in turns]
    assert said == [("Mira", "Hi there.\nHow are you?", 0), ("Tomas", "Fine.", 1), ("Mira", "Good.", 2)]


def test_a_conversation_of_chatgpt_needs_no_times_no_metadata_and_no_links_to_children(read):
    def strip(value):
        value[0]["create_time"] = None
        del value[0]["current_node"]
        for each in value[0]["mapping"].values():
            del each["children"]
            if each["message"]:
                each["message"]["metadata"] = None

    export = {
        "conversations-000.json": changed(chatgpt(SAMPLE), strip), "chat.html": b"<html>",
        "conversations-001.json": chatgpt(SAMPLE[:1], conversation_id="c2"), "user.json": b"{}",
    }  # fmt: skip
    turns, left_out, _ = read(export, "export")
    assert [turn.text for turn in turns] == [one.text for one in (*SAMPLE, SAMPLE[0])]
    assert left_out == {"other file": 2}


def test_a_message_of_claude_that_is_only_a_file_is_a_turn_and_one_that_only_calls_a_tool_is_counted(read):
    def change(value):
        messages = value[0]["chat_messages"]
        messages[0] |= {"text": "", "content": [], "attachments": [{"file_name": "plan.pdf", "file_size": 7}]}
        messages[1] |= {"text": "", "content": [{"type": "tool_use", "name": "search", "input": {}}]}

    turns, left_out, _ = read(changed(claude(SAMPLE), change))
    assert [turn.caption or turn.text for turn in turns] == ["[file plan.pdf]", SAMPLE[2].text, SAMPLE[3].text]
    assert left_out == {"content of a file": 1, "tool call or result": 1, "empty message": 1}


def test_a_page_of_google_may_break_the_line_after_its_time(read):
    page = gemini_page(SAMPLE[:2]).replace(b"UTC<br>", b"UTC<br/>").replace(b"Prompted", b"Eingegeben:")
    turns, _, _ = read(page)
    assert [turn.text for turn in turns] == ["Eingegeben: I moved to Lyon & like it.", SAMPLE[1].text]


@pytest.mark.parametrize(
    ("zone", "hours"),
    [("CET", 1), ("MESZ", 2), ("PDT", -7), ("IST", 5.5), ("GMT-3", -3), ("UTC+5:30", 5.5), ("Z", 0), ("", 0)],
)
def test_a_page_of_google_names_the_zone_of_its_times(read, zone, hours):
    turns, _, _ = read(gemini_page(SAMPLE[:2]).replace(b"UTC<br>", f"{zone}<br>".encode()))
    assert turns[0].time.astimezone(timezone.utc) == SAMPLE[0].time.astimezone(timezone.utc) - timedelta(hours=hours)


def test_a_page_of_google_in_a_zone_that_is_not_known_is_refused_with_a_remedy(tmp_path):
    page, refused = tmp_path / "page.html", []
    page.write_bytes(gemini_page(SAMPLE[:2]).replace(b"UTC<br>", b"XQZ<br>"))
    (found,) = load(page, refuse=refused.append)
    assert list(found.turns) == []
    assert "export the history as JSON" in str(refused[0])


@pytest.mark.parametrize("keys", [("from", "value"), ("role", "content")])
def test_the_senders_of_sharegpt_have_many_names(keys, read):
    who, what = keys
    said = [{who: sender, what: sender} for sender in ("system", "human", "assistant", "observation", "gpt", "user")]
    turns, left_out, _ = read(dumped([{"system": "Be brief.", "conversations": said}]), start=NOON)
    assert [(turn.role, turn.text) for turn in turns] == [
        ("user", "human"), ("assistant", "assistant"), ("assistant", "gpt"), ("user", "user"),
    ]  # fmt: skip
    assert left_out == {"system message": 2, "tool call or result": 1}


def test_a_file_of_slack_without_a_name_and_messages_of_messenger_without_a_type_are_read(read):
    day = json.loads(slack(SAMPLE[:1]))
    day[0]["files"] = [{"id": "F1", "mode": "hidden_by_limit"}]
    assert read(dumped(day))[0][0].caption == "[file]"
    thread = json.loads(messenger(SAMPLE))
    thread["messages"][0]["is_unsent"] = True
    thread["messages"][1] |= {"photos": [{"uri": "messages/inbox/home_1/photos/1.jpg"}], "reactions": [{"actor": "x"}]}
    turns, left_out, _ = read(dumped(thread), "thread")
    assert [turn.caption for turn in turns] == [None, None, "[picture 1.jpg]"]
    assert left_out == {"deleted message": 1, "content of a file": 1, "reaction": 1}


def test_an_import_that_is_repeated_adds_nothing(read, tmp_path):
    text = {"content_type": "user_editable_context", "user_profile": "```I'm a nurse.```"}
    turns, _, _ = read(with_nodes({"content": text}))
    with evimem.open(tmp_path / "m.evimem") as memory:
        assert memory.extend(turns).added == 5
        assert memory.extend(turns).existing == 5


@pytest.mark.parametrize("end", [b"<![x", b'<!["a"]>', b"<!--"])
def test_a_malformed_declaration_of_a_page_is_a_typed_error_or_passed_over(end, read):
    try:
        turns, _, _ = read(telegram_page(SAMPLE) + end)
    except ImportFailed as error:
        assert "declaration" in str(error)  # noqa: PT017 - either is right
    else:
        assert len(turns) == len(SAMPLE)
