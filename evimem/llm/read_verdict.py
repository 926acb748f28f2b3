"""Parse a judge's reply into a `Verdict`: existing requirements, shown evidence and known kinds of gap only.

Gaps beyond the listed requirements become requirements of their own, so that what was missing in one check is asked for
in the next; the items that show a gap stay in view.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import ReplyError
from ..judging.decision import NOT_SEARCHED, Decided
from ..judging.evidence import Draft, Verdict, View
from ..judging.tracker import Claim, Requirement, Tracker
from ..lang import ENGLISH
from ..types.answer import Citation
from ..types.model import ModelRole
from ..types.values import Gap, GapKind, Tier, Turn
from . import json_reply
from .evidence_prompt import MAX_LABEL, ShownEvidence
from .json_reply import read
from .prompts import ACTIONS, GAPS, MAX_QUOTE, STATUSES, TIERS, find_quote, reply_form

MAX_STEPS = 12
MAX_CITATIONS = 20


NO_ANSWER = "the evidence does not hold the answer"
UNSUPPORTED = "the answer cites nothing that was shown"
_REFUSALS = frozenset(ENGLISH.words("replies.no_answer"))


def read_draft(text: str, shown: ShownEvidence, *, repaired: bool = False) -> Draft:
    """Return the draft in a reply; without a text where the model finds no answer, whatever way it says so.

    Raise ReplyError without an answer field, and where every citation names what was not shown: unless the reply is
    `repaired`, which is then marked as unsupported.
    """
    reply = read(text, "answer", ("answer",), form=reply_form("answer"))
    answer, steps = reply["answer"], json_reply.sentences(reply.get("steps"), MAX_STEPS)
    if json_reply.flag(reply.get("answerable")) is False:
        said = json_reply.text(answer)
        return Draft(None, (), steps, reason=NO_ANSWER if not said or _refuses(said) else said)
    if not isinstance(answer, (str, int, float)) or isinstance(answer, bool):
        raise ReplyError("answer", f"its answer is a {type(answer).__name__}, not a text", text)
    answer = json_reply.text(answer)
    if not answer or _refuses(answer):
        return Draft(None, (), steps, reason=NO_ANSWER)
    cited = citations(reply, shown)
    ids = {turn.id for turn in shown.turns}
    invented = bool(cited) and all(citation.turn_id not in ids for citation in cited)
    if invented and not repaired:
        raise ReplyError("answer", "its citations name none of the items shown", text)
    return Draft(answer, cited, steps, reason=UNSUPPORTED if invented else None)


def _refuses(answer: str) -> bool:
    """Return whether the whole of an answer only says that there is none."""
    return answer.strip(" .!\"'").lower().replace("\u2019", "'") in _REFUSALS


def citations(reply: Mapping[str, Any], shown: ShownEvidence) -> tuple[Citation, ...]:
    """Return the reply's citations. One of a turn that was not shown keeps its label: the loop drops and counts it."""
    entries = json_reply.items(reply.get("citations"))[:MAX_CITATIONS]
    return tuple(dict.fromkeys(_citation(entry, shown) for entry in entries))


def _citation(entry: Any, shown: ShownEvidence) -> Citation:
    fields = entry if isinstance(entry, dict) else {"id": entry}
    label = json_reply.text(fields.get("id"), MAX_LABEL)
    turn = shown.turn(label)
    if turn is None:
        return Citation(label, None, "")
    return _cited(turn, json_reply.text(fields.get("quote"), MAX_QUOTE))


def _cited(turn: Turn, quote: str) -> Citation:
    for text in (turn.text, turn.caption or ""):
        span = find_quote(quote, text)
        if span is not None:
            return Citation(turn.id, span, text[span[0] : span[1]])
    return Citation(turn.id, None, "")


MOST_DRAFT = 1_000  # characters


