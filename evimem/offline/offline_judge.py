"""The judge that needs no model: linear models judge the evidence, and its best lines are quoted.

A verdict lists the requirements that the evidence supports, the gaps, and the probability that anything near the
question was told. Nothing is concluded: a rule cannot know that a statement still holds, so that no verdict is exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..errors import or_else
from ..extract.rule_extractor import RuleExtractor, extractor_conventions
from ..flow import Flow
from ..judging.apply_verdict import PARTIAL_CAP, clamp, is_sufficient
from ..judging.evidence import Draft, Evidence, Manner, Verdict, View
from ..judging.judge import (
    Chosen,
    Considered,
    Decided,
    Explored,
    Move,
    Round,
    Stage,
    question_words_first,
)
from ..judging.tracker import Requirement
from ..lang.guess import is_english
from ..protocols import Extractor
from ..text.names import contains_name
from ..text.terms import words
from ..times import mentions_time
from ..types.stored import Keyword
from ..types.values import Gap, Tier
from .matching import Match, Matches, match_sentences, strength
from .quotation import LikelyTurns, QuotedLine, likely_turns, quote, quote_overview, quote_turn, without_repeats
from .signals import SHIPPED, Constants, log_odds, rate_other_owner, signals_of

QUOTE_REASON = "these are the lines to read; without a model nothing is concluded from them"
OVERVIEW_REASON = "what was told of it, the newest first"
UNREAD_REASON = "quoted as it was found: rules read English only"
MIN_REFUSAL_ABSENT_SHARE = 0.75  # share of a question's words, by weight, that must be absent
MIN_INFERRABLE_CONFIDENCE = 0.5  # below it a quotation is partial
_LANGUAGE_TURNS = 5  # best turns whose language is guessed
_MAX_CANDIDATES = 5  # sentences that may be witnesses of a requirement
_MAX_WITNESSES = 3
_MIN_WITNESS_OWNERSHIP = 0.5  # weight (0 to 1) by which a witness must be about the target
_MAX_REASON_WORDS = 3


@dataclass(frozen=True, slots=True)
class Basis:
    """The reading of the evidence that a verdict rests on: the turns that were read, by id, and what they may hold."""

    turns: tuple[str, ...]
    matches: Matches
    likely: LikelyTurns | None


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
    def uses_model(self) -> bool:
        """False: rules cannot choose tools, nor do they answer better with more evidence."""
        return False

    def fit_page(self, view: View) -> View:
        """Return the view: rules have no page to fit."""
        return view

    def judge(self, view: View) -> Flow[Verdict]:
        """Return a verdict; see `judge_view`. In other languages than English it is partial at most."""
        yield from ()
        view = without_repeats(view)
        least = self.constants.abstain_below  # a failure is no abstention
        unjudged = Verdict(Tier.PARTIAL, 0.5, reason="the evidence could not be judged", probability=least)
        verdict = or_else(unjudged, judge_view, view, self)
        if is_in_english(view):
            certain = verdict.confidence >= self.constants.exact and verdict.tier in {Tier.EXACT, Tier.INFERRABLE}
            return with_waivers(verdict, view.tracker.open) if certain else verdict
        return replace(
            verdict,
            tier=Tier.NONE if verdict.tier is Tier.NONE else Tier.PARTIAL,
            confidence=min(verdict.confidence, PARTIAL_CAP),
        )

    def decide(self, view: View, stage: Stage) -> Flow[Decided]:
        """Answer where the verdict is decisive, waiving open requirements, else search for the gaps.

        Rules never reflect: the same evidence gives the same verdict.
        """
        verdict = yield from self.judge(view)
        if not is_decisive(verdict, view, stage.number, self.constants.exact):
            return Decided("retrieve", verdict)
        return Decided("answer", with_waivers(verdict, view.tracker.open))

    def choose(self, question: str, candidates: Sequence[Keyword], most: int) -> Flow[Chosen]:
        """Return the first keywords, the question's own words before related words."""
        yield from ()
        return Chosen(question_words_first(candidates, most))

    def consider(self, view: View, reading: Round) -> Flow[Considered]:
        """Accept by the verdict alone, without an answer; its witnesses and the turns that match best are critical."""
        view = without_repeats(view)
        verdict = yield from self.judge(view)
        ranked = () if verdict.tier is Tier.NONE else basis_of(verdict, view, self).matches.ranked
        best = [match.unit.turn.id for match in ranked if match.shown]
        witnesses = (turn_id for ids in verdict.supported.values() for turn_id in ids)
        kept = tuple(dict.fromkeys((*reading.critical, *best[:_MAX_WITNESSES], *witnesses)))
        accepted = is_decisive(verdict, view, reading.number, self.constants.exact)
        return Considered(verdict, "", kept, accepted, view.readable)

    def explore(self, view: View, explored: Explored) -> Flow[Move]:
        """Return a move without calls: rules do not explore."""
        return Move((yield from self.judge(view)))

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """Return a quotation, whatever the manner."""
        yield from ()
        view = without_repeats(view)
        return or_else(None, quote_likely_turns, view, verdict, self) or quote_best_turn(view)

    def signals(self, view: View, matches: Matches) -> dict[str, float]:
        """Return the signals that the models are fitted over."""
        return signals_of(view, matches)


