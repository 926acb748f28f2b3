"""The judge that needs no model: linear models judge the evidence; dates and own details are answered, the rest quoted.

A verdict says which requirements the evidence supports, what is missing, and how probable it is that the evidence
suffices. What is shown in the end follows from one number, the probability that the claim of the answer holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ..errors import without
from ..extract.rule_extractor import RuleExtractor, conventions_of
from ..flow import Flow
from ..judging.apply_verdict import PARTIAL_CAP, clamp, sufficient
from ..judging.evidence import Draft, Evidence, Manner, Verdict, View
from ..judging.judge import (
    Chosen,
    Considered,
    Decided,
    Explored,
    Move,
    Round,
    Stage,
    own_first,
)
from ..judging.tracker import Requirement
from ..lang.guess import is_english
from ..protocols import Extractor
from ..text.names import NameSearch
from ..times import mentions_time
from ..types.stored import Keyword
from ..types.values import Gap, Tier
from .matching import Match, Matches, match, strength
from .quotation import Extract, Quotation, overview, quote, unsettled, whole
from .short_answers import UNCLEAR, NotStated, ShortAnswer, date_of_event, own_detail
from .signals import SHIPPED, Constants, log_odds, missing, of_another, signals_of

UNPROVEN = "no short answer is proven; these are the sentences to read"
UNSETTLED = "what was said later may have changed it: both are quoted, the newest first"
OVERVIEW = "what was told of it, the newest first"
UNREAD = "quoted, not answered: answers are read from English only"
# What is left of the odds that an answer is right where a later report contradicts the person's own word that it rests
# on. Reasoned, not fitted, as no labelled chat has such an answer: the report may be an error as well as news.
CONTESTED = 0.5
SURE, LIKELY = 0.8, 0.5  # confidence from which what is shown counts as exact, and as inferrable
_BEST = 5  # turns of the evidence whose language is looked at
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
    def explores(self) -> bool:
        """False: a rule that calls tools does not see whether it comes nearer, nor does it answer better with more."""
        return False

    def legible(self, view: View) -> frozenset[str]:
        """Return the ids of all of it."""
        return view.readable

    def judge(self, view: View) -> Flow[Verdict]:
        """Return a verdict; see `judge`. In other languages than English it is never firm."""
        yield from ()
        least = self.constants.abstain_below  # a failure is no abstention
        unjudged = Verdict(Tier.PARTIAL, 0.5, reason="the evidence could not be judged", probability=least)
        verdict = without(unjudged, judge, view, self)
        if is_in_english(view):
            return waiving(verdict, view.tracker.open) if verdict.tier is Tier.EXACT else verdict
        return replace(
            verdict,
            tier=Tier.NONE if verdict.tier is Tier.NONE else Tier.PARTIAL,
            confidence=min(verdict.confidence, PARTIAL_CAP),
        )

    def decide(self, view: View, stage: Stage) -> Flow[Decided]:
        """Answer where the verdict is firm, giving up what is open, else search for what is missing.

        To think about the same evidence again would change nothing.
        """
        verdict = yield from self.judge(view)
        if not firm(verdict, view, stage.number):
            return Decided("retrieve", verdict)
        return Decided("answer", waiving(verdict, view.tracker.open))

    def choose(self, question: str, candidates: Sequence[Keyword], most: int) -> Flow[Chosen]:
        """Return the first keywords, the question's own words before words that only mean nearly the same."""
        yield from ()
        return Chosen(own_first(candidates, most))

    def consider(self, view: View, reading: Round) -> Flow[Considered]:
        """Accept by the verdict alone, without an answer; its witnesses and the turns that match best are critical."""
        verdict = yield from self.judge(view)
        best = [] if verdict.tier is Tier.NONE else [m.unit.turn.id for m in match(view).ranked if m.shown]
        witnesses = (turn_id for ids in verdict.supported.values() for turn_id in ids)
        kept = tuple(dict.fromkeys((*reading.critical, *best[:_WITNESSES], *witnesses)))
        return Considered(verdict, "", kept, firm(verdict, view, reading.number), view.readable)

    def explore(self, view: View, explored: Explored) -> Flow[Move]:
        """Return a move without a call: it does not explore."""
        return Move((yield from self.judge(view)))

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """Return a short answer or, in other languages than English always, a quotation; whatever the manner."""
        yield from ()
        return without(None, choose, view, verdict, self) or unread(view)

    def signals(self, view: View, matches: Matches) -> dict[str, float]:
        """Return the signals of a view that its numbers are fitted over."""
        return signals_of(view, matches)


