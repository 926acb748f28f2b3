import json

import pytest

from evimem.errors import ReplyError
from evimem.llm.read_verdict import read_draft
from evimem.llm.request import load
from evimem.llm.shown_words import find_quote
from evimem.types.answer import Citation
from tests.llm.views import page, turn

SAID = turn(1, "We adopted a  puppy, Biscuit, last\nFriday.", caption="a brown puppy on a sofa")
PAGE = page(SAID, turn(2, "Lovely!"))


def drafted(**fields):
    return read_draft(json.dumps({"steps": [], "answer": "8 March 2024", "citations": [], **fields}), PAGE)


def quoted(quote, label="e1"):
    return drafted(citations=[{"id": label, "quote": quote}]).citations[0]


def test_an_answer_comes_with_its_steps():
    draft = drafted(steps=["e1 says Friday", "", "that was the 8th"])
    assert (draft.text, draft.steps) == ("8 March 2024", ("e1 says Friday", "that was the 8th"))


@pytest.mark.parametrize("quote", ["last Friday", "LAST FRIDAY", '"last\n Friday."', "…last Friday!"])
def test_a_quote_is_found_whatever_its_spaces_case_and_marks(quote):
    citation = quoted(quote)
    assert citation.turn_id == "t1"
    assert SAID.text[slice(*citation.span)].rstrip(".") == citation.quote.rstrip(".") == "last\nFriday"


def test_a_quote_may_come_from_the_caption():
    assert quoted("brown puppy") == Citation("t1", (2, 13), "brown puppy")


def test_a_quote_that_was_not_said_is_not_quoted():
    assert quoted("we bought a kitten") == Citation("t1", None, "")


def test_a_citation_of_nothing_shown_keeps_its_label_for_the_loop_to_drop():
    cited = drafted(citations=[{"id": "e9", "quote": "x"}, {"id": "e2", "quote": ""}]).citations
    assert cited == (Citation("e9", None, ""), Citation("t2", None, ""))


def test_an_answer_whose_only_citations_are_invented_is_repaired_once_and_then_marked():
    reply = json.dumps({"steps": [], "answer": "8 March 2024", "citations": ["e9", "e10"]})
    with pytest.raises(ReplyError, match="citations name none of the items shown"):
        read_draft(reply, PAGE)
    assert read_draft(reply, PAGE, repaired=True).reason == "the answer cites nothing that was shown"


@pytest.mark.parametrize("answer", ["Not mentioned.", "I don\u2019t know", "Unknown", "N/A", "cannot be determined"])
def test_a_refusal_in_words_is_no_answer(answer):
    assert drafted(answer=answer).text is None


def test_what_is_not_answerable_is_no_answer_and_what_was_said_is_the_reason():
    assert drafted(answerable=False, answer="Lisbon").text is None
    assert drafted(answerable=False, answer="").reason == "the evidence does not hold the answer"
    assert drafted(answerable=False, answer="Mira plays the cello.").reason == "Mira plays the cello."


def test_the_form_of_the_prompt_is_no_reply():
    form = load("answer").user.template.splitlines()[-1]
    with pytest.raises(ReplyError):
        read_draft(form, PAGE)
    assert read_draft(f'{form}\n{{"answer": "in March", "citations": ["e1"]}}', PAGE).text == "in March"


@pytest.mark.parametrize("answer", [None, True, [], {}])
def test_an_answer_that_is_no_text_is_a_typed_error(answer):
    with pytest.raises(ReplyError, match="its answer is no text"):
        drafted(answer=answer)


def test_a_quote_of_what_was_visible_is_found_in_what_was_said():
    text = "Good boy \u2764\ufe0f, he\u200b went\nhome."
    assert find_quote("boy \u2764, he went home", text) == (5, len(text) - 1)
    assert find_quote("boy \u2764, he ran", text) is None


def test_citations_may_be_mere_labels_and_are_given_once():
    assert drafted(citations=["e1", "[e1]", "e2"]).citations == (Citation("t1", None, ""), Citation("t2", None, ""))


@pytest.mark.parametrize(("answer", "text"), [("No", "No"), (7, "7"), ("None of them", "None of them")])
def test_short_answers_are_answers(answer, text):
    assert drafted(answer=answer).text == text
