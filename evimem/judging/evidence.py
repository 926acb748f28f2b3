"""Define a judge's view, verdict and draft, the question and the evidence in them; and a `Variant`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Literal, get_args, get_origin, get_type_hints

from ..errors import InvalidQuery, shown
from ..protocols import Store
from ..types.results import MAX_COUNT, Citation
from ..types.stored import EVERYTHING, Scope
from ..types.trace import Called
from ..types.values import Fact, Gap, Hints, Tier, TimeSpan, Turn
from .tracker import Claim, Requirement, Tracker

Ablation = Literal[
    "sufficiency", "tiers", "temporal", "entities", "anchor", "abstention", "index", "edges", "tracker",
    "mask", "delta", "reflection", "rewriting", "routing",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Variant:
    """The settings of every loop; a loop is a `Variant` with fields of its own, called with a task.

    The values of `without` remove one part each, to measure its effect:
    sufficiency  no judging: answer at once from the retrieved turns (IRIS)
    tiers        evidence is exact or insufficient: no inference, no reasoning chain, no hedged answer
    temporal     questions about time are judged, refined and worded like others
    entities     the number of facts about an entity never lowers a tier (E7; IRIS)
    anchor       after the first iteration only the refined query is searched (E5; IRIS)
    abstention   answer always, unless no evidence was found or no answer can be worded
    index        BM25 over turns alone: no facts, no vectors, no smoothing over neighbours
    edges        follow no edges, as with hops=0, and read nothing beside the searches in their place (IRIS)
    tracker      a question has no requirements, so that none lowers a tier or reaches a model; MemR3 is told of no
                 evidence and no gap, and is shown again all that it found
    mask         turns may be returned twice (MemR3), and are read again (MGRetrieval)
    delta        each search is for the question alone (MemR3)
    reflection   it searches where it would think (MemR3)
    routing      all that tools return joins the context, and none of it is left out of later requests (MRAgent)
    rewriting    the answer that a model gave with the last evidence is the answer, with the turns that it named, and no
                 other is worded from them (MGRetrieval, MRAgent)

    Attributes:
        iterations: At most this many rounds of searching and judging, where the budget names no number.
        k: At most this many turns of a search, where the budget names no number.
        calls: "joint" judges, refines and answers in one request; "apart" answers in another one; "separate" is
            EviMem's pattern (E14: up to 3 * iterations + 3 requests).
        abstain: "calibrated" abstains by a probability; "paper" by EviMem's rule (E11), and tells the confidence of an
            answer that is worded with care as it is.
        delta: How many facts an entity needs (E7), at most as many as the memory holds; "paper" for the literal rule.
        without: Names of parts to remove.
    """

    iterations: int = 3
    k: int = 10
    calls: Literal["joint", "apart", "separate"] = "joint"
    abstain: Literal["calibrated", "paper"] = "calibrated"
    delta: int | Literal["paper"] = 2
    without: Collection[Ablation] = frozenset()

    def __post_init__(self) -> None:
        """Raise InvalidQuery for a field out of range."""
        kinds = get_type_hints(type(self))
        for one in fields(self):
            if one.name != "without":
                _check(one.name, getattr(self, one.name), kinds[one.name])
        parts: Any = self.without
        known = get_args(Ablation)
        if not isinstance(parts, Collection) or isinstance(parts, str) or any(part not in known for part in parts):
            raise InvalidQuery(f"without is {shown(parts)}; expected some of {', '.join(known)}")
        object.__setattr__(self, "without", frozenset(parts))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values, as a trace keeps them."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {**values, "without": sorted(self.without)}


def _check(name: str, value: object, kind: Any) -> None:
    names = tuple(one for part in (kind, *get_args(kind)) if get_origin(part) is Literal for one in get_args(part))
    if any(type(value) is type(one) and value == one for one in names):
        return
    counted = kind is int or int in get_args(kind)
    least = 0 if name in {"step", "hops", "delta"} else 1
    if counted and isinstance(value, int) and not isinstance(value, bool) and least <= value <= MAX_COUNT:
        return
    if kind is bool and isinstance(value, bool):
        return
    degree = kind is float or float in get_args(kind)
    if degree and (value is None or (isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0)):
        return
    expected = [repr(one) for one in names] + [f"a whole number from {least} to {MAX_COUNT}"] * counted
    expected += ["True or False"] * (kind is bool) + ["a number from 0, or None"] * degree
    raise InvalidQuery(f"{name} is {shown(value)}; expected {' or '.join(expected)}")


MAX_PERSON_CHARACTERS = 1_600  # of a person's turn; twenty such turns fit the default budget
MAX_REPLY_CHARACTERS = 800  # of an assistant's or a tool's reply, which is long and seldom asked for
MAX_NEIGHBOUR_CHARACTERS = 200  # of a turn that stands beside a found one
Wants = Literal["time", "duration", "count", "yes_no", "person", "place", "reason", "choice", "thing"]
Manner = Literal["direct", "precise", "inferred", "hedged"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis of a question, read from its words and the names of the memory, without a model.

    `entities` are the names it mentions, as the memory spells them where it knows them; `asked` are the speakers
    it is about; `wants` is the form of the answer; `keywords` are the words that carry the asked property, without
    names, and `terms` their stems; `hints` are the priors of a search for it; `temporal` is whether the answer is, or
    is constrained by, a time; `supposed` are the entities that a question for a guess about another one brings in
    ("Would Mira like Vivaldi?").
    """

    question: str
    entities: tuple[str, ...]
    asked: tuple[str, ...]
    wants: Wants
    keywords: tuple[str, ...]
    terms: tuple[str, ...]
    times: tuple[TimeSpan, ...]
    temporal: bool
    requirements: tuple[Requirement, ...]
    hints: Hints = field(default_factory=Hints)
    supposed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """One turn that was found: its facts, how it was reached, and in which iteration it came first.

    `span` is the passage that the search found it by, a half-open range of characters; None of an edge or a look-up.
    """

    turn: Turn
    facts: tuple[Fact, ...]
    score: float
    path: str
    iteration: int
    parts: Mapping[str, float] = field(default_factory=dict, hash=False)
    span: tuple[int, int] | None = None

    @property
    def for_question(self) -> bool:
        """Whether its score is that of a search for the question itself, in the whole memory or in a part of it."""
        return self.path in {"anchor", "keyword"}


