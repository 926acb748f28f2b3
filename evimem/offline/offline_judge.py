"""The judge that needs no model: rules and linear models judge the evidence, an extractive reader answers.

A verdict says which requirements the evidence supports, what is missing, and how probable it is that the evidence
suffices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..extract import RuleExtractor
from ..flow import Flow
from ..judging.decision import Decided, Stage, decide_by, waiving
from ..judging.evidence import Draft, Manner, Verdict, View
from ..judging.exploring import Explored, Move
from ..judging.reading import Chosen, Considered, Round, consider_by, own_first
from ..judging.tracker import Requirement
from ..protocols import Extractor
from ..text.names import NameSearch
from ..times import mentions_time
from ..types.attempt import without
from ..types.stored import Keyword
from ..types.values import Gap, GapKind, Tier, Turn
from .choose_answer import choose, claim_signals, proven, quoted, unread
from .constants import SHIPPED, Constants
from .match_sentences import Match, Matches, match, strength
from .other_languages import is_in_english, unsure
from .signals import altered, in_words, missing, of_another, signals_of
from .verified import NotStated, ShortAnswer

_CANDIDATES = 5  # sentences that may be witnesses
_WITNESSES = 3
_ABOUT = 0.5  # how far a witness must be about the target


@dataclass(frozen=True, slots=True)
class OfflineJudge:
    """Judges and answers by computation alone; its flows yield no effects.

    It answers shortly what is proven and quotes the rest. `constants` are the fitted numbers. `extractor` is that of
    the memory: it reads turns next to the evidence whose facts were not fetched, and its `weekday` convention, if it
    has one, resolves "last Friday" in answers.
    """

    constants: Constants = SHIPPED
    name: str = "offline"
    extractor: Extractor = field(default_factory=RuleExtractor, compare=False, repr=False)

    @property
    def abstain_below(self) -> float:
        """The probability below which no answer is given."""
        return self.constants.abstain_below

    @property
    def reads_on(self) -> bool:
        """False: its constants were fitted on what edges lead to as well, and it gives no better answers with more."""
        return False

    @property
    def explores(self) -> bool:
        """False: a rule that calls tools does not see whether it comes nearer to what is asked."""
        return False

    def legible(self, view: View) -> frozenset[str]:
        """Return the ids of all of it."""
        return view.readable

    def judge(self, view: View) -> Flow[Verdict]:
        """Return a verdict; see `judge`. In other languages than English it is never firm."""
        yield from ()
        least = self.constants.abstain_below  # a failure is no abstention
        unjudged = Verdict(Tier.PARTIAL, 0.5, reason="the evidence could not be judged", probability=least)
        verdict = without(unjudged, judge, view, self.constants, self.extractor)
        if not is_in_english(view):
            return unsure(verdict)
        return waiving(verdict, view.tracker.open) if verdict.tier is Tier.EXACT else verdict

    def decide(self, view: View, stage: Stage) -> Flow[Decided]:
        """Return what follows from the verdict: to think about the same evidence again would change nothing."""
        return decide_by((yield from self.judge(view)), view, stage)

    def choose(self, question: str, candidates: Sequence[Keyword], most: int) -> Flow[Chosen]:
        """Return the first keywords, the question's own words before words that only mean nearly the same."""
        yield from ()
        return Chosen(own_first(candidates, most))

    def consider(self, view: View, reading: Round) -> Flow[Considered]:
        """Return what follows from the verdict; what supports a requirement, or matches best, is critical."""
        verdict = yield from self.judge(view)
        best = [] if verdict.tier is Tier.NONE else [m.unit.turn.id for m in match(view).ranked if m.shown]
        return consider_by(verdict, view, reading, best[:_WITNESSES])

    def explore(self, view: View, explored: Explored) -> Flow[Move]:
        """Return a move without a call: it does not explore."""
        return Move((yield from self.judge(view)))

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """Return a short answer or, in other languages than English always, a quotation; whatever the manner."""
        yield from ()
        return without(None, choose, view, verdict, self.constants, self.extractor) or unread(view)