def is_decisive(verdict: Verdict, view: View, number: int, exact: float = SHIPPED.exact) -> bool:
    """Return whether a verdict ends a search, after the clamps for questions about time (E8, E9).

    In the first iteration it does so only where they are all of the evidence with the probability `exact`.
    """
    final = clamp(verdict, temporal=view.analysis.temporal, entities={})
    early = final.tier is not Tier.EXACT and verdict.confidence < exact and number == 1
    return not early and is_sufficient(final.tier, final.confidence, temporal=view.analysis.temporal)


def with_waivers(verdict: Verdict, needs: Sequence[Requirement]) -> Verdict:
    """Return a verdict whose unsupported requirements are waived (M5): by its probability it suffices."""
    given_up = {need.id: "the evidence suffices without it" for need in needs if need.id not in verdict.supported}
    return replace(verdict, waived={**given_up, **verdict.waived})


def judge_view(view: View, by: OfflineJudge) -> Verdict:
    """Judge the shown evidence: requirements, gaps, and two probabilities.

    `confidence` is the probability that the view holds all that an answer needs, `probability` that anything near the
    question was told. Only variants that follow a paper to the letter get an exact verdict.
    """
    basis, constants = read_evidence(view, by), by.constants
    matches, found = basis.matches, basis.likely
    if not matches.ranked:
        gaps = tuple(need.gap for need in view.tracker.open)
        return Verdict(Tier.NONE, 0.0, gaps=gaps, reason=abstention_reason(matches), probability=0.0, basis=basis)
    measured = or_else(None, by.signals, view, matches)
    likely = {} if found is None else {"likely": found.mean, "other": rate_other_owner(view, matches, found.first)}
    signals = {**(measured or {}), **likely}
    score = constants.score(signals)
    told, sufficient = told_probability(view, measured, score, constants), constants.sufficient.probability(signals)
    doubtful = told < constants.abstain_below
    tier = Tier.PARTIAL
    if not doubtful and sufficient >= constants.inferrable:
        to_the_letter = view.variant.delta == "paper" and sufficient >= constants.exact
        tier = Tier.EXACT if to_the_letter else Tier.INFERRABLE
    supported = find_witnesses(view, matches)
    missing = (need for need in view.tracker.open if need.id not in supported and need.kind != "attribution")
    return Verdict(
        tier=tier,
        confidence=sufficient,
        supported=supported,
        gaps=tuple(need.gap for need in missing),
        reason=abstention_reason(matches) if doubtful else "",
        probability=told,
        signals={**signals, "score": score},
        basis=basis,
    )


def told_probability(view: View, measured: Mapping[str, float] | None, score: float, constants: Constants) -> float:
    """Return the probability that anything near the question was told, at least the threshold where none may refuse.

    A failure is no abstention. A threshold of the user's own refuses by itself; the shipped one only absent words.
    """
    told = constants.calibrated(score)
    is_own = constants.calibrated is not SHIPPED.calibrated
    may_refuse = measured is not None and (is_own or measured["absent"] >= MIN_REFUSAL_ABSENT_SHARE)
    return told if may_refuse and not or_else((), quote_overview, view) else max(told, constants.abstain_below)


def find_witnesses(view: View, matches: Matches) -> dict[str, tuple[str, ...]]:
    """Return the ids of the turns that support each requirement that is supported, by its id."""
    own = sorted((m for m in matches.ranked if m.shown and m.own >= _MIN_WITNESS_OWNERSHIP), key=lambda m: -strength(m))
    found = {need.id: _witnesses(need, view, own[:_MAX_CANDIDATES]) for need in view.tracker.requirements}
    return {name: witnesses for name, witnesses in found.items() if witnesses}


def read_evidence(view: View, by: OfflineJudge) -> Basis:
    """Read the shown evidence; what the check before has read is not read again."""
    before = view.before.basis if view.before is not None else None
    matches = match_sentences(view, before.matches if isinstance(before, Basis) else None)
    return Basis(view.shown_ids, matches, likely_turns(view, matches, by.constants.likely))


