"""Evidence by loop: `python -m benchmarks.loops PATH [--scripted] [--loops NAME ...]`, of LoCoMo or labelled chats.

Without a model, of the questions that have an answer: the share of gold turns that a loop found after each of its
iterations and among the first ten turns that it read, how many it read, what it cites, and how often it abstains; and
the share found at the end by kind of question. `--scripted` asks through a model that finds the evidence enough when
all gold turns are in view, and prints requests and tokens. `--literal` adds a row for each loop that departs from its
paper, where it does not. With `--mailbox DIR` the model is whoever writes the replies (see `scoring.mailbox`): run it
again until nothing waits, for what was right and refused, requests, tokens, and how the requests of a question grow.
Nothing is random: two runs print the same. Without a model `mragent` searches as `iris` does.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import evimem
from evimem.loops import LOOPS, VARIANTS, Loop, chosen_loop
from evimem.testing import ScriptedModel
from evimem.types.results import Answer
from evimem.types.trace import Called, Found

from .gold_model import Asked, Conversation, GoldJudge, Question, conversations
from .recording import add_result, data_set, record
from .scoring.estimates import estimate
from .scoring.mailbox import Mailbox
from .scoring.result_file import Cell, ResultTable
from .scoring.retrieval_metrics import recall
from .scoring.right_answer import is_right

STEPS = 3  # iterations after which recall is printed, before that at the end
FIRST = 10  # turns, in the order in which a loop found them
LAST = 99
DEPARTS = {
    "iris": "full",
    "memr3": "memr3-as-published",
    "mgretrieval": "mgretrieval-as-published",
    "mragent": "mragent-as-published",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a loop came to for one question: turns found up to each iteration, what the answer is, what was asked.

    `sent` are the tokens of each request of a mailbox, in order, `received` those of all its replies.
    """

    conversation: str
    of: str
    found: tuple[tuple[str, ...], ...]
    gold: tuple[str, ...]
    cites_gold: bool
    kind: str
    right: bool
    asked: tuple[Asked, ...]
    sent: tuple[int, ...] = ()
    received: int = 0
    text: str = ""

    def recall_after(self, step: int, most: int | None = None) -> float:
        """Return the share of gold turns found up to an iteration, counted from 1, among the first `most` if given."""
        turns = self.found[min(step, len(self.found)) - 1][:most] if self.found else ()
        return recall(turns, self.gold, max(1, len(turns)))


MEASURES = {
    **{f"after {n}": lambda one, n=n: one.recall_after(n) for n in range(1, STEPS + 1)},
    "at end": lambda one: one.recall_after(LAST),
    f"first {FIRST} turns": lambda one: one.recall_after(LAST, FIRST),
    "turns read": lambda one: len(one.found[-1]) if one.found else 0,
    "cites gold": lambda one: one.cites_gold,
    "abstains": lambda one: one.kind == "abstained",
}
SCRIPTED = {
    "requests": lambda one: len(one.asked),
    "tokens": lambda one: sum(asked.sent for asked in one.asked),
    "tokens of a request": lambda one: sum(asked.sent for asked in one.asked) / max(1, len(one.asked)),
    "turns read": lambda one: len(one.found[-1]) if one.found else 0,
    "found at end": lambda one: one.recall_after(LAST),
    "all gold in view": lambda one: any(asked.complete for asked in one.asked),
}
MAILED = {
    "right": lambda one: one.right,
    "refused": lambda one: one.kind == "abstained",
    "requests": lambda one: len(one.sent),
    "tokens sent": lambda one: sum(one.sent),
    "tokens received": lambda one: one.received,
    "first request": lambda one: one.sent[0] if one.sent else 0,
    "largest request": lambda one: max(one.sent, default=0),
    "turns read": lambda one: len(one.found[-1]) if one.found else 0,
    "found at end": lambda one: one.recall_after(LAST) if one.gold else 1.0,
}


def _either(text: str) -> Path:
    return data_set("locomo" if text.endswith(".json") else "chats")(text)