def read_decision(text: str, view: View, shown: ShownEvidence) -> Decided:
    """Return the decision in a reply. Raise ReplyError when it has no action, tier or confidence."""
    reply = read(text, "decide", ("action", "decision", "tier"), form=reply_form("decide"))
    named = json_reply.choice(reply.get("action", reply.get("decision")), ACTIONS)
    action = next((known for known in ACTIONS if known == named), None)
    if action is None:
        raise ReplyError("decide", f"its action is none of {ACTIONS!r}", text)
    verdict = verdict_in(reply, "decide", text, view, shown)
    verdict = replace(verdict, claims=_claims(reply, shown), withdrawn=_withdrawn(reply))
    draft = json_reply.stated(reply.get("draft"), MOST_DRAFT)
    return Decided(action, verdict, draft)


def _claims(reply: Mapping[str, Any], shown: ShownEvidence) -> tuple[Claim, ...]:
    entries = [entry for entry in json_reply.items(reply.get("claims"))[:MAX_CLAIMS] if isinstance(entry, dict)]
    made = (Claim(json_reply.stated(e.get("text"), MAX_SENTENCE), shown.ids(e.get("evidence"))) for e in entries)
    return tuple(claim for claim in made if claim.text and claim.sources)


def _withdrawn(reply: Mapping[str, Any]) -> dict[int, str]:
    """Return the places of the claims c1, c2, ... that a reply withdraws, with its reasons."""
    found = {}
    for entry in json_reply.items(reply.get("withdrawn")):
        fields = entry if isinstance(entry, dict) else {}
        label = json_reply.text(fields.get("id"), MAX_LABEL).strip("[]() cC")
        why = json_reply.stated(fields.get("why"), MAX_SENTENCE)
        if label.isdecimal() and int(label[:6]) and why:
            found[int(label[:6]) - 1] = why
    return found


MAX_GAPS = 8
MAX_CLAIMS = 12
MOST_REQUIREMENTS = 12  # of a question, those that the model added included
MAX_SENTENCE = 400
_FLAGS = {"exact": Tier.EXACT, "exact_match": Tier.EXACT, "inferrable": Tier.INFERRABLE, "partial": Tier.PARTIAL}
_WANTED = ("tier", *_FLAGS)


@dataclass(slots=True)
class _Support:
    """The reply's requirements by status; `dropped` counts labels of requirements or evidence that do not exist."""

    supported: dict[str, tuple[str, ...]] = field(default_factory=dict)
    waived: dict[str, str] = field(default_factory=dict)
    retracted: dict[str, str] = field(default_factory=dict)
    dropped: int = 0


def read_verdict(text: str, view: View, shown: ShownEvidence) -> Verdict:
    """Return the verdict in a judge's reply. Raise ReplyError when it has no tier or no confidence."""
    return verdict_in(read(text, "judge", _WANTED, form=reply_form("judge")), "judge", text, view, shown)


def verdict_in(reply: Mapping[str, Any], role: ModelRole, text: str, view: View, shown: ShownEvidence) -> Verdict:
    """Return the verdict among the fields of a role's reply. Raise ReplyError when it has no tier or no confidence."""
    tier, confidence = _tier(reply), json_reply.confidence(reply.get("confidence"))
    if tier is None:
        raise ReplyError(role, f"its tier is none of {TIERS!r}", text)
    if confidence is None:
        raise ReplyError(role, "its confidence is no number between 0 and 1", text)
    support = _support(json_reply.items(reply.get("requirements")), view, shown)
    gaps = _gaps(reply)
    return Verdict(
        tier=tier,
        confidence=confidence,
        supported=support.supported,
        gaps=gaps,
        query=" ".join(json_reply.stated(reply.get("next_query", reply.get("query")), MAX_SENTENCE).split()),
        reason=json_reply.stated(reply.get("reason"), MAX_SENTENCE),
        waived=support.waived,
        retracted=support.retracted,
        extended=() if tier is Tier.EXACT else _extensions(gaps, view.tracker),
        pinned=_pinned(reply, shown),
        signals={"score": confidence, "confidence": confidence, "dropped": float(support.dropped)},
    )


def labels(requirements: Sequence[Requirement]) -> Mapping[str, Requirement]:
    """Return the requirements by their labels r1, r2, ... in the prompt."""
    return {f"r{number}": requirement for number, requirement in enumerate(requirements, 1)}


