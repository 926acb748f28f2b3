import asyncio

import numpy as np
import pytest

from evimem.testing import ScriptedModel
from evimem.types.trace import Complete, Reply
from tests.doubles import FakeClock, WordEmbedder

ASKED = Complete("judge", "system", "one two three")


def test_a_script_is_given_in_order_and_its_requests_are_kept():
    model = ScriptedModel(["a", Reply("b", "m", 1, 2), lambda request: request.prompt])
    assert [model.complete(ASKED).text for _ in range(3)] == ["a", "b", "one two three"]
    assert model.requests == [ASKED] * 3


def test_a_script_that_is_used_up_says_so_unless_it_goes_on():
    with pytest.raises(AssertionError, match="no reply scripted for request 1"):
        ScriptedModel().complete(ASKED)
    assert ScriptedModel(then="z").complete(ASKED).text == "z"


def test_a_scripted_error_is_raised():
    with pytest.raises(OSError, match="gone"):
        ScriptedModel([OSError("gone")]).complete(ASKED)


def test_the_async_model_follows_the_same_script():
    model = ScriptedModel(["a", "b"])

    async def both():
        return await model.as_async().complete(ASKED), model.complete(ASKED)

    assert [reply.text for reply in asyncio.run(both())] == ["a", "b"]


def test_pieces_join_to_the_reply():
    *pieces, reply = ScriptedModel(["on on the  eighth"]).stream(ASKED)
    assert "".join(pieces) == reply.text == "on on the  eighth"


def test_texts_that_share_words_are_close():
    vectors = WordEmbedder().embed(["a red kite", "a red boat", "cold soup", ""])
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.5
    assert np.linalg.norm(vectors, axis=1).round(6).tolist() == [1.0, 1.0, 1.0, 0.0]


def test_a_clock_moves_when_it_is_told():
    clock = FakeClock(5.0)
    clock.advance(2.5)
    assert clock() == 7.5