def main() -> None:
    """Ask every question through every loop and print a row for each loop."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=_either, help="a LoCoMo file, or a folder of labelled chats")
    parser.add_argument("--scripted", action="store_true", help="ask through a scripted model, and count")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask every Nth question (default: all)")
    names = (*sorted(LOOPS), *VARIANTS)
    parser.add_argument("--loops", nargs="+", metavar="NAME", choices=names, default=sorted(LOOPS))
    parser.add_argument("--literal", action="store_true", help="also ask the loops as their papers have them")
    parser.add_argument(
        "--mailbox", type=Path, metavar="DIR", help="be the model: requests and replies are files there"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these conversations")
    add_result(parser)
    options = parser.parse_args()
    mailbox = Mailbox(options.mailbox) if options.mailbox else None
    runs = dict(_runs(options.loops, literal=options.literal))
    outcomes: dict[str, list[Outcome]] = {name: [] for name in runs}
    with tempfile.TemporaryDirectory() as scratch:
        for number, one in enumerate(conversations(options.path)):
            if options.only and one.name not in options.only:
                continue
            judge = GoldJudge(one.turns)
            model = mailbox or (ScriptedModel(then=judge) if options.scripted else None)
            with evimem.open(Path(scratch) / f"{number}.evimem", llm=model) as memory:
                memory.extend(one.turns, strict=True)
                for name, loop in runs.items():
                    outcomes[name] += _asked(memory, one, loop, judge, options.every, mailed=mailbox is not None)
    data = [] if options.path.is_dir() else [options.path]
    if mailbox and (waiting := mailbox.waiting()):
        print(f"{waiting} requests wait in {mailbox.requests}: write the replies, and run this again")
        return
    tables = [_mailed(outcomes)] if mailbox else _tables(outcomes, scripted=options.scripted)
    record("loops", options, tables, data)


def _runs(loops: Iterable[str], *, literal: bool) -> Iterator[tuple[str, Loop]]:
    """Yield the rows to print: how each is called, and its loop."""
    for loop in loops:
        yield f"`{loop}`", chosen_loop(loop)
        if literal and loop in DEPARTS:
            yield f"`{DEPARTS[loop]}`", VARIANTS[DEPARTS[loop]]


def _tables(outcomes: Mapping[str, Sequence[Outcome]], *, scripted: bool) -> list[ResultTable]:
    if scripted:
        rows = tuple((name, *_row(found, SCRIPTED.values())) for name, found in outcomes.items())
        return [ResultTable("scripted", "Loops with a scripted model", ("loop", *SCRIPTED), rows)]
    rows = tuple((name, *_row(found, MEASURES.values())) for name, found in outcomes.items())
    columns = ("loop", *MEASURES)
    kinds = sorted({one.of for found in outcomes.values() for one in found})
    by_kind = tuple(
        (name, *(cell for kind in kinds for cell in _row([one for one in found if one.of == kind], [_at_end])))
        for name, found in outcomes.items()
    )
    first = next(iter(outcomes.values()))
    counted = tuple(f"{kind} ({sum(one.of == kind for one in first)})" for kind in kinds)
    return [
        ResultTable("loops", "Loops without a model", columns, rows, intervals=("at end",)),
        ResultTable("kinds", "Found at the end, by kind of question", ("loop", *counted), by_kind),
    ]


def _mailed(outcomes: Mapping[str, Sequence[Outcome]]) -> ResultTable:
    rows = tuple((name, *_row(found, MAILED.values())) for name, found in outcomes.items())
    return ResultTable("mailed", "Loops with a model", ("loop", *MAILED), rows)


def _at_end(one: Outcome) -> float:
    return one.recall_after(LAST)


def _row(found: Sequence[Outcome], measures: Iterable[object]) -> list[Cell]:
    return [estimate(found, measure, lambda one: one.conversation) for measure in measures]  # type: ignore[arg-type]


def _asked(
    memory: evimem.Memory, conversation: Conversation, loop: Loop, judge: GoldJudge, every: int, *, mailed: bool
) -> Iterator[Outcome]:
    answerable = [one for one in conversation.questions if mailed or (one.answers and one.gold)]
    for question in answerable[::every]:
        judge.begin(question.gold)
        try:
            answer = memory.ask(question.text, loop, asked_at=question.asked_at, on_event=judge.hear)
        except evimem.ModelUnavailable:
            continue  # it waits for its reply
        except evimem.InvalidQuery:  # a loop over facts, where there are none
            asked = tuple(judge.asked)
            yield Outcome(conversation.name, question.kind, (), question.gold, False, "refused", False, asked)  # noqa: FBT003
            continue
        yield _outcome(conversation.name, question, answer, tuple(judge.asked))


def _outcome(conversation: str, question: Question, answer: Answer, asked: tuple[Asked, ...]) -> Outcome:
    return Outcome(
        conversation=conversation,
        of=question.kind,
        found=tuple(_by_iteration(answer)),
        gold=question.gold,
        cites_gold=any(citation.turn_id in question.gold for citation in answer.citations),
        kind=answer.kind,
        right=is_right(answer.text or "", question.answers) if question.answers else answer.abstained,
        asked=asked,
        sent=tuple(event.input_tokens for event in answer.trace if isinstance(event, Called)),
        received=answer.usage.output_tokens,
        text=answer.text or "",
    )


def _by_iteration(answer: Answer) -> Iterator[tuple[str, ...]]:
    """Yield the turns found up to each iteration."""
    events = [event for event in answer.trace if isinstance(event, Found)]
    for last in sorted({event.iteration for event in events}):
        yield tuple(dict.fromkeys(turn for event in events if event.iteration <= last for turn in event.turns))


if __name__ == "__main__":
    main()
