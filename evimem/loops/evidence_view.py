"""Select the evidence for a judge within a token budget (E6), and count the facts about the question's names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from ..embedding.static_embedder import count_tokens
from ..judging.apply_verdict import needed_facts
from ..judging.evidence import EntityCount, Evidence, max_shown_characters
from ..protocols import Store
from ..text.names import NameSearch, contains_name, other_forms
from ..text.sentences import scripts
from ..text.terms import terms
from ..types.results import MAX_COUNT
from ..types.stored import ALSO_KNOWN_AS, Scope
from ..types.values import Fact, Turn

EDGE_SHARE = 0.15  # of the token budget, for turns that edges brought, where they are unranked
RAW_SHARE = 0.15  # for turns without facts
EARLIER_SHARE = 0.35  # for the best turns of earlier iterations
FRAME_TOKENS = 16  # of the label, date and speaker around a turn


def count_turn_tokens(evidence: Evidence) -> int:
    """Return how many tokens a turn takes in a view: its words, or the passages of a long one, and the frame."""
    turn, most = evidence.turn, max_shown_characters(evidence.turn)
    return FRAME_TOKENS + count_tokens(" ".join((turn.speaker, turn.text[:most], (turn.caption or "")[:most])))


def select(
    evidence: Sequence[Evidence],
    budget: int,
    *,
    iteration: int,
    witnesses: Collection[str] = (),
    cost: Callable[[Evidence], int] = count_turn_tokens,
    edge_share: float = 0.0,
) -> tuple[Evidence, ...]:
    """Return the evidence that fits: that of this iteration first, then the witnesses, then the rest, each best first.

    `evidence` is given best first. Reserved shares keep turns without facts and the best earlier turns from being
    crowded out; the rest of a share goes to the other turns. Turns over edges have no share unless `edge_share` is
    given: with little room it costs more gold turns than it brings (benchmarks/RESEARCH.md, "With a model"). `budget`
    and `cost` are in tokens.
    """
    costs = {item.turn.id: cost(item) for item in evidence}
    ordered = _newest_first(evidence, iteration, frozenset(witnesses))
    shares: tuple[tuple[float, Iterable[Evidence]], ...] = (
        (edge_share, (item for item in ordered if item.path.startswith("edge"))),
        (RAW_SHARE, (item for item in ordered if not item.facts)),
        (EARLIER_SHARE, (item for item in ordered if item.iteration < iteration)),
    )
    taken: set[str] = set()
    for share, items in shares:
        _take_fitting(items, int(budget * share), costs, taken)
    _take_fitting(ordered, budget - sum(costs[turn_id] for turn_id in taken), costs, taken)
    return tuple(item for item in ordered if item.turn.id in taken)


def _newest_first(evidence: Sequence[Evidence], iteration: int, witnesses: frozenset[str]) -> list[Evidence]:
    def group(item: Evidence) -> int:
        if item.iteration == iteration:
            return 0
        return 1 if item.turn.id in witnesses else 2

    return sorted(evidence, key=group)


def _take_fitting(items: Iterable[Evidence], budget: int, costs: Mapping[str, int], taken: set[str]) -> None:
    """Add evidence to `taken`, in order, while it fits into a budget of its own; skip a turn that does not fit."""
    left = budget
    for item in items:
        cost = costs[item.turn.id]
        if item.turn.id not in taken and cost <= left:
            taken.add(item.turn.id)
            left -= cost


MAX_ALIAS_FACTS = 64  # newest facts about an entity that are looked through for other names of it
MAX_ALIASES = 3
SCRIPT_CHARACTERS = 200  # characters of a turn that show in which script it is written


class EntityCounter:
    """Counts for one question. The memory is asked once about a name of which too little was found.

    There are three ways to count. The usual one adds the facts that contain a name, each statement once, and the turns
    without such a fact that name the entity or that it said. `delta="paper"` counts facts alone, of every name.
    `indexed=False` counts turns that name the entity. A name of which the memory has nothing gets no count where that
    shows nothing: the question only supposes it, or the evidence is in another script.
    """

    def __init__(
        self, store: Store, scope: Scope, delta: int | str, *, indexed: bool, supposed: Collection[str] = ()
    ) -> None:
        self._store = store
        self._scope = scope
        self._delta = delta
        self._literal = delta == "paper"
        self._indexed = indexed
        self._supposed = frozenset(supposed)
        self._totals: dict[str, int] = {}
        self._aliases: dict[str, tuple[str, ...]] = {}
        self._read: dict[str, NameSearch] = {}  # by turn, as turns may be long and names many
        self._scripts: dict[str, Counter[str]] = {}

    def count(self, entities: Iterable[str], evidence: Collection[Evidence]) -> dict[str, EntityCount]:
        """Return how many facts about each entity are in the evidence, are needed and are in the memory."""
        counts: dict[str, EntityCount] = {}
        for entity in entities:
            found = self._count_facts_found(entity, evidence)
            if found < needed_facts(MAX_COUNT, self._delta) and self._ask_memory(entity):
                found = self._count_facts_found(entity, evidence)
            total = max(found, self._totals.get(entity, 0))
            if total or self._literal or not self._may_be_unnamed(entity, evidence):
                counts[entity] = EntityCount(found, needed_facts(total, self._delta), total)
        return counts

    def known_names(self, entity: str) -> tuple[str, ...]:
        """Return the names of an entity that are known so far, its own first."""
        return (entity, *self._aliases.get(entity, ()))

    def _ask_memory(self, entity: str) -> bool:
        """Ask the memory about an entity, once; return whether that brought further names of it."""
        if entity in self._totals:
            return False
        known = self._store.about(entity, MAX_ALIAS_FACTS, self._scope)
        self._aliases[entity] = () if self._literal else (*other_forms(entity), *other_names(entity, known.facts))
        told = {fact.id: fact for fact in known.facts}
        unread = known.total - len(told)
        for name in self._aliases[entity]:
            other = self._store.about(name, MAX_ALIAS_FACTS, self._scope)
            told |= {fact.id: fact for fact in other.facts}  # one that tells the other name is about both
            unread += other.total - len(other.facts)
        about = _facts_naming(told.values(), self.known_names(entity))
        said = {fact.turn_id for fact in told.values()}.difference(fact.turn_id for fact in about)
        self._totals[entity] = _count_statements(about) + len(said) + unread
        return bool(self._aliases[entity])

    def _count_facts_found(self, entity: str, evidence: Collection[Evidence]) -> int:
        called = self.known_names(entity)
        turns = [item.turn for item in evidence]
        if not self._indexed:
            return sum(self._is_named(turn, called) for turn in turns)
        told = _facts_naming((fact for item in evidence for fact in item.facts), called)
        if self._literal:
            return _count_statements(told)
        of = {fact.turn_id for fact in told}
        return _count_statements(told) + sum(self._is_named(turn, called) for turn in turns if turn.id not in of)

    def _is_named(self, turn: Turn, called: Iterable[str]) -> bool:
        """Return whether a turn names an entity by any of its names."""
        if turn.id not in self._read:
            self._read[turn.id] = NameSearch(f"{turn.speaker}: {turn.text} {turn.caption or ''}")
        return any(map(self._read[turn.id].contains_name, called))

    def _may_be_unnamed(self, entity: str, evidence: Iterable[Evidence]) -> bool:
        """Return whether evidence about an entity need not name it."""
        if entity in self._supposed:
            return True
        letters = sum((self._scripts_of(item.turn) for item in evidence), Counter[str]())
        return 2 * sum(letters[script] for script in scripts(entity)) < letters.total()

    def _scripts_of(self, turn: Turn) -> Counter[str]:
        if turn.id not in self._scripts:
            self._scripts[turn.id] = scripts(turn.text[:SCRIPT_CHARACTERS])
        return self._scripts[turn.id]


def _facts_naming(facts: Iterable[Fact], called: Collection[str]) -> list[Fact]:
    """Return the facts that contain an entity by any of its names, of any speaker.

    A fact that only gives a name is left out where its turn tells more: "my friend Basil lives in Ghent" is one.
    """
    named = [fact for fact in facts if any(contains_name(fact.text, name) for name in called)]
    telling = {fact.turn_id for fact in named if fact.predicate != ALSO_KNOWN_AS}
    return [fact for fact in named if fact.predicate != ALSO_KNOWN_AS or fact.turn_id not in telling]


def _count_statements(facts: Iterable[Fact]) -> int:
    """Count the different statements of facts: one that says no more than another is not counted."""
    said = {frozenset(terms(fact.text)) for fact in facts}
    return sum(not any(one < other for other in said) for one in said)


def other_names(entity: str, facts: Iterable[Fact]) -> tuple[str, ...]:
    """Return the other names of an entity in facts: "Kit" for Katherine, and Katherine for "Kit"."""
    pairs = [(fact.subject, fact.object) for fact in facts if fact.predicate == ALSO_KNOWN_AS]
    other = [
        b if contains_name(a, entity) else a for a, b in pairs if contains_name(a, entity) != contains_name(b, entity)
    ]
    return tuple(dict.fromkeys(other))[:MAX_ALIASES]
