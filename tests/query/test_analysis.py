"""What a question asks for, and where to look for it, read without a model (fixtures F10-F12)."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from evimem.judging.evidence import Analysis
from evimem.query import analysis
from evimem.query.analysis import analyse, answer_form, asks_for_several, asks_when, find_hints
from evimem.times import find_times
from evimem.types.values import TimeSpan

TODAY = datetime(2024, 3, 12)


def ask(question: str, *speakers: str) -> Analysis:
    return analyse(question, speakers or ("Mira", "Tomas"), TODAY)


@pytest.mark.parametrize(
    ("question", "wants"),
    [
        ("When did Mira adopt her puppy?", "time"),
        ("In which month did Tomas move?", "time"),
        ("What year did they meet?", "time"),
        ("Since when does Tomas teach?", "time"),
        ("Do you know when the wedding is?", "time"),
        ("How long had Tomas and Katrin been together?", "duration"),
        ("How many weeks passed before the move?", "duration"),
        ("How many pieces did Tomas sell?", "count"),
        ("How much did the van cost?", "count"),
        ("How often does Kit stay with his dad?", "count"),
        ("How many days a week does Mira work?", "count"),
        ("Did Tomas go to Norway?", "yes_no"),
        ("Would Mira prefer tea or coffee?", "choice"),
        ("Who teaches Mira the cello?", "person"),
        ("Where does Tomas live now?", "place"),
        ("Which city did Katrin move to?", "place"),
        ("Why did Juno need an operation?", "reason"),
        ("What is Mira allergic to?", "thing"),
        ("What did Tomas do when he was sad?", "thing"),
        ("What time of day suits Mira?", "thing"),
    ],
)
def test_a_question_asks_for_one_form_of_answer(question, wants):
    assert answer_form(question) == wants


@pytest.mark.parametrize(
    "question", ["In which month did Mira move?", "How many weeks did it take?", "Where was Mira in July 2022?"]
)
def test_times_asked_for_or_named_make_a_question_temporal(question):
    assert ask(question).temporal


def test_other_names_are_entities_too_and_question_words_are_not():
    assert ask("What did Mira's sister Nadia name the twins on Monday?").entities == ("Mira", "Nadia")
    assert ask("What is the plan?").entities == ()


@pytest.mark.parametrize(
    "question",
    [
        "Remind me how long the walk was.", "After the deposit, how much do we owe?",
        "Any idea where the keys are? Tell me.", "How much vitamin K is in it, and what do U think?",
        "Which European city, in the US or not?", "Name ONLY the colour. Answer in one word.",
        "Which race was it in Aug 2023?", "Reply in JSON only. Which colour was it?",
    ],
)  # fmt: skip
def test_letters_ordinary_words_and_adjectives_of_places_are_no_names(question):
    assert ask(question).entities == ()


def test_a_name_at_the_beginning_or_in_capitals_is_one():
    assert ask("Bartholomew's gift, who chose it?").entities == ("Bartholomew",)
    assert ask("Grace chose what?").entities == ("Grace",)
    assert ask("Did BARTHOLOMEW come?").entities == ("BARTHOLOMEW",)
    assert ask("Is Oscar Mira's cat?").entities == ("Mira", "Oscar")


def test_keywords_carry_the_property_and_no_names():
    assert ask("What colour is Tomas's old van?").keywords == ("colour", "old", "van")
    assert ask("How old is Mira's van?").keywords == ("van",)


def test_a_question_of_any_length_is_analysed_in_bounded_time():
    assert len(ask("puppy" + " and a kitten" * 100_000).question) == 2_000


def test_a_question_is_read_to_ask_of_so_many_names_only():
    people = [f"{first}{rest}" for first in "BCDFGKLMNPRSTV" for rest in ("ela", "iro")]
    analysed = ask(f"Who of {', '.join(people)} called?", "Mira", people[-1])
    assert analysed.entities == (people[-1], *people[:15])
    assert [need.about for need in analysed.requirements if need.kind == "entity"] == [*analysed.entities]


def test_the_times_of_a_question_are_read_once(monkeypatch):
    read: list[str] = []

    def counted(text: str, said_at: datetime, *more: Any) -> list[TimeSpan]:
        read.append(text)
        return find_times(text, said_at, *more)

    monkeypatch.setattr(analysis, "find_times", counted)
    assert len(ask("What did Mira do last Friday?").times) == 1
    assert read == ["What did Mira do last Friday?"]


def test_i_is_the_user_and_you_the_assistant_where_they_are_called_that():
    assert ask("What is my plant nursery called?", "user", "assistant").asked == ("user",)
    assert ask("What is the nursery called?", "user", "assistant").asked == ()
    assert ask("What did we name our nursery?", "user", "assistant").asked == ("user",)


ASKED = datetime(2024, 3, 12, 9)


def named(text: str, *speakers: str) -> tuple[str, ...]:
    return find_hints(text, speakers, ASKED).names


@pytest.mark.parametrize(
    "text",
    [
        "When did Mira adopt her puppy?", "In which month did Mira move?", "How many weeks did the trip take?",
        "What day is the concert?", "On what exact date was it signed?", "How long has she played the piano?",
        "How old is the puppy?", "since when do they know each other", "Where and when does the choir meet?",
        "Do you remember when I moved?", "when exactly did he leave?", "When's the wedding?",
        "How often does she swim?", "Which year was the house built?",
    ],
)  # fmt: skip
def test_a_question_for_a_time_is_one(text):
    assert asks_when(text)


@pytest.mark.parametrize(
    "text",
    [
        "What did Jon do when he was sad?", "Where was Mira in July 2022?", "What time zone is she in?",
        "Who did she call when the boat sank?", "When she was sad, what did she play?",
        "How many dogs does he have?", "What is her weekend-house like?",
    ],
)  # fmt: skip
def test_a_clause_of_time_asks_for_none(text):
    assert not asks_when(text)


def test_a_first_name_stands_for_the_whole_one():
    assert named("What did Ana say?", "Dr. Ana Ruiz", "Ben") == ("Dr. Ana Ruiz",)
    assert named("What did Dr. Ana Ruiz say?", "Dr. Ana Ruiz") == ("Dr. Ana Ruiz",)


@pytest.mark.parametrize(
    "question",
    [
        "What books has Mira read?", "Which of her rare plants did Tomas water?", "what kinds of music do I like",
        "What has Mira painted?", "Where has Tomas camped?", "What do Mira and Tomas both collect?",
        "What are my hobbies?",
    ],
)  # fmt: skip
def test_a_question_for_the_things_of_a_kind_asks_for_several(question):
    assert asks_for_several(question)
    assert find_hints(question, ["Mira"], None).several


@pytest.mark.parametrize(
    "question",
    [
        "What book is Mira reading?", "How many books has Mira read?", "What is Mira's address?",
        "Which class did Tomas miss?", "What happens to the boat in winter?", "What does his sister do?",
        "When has Mira moved?", "Was hat Mira gemalt?", "Quels livres Mira a-t-elle lus ?",
    ],
)  # fmt: skip
def test_a_question_for_one_thing_or_a_count_asks_for_one(question):
    assert not asks_for_several(question)


def test_a_name_that_is_also_a_word_counts_only_as_a_name():
    assert named("Will she come in may?", "Will", "May") == ()
    assert named("What does Will do, and May?", "Will", "May") == ("Will", "May")


QUESTIONS = (Path(__file__).parent / "foreign_questions.txt").read_text(encoding="utf-8")
FORMS = [
    (block.partition("\n")[0].strip(), line)
    for block in QUESTIONS.split("@")[1:]
    for line in block.partition("\n")[2].splitlines()
    if line
]


@pytest.mark.parametrize(("wants", "question"), FORMS)
def test_the_form_of_the_answer_is_known_in_every_language(wants, question):
    assert answer_form(question) == wants
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
    assert speaker in find_hints(question, ["user", "assistant"], None).names


def test_a_name_is_not_found_inside_of_a_longer_word():
    assert find_hints("सुनीताजी कब आएँगी?", ["सुनीता"], None).names == ()
    assert find_hints("美咲さんはいつ来ますか", ["美咲"], None).names == ("美咲",)


@pytest.mark.parametrize(
    "question",
    [
        "Hangi \u015fehirde ya\u015f\u0131yoruz?", "Vart flyttade jag?", "Patronun yerine kim geliyor?",
        "Mink\u00e4 v\u00e4rinen py\u00f6r\u00e4ni on?",
    ],
)  # fmt: skip
def test_the_first_word_of_a_question_in_a_language_without_lists_is_no_name(question):
    assert analyse(question, ("user", "assistant"), None).entities == ()
    assert analyse("Ajax is where?", ("user", "assistant"), None).entities == ("Ajax",)
    assert analyse("Vart reser Anna till sommaren?", ("user",), None).entities == ("Anna",)
    assert analyse("Vart Anna reser till sommaren?", ("user",), None).entities == ("Anna",)
