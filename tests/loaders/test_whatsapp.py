# ruff: noqa: RUF001 - digits of other scripts
from datetime import datetime

import pytest

from evimem.errors import ImportFailed
from evimem.loaders import whatsapp
from evimem.loaders.conversation import ImportLog
from evimem.loaders.date_orders import NumericDate
from evimem.loaders.formats import detect_format
from evimem.loaders.whatsapp import read_whatsapp

EVENING = datetime(2024, 3, 22, 18, 20)
DIALECTS = [
    "[22.03.24, 18:20:00] Ana: Hi", "\u200e[22/03/2024, 6:20:00\u202fPM] Ana: Hi", "[22/03/24 6:20:00 p.m.] Ana: Hi",
    "22.03.24, 18:20 - Ana: Hi", "3/22/24, 6:20\u202fPM - Ana: Hi", "22/3/2024, 6:20 p.\u00a0m. - Ana: Hi",
    "2024-03-22, 6:20 p.m. - Ana: Hi", "2024/03/22 18:20 - Ana: Hi", "22-03-2024 18:20 - Ana: Hi",
    "22.3.2024 klo 18.20 - Ana: Hi", "2024/3/22 下午6:20 - Ana: Hi", "2024. 3. 22. 오후 6:20 - Ana: Hi",
    "24/3/22 下午6:20 - Ana: Hi", "22/03/2024 18:20:00: Ana: Hi", "22/3/2024, 6:20 μ.μ. - Ana: Hi",
    "٢٢/٣/٢٠٢٤، ٦:٢٠ م - Ana: Hi",
]  # fmt: skip


@pytest.fixture
def read(tmp_path):
    def of(text, log=None, **options):
        path = tmp_path / "chat (1).txt"
        path.write_text(text, encoding="utf-8")
        return list(read_whatsapp(path, log, **options))

    return of


@pytest.mark.parametrize("line", DIALECTS)
def test_dates_of_every_dialect_are_read(line, read, tmp_path):
    (turn,) = read(line)
    assert (turn.speaker, turn.text, turn.time) == ("Ana", "Hi", EVENING)
    assert detect_format(tmp_path / "chat (1).txt") == "whatsapp"


@pytest.mark.parametrize(("clock", "hour"), [("12:05 AM", 0), ("12:05 PM", 12), ("1:05 a.m.", 1), ("上午12:05", 0)])
def test_noon_and_midnight_are_told_apart(clock, hour, read):
    assert read(f"22/3/24, {clock} - Ana: Hi")[0].time.hour == hour


@pytest.mark.parametrize(
    ("dates", "month"),
    [
        (["3/4/24", "3/15/24"], 3),  # only a day can be 15
        (["3/4/24", "15/4/24"], 4),
        (["1/2/24", "2/2/24", "1/3/24"], 2),  # the other way round would go back in time
        (["3.4.24"], 4),
    ],
)
def test_the_order_of_day_and_month_is_decided_by_the_whole_file(dates, month, read):
    turns = read("\n".join(f"{date}, 18:20 - Ana: Hi" for date in dates))
    assert turns[0].time.month == month


def test_dates_that_may_be_read_in_two_ways_are_refused_until_one_is_named(read):
    with pytest.raises(ImportFailed, match=r"dmy or mdy.*--date-order"):
        read("3/4/24, 18:20 - Ana: Hi")
    assert read("3/4/24, 18:20 - Ana: Hi", date_order="mdy")[0].time.month == 3


def test_lines_that_continue_a_message_belong_to_it_and_notices_to_nobody(read):
    turns = read(
        '22.03.24, 18:20 - Ana created group "Home"\n'
        "22.03.24, 18:20 - Ana: One\n\n12:30 - two: three\n"
        "22.03.24, 18:21 - Ben: Four: five\n"
    )
    assert [(turn.speaker, turn.text) for turn in turns] == [
        ("Ana", "One\n\n12:30 - two: three"),
        ("Ben", "Four: five"),
    ]


