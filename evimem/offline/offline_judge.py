"""The judge that needs no model: linear models judge the evidence, and its best lines are quoted.

A verdict says which requirements the evidence supports, what is missing, and how probable it is that anything near the
question was told. Nothing is concluded: a rule cannot know that a statement still holds, so that no verdict is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ..errors import or_else
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
from ..text.terms import words
from ..times import mentions_time
from ..types.stored import Keyword
from ..types.values import Gap, Tier
from .matching import Match, Matches, match, strength
from .quotation import LikelyTurns, QuotedLine, likely_turns, overview, quote, whole, without_repeats
from .signals import SHIPPED, Constants, log_odds, of_another, signals_of

QUOTED = "these are the lines to read; without a model nothing is concluded from them"
OVERVIEW = "what was told of it, the newest first"
UNREAD = "quoted as it was found: rules read English only"
ABSENT_FROM = 0.75  # share of the words of a question, by weight, that nothing found has, from which it may be refused
LIKELY = 0.5  # confidence from which what is shown counts as inferrable
_BEST = 5  # turns of the evidence whose language is looked at
_CANDIDATES = 5  # sentences that may be witnesses
_WITNESSES = 3
_ABOUT = 0.5  # how far a witness must be about the target
_NAMED_WORDS = 3  # words of a question that a refusal names


@dataclass(frozen=True, slots=True)
class OfflineJudge:
    """Judges and quotes by computation alone; its flows yield no effects.

    `constants` are the fitted numbers. `extractor` is that of the memory: its `weekday` convention, if it has one,
    resolves "last Friday" beside a quoted line.
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
        """Return a verdict; see `judge`. In other languages than English it is partial at most."""
        yield from ()
        view = without_repeats(view)
        least = self.constants.abstain_below  # a failure is no abstention
        unjudged = Verdict(Tier.PARTIAL, 0.5, reason="the evidence could not be judged", probability=least)
        verdict = or_else(unjudged, judge, view, self)
        if is_in_english(view):
            certain = verdict.confidence >= self.constants.exact and verdict.tier in {Tier.EXACT, Tier.INFERRABLE}
            return waiving(verdict, view.tracker.open) if certain else verdict
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
        if not firm(verdict, view, stage.number, self.constants.exact):
            return Decided("retrieve", verdict)
        return Decided("answer", waiving(verdict, view.tracker.open))

    def choose(self, question: str, candidates: Sequence[Keyword], most: int) -> Flow[Chosen]:
        """Return the first keywords, the question's own words before words that only mean nearly the same."""
        yield from ()
        return Chosen(own_first(candidates, most))

    def consider(self, view: View, reading: Round) -> Flow[Considered]:
        """Accept by the verdict alone, without an answer; its witnesses and the turns that match best are critical."""
        view = without_repeats(view)
        verdict = yield from self.judge(view)
        best = [] if verdict.tier is Tier.NONE else [m.unit.turn.id for m in match(view).ranked if m.shown]
        witnesses = (turn_id for ids in verdict.supported.values() for turn_id in ids)
        kept = tuple(dict.fromkeys((*reading.critical, *best[:_WITNESSES], *witnesses)))
        return Considered(verdict, "", kept, firm(verdict, view, reading.number, self.constants.exact), view.readable)

    def explore(self, view: View, explored: Explored) -> Flow[Move]:
        """Return a move without a call: it does not explore."""
        return Move((yield from self.judge(view)))

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """Return a quotation, whatever the manner."""
        yield from ()
        view = without_repeats(view)
        return or_else(None, choose, view, verdict, self) or unread(view)

    def signals(self, view: View, matches: Matches) -> dict[str, float]:
        """Return the signals of a view that its numbers are fitted over."""
        return signals_of(view, matches)


def firm(verdict: Verdict, view: View, number: int, exact: float = SHIPPED.exact) -> bool:
    """Whether a verdict ends a search, after the clamps for questions about time (E8, E9).

    After the few turns of step 1 it does only from the probability `exact` on that they are all of the evidence.
    """
    final = clamp(verdict, temporal=view.analysis.temporal, entities={})
    early = final.tier is not Tier.EXACT and verdict.confidence < exact and number == 1
    return not early and sufficient(final.tier, final.confidence, temporal=view.analysis.temporal)


def waiving(verdict: Verdict, needs: Sequence[Requirement]) -> Verdict:
    """Return a verdict that gives up what it does not support, with the reason (M5): by its probability it suffices."""
    given_up = {need.id: "the evidence suffices without it" for need in needs if need.id not in verdict.supported}
    return replace(verdict, waived={**given_up, **verdict.waived})