@dataclass(frozen=True, slots=True)
class EntityCount:
    """How many distinct facts about an entity were found, how many are needed, and how many the memory holds."""

    found: int
    needed: int
    total: int


@dataclass(frozen=True, slots=True)
class View:
    """The evidence that a judge sees at one check.

    `evidence` is everything found so far, best first; `shown` is the part that fits the token budget and the judge's
    own page, newest first, with reserved shares for raw and earlier turns (E6): only it may be cited or be a witness.
    `scope` is the part of the memory that the question is put to, without the turns of the ids in `exclude`: a judge
    that reads more of the memory, `store`, reads nothing outside of it. `pinned` are the ids of turns that stay in view
    like witnesses: they showed a gap of an earlier check. `parts` names turns that have a place of their own on the
    page of a model, by part and id, each with the sentence that is shown of it, "" for its own words: "profile",
    "of_time" and "later" (see `evimem.page.compose.Parts`), and "sought", found by a search for a gap. `tokens` is how
    many tokens the lines on that page may take, and `whole` whether it leaves out no turn because that says little, or
    what another says. `before` is the verdict of the check before, calibrated; None at the first. `variant` is how the
    loop goes to work, `form` how the answer is to be written, in words. With `by_fact` the facts of `shown` stand for
    their turns, which only the answer is given. `context` holds, per shown turn id, the dialogue around it in order,
    the turn included. `page` holds the lines (`evimem.page.loop_page.Item`) that a model's page has so far.
    """

    analysis: Analysis
    asked_at: datetime | None
    speakers: tuple[str, ...]
    iteration: int
    iterations: int
    strategy: str
    queries: tuple[str, ...]
    entities: Mapping[str, EntityCount] = field(hash=False)
    evidence: tuple[Evidence, ...]
    shown: tuple[Evidence, ...]
    context: Mapping[str, tuple[Turn, ...]] = field(hash=False)
    tracker: Tracker
    store: Store = field(compare=False, repr=False)
    page: tuple[Any, ...] = field(default=(), compare=False, repr=False)
    pinned: frozenset[str] = frozenset()
    scope: Scope = EVERYTHING
    before: Verdict | None = None
    parts: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    tokens: int = 2_000
    whole: bool = False
    variant: Variant = field(default_factory=Variant)
    form: str = ""
    by_fact: bool = False
    exclude: frozenset[str] = frozenset()

    @property
    def decisive(self) -> frozenset[str]:
        """The ids of the turns that stay in view: witnesses of requirements, and pinned turns."""
        return self.pinned.union(self.tracker.witnesses)

    @property
    def readable(self) -> frozenset[str]:
        """The ids of the turns that are in it, found or around."""
        return frozenset(self.turns_around).union(self.shown_ids)

    @property
    def shown_ids(self) -> tuple[str, ...]:
        """The ids of the shown turns, in their order."""
        return tuple(item.turn.id for item in self.shown)

    @property
    def turns_around(self) -> dict[str, Turn]:
        """The turns of the dialogue around the shown ones, by id."""
        return {turn.id: turn for dialogue in self.context.values() for turn in dialogue}

    def show_only(self, turn_ids: Collection[str]) -> View:
        """Return the view in which no turn with another id is shown, found or around."""
        shown = tuple(item for item in self.shown if item.turn.id in turn_ids)
        near = {one.turn.id: tuple(turn for turn in self.context[one.turn.id] if turn.id in turn_ids) for one in shown}
        return replace(self, shown=shown, context=near)

    def limited_to(self, turn_ids: Collection[str]) -> View:
        """Return the view without any other turn: one may have been forgotten since it was shown."""
        context = {
            turn_id: tuple(turn for turn in around if turn.id in turn_ids)
            for turn_id, around in self.context.items()
            if turn_id in turn_ids
        }
        found, shown = (tuple(one for one in some if one.turn.id in turn_ids) for some in (self.evidence, self.shown))
        return replace(self, evidence=found, shown=shown, context=context)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A sufficiency check.

    `confidence` is the judge's own; the loop calibrates tier and confidence (E7, E8) before it acts on them or
    passes them to `Judge.answer`. `probability` is the calibrated probability that the memory answers the
    question, None when the judge has none. `supported` maps requirement ids to the turn ids that witness them,
    `waived` and `retracted` to reasons. `gaps` are worst first. `query` is the next one to try, or empty.
    `signals` are the named raw values behind the confidence; `calls` are the model requests it took.
    `mapped` is whether the judge was asked what supports each requirement: where it was not, an open one says nothing.
    `claims` are new statements from the evidence, `withdrawn` maps places of earlier ones to reasons.
    `pinned` are the ids of turns that show the gaps. `notes` are short sentences to check and use in the answer.
    `names` are names in the question that the judge found, and the analysis did not: their facts are counted too (E7).
    `draft` is the answer that came with the verdict; None where the judge was asked for none, or gave none.
    `basis` is the judge's own reading of the evidence, which it words the answer from (`Judge.answer`) and goes on from
    at the next check (`View.before`); a loop passes it on.
    """

    tier: Tier
    confidence: float
    supported: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    gaps: tuple[Gap, ...] = ()
    query: str = ""
    reason: str = ""
    probability: float | None = None
    waived: Mapping[str, str] = field(default_factory=dict, hash=False)
    retracted: Mapping[str, str] = field(default_factory=dict, hash=False)
    extended: tuple[Requirement, ...] = ()
    signals: Mapping[str, float] = field(default_factory=dict, hash=False)
    calls: tuple[Called, ...] = ()
    notes: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    mapped: bool = True
    names: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    withdrawn: Mapping[int, str] = field(default_factory=dict, hash=False)
    draft: Draft | None = None
    basis: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before its citations are checked.

    `text` is None when the judge finds that it cannot answer. `kind` is what the text claims: an answer, or only that
    these sentences are the evidence. `confidence` is the probability that the claim holds, `tier` how far the evidence
    goes by that probability, `gaps` the missing parts. None where the judge has no other than its verdict's. `read` are
    turns that the judge read in the memory beyond the view: they may be cited too.
    """

    text: str | None
    citations: tuple[Citation, ...] = ()
    steps: tuple[str, ...] = ()
    time: TimeSpan | None = None
    reason: str | None = None
    calls: tuple[Called, ...] = ()
    kind: Literal["answer", "quote"] = "answer"
    confidence: float | None = None
    tier: Tier | None = None
    gaps: tuple[Gap, ...] | None = None
    read: tuple[Turn, ...] = ()


def max_shown_characters(turn: Turn) -> int:
    """Return how many characters of a turn are shown at most."""
    return MAX_PERSON_CHARACTERS if turn.role in (None, "user") else MAX_REPLY_CHARACTERS


def is_short_enough_as_neighbour(turn: Turn) -> bool:
    """Whether all of a turn is shown where it stands beside a found one."""
    return len(turn.text) <= MAX_NEIGHBOUR_CHARACTERS and not turn.caption
