"""The judge that asks a chat model: one request a check, one for the answer; or the papers' pattern of many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from ..flow import Flow
from ..judging.clamps import calibrate, single_level, sufficient
from ..judging.evidence import Draft, Manner, Verdict, View
from ..types.budget import Budget
from ..types.model import Complete
from ..types.values import Tier
from . import prompt_fields, reply_schemas
from .evidence_prompt import Page, attribute, data, lines, moment, page
from .json_reply import read
from .read_draft import MAX_STEPS, read_draft
from .read_verdict import labels, read_verdict
from .request import Ledger, ask
from .role_requests import request

ABSTAIN_BELOW = 0.3  # EviMem's threshold (E11), until a calibration gives a better one
CHAIN_FROM = 2

MANNERS: dict[Manner, str] = {
    "direct": "Say it directly, without hedging.",
    "precise": 'Give the precise date or interval that the items state, without "around" or "about".',
    "inferred": 'Infer it with care from the items; "probably", "in" or "around" where they are no more exact.',
    "hedged": "Say what the items do support and, in the same sentence, what is missing for a full answer.",
}


def as_it_is(confidence: float) -> float:
    """Return a confidence as the probability, which it is for a model that was never calibrated."""
    return confidence


@dataclass(frozen=True, slots=True)
class LLMJudge:
    """Judges and answers by asking a model.

    `calls` "joint" takes one request a check and one for the answer; "separate" is the papers' pattern: entities,
    sufficiency, refinement, chain and answer apart (E14); no chain is asked for without `chains`. `probability` maps
    the model's confidence to a calibrated probability.
    """

    calls: Literal["joint", "separate"] = "joint"
    name: str = "llm"
    abstain_below: float = ABSTAIN_BELOW
    probability: Callable[[float], float] = as_it_is
    chains: bool = True

    def within(self, budget: Budget) -> LLMJudge:
        """Return the judge that does what a budget says of its requests."""
        return replace(self, calls=budget.calls, chains="tiers" not in budget.without)

    def judge(self, view: View) -> Flow[Verdict]:
        """Return the model's verdict on what is shown."""
        ledger = Ledger(view.iteration)
        shown = page(view)
        names = (yield from _names(view, ledger)) if self.calls == "separate" else ()
        verdict = yield from ask(judging(view, shown, names), partial(_verdict, view=view, shown=shown), ledger)
        if self.calls == "separate":
            query = "" if self._ends(view, verdict) else (yield from _refined(view, verdict, ledger))
            verdict = replace(verdict, query=query)
        return replace(verdict, probability=self.probability(verdict.confidence), calls=ledger.calls)

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """Return the model's answer from what is shown."""
        ledger = Ledger(view.iteration)
        shown = page(view, by_time=True)
        chain: tuple[str, ...] = ()
        if self.calls == "separate" and self.chains and verdict.tier in {Tier.INFERRABLE, Tier.PARTIAL}:
            chain = yield from _chain(view, shown, ledger)
        draft = yield from ask(answering(view, verdict, manner, shown, chain), partial(_draft, shown=shown), ledger)
        return replace(draft, steps=draft.steps or chain, calls=ledger.calls)

    def _ends(self, view: View, verdict: Verdict) -> bool:
        """Say whether the loop will look no further after this check: no request is spent on a query then."""
        leveled = verdict if self.chains else single_level(verdict)
        temporal = view.analysis.temporal
        final = calibrate(leveled, temporal=temporal, entities=view.entities)
        return view.iteration >= view.iterations or sufficient(final.tier, final.confidence, temporal=temporal)


