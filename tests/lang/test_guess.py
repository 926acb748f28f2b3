"""Which language a text is taken for. English is the default: its rules must keep working on chat of any kind."""

import json
from pathlib import Path

import pytest

from evimem.lang.guess import LANGUAGES, OTHER, guess_language, is_english
from evimem.loaders import examples

TIMES = Path(__file__).parents[1] / "times"
SENTENCES = {
    code: [line.partition(" => ")[0] for line in lines if " => " in line]
    for code in LANGUAGES
    if code != "en"
    for lines in [(TIMES / "other_languages" / f"{code}.txt").read_text(encoding="utf-8").splitlines()]
}


@pytest.mark.parametrize("code", SENTENCES)
def test_nearly_all_sentences_are_known_to_be_in_their_language(code):
    missed = [text for text in SENTENCES[code] if guess_language(text) != code]
    assert len(SENTENCES[code]) >= 30
    assert len(missed) <= 2, missed


@pytest.mark.parametrize(
    "text",
    [
        "ok lol", "k", "", "👍👍", "14:30?", "https://example.com/de/la/casa", "no no no", "dont", "cant wait!!",
        "Maria de la Cruz", "Die Hard was on", "me so happy", "Jose and Zoë ate crème brûlée at Café Noir",
        "We had 寿司 (sushi) for dinner", "my yoga teacher ends every class with नमस्ते and we all laugh",
        "do as I say not as I do", "a la carte", "Le Mans on the 4th of April", "pan, sal, vino", "im at the bar",
        "the war was in an old tin can", "August", "4th april", "A recruiter rang me. Sanne de Boer, in Amsterdam",
    ],
)  # fmt: skip
def test_short_and_mixed_texts_are_read_as_english(text):
    assert is_english(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Je suis en retard", "fr"), ("Ich ziehe am liebsten Turnschuhe an", "de"),
        ("me gusta lo de Tui, que ninguna pase de 22 km si se puede", "es"), ("non lo so, forse sì", "it"),
        ("não sei, acho que sim", "pt"), ("了解", "zh"), ("了解です", "ja"),
        ("mechanic आ गया, कह रहा है board जल गया है", "hi"), ("وصلت البيت", "ar"),
        ("le week-end dernier", "fr"), ("gisteravond was top", "nl"),
        ("domattina alle 6", "it"), ("Вчера мы ходили в кино", "ru"),
        ("mañana I have to work pero voy a tu casa después", "es"),
    ],
)  # fmt: skip
def test_the_language_of_a_text_is_known(text, code):
    assert guess_language(text) == code


@pytest.mark.parametrize(
    "text",
    [
        "Вчора ми ходили в кіно", "Χθες πήγαμε σινεμά", "어제 영화를 봤어요", "เมื่อวานเราไปดูหนัง", "אתמול הלכנו לסרט",
        "دیروز به سینما رفتیم چه خوب بود", "Wczoraj poszliśmy razem na bardzo dobry film o starym żeglarzu",
    ],
)  # fmt: skip
def test_languages_without_tables_are_others(text):
    assert guess_language(text) == OTHER


def test_the_shipped_conversations_are_english():
    paths = [Path(examples.__file__).with_name(f"{name}.jsonl") for name in examples.EXAMPLES]
    texts = [json.loads(line)["text"] for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(texts) > 100
    assert [text for text in texts if not is_english(text)] == []


def test_the_english_sentences_about_times_are_english():
    foreign = []
    for name in ("expressions.txt", "not_times.txt"):
        rows = [line for line in (TIMES / name).read_text(encoding="utf-8").splitlines() if " => " in line]
        foreign += [row for row in rows if not is_english(row.partition(" => ")[0])]
    assert len(foreign) <= 5  # the full dates of other languages among them
