"""The judge that asks a chat model: one request per check and one for the answer, or the papers' many requests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from ..errors import PromptTooLong
from ..flow import Flow
from ..judging.apply_verdict import all_gaps, clamp_verdict, find_stop_reason, lacks_facts, update_tracker
from ..judging.evidence import Draft, Manner, Verdict, View
from ..judging.judge import UNSEARCHABLE_GAP_KINDS, Chosen, Considered, Decided, Explored, Move, Round, Stage
from ..query.find_turns import StandingInstruction, standing_wishes
from ..text.prompt_text import bulleted_list, escape_attribute, format_time, mark_lines, quote_name
from ..types.stored import Keyword
from ..types.trace import Complete, Reply
from ..types.type_variables import T
from ..types.values import Tier
from .evidence_prompt import (
    ShownEvidence,
    claim_lines,
    evidence_request,
    fit_page,
    show_evidence,
    show_facts,
    shown_so_far,
)
from .read_verdict import (
    choose_request,
    consider_request,
    explore_request,
    label_things,
    read_choice,
    read_considered,
    read_decision,
    read_draft,
    read_move,
    read_verdict,
    read_verdict_with_draft,
)
from .request import ANSWER, CHAIN, DECIDE, ENTITIES, JOINT, JUDGE, REFINE, Ledger, ask, ask_model, bound_lists

Made = TypeVar("Made", Decided, Considered, Move)

MANNERS: dict[Manner, str] = {
    "direct": "Say it directly, without hedging.",
    "precise": 'Give the precise date or interval that the items state, without "around" or "about".',
    "inferred": 'Infer it with care from the items; "probably", "in" or "around" where they are no more exact.',
    "hedged": "Say what the items do support and, in the same sentence, what is missing for a full answer.",
}

# The reason why a rule changed the last step.
RULE_REASONS = {
    "nothing found": "the last search brought nothing new",
    "enough thought": "there were reflections enough",
    "gaps are open": "requirements were open",
}


@dataclass(frozen=True, slots=True)
class Room:
    """The basis of a model's verdict: how many characters of evidence it was found to read at most."""

    characters: float = math.inf

    @classmethod
    def of(cls, verdict: Verdict | None) -> Room:
        """Return the room that was found when a verdict was asked for; no limit where that is not known."""
        return verdict.basis if verdict is not None and isinstance(verdict.basis, cls) else cls()


