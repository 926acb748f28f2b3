"""The facts of an export that its turns state: an edited file could have anything said by anybody."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..extract import RuleExtractor
from ..llm.extract_facts import MAX_CHARACTERS
from ..llm.grounding import Sources
from ..types.attempt import Attempt, attempt
from ..types.stored import EARLIER
from ..types.values import Fact, Turn
from .exported_line import Pair

_SESSIONS = 1_000  # whose last turns are kept while a file is read


class StatedTurn(NamedTuple):
    """A turn of an export with the facts that it states; `error` is what reading it raised, where that decides."""

    turn: Turn
    facts: tuple[Fact, ...]
    error: str | None


def stated(pairs: Iterable[Pair], extractor: str) -> Iterator[StatedTurn]:
    """Yield turns with those of their facts whose words stand in the turn, or in those before it in its session.

    The others are left out, as those of a model are: what they stood in may be a turn that was forgotten since. Facts
    of `extractor` are taken at their word if it is the caller's own: whoever opened the memory with it trusts it.
    """
    trusted = None if extractor == RuleExtractor.name else extractor
    earlier: OrderedDict[str, deque[str]] = OrderedDict()
    for turn, facts in pairs:
        near = earlier.setdefault(turn.session, deque(maxlen=EARLIER))
        earlier.move_to_end(turn.session)
        if len(earlier) > _SESSIONS:
            earlier.popitem(last=False)
        words = " ".join((turn.speaker, turn.text[:MAX_CHARACTERS], turn.caption or ""))
        unstated = _unstated(turn, [fact for fact in facts if fact.extractor != trusted], words, near)
        yield StatedTurn(turn, tuple(fact for fact in facts if fact.id not in unstated.value), unstated.error)
        near.append(words)


def _unstated(turn: Turn, facts: list[Fact], words: str, near: Iterable[str]) -> Attempt[set[str]]:
    """Return the ids of the facts of a turn that have words from nowhere, and that no rule finds in it."""
    for texts in ((turn.text, words), (turn.text, words, *near)):
        if not facts:
            break
        sources = Sources(texts)
        facts = [fact for fact in facts if not (sources.anchor(fact.subject) and sources.anchor(fact.object))]
    if not facts:
        return Attempt(set())
    by_rule = attempt((), RuleExtractor().extract, turn)
    return Attempt({fact.id for fact in facts} - {fact.id for fact in by_rule.value}, by_rule.error)
