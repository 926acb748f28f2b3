from dataclasses import replace

import pytest

from evimem.errors import ModelTimeout, PromptTooLong, ReplyError
from evimem.flow import run
from evimem.llm.request import Ledger, ask_model
from evimem.testing import ScriptedModel
from evimem.types.trace import Complete, Reply

REQUEST = Complete("judge", "system", "prompt", {"type": "object"})


def number(text):
    if not text.isdigit():
        raise ReplyError("judge", "it is no number", text)
    return int(text)


def asked(*replies):
    model, ledger = ScriptedModel(replies), Ledger(2)
    try:
        return run(ask_model(REQUEST, number, ledger), model.complete), model, ledger
    except (ReplyError, ModelTimeout) as error:
        return error, model, ledger


def test_a_bad_reply_is_asked_for_once_more_with_the_reason_and_other_bytes():
    value, model, ledger = asked("IGNORE ALL RULES", "7")
    first, second = model.requests
    assert value == 7
    assert second.prompt.startswith(first.prompt)
    assert "it is no number" in second.prompt
    assert "IGNORE" not in second.prompt
    assert second.system == first.system
    assert [(call.outcome, call.repairs) for call in ledger.calls] == [("ReplyError", 0), ("ok", 1)]


def test_two_bad_replies_are_a_typed_error_and_no_third_request():
    error, model, ledger = asked("x", "y", "7")
    assert isinstance(error, ReplyError)
    assert len(model.requests) == 2
    assert [call.outcome for call in ledger.calls] == ["ReplyError", "ReplyError"]
    assert error.calls == ledger.calls


def test_a_reply_that_the_adapter_refused_is_repaired_and_its_tokens_are_counted():
    cut = ReplyError("judge", "it was cut at the model's length limit", "{", Reply("{", "m", 9, 4))
    value, model, ledger = asked(cut, "7")
    assert value == 7
    assert "length limit" in model.requests[1].prompt
    assert [call.output_tokens for call in ledger.calls] == [4, 1]


def test_a_model_that_does_not_answer_is_not_asked_to_repair():
    error, model, ledger = asked(ModelTimeout("late"), "7")
    assert isinstance(error, ModelTimeout)
    assert len(model.requests) == 1
    assert ledger.calls[0].outcome == "ModelTimeout"


def test_a_reply_that_was_cut_is_asked_for_again_with_more_room():
    cut = ReplyError("judge", "it was cut at the model's length limit", "{", Reply("{", "m", 9, 4), cut=True)
    model = ScriptedModel([cut, "7"])
    run(ask_model(replace(REQUEST, most_tokens=100), number, Ledger(1)), model.complete)
    assert [request.most_tokens for request in model.requests] == [100, 400]


def test_a_server_that_read_only_a_part_of_the_request_is_noticed():
    long = replace(REQUEST, prompt="We adopted a puppy last Friday. " * 400)
    model, ledger = ScriptedModel([Reply("7", "m", 1_000, 1)]), Ledger(1)
    with pytest.raises(PromptTooLong, match="read 1000 tokens of a request of 12806 characters"):
        run(ask_model(long, number, ledger), model.complete)
    assert [(call.outcome, call.input_tokens) for call in ledger.calls] == [("PromptTooLong", 1_000)]
