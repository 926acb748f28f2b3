"""With a small real model: every call ends bounded, every reply is read or refused by type, nothing false is cited.

It is far too weak to judge or answer well, and nothing here asks whether it does. What each cost is in its bill.
"""

import asyncio
from pathlib import Path
from time import monotonic

import pytest

import evimem
from evimem.llm.request import CUT_REPLY_TOKEN_FACTOR, JUDGE
from evimem.loops import Iris, Loop
from evimem.types.trace import Acted, Called, Stopped
from tests.real_model.bill import Bill
from tests.real_model.conftest import DEADLINE

pytestmark = pytest.mark.nightly
QUESTION = "When did Mira adopt her puppy?"
JOINT = evimem.Budget(iterations=2)
READ = {"ok"}
REFUSED = {"ReplyError", "ModelTimeout", "ModelUnavailable", "PromptTooLong"}


def asked(
    path: Path, model: evimem.OpenAI, bill: Bill, budget: evimem.Budget = JOINT, loop: str | Loop = "iris"
) -> evimem.Answer:
    """Ask; return the answer, or what is known where the model gave no usable reply."""
    with evimem.open(path, llm=model, observer=bill) as memory:
        try:
            answer = memory.ask(QUESTION, loop, budget=budget)
        except evimem.ModelError as error:
            answer = error.partial
            assert answer is not None
            assert answer.kind in ("failed", "quote")
    return answer


def held(path: Path, answer: evimem.Answer) -> list[Called]:
    """Check what must hold of an answer; return its requests."""
    calls = [event for event in answer.trace if isinstance(event, Called)]
    assert calls
    assert {call.outcome for call in calls} <= READ | REFUSED
    assert all(call.output_tokens <= CUT_REPLY_TOKEN_FACTOR * JUDGE.most_tokens for call in calls)
    assert all(call.seconds <= DEADLINE + 10 for call in calls)
    assert all(call.input_tokens > 0 for call in calls if call.outcome == "ok")
    assert answer.usage.input_tokens == sum(call.input_tokens for call in calls)
    with evimem.open(path) as memory:
        for citation in answer.citations:
            turn = memory.turn(citation.turn_id)
            if citation.span is not None:
                assert turn.text[slice(*citation.span)] == citation.quote
    return calls


# Of each loop its limits for a small machine, and how many replies it reads at most: the choice of keywords and the
# answer among them.
LOOPS = {
    "iris": (evimem.Budget(iterations=2), 3),
    "memr3": (evimem.Budget(iterations=2), 3),
    "mgretrieval": (evimem.Budget(iterations=2, k=3), 4),
    "mragent": (evimem.Budget(iterations=2), 3),
}


@pytest.mark.parametrize("loop", LOOPS)
def test_each_loop_ends_bounded_and_cites_only_what_it_was_shown(
    path: Path, model: evimem.OpenAI, bill: Bill, loop: str
) -> None:
    budget, most = LOOPS[loop]
    answer = asked(path, model, bill, budget, loop)
    bill.test = f"{loop}: {answer.kind}"
    calls = held(path, answer)
    assert answer.trace.loop == loop
    assert len(calls) <= 2 * most, "each reply, and each once more where it could not be read"
    shown: set[str] = set()
    for event in answer.trace:
        if isinstance(event, Acted) and event.action == "show":
            shown.update(event.detail["turns"], event.detail["around"])
    assert {citation.turn_id for citation in answer.citations} <= shown
    assert answer.kind == "failed" or any(isinstance(event, Stopped) for event in answer.trace)
    with evimem.open(path) as memory:
        assert evimem.replay(answer.trace, memory).trace == answer.trace


def test_the_papers_pattern_of_calls_does_so_too(path: Path, model: evimem.OpenAI, bill: Bill) -> None:
    held(path, asked(path, model, bill, JOINT, Iris(iterations=2, calls="separate")))


def test_a_reply_without_a_schema_is_read_or_refused(path: Path, model: evimem.OpenAI, bill: Bill) -> None:
    model._rejected_options[model.model, "response_format"] = 3
    bill.schema = False
    held(path, asked(path, model, bill))


def test_every_turn_is_read_or_put_off_with_a_reason_and_facts_are_grounded(
    path: Path, model: evimem.OpenAI, bill: Bill
) -> None:
    with evimem.open(path, llm=model, observer=bill) as memory:
        report = memory.enrich()
        assert report.done > 0
        assert sum(report.reasons.values()) == report.put_off
        for fact in memory.facts([turn.id for turn in memory.turns()]):
            if fact.extractor == "llm":
                text = memory.turn(fact.turn_id).text
                assert fact.span is not None
                assert text[slice(*fact.span)].strip()
        bill.read += bill.replies - report.put_off - sum(report.failed.values())  # one reply a turn


def test_a_deadline_ends_a_call_that_generates(path: Path, bill: Bill, url: str) -> None:
    model = evimem.OpenAI(model="smollm2", base_url=url, deadline=1.0, max_retries=0)
    began = monotonic()
    with evimem.open(path, llm=model, observer=bill) as memory, pytest.raises(evimem.ModelTimeout):
        memory.ask(QUESTION)
    assert monotonic() - began < 60
    model.close()


def test_a_cancelled_question_ends_at_once_and_the_next_one_is_answered(
    path: Path, model: evimem.OpenAI, bill: Bill
) -> None:
    async def cancelled() -> float:
        async with evimem.open_async(path, llm=model, observer=bill) as memory:
            question = asyncio.ensure_future(memory.ask(QUESTION))  # type: ignore[arg-type]
            await asyncio.sleep(1.0)
            began = monotonic()
            question.cancel()
            await asyncio.gather(question, return_exceptions=True)
            return monotonic() - began

    assert asyncio.run(cancelled()) < 30
    held(path, asked(path, model, bill, evimem.Budget(iterations=1)))
