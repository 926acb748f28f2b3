"""G-Eval (Liu et al. 2023) with instructions of our own: a model grades an answer from 1 to 5.

The grade is the mean of the five digits by the probability of each as the reply's first token. Where a server gives no
probabilities it is the mean of several samples, which is coarser: figures say how many were made which way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import fmean

from evimem.errors import ReplyError
from evimem.protocols import ChatModel
from evimem.types.trace import Complete, Reply

from .answer_judge import added, instructions, shown_to_judge

VARIANT = "g-eval"  # of the judge, by which figures name it
LOWEST, HIGHEST = 1, 5
SAMPLES = 5
TEMPERATURE = 1.0  # at which the probabilities are the model's own, and samples differ
_LIKELY = 20  # tokens, the most that OpenAI gives
_MOST_TOKENS = 2_000  # of a reply, a model's thoughts included
_DIGIT = re.compile(rf"(?<![\d.])[{LOWEST}-{HIGHEST}](?!\.?\d)")


@dataclass(frozen=True, slots=True)
class Grade:
    """A grade from 1 to 5, whether probabilities made it, and what it cost in dollars; None if that is unknown."""

    value: float
    weighted: bool
    cost: float | None = None


def grade_answer(model: ChatModel, question: str, expected: str, answer: str) -> Grade:
    """Return how a model grades an answer. Raise ModelError where it fails, ReplyError where it gives no grade."""
    request = grade_request(question, expected, answer)
    reply = model.complete(request)
    weights = _weights(reply)
    if weights:
        value = sum(digit * weight for digit, weight in weights) / sum(weight for _, weight in weights)
        return Grade(value, weighted=True, cost=reply.cost)
    replies = [reply, *(model.complete(request) for _ in range(SAMPLES - 1))]
    cost = None
    for one in replies:
        cost = added(cost, one.cost)
    return Grade(fmean(map(_digit, replies)), weighted=False, cost=cost)


def grade_request(question: str, expected: str, answer: str) -> Complete:
    """Return the request for a grade."""
    prompt = f"{shown_to_judge(question, expected, answer)}\n\nThe grade, one digit from {LOWEST} to {HIGHEST}:"
    return Complete(
        "judge",
        instructions("graded"),
        prompt,
        most_tokens=_MOST_TOKENS,
        temperature=TEMPERATURE,
        likely=_LIKELY,
    )


def _weights(reply: Reply) -> list[tuple[int, float]]:
    """Return the digits among the likeliest first tokens, with the space that some of them have, and their chances."""
    found = [(token.strip(), chance) for token, chance in reply.likely.items()]
    return [(int(token), chance) for token, chance in found if _DIGIT.fullmatch(token) and chance > 0]


def _digit(reply: Reply) -> int:
    found = _DIGIT.search(reply.text.rpartition("</think>")[2])
    if found is None:
        raise ReplyError("judge", f"it has no digit from {LOWEST} to {HIGHEST}", reply.text, reply)
    return int(found[0])
