"""The whole block in other languages: a wish, the one who is asked about, dates, questions with replies, small talk."""

from datetime import datetime, timedelta

import pytest

import evimem
from evimem.text.memory_fence import WISHES

NOON = datetime(2024, 3, 12, 12)
# By language: a wish, what was told with a date, a question and the reply to it; then what is asked of each.
SAID = {
    "de": (
        "Bitte gib mir Entfernungen immer in Kilometern.",
        "Wir haben letzten Monat einen Welpen namens Juno adoptiert.",
        "Wie hoch war eigentlich die Kaution für die Werkstatt?",
        "420 Euro, glaube ich.",
    ),
    "es": (
        "A partir de ahora dame las distancias en kilómetros.",
        "El mes pasado adoptamos una cachorra que se llama Juno.",
        "¿Cuánto fue al final la fianza del taller?",
        "Creo que 420 euros.",
    ),
    "ja": (
        "今後は距離をキロメートルで教えてください。",
        "先月、ジュノという子犬を引き取りました。",
        "工房の敷金はいくらでしたか\uff1f",
        "四十二万円だったと思います。",
    ),
}
ASKED = {
    "de": ("Wie heißt mein Welpe?", "Kaution für die Werkstatt", "danke!"),
    "es": ("¿Cómo se llama mi cachorra?", "fianza del taller", "¡gracias!"),
    "ja": ("子犬の名前は何ですか\uff1f", "工房の敷金", "ありがとう"),
}
IDLE = {
    "de": "Die Werkstatt hat {} neue Regale bekommen.",
    "es": "El taller tiene {} estanterías nuevas.",
    "ja": "工房に棚が{}つ入りました。",
}


@pytest.fixture(params=SAID)
def chat(request, tmp_path):
    """Return the language of a chat and its memory."""
    wish, told, question, reply = SAID[request.param]
    with evimem.open(tmp_path / "m.evimem") as memory:
        memory.add("user", wish, time=NOON, session="s")
        memory.add("user", told, time=NOON + timedelta(days=1), session="t")
        memory.add("user", question, time=NOON + timedelta(days=2), session="u")
        memory.add("assistant", reply, time=NOON + timedelta(days=2, minutes=1), session="u")
        for n in range(1, 31):
            memory.add("user", IDLE[request.param].format(n), time=NOON + timedelta(days=2 + n), session=f"v{n}")
        yield request.param, memory


def test_a_wish_stands_first_and_what_was_told_below_it_with_its_date(chat):
    code, memory = chat
    wish, told, *_ = SAID[code]
    lines = memory.block(ASKED[code][0], tokens=800).text.splitlines()
    assert lines[2] == WISHES
    assert lines[3] == f"[1] user, Tue 12 Mar 2024 12:00: {wish}"
    place = next(place for place, line in enumerate(lines) if line.endswith(told))
    assert lines[place + 1].startswith("= ")
    assert lines[place + 1].endswith("is February 2024")


def test_a_question_that_is_found_brings_its_reply(chat):
    code, memory = chat
    assert SAID[code][3] in memory.block(ASKED[code][1], tokens=130, gate=False).text


def test_thanks_recall_nothing(chat):
    code, memory = chat
    assert memory.block(ASKED[code][2]).text == ""