@pytest.mark.parametrize(
    ("body", "text", "caption"),
    [
        ("<Media omitted>", "", "[media]"),
        ("<Medien ausgeschlossen>", "", "[media]"),
        ("\u200eimage omitted", "", "[picture]"),
        ("\u200eBild weggelassen", "", "[picture]"),
        ("\u200e<attached: 0001-PHOTO.jpg>", "", "[file 0001-PHOTO.jpg]"),
        ("IMG-1.jpg (archivo adjunto)\nOur cat", "Our cat", "[file IMG-1.jpg]"),
        ("I like it \u200e<This message was edited>", "I like it", None),
        ("image omitted", "image omitted", None),  # typed by a person
    ],
)
def test_pictures_files_and_edits_are_read(body, text, caption, read):
    (turn,) = read(f"[22.03.24, 18:20:00] Ana: {body}")
    assert (turn.text, turn.caption) == (text, caption)


@pytest.mark.parametrize(
    "body", ["This message was deleted", "\u200eDu hast diese Nachricht gelöscht.", "\u200eAna left"]
)
def test_deleted_messages_and_notices_are_left_out(body, read):
    assert read(f"[22.03.24, 18:20:00] Ana: {body}\n") == []


def test_one_line_that_is_no_date_is_refused_and_the_others_are_read(tmp_path):
    path, refused = tmp_path / "chat.txt", []
    path.write_text("22.03.24, 18:20 - A: one\n30.02.24, 18:20 - A: two\n23.03.24, 18:20 - A: three\n")
    assert [turn.text for turn in read_whatsapp(path, ImportLog(refused.append))] == ["one", "three"]
    assert ["chat.txt line 2" in item.where for item in refused] == [True]


def test_the_session_is_the_name_of_the_file_without_the_number_of_a_download(read):
    assert read(DIALECTS[0])[0].session == "chat"


@pytest.mark.parametrize(
    "line",
    [
        "\u200f٢٢\u200f/٣\u200f/٢٠٢٤، ٦:٢٠ م - Ana: Hi", "[٢٢\u200f/٣\u200f/٢٠٢٤, ٦:٢٠:٠٠ م] Ana: Hi",
        "۲۰۲۴/۳/۲۲، ۱۸:۲۰ - Ana: Hi", "[۱۴۰۳/۱/۳،\u200f ۱۸:۲۰:۰۰] Ana: Hi", "۱۴۰۳/۱/۳، ۶:۲۰ ب.ظ. - Ana: Hi",
        "22/3/2567 18:20 - Ana: Hi",
    ],
)  # fmt: skip
def test_digits_marks_and_calendars_of_other_scripts_are_read(line, read):
    (turn,) = read(line)
    assert (turn.speaker, turn.text, turn.time) == ("Ana", "Hi", EVENING)


def test_a_year_of_the_islamic_calendar_is_refused_with_what_to_do(read):
    with pytest.raises(ImportFailed, match="export the chat with the phone set to the Gregorian"):
        read("[٢/٩/١٤٤٥, ٦:٢٠:٠٠ م] Ana: Hi")


@pytest.mark.parametrize("year", [2009, 2016, 2020, 2021, 2024, 2025, 2029])
def test_the_persian_new_year_is_the_day_of_the_equinox(year):
    first = NumericDate((str(year - 621), "1", "1"), "/").to_date("ymd")
    assert (first.year, first.month) == (year, 3)
    assert first.day == {2009: 21, 2016: 20, 2020: 20, 2021: 21, 2024: 20, 2025: 21, 2029: 20}[year]


def test_every_notice_of_every_language_is_a_notice_with_or_without_its_point(read):
    for words in whatsapp._load_notice_table()["deleted"]:
        for body in (words, f"{words}.", f"\u200e{words}"):
            assert read(f"22.03.24, 18:20 - Ana: {body}") == []
    for words in whatsapp._load_notice_table()["edited"]:
        assert [turn.text for turn in read(f"22.03.24, 18:20 - Ana: I like it <{words}>")] == ["I like it"]
    assert [turn.text for turn in read("22.03.24, 18:20 - Ana: see \u200e<Bewerkt in een onbekende taal>")] == ["see"]
    assert [turn.text for turn in read("22.03.24, 18:20 - Ana: I deleted this message")] == ["I deleted this message"]