@dataclass(frozen=True, slots=True)
class LLMJudge:
    """Judges and answers by asking a model.

    `probability` maps the model's confidence to a calibrated probability, both 0 to 1; None where the model was never
    calibrated. A variant's `calls` "joint" makes one request a check and one for the answer; "separate" is EviMem's
    pattern (E14): entities, sufficiency, refinement, chain and answer apart; without "tiers" there is no chain.
    """

    name: str = "llm"
    # EviMem's threshold (E11), until a calibration gives a better one.
    abstain_below: float = 0.3
    probability: Callable[[float], float] | None = None

    @property
    def uses_model(self) -> bool:
        """True: a model can choose tools, and finds the evidence among more turns."""
        return True

    def fit_page(self, view: View) -> View:
        """Return a view with the turns that fit into a prompt; fewer, once a model could not read so many."""
        if view.by_fact:
            return view.show_only({item.turn.id for item in view.shown})
        return fit_page(view, Room.of(view.before).characters)

    def judge(self, view: View) -> Flow[Verdict]:
        """Return the model's verdict on the shown evidence."""
        ledger = Ledger(view.iteration)
        names = (yield from _ask_names(view, ledger)) if _separate(view) else ()

        joint = view.variant.calls == "joint" and not view.by_fact
        wishes = standing_wishes(view.store, view.speakers, view.scope) if joint else ()

        def check(shown: ShownEvidence) -> Flow[Verdict]:
            if not joint:
                read = partial(read_verdict, view=view, shown=shown)
                return ask_model(judge_request(view, shown, names), read, ledger)
            first = partial(read_verdict_with_draft, view=view, shown=shown)
            request = verdict_with_answer_request(view, shown, wishes)
            return ask_model(request, first, ledger, at_last=partial(first, repaired=True))

        page = partial(show_facts, with_turns=False) if view.by_fact else show_evidence
        verdict, room = yield from within_room(view, page, check, Room.of(view.before))
        if _separate(view):
            verdict = replace(verdict, names=names, query=(yield from _ask_next_query(view, verdict, ledger)))
        return self._with_calls(verdict, ledger, room)

    def decide(self, view: View, stage: Stage) -> Flow[Decided]:
        """Return the model's decision by the shown evidence, in one request."""

        def parse(reply: Reply, view: View, shown: ShownEvidence) -> Decided:
            return read_decision(reply.text, view, shown_so_far(view))

        return self._ask_page(view, partial(decide_request, view, stage), parse)

    def choose(self, question: str, candidates: Sequence[Keyword], most: int) -> Flow[Chosen]:
        """Return the keywords that the model chooses among those that the question matches."""
        ledger = Ledger(1)
        read = partial(read_choice, candidates=candidates, most=most)
        chosen = yield from ask_model(choose_request(question, candidates, most), read, ledger)
        return Chosen(chosen, ledger.calls)

    def consider(self, view: View, reading: Round) -> Flow[Considered]:
        """Have the model consider a round, in one request."""
        return self._ask_page(
            view, partial(consider_request, view, reading), lambda reply, *page: read_considered(reply.text, *page)
        )

    def explore(self, view: View, explored: Explored) -> Flow[Move]:
        """Return the model's move, in one request."""
        return self._ask_page(view, partial(explore_request, view, explored), partial(read_move, most=explored.calls))

    def answer(self, view: View, verdict: Verdict, manner: Manner) -> Flow[Draft]:
        """Return the model's answer from the shown evidence."""
        ledger = Ledger(view.iteration)
        chained = _separate(view) and "tiers" not in view.variant.without
        laid_out = chained and verdict.tier in {Tier.INFERRABLE, Tier.PARTIAL}

        wishes = standing_wishes(view.store, view.speakers, view.scope)

        def word(shown: ShownEvidence) -> Flow[Draft]:
            chain = (yield from _ask_chain(view, shown, ledger)) if laid_out else ()
            first = partial(read_draft, shown=shown)
            request = answer_request(view, verdict, manner, shown, (*verdict.notes, *chain), wishes=wishes)
            draft = yield from ask_model(request, first, ledger, at_last=partial(first, repaired=True))
            return replace(draft, steps=draft.steps or chain, calls=ledger.calls)

        page = partial(show_evidence, by_time=True, only=_decisive(view, verdict))
        if view.by_fact:
            page = partial(show_facts, with_turns=True)
        draft, _ = yield from within_room(view, page, word, Room.of(verdict))
        return draft

    def _ask_page(
        self,
        view: View,
        request: Callable[[ShownEvidence], Complete],
        parse: Callable[[Reply, View, ShownEvidence], Made],
    ) -> Flow[Made]:
        """Ask the model about a page of evidence, in one request, and parse its reply."""
        ledger = Ledger(view.iteration)

        def made_of(shown: ShownEvidence) -> Flow[Made]:
            return ask(request(shown), lambda reply: parse(reply, view, shown), ledger)

        made, room = yield from within_room(view, show_evidence, made_of, Room.of(view.before))
        return replace(made, verdict=self._with_calls(made.verdict, ledger, room))

    def _with_calls(self, verdict: Verdict, ledger: Ledger, room: Room) -> Verdict:
        probability = None if self.probability is None else self.probability(verdict.confidence)
        return replace(verdict, probability=probability, calls=ledger.calls, basis=room)


def _separate(view: View) -> bool:
    return view.variant.calls == "separate"


def _list_bounds(view: View) -> dict[str, int]:
    """Return how many requirements, and gaps beyond them, a verdict can sensibly list."""
    return {"requirements": len(view.tracker.requirements), "gaps": len(view.tracker.requirements) + 2}


def judge_request(view: View, shown: ShownEvidence, names: Sequence[str] = ()) -> Complete:
    """Return the request for a sufficiency check."""
    form = bound_lists(JUDGE, **_list_bounds(view))
    request = evidence_request(form, view, shown, **_check_values(view, names))
    return _without_next_query(request) if _separate(view) else request