def firm(verdict: Verdict, view: View, number: int) -> bool:
    """Whether a verdict ends a search of IRIS (E9), after the clamps for questions about time (E8).

    What must be inferred from the few turns of step 1 is searched for once more.
    """
    final = clamp(verdict, temporal=view.analysis.temporal, entities={})
    early = final.tier is not Tier.EXACT and number == 1
    return not early and sufficient(final.tier, final.confidence, temporal=view.analysis.temporal)


def waiving(verdict: Verdict, needs: Sequence[Requirement]) -> Verdict:
    """Return a verdict that gives up what it does not support, with the reason (M5): by its probability it suffices."""
    given_up = {need.id: "the evidence suffices without it" for need in needs if need.id not in verdict.supported}
    return replace(verdict, waived={**given_up, **verdict.waived})


def judge(view: View, by: OfflineJudge) -> Verdict:
    """Judge the shown evidence: requirements, gaps, and two probabilities.

    The verdict's confidence is the probability that the view holds all that an answer needs; its probability is that
    the memory answers the question at all.
    """
    matches, constants = match(view), by.constants
    if not matches.ranked:
        gaps = tuple(need.gap for need in view.tracker.open)
        return Verdict(Tier.NONE, 0.0, gaps=gaps, reason="nothing was found", probability=0.0)
    short = stated(view, by.extractor)
    not_stated = short if isinstance(short, NotStated) else UNCLEAR
    told = float(isinstance(short, ShortAnswer)) - float(bool(not_stated.gap))
    found = quoted(view, constants)
    likely = {"likely": found.likely, "other": of_another(view, matches, found.best)} if found is not None else {}
    signals = {**without({}, by.signals, view, matches), "stated": told, **likely}
    score = constants.score(signals)
    answerable = constants.calibrated(score)
    if short == UNCLEAR or without((), overview, view):
        answerable = max(answerable, constants.abstain_below)  # what may answer is quoted
    sufficient = constants.sufficient.probability(signals)
    doubtful = answerable < constants.abstain_below
    own = sorted((m for m in matches.ranked if m.shown and m.own >= _ABOUT), key=lambda m: -strength(m))
    supported = {need.id: _witnesses(need, view, own[:_CANDIDATES]) for need in view.tracker.requirements}
    other = _other_person(view, matches) if doubtful else None
    if other is not None:
        supported.pop(f"attribution:{matches.target}", None)
    supported = {name: witnesses for name, witnesses in supported.items() if witnesses}
    open_needs = (need for need in view.tracker.open if need.id not in supported)
    gaps = tuple(need.gap for need in open_needs if need.kind != "attribution")
    why = ""
    if doubtful and other is not None:
        why = f"the evidence is about {other}, not {matches.target}"
    elif doubtful:
        why = not_stated.gap or _reason(matches, own[0] if own else None)
        gaps = (Gap("attribute", matches.target or "", why), *gaps) if not_stated.gap else gaps
    if isinstance(short, ShortAnswer) and short.conflict is not None:
        gaps = (*gaps, short.conflict.gap)
    query = short.query if short is not None and view.iteration == 1 else ""
    tier = Tier.PARTIAL
    if not (doubtful or query) and sufficient >= constants.inferrable:
        tier = Tier.EXACT if sufficient >= constants.exact else Tier.INFERRABLE
    return Verdict(
        tier=tier,
        confidence=sufficient,
        supported=supported,
        gaps=gaps,
        query=query,
        reason=why,
        probability=answerable,
        signals={**signals, "score": score},
    )


def stated(view: View, extractor: Extractor) -> ShortAnswer | NotStated | None:
    """Return the short answer that the shown evidence states, kept in the view's memo for the answer after a check.

    The rules that read it are English: they read no question and no evidence in another language.
    """

    def read() -> ShortAnswer | NotStated | None:
        if not is_in_english(view):
            return None
        own = without(None, own_detail, view)
        if own is not None and own != UNCLEAR:
            return own
        return without(None, date_of_event, view, match(view), conventions_of(extractor)) or own

    return view.kept_at_check("short", read)


def quoted(view: View, constants: Constants) -> Quotation | None:
    """Return the sentences to read for an answer, kept like what is stated."""
    return view.kept_at_check("quoted", lambda: quote(view, match(view), constants.likely))