def judge(view: View, constants: Constants, extractor: Extractor) -> Verdict:
    """Judge the shown evidence: requirements, gaps, and two probabilities.

    The verdict's confidence is the probability that the view holds all that an answer needs; its probability is that
    the memory answers the question at all.
    """
    matches = match(view)
    if not matches.ranked:
        gaps = tuple(need.gap for need in view.tracker.open)
        return Verdict(Tier.NONE, 0.0, gaps=gaps, reason="nothing was found", probability=0.0)
    short = proven(view, extractor)
    not_stated = short if isinstance(short, NotStated) else NotStated("")
    stated = float(isinstance(short, ShortAnswer)) - float(isinstance(short, NotStated))
    found = quoted(view, constants, extractor)
    likely = {"likely": found.likely, "other": of_another(view, matches, found.best)} if found is not None else {}
    signals = {**without({}, signals_of, view, matches), "stated": stated, **likely, **claim_signals(short)}
    score = constants.score(signals)
    answerable = constants.calibrated(score)
    sufficient = constants.sufficient.probability(signals)
    own = sorted((m for m in matches.ranked if m.shown and m.own >= _ABOUT), key=lambda m: -strength(m))
    supported = _supported(view, own[:_CANDIDATES])
    doubtful = answerable < constants.abstain_below
    other = _other_person(matches, signals) if doubtful else None
    if other is not None:
        supported.pop(f"attribution:{matches.target}", None)
    certain = answerable < constants.misattributed
    why = _contradiction(view, matches, signals, other, not_stated.gap) if doubtful else None
    query = short.query if short is not None and view.iteration == 1 else ""
    gaps = _gaps(view, supported)
    if why is not None and (certain or why == not_stated.gap):
        kind: GapKind = "attribution" if other is not None else "attribute" if why == not_stated.gap else "contradicted"
        gaps = (Gap(kind, matches.target or "", why), *gaps)
    if isinstance(short, ShortAnswer) and short.conflict is not None:
        gaps = (*gaps, short.conflict.gap)
    return Verdict(
        tier=Tier.NONE if certain and why is None else _tier(sufficient, constants, doubtful=doubtful or bool(query)),
        confidence=sufficient,
        supported=supported,
        gaps=gaps,
        query=query,
        reason=(why or _reason(matches, own)) if doubtful else "",
        probability=answerable,
        signals={**signals, "score": score},
    )


def _tier(sufficient: float, constants: Constants, *, doubtful: bool) -> Tier:
    if doubtful or sufficient < constants.inferrable:
        return Tier.PARTIAL
    return Tier.EXACT if sufficient >= constants.exact else Tier.INFERRABLE


def _supported(view: View, own: Sequence[Match]) -> dict[str, tuple[str, ...]]:
    found = {need.id: _witnesses(need, view, own) for need in view.tracker.requirements}
    return {name: witnesses for name, witnesses in found.items() if witnesses}


def _witnesses(need: Requirement, view: View, own: Sequence[Match]) -> tuple[str, ...]:
    """Return the turns that support a requirement."""
    if need.kind == "entity":
        ids = [item.turn.id for item in view.shown if _names(view, item.turn, need.about)]
    elif need.id == "when":
        ids = [i.turn.id for i in view.shown if _within(view, i.turn.id)]
    elif need.kind == "time":
        ids = [m.unit.turn.id for m in own if mentions_time(m.unit.turn.text)]
    elif need.kind == "attribution":
        ids = [m.unit.turn.id for m in own if m.own > m.other]
    else:
        ids = [m.unit.turn.id for m in own if m.coverage > 0 and not m.unit.asks]
    return tuple(dict.fromkeys(ids))[:_WITNESSES]


def _names(view: View, turn: Turn, entity: str) -> bool:
    """Return whether a turn names an entity; the turn is read once for all names and checks of a question."""
    read = view.kept(("names", turn.id), lambda: NameSearch(f"{turn.speaker} {turn.text}"))
    return read.finds(entity)


def _within(view: View, turn_id: str) -> bool:
    """Return whether a turn was said, or has an event, in a time that the question names."""
    item = next(item for item in view.shown if item.turn.id == turn_id)
    moments = [(item.turn.time, item.turn.time)]
    moments += [(f.event.start, f.event.end) for f in item.facts if f.event and f.event.start and f.event.end]
    spans = [(span.start, span.end) for span in view.analysis.times if span.start and span.end]
    return any(start < until and since <= end for start, end in moments for since, until in spans)


def _other_person(matches: Matches, signals: Mapping[str, float]) -> str | None:
    """Return who the best evidence is about when it is not the target."""
    if matches.target is None or signals.get("gap_best", 0.0) >= 0:
        return None
    best = max(matches.ranked, key=lambda m: m.score * m.other)
    asked = set(matches.analysis.asked) or {matches.target}
    others = {name: weight for name, weight in best.unit.about.items() if name not in asked and weight > 0}
    return max(others, key=lambda name: others[name], default=None)


def _gaps(view: View, supported: Mapping[str, tuple[str, ...]]) -> tuple[Gap, ...]:
    open_needs = [need for need in view.tracker.open if need.id not in supported]
    return tuple(need.gap for need in open_needs if need.kind != "attribution")


def _contradiction(
    view: View, matches: Matches, signals: Mapping[str, float], other: str | None, not_stated: str
) -> str | None:
    """Return what the question presupposes and the evidence contradicts: the person, the attribute, or a word."""
    if other is not None:
        return f"the evidence is about {other}, not {matches.target}"
    if not_stated:
        return not_stated
    return in_words(altered(view, matches)[0]) if signals["altered"] else None


def _reason(matches: Matches, own: Sequence[Match]) -> str:
    about = f" about {matches.target}" if matches.target else ""
    absent = missing(matches, own[0])[:2] if own else tuple(matches.weights)[:2]
    return f"nothing{about} says: {', '.join(absent)}" if absent else f"too little is said{about}"