def basis_of(verdict: Verdict, view: View, by: OfflineJudge) -> Basis:
    """Return the basis of a verdict; read the view where the verdict is another judge's, or turns have gone since."""
    basis = verdict.basis
    return basis if isinstance(basis, Basis) and basis.turns == view.shown_ids else read_evidence(view, by)


def quote_likely_turns(view: View, verdict: Verdict, by: OfflineJudge) -> Draft:
    """Quote the lines to read. `verdict` gives the probability that anything near was told, and the signals."""
    basis = basis_of(verdict, view, by)
    if basis.likely is None:
        return Draft(None, reason=abstention_reason(basis.matches))
    told = log_odds(verdict.confidence if verdict.probability is None else verdict.probability)
    holds = by.constants.holds.probability({**verdict.signals, "told": told})
    english = is_in_english(view)
    tier = Tier.INFERRABLE if english and holds >= MIN_INFERRABLE_CONFIDENCE else Tier.PARTIAL
    unsure = Gap("attribute", basis.matches.target or "", "the lines may not hold the answer")
    gaps = (verdict.gaps or (unsure,)) if tier is Tier.PARTIAL else ()
    draft = Draft("", kind="quote", confidence=holds, tier=tier, gaps=gaps)
    if told_of := quote_overview(view):
        return _draft(told_of, replace(draft, reason=OVERVIEW_REASON))
    quotation = quote(view, basis.likely, extractor_conventions(by.extractor))
    reason = QUOTE_REASON if english else UNREAD_REASON
    return _draft(quotation.lines, replace(draft, reason=reason, read=quotation.read))


def _draft(lines: Sequence[QuotedLine], draft: Draft) -> Draft:
    cited = dict.fromkeys(one.citation for line in lines for one in line.extracts)
    return replace(draft, text="\n".join(line.text for line in lines), citations=tuple(cited))


def abstention_reason(matches: Matches) -> str:
    """Return the reason of a refusal: the names and words of the question that were not found."""
    absent = matches.absent
    named = tuple(name for name in matches.analysis.entities if not set(words(name)).isdisjoint(absent))
    others = (word for word in absent if word not in " ".join(named).casefold())
    about = (*named, *others)[:_MAX_REASON_WORDS] or (matches.analysis.question,)
    return f"nothing found about {', '.join(about)}"


def quote_best_turn(view: View) -> Draft:
    """Quote the best turn of the search where its sentences cannot be read: a failure is no abstention."""
    best = next((item.turn for item in view.evidence if item.turn.text.strip()), None)
    if best is None:
        return Draft(None, reason="no turn of the evidence has words")
    draft = Draft("", reason="the evidence could not be read: this was found first", kind="quote", tier=Tier.PARTIAL)
    return _draft([QuotedLine((quote_turn(best),))], draft)


def is_in_english(view: View) -> bool:
    """Return whether the question and most of the best evidence may be read by English rules."""
    best = [bool(or_else(None, is_english, item.turn.text)) for item in view.evidence[:_LANGUAGE_TURNS]]
    return bool(or_else(None, is_english, view.analysis.question)) and 2 * sum(best) >= len(best)


def _witnesses(need: Requirement, view: View, own: Sequence[Match]) -> tuple[str, ...]:
    """Return the turns that support a requirement."""
    if need.kind == "entity":
        turns = [item.turn for item in view.shown]
        ids = [turn.id for turn in turns if contains_name(f"{turn.speaker} {turn.text}", need.about)]
    elif need.id == "when":
        ids = [item.turn.id for item in view.shown if _is_in_asked_time(view, item)]
    elif need.kind == "time":
        ids = [m.unit.turn.id for m in own if mentions_time(m.unit.turn.text)]
    elif need.kind == "attribution":
        ids = [m.unit.turn.id for m in own if m.own > m.other]
    else:
        ids = [m.unit.turn.id for m in own if m.coverage > 0 and not m.unit.asks]
    return tuple(dict.fromkeys(ids))[:_MAX_WITNESSES]


def _is_in_asked_time(view: View, item: Evidence) -> bool:
    """Return whether a turn was said, or has an event, within a time in the question."""
    moments = [(item.turn.time, item.turn.time)]
    moments += [(f.event.start, f.event.end) for f in item.facts if f.event and f.event.start and f.event.end]
    spans = [(span.start, span.end) for span in view.analysis.times if span.start and span.end]
    return any(start < until and since <= end for start, end in moments for since, until in spans)
