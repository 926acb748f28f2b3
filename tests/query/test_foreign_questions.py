"""What questions in other languages ask: their form, whose words they are about, and what is no name."""

from pathlib import Path

import pytest

from evimem.query.analysis import analyse, asks_when, form, hints

QUESTIONS = (Path(__file__).parent / "foreign_questions.txt").read_text(encoding="utf-8")
FORMS = [
    (block.partition("\n")[0].strip(), line)
    for block in QUESTIONS.split("@")[1:]
    for line in block.partition("\n")[2].splitlines()
    if line
]


@pytest.mark.parametrize(("wants", "question"), FORMS)
def test_the_form_of_the_answer_is_known_in_every_language(wants, question):
    assert form(question) == wants
    assert asks_when(question) == (wants in {"time", "duration"})


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Quel jour Mehdi a-t-il oublié sa clé ?", ("Mehdi",)),
        ("Contando con todo, ¿cuánto pagó Trufa en Vigo?", ("Trufa", "Vigo")),
        ("Wie heißt der Hund von der Nachbarin?", ()),  # German nouns are capitalised
        ("美咲の家賃はいくらだった?", ("美咲",)),
        ("सुनीता की बेटी कहाँ रहती है?", ("सुनीता",)),
    ],
)
def test_question_words_and_nouns_are_no_names(question, names):
    assert analyse(question, ["Mehdi", "美咲", "सुनीता", "सुमन"], None).entities == names


@pytest.mark.parametrize(
    "question",
    [
        "Wurde Mira gefragt?", "Hat Mira angerufen?", "Como se llama el perro de Mira?", "Quando Mira chegou?",
        "Pourquoi Mira est-elle partie?", "Dove vive Mira?", "Hoe heet de hond van Mira?", "Czy Mira kupiła psa?",
        "Var bor Mira?",
    ],
)  # fmt: skip
def test_no_word_that_opens_a_question_in_whatever_language_is_a_name(question):
    assert analyse(question, ["Mira"], None).entities == ("Mira",)


@pytest.mark.parametrize(
    ("question", "speaker"),
    [
        ("¿Qué talla me recomendaste para las botas?", "assistant"),
        ("Où est-ce que j'ai rangé ma clé ?", "user"),
        ("मैंने गाड़ी कब ली थी?", "user"),
        ("私の誕生日はいつですか", "user"),
    ],
)
def test_pronouns_of_a_language_name_user_and_assistant(question, speaker):
    assert speaker in hints(question, ["user", "assistant"], None).names


def test_a_name_is_not_found_inside_of_a_longer_word():
    assert hints("सुनीताजी कब आएँगी?", ["सुनीता"], None).names == ()
    assert hints("美咲さんはいつ来ますか", ["美咲"], None).names == ("美咲",)
