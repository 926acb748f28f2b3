"""What facts bring, by who extracts them: `python -m benchmarks.extracted PATH REPLIES [--first N]`.

PATH is LoCoMo's file or a folder of labelled chats, REPLIES a folder of JSON lines {"id": "CONVERSATION/TURN",
"reply": what a model replied to the request `extract` of that turn}. Only conversations with replies are asked, and of
the questions those whose evidence lies in the turns that are kept. Columns are extractors: none, the rules, the model,
the model and rules for turns of which it says nothing (what `enrich` leaves), or both. Rows are shares of the gold
turns: among the first ten, in a block, in the last view of IRIS and of EviMem to the letter, which gold turns judge.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import evimem
from evimem.extract.rule_extractor import RuleExtractor
from evimem.llm.extract_facts import read_extraction
from evimem.loops import VARIANTS, Loop
from evimem.testing import ScriptedModel
from evimem.types.stored import MAX_EARLIER_TURNS

from .gold_model import Conversation, GoldJudge, conversations
from .recording import add_result, data_set, record
from .scoring.estimates import rows_of
from .scoring.result_file import ResultTable
from .scoring.retrieval_metrics import recall

Facts = tuple[evimem.Fact, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """An extractor of facts that are given by the id of their turn."""

    facts: Mapping[str, Facts]
    name: str = "given"

    def extract(self, turn: evimem.Turn) -> Facts:
        return self.facts[turn.id]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one question found: shares of its gold turns, by measure."""

    conversation: str
    of: str
    shares: Mapping[str, float]


def replies(folder: Path) -> dict[str, str]:
    """Return the replies of a model by the conversation and id of the turn, as text."""
    lines = (line for path in sorted(folder.glob("**/*.jsonl")) for line in path.read_text("utf-8").splitlines())
    return {row["id"]: json.dumps(row["reply"]) for row in map(json.loads, filter(None, lines))}


def extractors(one: Conversation, replied: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, Facts]]]:
    """Yield each way to extract the facts of a conversation, by its name."""
    rules = RuleExtractor()
    by_rule = {turn.id: rules.extract(turn) for turn in one.turns}
    model: dict[str, Facts] = {}
    for place, turn in enumerate(one.turns):
        reply = replied.get(f"{one.name}/{turn.id}")
        before = one.turns[max(0, place - MAX_EARLIER_TURNS) : place]
        model[turn.id] = read_extraction(reply, turn, before).facts if reply else ()
    yield "no facts", dict.fromkeys(by_rule, ())
    yield "by rule", by_rule
    yield "by the model", model
    yield "by the model, else by rule", {name: model[name] or by_rule[name] for name in model}
    yield "both", {name: (*model[name], *by_rule[name]) for name in model}


def asked(one: Conversation, facts: Mapping[str, Facts]) -> Iterator[Outcome]:
    """Yield what each question finds in a memory with these facts."""
    judge = GoldJudge(one.turns)

    with (
        tempfile.TemporaryDirectory() as folder,
        evimem.open(Path(folder) / "m.evimem", extractor=Given(facts), llm=ScriptedModel(then=judge)) as memory,
    ):
        memory.extend(one.turns, strict=True)
        for question in one.questions:

            def seen(loop: str | Loop, text: str = question.text, gold: Sequence[str] = question.gold) -> float:
                judge.begin(gold)
                memory.ask(text, loop, on_event=judge.hear)
                views = [view for view in judge.asked if view.evidence]
                return views[-1].found / views[-1].gold if views else 0.0

            found: dict[str, Sequence[str]] = {
                "R@10, turns": [hit.turn.id for hit in memory.search(question.text, k=10)],
                "R@10, facts": [hit.turn.id for hit in memory.search(question.text, k=10, over="facts")],
                "R@10, both": [hit.turn.id for hit in memory.search(question.text, k=10, over="both")],
            }
            for n in (800, 1_500):
                block = memory.block(question.text, tokens=n, gate=False)
                found[f"block, {n:,} tokens"] = [turn.id for turn in block.turns]
            shares = {name: recall(ids, question.gold, max(1, len(ids))) for name, ids in found.items()}
            shares |= {"IRIS, last view": seen("iris"), "to the letter": seen(VARIANTS["full"])}
            yield Outcome(one.name, question.kind, shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=data_set("locomo"), help="a LoCoMo file, or a folder of labelled chats")
    parser.add_argument("replies", type=Path)
    parser.add_argument("--first", type=int, metavar="N", help="keep only the first N turns of a conversation")
    add_result(parser)
    options = parser.parse_args()
    replied = replies(options.replies)
    named = {name.partition("/")[0] for name in replied}
    rows: dict[str, list[Outcome]] = {}
    counted: dict[str, int] = {}
    for whole in conversations(options.path):
        if whole.name not in named:
            continue
        turns = whole.turns[: options.first]
        kept = {turn.id for turn in turns}
        questions = [one for one in whole.questions if one.gold and kept.issuperset(one.gold) and one.answers]
        one = Conversation(whole.name, turns, tuple(questions))
        for name, facts in extractors(one, replied):
            rows.setdefault(name, []).extend(asked(one, facts))
            counted[name] = counted.get(name, 0) + sum(map(len, facts.values()))
    groups = {f"{name} ({counted[name]:,})": found for name, found in rows.items()}
    measures: dict[str, Callable[[Outcome], float]] = {
        name: lambda one, name=name: one.shares[name] for name in next(iter(rows.values()))[0].shares
    }
    table = ResultTable(
        "extracted",
        "Facts, by who extracts them",
        ("", *groups),
        rows_of(measures, groups, lambda one: one.conversation),
        (),
    )
    record("extracted", options, [table], [options.path] if options.path.is_file() else [])


if __name__ == "__main__":
    main()