def judging(view: View, shown: Page, names: Sequence[str] = ()) -> Complete:
    """Return the request for a sufficiency check."""
    analysis = view.analysis
    counts = [f"{attribute(name)} {count.found} of {count.needed}" for name, count in view.entities.items()]
    counts += [f"{attribute(name)} (named in the question)" for name in names if name not in view.entities]
    return request(
        "judge",
        "judge",
        reply_schemas.JUDGE,
        question=data(analysis.question),
        asked_at=moment(view.asked_at),
        speakers=", ".join(attribute(speaker) for speaker in view.speakers[:20]) or "none",
        iteration=view.iteration,
        iterations=view.iterations,
        strategy=view.strategy,
        queries=lines(view.queries),
        entities="; ".join(counts) or "none named",
        requirements=_requirements(view),
        evidence=shown.text,
    )


def answering(view: View, verdict: Verdict, manner: Manner, shown: Page, chain: Sequence[str] = ()) -> Complete:
    """Return the request for the answer."""
    reasoning = f"\nA chain of reasoning to check and use:\n{lines(chain)}" if chain else ""
    return request(
        "answer",
        "answer",
        reply_schemas.ANSWER,
        question=data(view.analysis.question),
        asked_at=moment(view.asked_at),
        manner=MANNERS[manner] + reasoning,
        gaps=lines(gap.text for gap in verdict.gaps),
        evidence=shown.text,
    )


def _verdict(text: str, view: View, shown: Page) -> Verdict:
    return read_verdict(text, view, shown)


def _draft(text: str, shown: Page) -> Draft:
    return read_draft(text, shown)


def _requirements(view: View) -> str:
    """Return what the question needs, each with its state, under the labels that the reply uses."""
    tracker = view.tracker
    rows = []
    for label, requirement in labels(tracker.requirements).items():
        state = "open"
        if requirement.id in tracker.supported:
            state = "supported before"
        elif requirement.id in tracker.waived:
            state = "waived before"
        rows.append(f"{label} ({requirement.kind}, {state}): {attribute(requirement.text, 300)}")
    return "\n".join(rows) or "none: judge the question as a whole"


def _names(view: View, ledger: Ledger) -> Flow[tuple[str, ...]]:
    """Ask for the names in the question, once, and only when the memory knows none of them."""
    if view.iteration > 1 or view.analysis.entities:
        return ()
    asked = request("judge", "entities", reply_schemas.ENTITIES, question=data(view.analysis.question))

    def names(text: str) -> tuple[str, ...]:
        said = prompt_fields.items(read(text, "judge", ("names",))["names"])
        return tuple(name for item in said[:10] if (name := prompt_fields.stated(item, 80)))

    return (yield from ask(asked, names, ledger))


def _refined(view: View, verdict: Verdict, ledger: Ledger) -> Flow[str]:
    """Ask for the next query when something is missing and there will be a next search."""
    missing = [gap.text for gap in verdict.gaps] or [verdict.reason]
    if not any(missing):
        return ""
    asked = request(
        "judge",
        "refine",
        reply_schemas.REFINE,
        question=data(view.analysis.question),
        asked_at=moment(view.asked_at),
        iteration=view.iteration + 1,
        iterations=view.iterations,
        strategy=view.strategy,
        queries=lines(view.queries),
        missing=lines(missing),
    )

    def query(text: str) -> str:
        return " ".join(prompt_fields.stated(read(text, "judge", ("query",))["query"], 400).split())

    return (yield from ask(asked, query, ledger))


def _chain(view: View, shown: Page, ledger: Ledger) -> Flow[tuple[str, ...]]:
    """Ask for a chain of reasoning (E12); what kind it is stands in its field and nowhere else."""
    if len(shown.turns) < CHAIN_FROM:
        return ()
    question, asked_at = data(view.analysis.question), moment(view.asked_at)
    asked = request("answer", "chain", reply_schemas.CHAIN, question=question, asked_at=asked_at, evidence=shown.text)
    return (yield from ask(asked, read_chain, ledger))


def read_chain(text: str) -> tuple[str, ...]:
    """Return the steps of a chain over several items, none for a direct answer."""
    reply = read(text, "answer", ("type",))
    several = prompt_fields.choice(reply["type"], ("multi_hop", "direct")) == "multi_hop"
    return prompt_fields.sentences(reply.get("steps"), MAX_STEPS) if several else ()
