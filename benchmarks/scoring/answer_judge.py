"""A model that marks answers: strict by default, a generous variant, and LongMemEval's rubrics by type of question.

Figures of two judges, prompts or rubrics do not compare; `prompt_digest` names what was asked.
"""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from evimem.errors import ReplyError
from evimem.llm.json_reply import read_object
from evimem.protocols import ChatModel
from evimem.text.prompt_text import mark_lines
from evimem.types.trace import Complete

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

STRICT = "strict"
EVIMEM = "evimem"
VARIANTS = (STRICT, "generous", EVIMEM)
TEMPERATURE = 0.0
_MOST_TOKENS = 2_000  # of a reply, a model's thoughts included
_BY_TYPE = {
    "temporal-reasoning": "temporal",
    "knowledge-update": "updated",
    "single-session-preference": "preference",
}
_SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "correct": {"type": "boolean"}},
    "required": ["reason", "correct"],
    "additionalProperties": False,
}


def longmemeval_rubric(kind: str, *, answerable: bool) -> str:
    """Return the name of the rubric for a type of question of LongMemEval."""
    return _BY_TYPE.get(kind, "facts") if answerable else "unanswerable"


@dataclass(frozen=True, slots=True)
class AnswerMark:
    """A mark, and what it cost in dollars; None if the price is unknown or nothing was asked."""

    correct: bool | None
    cost: float | None = None


UNMARKED = AnswerMark(None)


def mark_answer(model: ChatModel, rubric: str, question: str, expected: str, answer: str) -> AnswerMark:
    """Return how a model marks an answer. Raise ModelError where it fails, ReplyError where it gives no mark."""
    reply = model.complete(mark_request(rubric, question, expected, answer))
    found = read_object(reply.text, "judge", ("correct",)).get("correct")
    if not isinstance(found, bool):
        raise ReplyError("judge", "correct is neither true nor false", reply.text, reply)
    return AnswerMark(found, reply.cost)


def mark_request(rubric: str, question: str, expected: str, answer: str) -> Complete:
    """Return the request for a mark."""
    prompt = shown_to_judge(question, expected, answer)
    system = f"{instructions('marks')}\n\n{_prompts()['rubrics'][rubric]}"
    wanted = f'{prompt}\n\nReply with JSON only:\n{{"reason": "", "correct": true}}'
    return Complete("judge", system, wanted, _SCHEMA, _MOST_TOKENS, temperature=TEMPERATURE)


def shown_to_judge(question: str, expected: str, answer: str) -> str:
    """Return what a judge is shown, each part mark_lines as data."""
    parts = {"question": question, "expected answer": expected, "answer": answer}
    return "\n\n".join(f"The {name}:\n{mark_lines(text)}" for name, text in parts.items())


def instructions(name: str) -> str:
    """Return the instructions of a name."""
    found: str = _prompts()[name]
    return found.strip()


def added(first: float | None, second: float | None) -> float | None:
    """Return the sum of two costs, of which either may be unknown."""
    known = [one for one in (first, second) if one is not None]
    return sum(known) if known else None


@cache
def prompt_digest() -> str:
    """Return a digest of the judge's instructions and rubrics."""
    return hashlib.sha256(repr(_prompts()).encode()).hexdigest()[:16]


@cache
def _prompts() -> dict[str, Any]:
    return tomllib.loads((files("benchmarks.scoring") / "rubrics.toml").read_text(encoding="utf-8"))
