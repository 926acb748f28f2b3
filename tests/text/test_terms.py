"""Words and terms, with the stems that Porter's paper (1980) gives as examples."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.text.terms import STOP_WORDS, stem, terms, words

PORTER = """
    caresses caress  ponies poni  caress caress  cats cat  feed feed  agreed agre  plastered plaster
    motoring motor  sing sing  conflated conflat  troubled troubl  sized size  hopping hop  tanned tan  falling fall
    hissing hiss  fizzed fizz  failing fail  filing file  happy happi  sky sky  relational relat  conditional condit
    rational ration  digitizer digit  radically radic  differently differ  vilely vile  predication predic
    operator oper  feudalism feudal  decisiveness decis  hopefulness hope  callousness callous  formality formal
    sensitivity sensit  sensibility sensibl  triplicate triplic  formative form  formalize formal
    electrical electr  hopeful hope  goodness good  revival reviv  allowance allow  inference infer
    airliner airlin  adjustable adjust  defensible defens  irritant irrit  replacement replac  adjustment adjust
    dependent depend  adoption adopt  communism commun  activate activ  effective effect  probate probat  rate rate
    cease ceas  controlling control  rolling roll
""".split()


@pytest.mark.parametrize(("word", "expected"), list(zip(PORTER[::2], PORTER[1::2], strict=True)))
def test_a_word_has_the_stem_given_in_the_paper(word, expected):
    assert stem(word) == expected


@pytest.mark.parametrize("forms", ["go goes went gone", "buy bought buying", "child children", "woman women"])
def test_irregular_forms_share_a_stem(forms):
    assert len({stem(form) for form in forms.split()}) == 1


def test_stop_words_and_contracted_endings_are_not_terms():
    assert terms("She's what you weren't: Mira's sister, and I didn't know!") == ["mira", "sister", "know"]


def test_case_and_accents_do_not_matter():
    assert terms("CAFÉ Naïve Straße") == terms("cafe naive strasse")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("東京に行く trip", ["東京", "東", "京", "に", "行", "く", "trip"]),
        ("10月20日です", ["10", "月", "20", "日", "です"]),
        ("ハイブリッド", ["ハイ", "イブ", "ブリ", "リッ", "ッド"]),
        ("ตอนนี้กิน", ["ตอ", "อน", "นนี้", "นี้กิ", "กิน"]),
    ],
)
def test_scripts_without_spaces_are_cut_into_pairs_and_ideographs(text, expected):
    assert terms(text) == expected


@pytest.mark.parametrize("text", ["सुनीता की बेटी", "বাংলা ভাষা", "தமிழ் மொழி", "안녕하세요 친구", "हिन्दी में"])
def test_words_keep_the_vowel_signs_of_their_script(text):
    assert terms(text) == text.split()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ガラス", "ｶﾞﾗｽ"),  # half-width kana
        ("が", "か\u3099"),  # the voicing mark apart
        ("２０２４年", "2024年"),
        ("السَّلام عليكم", "السلام عليكم"),  # vowel points
        ("أحمد", "احمد"),
        ("फ़रहान", "फरहान"),  # the nukta
        ("माँ", "मां"),
        ("Ёлка", "елка"),
        ("Ελλάδα", "ελλαδα"),
        ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),  # as parts of syllables
    ],
)
def test_spellings_that_differ_in_what_may_be_left_out_are_equal(one, other):
    assert terms(one) == terms(other) != []


@pytest.mark.parametrize(("one", "other"), [("か", "が"), ("बाल", "बल"), ("ปา", "ป่า"), ("は", "ぱ")])
def test_marks_that_make_another_word_are_kept(one, other):
    assert terms(one) != terms(other)


@pytest.mark.parametrize("unit", ["\u0627", "が", "\u3099", "a\u0301", "漢", "ก็", "\u0e48", "'", "é'", "क्", "'क"])
def test_no_text_of_any_script_is_expensive(unit):
    taken = []
    for size in (10_000, 100_000):
        text = unit * size
        started = time.process_time()
        terms(text)
        taken.append(time.process_time() - started)
    assert taken[1] < 1 + 40 * taken[0]  # ten times the text: a quadratic cost would be a hundred times


@given(st.text(max_size=60))
def test_terms_are_stems_of_words_and_never_stop_words(text):
    assert terms(text) == [stem(word) for word in words(text) if word not in STOP_WORDS]


def test_french_and_italian_words_lose_what_is_elided_before_them():
    assert terms("Il a vendu l'appartement qu'il aimait") == terms("Il a vendu appartement il aimait")
    assert terms("Ho bevuto dell\u2019acqua ieri sera") == terms("Ho bevuto acqua ieri sera")
    assert terms("I met D'Angelo, c'mon!") == ["meet", "d'angelo", "c'mon"]


def test_rose_is_not_stemmed_as_a_form_of_rise():
    assert stem("rose") != stem("rise")


def test_straight_and_curly_apostrophes_are_equal():
    assert terms("Mira\u2019s O\u2019Brien") == terms("Mira's O'Brien")


def test_numbers_and_words_with_digits_are_not_stemmed():
    assert terms("Route 66, B2B on 2024-03-12") == ["rout", "66", "b2b", "2024", "03", "12"]


def test_a_long_word_is_cut_to_40_characters():
    assert len(terms("a" * 1_000_000)[0]) == 40


def test_words_keep_stop_words_and_order():
    assert words("I didn't, did I?") == ["i", "did", "did", "i"]