def choose(view: View, verdict: Verdict, by: OfflineJudge) -> Draft:
    """Answer shortly or quote. `verdict` gives the probability that the memory holds an answer, and the signals."""
    constants, short, later = by.constants, stated(view, by.extractor), tuple[Extract, ...]()
    if isinstance(short, ShortAnswer):
        later = unsettled(view, short)
        right = constants.right
        if short.conflict is not None:
            right = CONTESTED * right / (1 - right + CONTESTED * right)
        if not later:
            draft = Draft(short.text, short.citations, short.steps, short.time, confidence=right)
            if short.conflict is None:
                return replace(draft, tier=_sure(right), gaps=())
            cited = (*short.citations, *short.conflict.citations)
            return replace(draft, citations=cited, tier=Tier.PARTIAL, gaps=(short.conflict.gap,))
    found = quoted(view, constants)
    if found is None:
        return Draft(None, reason="no sentence of the evidence bears on the question")
    told = log_odds(verdict.confidence if verdict.probability is None else verdict.probability)
    holds = constants.holds.probability({**verdict.signals, "told": told})
    english = is_in_english(view)
    if told_of := overview(view):
        extracts, reason = told_of, OVERVIEW
    elif later:
        extracts, reason = later, UNSETTLED
    else:
        extracts, reason = found.extracts, UNPROVEN if english else UNREAD
    tier = _sure(holds) if english else Tier.PARTIAL
    gaps = verdict.gaps or (Gap("attribute", "", _reason(match(view), found.best)),) if tier is Tier.PARTIAL else ()
    text, cited = "\n".join(one.line for one in extracts), tuple(one.citation for one in extracts)
    return Draft(text, cited, reason=reason, kind="quote", confidence=holds, tier=tier, gaps=gaps)


def unread(view: View) -> Draft:
    """Quote the turn that search found best, where nothing more can be read: a failure is no abstention."""
    best = next((item.turn for item in view.evidence if item.turn.text.strip()), None)
    if best is None:
        return Draft(None, reason="no turn of the evidence has words")
    extract = whole(best)
    reason = "the evidence could not be read: this was found first"
    return Draft(extract.line, (extract.citation,), reason=reason, kind="quote")


def is_in_english(view: View) -> bool:
    """Return whether the question and most of the best evidence may be read by English rules."""

    def read() -> bool:
        best = [bool(without(None, is_english, item.turn.text)) for item in view.evidence[:_BEST]]
        return bool(without(None, is_english, view.analysis.question)) and 2 * sum(best) >= len(best)

    return view.kept_at_check("english", read)


def _sure(confidence: float) -> Tier:
    """Return the tier that goes with the probability that a claim holds."""
    return Tier.EXACT if confidence >= SURE else Tier.INFERRABLE if confidence >= LIKELY else Tier.PARTIAL


def _witnesses(need: Requirement, view: View, own: Sequence[Match]) -> tuple[str, ...]:
    """Return the turns that support a requirement."""
    if need.kind == "entity":  # a turn is read once for all names and checks of a question
        turns = [item.turn for item in view.shown]
        search = {turn.id: partial(NameSearch, f"{turn.speaker} {turn.text}") for turn in turns}
        ids = [turn.id for turn in turns if view.kept(("names", turn.id), search[turn.id]).finds(need.about)]
    elif need.id == "when":
        ids = [item.turn.id for item in view.shown if _within(view, item)]
    elif need.kind == "time":
        ids = [m.unit.turn.id for m in own if mentions_time(m.unit.turn.text)]
    elif need.kind == "attribution":
        ids = [m.unit.turn.id for m in own if m.own > m.other]
    else:
        ids = [m.unit.turn.id for m in own if m.coverage > 0 and not m.unit.asks]
    return tuple(dict.fromkeys(ids))[:_WITNESSES]


def _within(view: View, item: Evidence) -> bool:
    """Return whether a turn was said, or has an event, in a time that the question names."""
    moments = [(item.turn.time, item.turn.time)]
    moments += [(f.event.start, f.event.end) for f in item.facts if f.event and f.event.start and f.event.end]
    spans = [(span.start, span.end) for span in view.analysis.times if span.start and span.end]
    return any(start < until and since <= end for start, end in moments for since, until in spans)


def _other_person(view: View, matches: Matches) -> str | None:
    """Return who the best evidence is about when it is not the target: of what the question itself found at first."""
    if matches.target is None:
        return None
    first = {item.turn.id for item in view.evidence if item.iteration == 1 or item.path == "keyword"}
    first |= {turn.id for turn_id in first for turn in view.context.get(turn_id, ())}
    weighed = [m for m in matches.ranked if m.unit.turn.id in first] or matches.ranked
    if max(m.score * m.own for m in weighed) >= max(m.score * m.other for m in weighed):
        return None
    best = max(matches.ranked, key=lambda m: m.score * m.other)
    asked = set(matches.analysis.asked) or {matches.target}
    others = {name: weight for name, weight in best.unit.about.items() if name not in asked and weight > 0}
    return max(others, key=lambda name: others[name], default=None)


def _reason(matches: Matches, best: Match | None) -> str:
    """Return what of the question the best sentence does not say."""
    about = f" about {matches.target}" if matches.target else ""
    absent = missing(matches, best)[:2] if best else tuple(matches.weights)[:2]
    return f"nothing{about} says: {', '.join(absent)}" if absent else f"too little is said{about}"