def judge(view: View, by: OfflineJudge) -> Verdict:
    """Judge the shown evidence: requirements, gaps, and two probabilities.

    The verdict's confidence is the probability that the view holds all that an answer needs; its probability is that
    anything near the question was told. It is exact in variants to the letter of a paper alone.
    """
    matches, constants = match(view), by.constants
    if not matches.ranked:
        gaps = tuple(need.gap for need in view.tracker.open)
        return Verdict(Tier.NONE, 0.0, gaps=gaps, reason=nothing_about(matches), probability=0.0)
    found = likely(view, by)
    ranked = {"likely": found.mean, "other": of_another(view, matches, found.first)} if found is not None else {}
    measured = or_else(None, by.signals, view, matches)
    signals = {**(measured or {}), **ranked}
    score = constants.score(signals)
    spoken_of = constants.calibrated(score)
    may_refuse = measured is not None and measured["absent"] >= ABSENT_FROM  # a failure is no abstention
    if not may_refuse or or_else((), overview, view):
        spoken_of = max(spoken_of, constants.abstain_below)
    sufficient = constants.sufficient.probability(signals)
    doubtful = spoken_of < constants.abstain_below
    own = sorted((m for m in matches.ranked if m.shown and m.own >= _ABOUT), key=lambda m: -strength(m))
    supported = {need.id: _witnesses(need, view, own[:_CANDIDATES]) for need in view.tracker.requirements}
    supported = {name: witnesses for name, witnesses in supported.items() if witnesses}
    open_needs = (need for need in view.tracker.open if need.id not in supported)
    tier = Tier.PARTIAL
    if not doubtful and sufficient >= constants.inferrable:
        to_the_letter = view.variant.delta == "paper" and sufficient >= constants.exact
        tier = Tier.EXACT if to_the_letter else Tier.INFERRABLE
    return Verdict(
        tier=tier,
        confidence=sufficient,
        supported=supported,
        gaps=tuple(need.gap for need in open_needs if need.kind != "attribution"),
        reason=nothing_about(matches) if doubtful else "",
        probability=spoken_of,
        signals={**signals, "score": score},
    )


def likely(view: View, by: OfflineJudge) -> LikelyTurns | None:
    """Return the turns that most probably hold the answer, kept in the view's memo for the answer after a check."""
    return view.kept_at_check("likely", lambda: likely_turns(view, match(view), by.constants.likely))


def choose(view: View, verdict: Verdict, by: OfflineJudge) -> Draft:
    """Quote the lines to read. `verdict` gives the probability that anything near was told, and the signals."""
    found = likely(view, by)
    if found is None:
        return Draft(None, reason=nothing_about(match(view)))
    told = log_odds(verdict.confidence if verdict.probability is None else verdict.probability)
    holds = by.constants.holds.probability({**verdict.signals, "told": told})
    english = is_in_english(view)
    tier = Tier.INFERRABLE if english and holds >= LIKELY else Tier.PARTIAL
    gaps = (verdict.gaps or (_unclear(match(view)),)) if tier is Tier.PARTIAL else ()
    draft = Draft("", kind="quote", confidence=holds, tier=tier, gaps=gaps)
    if told_of := overview(view):
        return _draft(told_of, replace(draft, reason=OVERVIEW))
    quotation = quote(view, found, conventions_of(by.extractor))
    return _draft(quotation.lines, replace(draft, reason=QUOTED if english else UNREAD, read=quotation.read))


def _draft(lines: Sequence[QuotedLine], draft: Draft) -> Draft:
    cited = dict.fromkeys(one.citation for line in lines for one in line.extracts)
    return replace(draft, text="\n".join(line.text for line in lines), citations=tuple(cited))


def nothing_about(matches: Matches) -> str:
    """Return the reason of a refusal: of which names and words of the question nothing was found."""
    absent = matches.absent
    named = tuple(name for name in matches.analysis.entities if not set(words(name)).isdisjoint(absent))
    others = (word for word in absent if word not in " ".join(named).casefold())
    about = (*named, *others)[:_NAMED_WORDS] or (matches.analysis.question,)
    return f"nothing found about {', '.join(about)}"


def _unclear(matches: Matches) -> Gap:
    """Return the gap of lines that may not hold the answer."""
    return Gap("attribute", matches.target or "", "the lines may not hold the answer")


def unread(view: View) -> Draft:
    """Quote the turn that search found best, where nothing more can be read: a failure is no abstention."""
    best = next((item.turn for item in view.evidence if item.turn.text.strip()), None)
    if best is None:
        return Draft(None, reason="no turn of the evidence has words")
    reason = "the evidence could not be read: this was found first"
    return _draft([QuotedLine((whole(best),))], Draft("", reason=reason, kind="quote", tier=Tier.PARTIAL))


def is_in_english(view: View) -> bool:
    """Return whether the question and most of the best evidence may be read by English rules."""

    def read() -> bool:
        best = [bool(or_else(None, is_english, item.turn.text)) for item in view.evidence[:_BEST]]
        return bool(or_else(None, is_english, view.analysis.question)) and 2 * sum(best) >= len(best)

    return view.kept_at_check("english", read)


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
