"""Our own messages in many registers with what a reader takes from them: how many facts are right, how many found."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from evimem import Turn
from evimem.extract import RuleExtractor

TABLE = Path(__file__).with_name("messages.txt")
UNSEEN = Path(__file__).with_name("unseen_messages.txt")
LEAST_PRECISION = 0.97
LEAST_RECALL = 0.88
OPENING = re.compile(r"([^:(]+?)(?: \((\w+)\))?: (.*)")


@dataclass
class Message:
    """A message with the facts that should be found in it, and those that may be."""

    turn: Turn
    needed: set[str] = field(default_factory=set)
    allowed: set[str] = field(default_factory=set)


def comparable(parts: list[str]) -> str:
    text = " ".join(part for part in parts if part)
    return text[:1].lower() + text[1:]


def messages(table: Path = TABLE) -> list[Message]:
    found: list[Message] = []
    for line in table.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            mark, fact = line.split(maxsplit=1)
            facts = {"+": found[-1].needed, "~": found[-1].allowed}[mark]
            facts.add(comparable([part.strip() for part in fact.split("|")]))
        elif line and not line.startswith("#"):
            opening = OPENING.fullmatch(line)
            assert opening is not None, line
            speaker, role, text = opening.groups()
            said = text.replace("\\n", "\n")
            found.append(Message(Turn("t", "s", speaker, said, datetime(2024, 3, 12, 18), role=role)))
    return found


def test_facts_of_messages_are_right_and_most_are_found() -> None:
    rules, wrong, missed, emitted, needed = RuleExtractor(), [], [], 0, 0
    for message in messages():
        facts = rules.extract(message.turn)
        got = {comparable([fact.subject, fact.predicate, fact.object]) for fact in facts}
        emitted, needed = emitted + len(got), needed + len(message.needed)
        wrong += sorted(got - message.needed - message.allowed)
        missed += sorted(message.needed - got)
    assert len(messages()) >= 120
    assert 1 - len(wrong) / emitted >= LEAST_PRECISION, wrong
    assert 1 - len(missed) / needed >= LEAST_RECALL, missed


def test_facts_of_messages_by_an_author_who_had_seen_no_rule_are_right() -> None:
    rules, wrong, emitted = RuleExtractor(), [], 0
    for message in messages(UNSEEN):
        got = {comparable([fact.subject, fact.predicate, fact.object]) for fact in rules.extract(message.turn)}
        emitted, wrong = emitted + len(got), wrong + sorted(got - message.allowed)
    assert emitted >= 420
    assert 1 - len(wrong) / emitted >= LEAST_PRECISION, wrong
