"""What a question says about where to look."""

from datetime import datetime

import pytest

from evimem.query.analysis import asks_for_several, asks_when, hints

ASKED = datetime(2024, 3, 12, 9)


def named(text: str, *speakers: str) -> tuple[str, ...]:
    return hints(text, speakers, ASKED).names


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
    assert hints(question, ["Mira"], None).several


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