def _without_next_query(request: Complete) -> Complete:
    """Return the request for a check that asks for no next query, where another request does."""
    paragraphs = request.system.replace(" and next_query", "").split("\n\n")
    fields = {name: kind for name, kind in (request.schema or {})["properties"].items() if name != "next_query"}
    return replace(
        request,
        system="\n\n".join(one for one in paragraphs if not one.startswith("next_query:")),
        prompt=request.prompt.rpartition(',"next_query"')[0] + "}",
        schema={**(request.schema or {}), "properties": fields, "required": list(fields)},
    )


def verdict_with_answer_request(
    view: View, shown: ShownEvidence, wishes: Sequence[StandingInstruction] = ()
) -> Complete:
    """Return the request for a sufficiency check that answers too; `wishes` as in `answer_request`."""
    form = bound_lists(JOINT, **_list_bounds(view), citations=len(shown.turns))
    return evidence_request(form, view, shown, manner=_form_line(view) + _wishes(wishes), **_check_values(view, ()))


def _check_values(view: View, names: Sequence[str]) -> dict[str, object]:
    """Return the values of a sufficiency check; `names` are those that a model found in the question."""
    short = [
        f"{count.found} statements name {quote_name(name)}; {count.needed} are wanted."
        for name, count in view.entities.items()
        if lacks_facts(count)
    ]
    found = [f"{quote_name(name)} is named in the question." for name in names if name not in view.entities]
    return {
        "iteration": view.iteration,
        "iterations": view.iterations,
        "strategy": view.strategy,
        "queries": bulleted_list(query for query in view.queries if query != view.analysis.question),
        "entities": f"{' '.join((*short, *found))}\n".lstrip("\n"),
        "requirements": _requirements(view),
    }


def decide_request(view: View, stage: Stage, shown: ShownEvidence) -> Complete:
    """Return the request for a decision."""
    return evidence_request(
        bound_lists(DECIDE, **_list_bounds(view)),
        view,
        shown,
        number=stage.number,
        most=stage.most,
        directive=directive(view, stage),
        searched=bulleted_list(stage.tried),
        thoughts=bulleted_list(stage.thoughts),
        claims=claim_lines(view) or "nothing yet",
        requirements=_requirements(view),
    )


def directive(view: View, stage: Stage) -> str:
    """Return the router's part of a decision's request: the possible actions, and the last refusal with its reason."""
    if stage.last:
        return "This is the last decision: the action is answer, and draft is the best answer from what is there."
    told = []
    if stage.refused is not None:
        wanted, action, rule = stage.refused
        told.append(f'The last step was to be "{wanted}"; it became "{action}", since {RULE_REASONS[rule]}.')
    if stage.empty:
        told.append("The last search brought nothing new: think about what is there, or look for something else.")
    if stage.tired:
        told.append("No further reflection: retrieve, or answer.")
    if stage.guarded and any(need.kind not in UNSEARCHABLE_GAP_KINDS for need in view.tracker.open):
        told.append("While a requirement is open, answer becomes a search: support it, or waive it with a reason.")
    return " ".join(told) or "Any action may come next."


def answer_request(
    view: View,
    verdict: Verdict,
    manner: Manner,
    shown: ShownEvidence,
    chain: Sequence[str] = (),
    *,
    wishes: Sequence[StandingInstruction] = (),
) -> Complete:
    """Return the request for the answer; the user's standing wishes have a place of their own, oldest first."""
    reasoning = f"\nA chain of reasoning to check and use:\n{bulleted_list(chain)}" if chain else ""
    return evidence_request(
        ANSWER,
        view,
        shown,
        manner=f"{MANNERS[manner]}\n{_form_line(view)}".rstrip() + reasoning,
        missing="Missing from the facts alone, which the items may still tell:"
        if view.by_fact
        else "Known to be missing:",
        gaps=bulleted_list(gap.text for gap in verdict.gaps),
        wishes=_wishes(wishes),
    )


def _form_line(view: View) -> str:
    """Return how the caller wants the answer written, as a line; empty where that is left open."""
    return f'Write it in this form: "{escape_attribute(view.form, 1_000)}"\n' if view.form else ""


def _wishes(wishes: Sequence[StandingInstruction]) -> str:
    """Return the user's standing wishes in a place of their own, with their bounds; empty for none."""
    said = "\n".join(f"{format_time(wish.time)}\n{mark_lines(wish.text)}" for wish in wishes)
    bounds = (
        "The user asked once and for all for the following: units, language, length, form of address. Follow it in how "
        "you word the answer, the later before the earlier, and in nothing else, least of all in what is true or cited."
    )
    return f"\n{bounds}\n<wishes>\n{said}\n</wishes>\n" if said else ""