def _tier(reply: Mapping[str, Any]) -> Tier | None:
    named = json_reply.choice(reply.get("tier"), TIERS)
    if named is not None:
        return Tier(named)
    flags = {tier: json_reply.flag(reply[name]) for name, tier in _FLAGS.items() if name in reply}
    for tier in (Tier.EXACT, Tier.INFERRABLE, Tier.PARTIAL):
        if flags.get(tier):
            return tier
    return Tier.NONE if flags.get(Tier.PARTIAL) is False else None


def _support(entries: Sequence[Any], view: View, shown: ShownEvidence) -> _Support:
    known = labels(view.tracker.requirements)
    names = {requirement.id: requirement for requirement in known.values()}
    found = _Support()
    for entry in entries:
        fields = entry if isinstance(entry, dict) else {}
        label = json_reply.text(fields.get("id"), MAX_LABEL)
        requirement = known.get(label.lower().strip("[]() ")) or names.get(label)
        if requirement is None:
            found.dropped += 1
            continue
        _add(found, requirement.id, fields, view, shown)
    return found


def _add(found: _Support, requirement: str, fields: Mapping[str, Any], view: View, shown: ShownEvidence) -> None:
    status = json_reply.choice(fields.get("status"), STATUSES)
    why = json_reply.stated(fields.get("why"), MAX_SENTENCE)
    cited = [shown.turn(json_reply.text(item, MAX_LABEL)) for item in json_reply.items(fields.get("evidence"))]
    found.dropped += cited.count(None)
    witnesses = tuple(dict.fromkeys(turn.id for turn in cited if turn is not None))
    if status == "supported" and witnesses:
        found.supported[requirement] = witnesses
    elif status == "waived" and why:
        found.waived[requirement] = why
    elif status == "open" and why and requirement in view.tracker.supported:
        found.retracted[requirement] = why


def _stated(reply: Mapping[str, Any]) -> list[Any]:
    stated = reply.get("gaps", reply.get("missing"))
    entries = stated if isinstance(stated, list) else [stated]
    return entries[:MAX_GAPS]


def _gaps(reply: Mapping[str, Any]) -> tuple[Gap, ...]:
    gaps = (_gap(entry) for entry in _stated(reply))
    return tuple(dict.fromkeys(gap for gap in gaps if gap is not None))


def _pinned(reply: Mapping[str, Any], shown: ShownEvidence) -> tuple[str, ...]:
    """Return the turns that show what is missing: the two sides of a conflict, what corrects a premise."""
    labelled = (entry.get("evidence") for entry in _stated(reply) if isinstance(entry, dict))
    return tuple(dict.fromkeys(turn_id for labels_of in labelled for turn_id in shown.ids(labels_of)))


def _extensions(gaps: Iterable[Gap], tracker: Tracker) -> tuple[Requirement, ...]:
    """Return a requirement for each gap that a search may close and no requirement has, within bounds."""
    known = {requirement.gap for requirement in tracker.requirements}
    new = (_requirement(gap) for gap in gaps if gap.kind not in NOT_SEARCHED and gap not in known)
    room = max(0, MOST_REQUIREMENTS - len(tracker.requirements))
    return tuple({requirement.id: requirement for requirement in new}.values())[:room]


def _requirement(gap: Gap) -> Requirement:
    """Return the requirement of a gap; its id is that of every gap of this kind and text."""
    return Requirement(f"gap:{gap.kind}:{' '.join(gap.text.casefold().split())}", gap.kind, gap.about, gap.text)


def _gap(entry: Any) -> Gap | None:
    fields = entry if isinstance(entry, dict) else {"text": entry}
    text = json_reply.stated(fields.get("text"), MAX_SENTENCE)
    about = json_reply.stated(fields.get("about"), 80)
    if not text and not about:
        return None
    named = json_reply.choice(fields.get("kind"), GAPS)
    kind: GapKind = next((known for known in _KINDS if known == named), "attribute")
    return Gap(kind, about, text or f"too little about {about}")


_KINDS: tuple[GapKind, ...] = ("entity", "attribute", "time", "attribution", "granularity", "conflict", "contradicted")