@pytest.mark.parametrize("mark", ["", "\u200e"])
def test_the_name_of_a_group_is_no_speaker(mark, read):
    log = ImportLog()
    turns = read(
        f"[22.03.24, 18:20:00] Hiking: {mark}Messages and calls are end-to-end encrypted. Only you can read.\n"
        f"[22.03.24, 18:20:00] Hiking: {mark}You created this group\n"
        "[22.03.24, 18:20:01] Ana changed the subject from “Walks: old” to “Walks: new”\n"
        "[22.03.24, 18:21:00] Ana: Hi\n[22.03.24, 18:22:00] Ben: Hello\n",
        log,
    )
    assert [turn.speaker for turn in turns] == ["Ana", "Ben"]
    assert [(one.kind, one.count) for one in log.left_out] == [("notice", 3)]


def test_a_copy_that_lost_its_marks_has_notices_that_begin_with_the_name_before_them(read):
    turns = read(
        "[14.08.24, 21:00:10] Hiking: Messages and calls are end-to-end encrypted. Only you can read.\n"
        "[14.08.24, 21:00:10] Boris: Boris created group “Hiking”\n[14.08.24, 21:00:11] Hiking: Boris added you\n"
        "[14.08.24, 21:00:12] Boris: Boris changed this group's icon\n[14.08.24, 21:01:00] Boris: Hi all\n"
        "[14.08.24, 21:02:00] Ana: Boris, hi\n"
    )
    assert [(turn.speaker, turn.text) for turn in turns] == [("Boris", "Hi all"), ("Ana", "Boris, hi")]


def test_the_other_person_of_a_chat_of_two_is_a_speaker_though_the_notice_bears_their_name(read):
    turns = read(
        "[22.03.24, 18:20:00] Ana: Messages and calls are end-to-end encrypted. Only people in this chat can.\n"
        "[22.03.24, 18:21:00] Ana: Hi\n[22.03.24, 18:22:00] Me: Hello\n"
    )
    assert [turn.speaker for turn in turns] == ["Ana", "Me"]


def test_unzipped_chats_of_one_name_are_sessions_by_their_folders_or_chats(tmp_path):
    for folder in ("WhatsApp Chat - Ana", "b", "WhatsApp Chat - Ben"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "_chat.txt").write_text(DIALECTS[0], encoding="utf-8")
    alone = [next(read_whatsapp(tmp_path / one / "_chat.txt")).session for one in ("WhatsApp Chat - Ana", "b")]
    assert alone == ["WhatsApp Chat - Ana", "b"]
    assert [turn.session for turn in read_whatsapp(tmp_path)] == ["WhatsApp Chat - Ana", "WhatsApp Chat - Ben", "b"]


@pytest.mark.parametrize(("dates", "month"), [(["3.4.24"], 4), (["1/2/24", "2/2/24", "1/3/24"], 2)])
def test_an_order_that_may_be_wrong_is_told_with_the_option_that_decides_it(dates, month, read):
    log = ImportLog()
    turns = read("\n".join(f"{date}, 18:20 - Ana: Hi" for date in dates), log)
    assert turns[0].time.month == month
    assert ["--date-order" in doubt for doubt in log.doubts] == [True]


def test_a_day_that_is_the_same_in_both_orders_needs_none(read):
    assert read("12/12/24, 18:20 - Ana: Hi")[0].time.month == 12


@pytest.mark.parametrize("date", ["03/04/24", "3/4/24", "3-4-2024"])
def test_an_order_that_nothing_tells_is_asked_for(date, read):
    with pytest.raises(ImportFailed, match=r"dmy or mdy.*--date-order"):
        read(f"{date}, 6:20 PM - Ana: Hi")