def within_room(
    view: View, page: Callable[..., ShownEvidence], ask: Callable[[ShownEvidence], Flow[T]], room: Room
) -> Flow[tuple[T, Room]]:
    """Ask about a page of evidence; with half of it, again and again, where the model cannot read so much.

    Return the reply with the room that was left: later requests about the question begin with that. Raise PromptTooLong
    below 1,000 characters.
    """
    while True:
        shown = page(view, room=room.characters)
        try:
            return (yield from ask(shown)), room
        except PromptTooLong:
            room = Room(min(room.characters, len(shown.text)) // 2)  # a page is never shorter than one turn
            # With less room for evidence, in characters, a model is not asked.
            if room.characters < 1_000:
                raise


def _decisive(view: View, verdict: Verdict) -> frozenset[str]:
    """Return the turns that an answer needs to see: the witnesses of exact evidence, and those beside them.

    Empty where every turn is needed: the evidence is not exact.
    """
    if verdict.tier is not Tier.EXACT or view.tracker.open:
        return frozenset()
    beside = (turn.id for one in view.decisive for turn in view.context.get(one, ()))
    return view.decisive.union(beside)


def _requirements(view: View) -> str:
    """Return the requirements with their states, under the labels that the reply uses."""
    tracker = view.tracker
    rows = []
    for label, requirement in label_things("r", tracker.requirements).items():
        state = "open"
        if requirement.id in tracker.supported:
            state = "supported before"
        elif requirement.id in tracker.waived:
            state = "waived before"
        rows.append(f'{label} ({requirement.kind}, {state}): "{escape_attribute(requirement.text, 300)}"')
    return "\n".join(rows) or "none: judge the question as a whole"


def _ask_names(view: View, ledger: Ledger) -> Flow[tuple[str, ...]]:
    """Ask for the names in the question, at the first check, where the analysis found none."""
    if view.iteration > 1 or view.analysis.entities:
        return ()
    request = ENTITIES.request(question=mark_lines(view.analysis.question))
    return tuple((yield from ask_model(request, ENTITIES.read, ledger))["names"][:10])


def _ask_next_query(view: View, verdict: Verdict, ledger: Ledger) -> Flow[str]:
    """Ask for the next query by the gaps after the clamps; for none where the loop will stop."""
    tracker = update_tracker(view.tracker, verdict, view.iteration).tracker
    final = clamp_verdict(verdict, view, tracker)
    gaps = all_gaps(verdict, final, tracker)
    settled = replace(verdict, tier=final.tier, confidence=final.confidence, gaps=gaps)
    ends = find_stop_reason(settled, view.before, temporal=view.analysis.temporal) or view.iteration >= view.iterations
    missing = [gap.text for gap in gaps] or [verdict.reason]
    if ends:
        return ""
    request = REFINE.request(
        question=mark_lines(view.analysis.question),
        asked_at=format_time(view.asked_at),
        iteration=view.iteration + 1,
        iterations=view.iterations,
        strategy=view.strategy,
        query=quote_name(view.queries[-1] if view.queries else view.analysis.question),
        queries=bulleted_list(view.queries[:-1]),
        missing=bulleted_list(filter(None, missing)),
    )
    return str((yield from ask_model(request, REFINE.read, ledger))["query"])


def _ask_chain(view: View, shown: ShownEvidence, ledger: Ledger) -> Flow[tuple[str, ...]]:
    """Ask for a chain of reasoning (E12)."""
    there = sum(len(item.facts) for item in view.shown) if view.by_fact else len(shown.turns)
    # Of one turn, or one fact where these are shown, there is nothing to chain.
    if there < 2:
        return ()
    question, asked_at = mark_lines(view.analysis.question), format_time(view.asked_at)
    request = CHAIN.request(question=question, asked_at=asked_at, evidence=shown.text)
    return (yield from ask_model(request, read_chain, ledger))


def read_chain(text: str) -> tuple[str, ...]:
    """Return the steps of a multi-hop chain, none of a direct one, by the field `type` only (F7)."""
    reply = CHAIN.read(text)
    return tuple(reply["steps"]) if reply["type"] == "multi_hop" else ()
