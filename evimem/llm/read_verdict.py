"""The replies of a judge: a `Verdict`, and the rounds (MGRetrieval) and moves (MRAgent) of the loops that ask more.

A verdict has existing requirements, shown evidence and known kinds of gap only. Gaps beyond the listed requirements
become requirements of their own, so that what was missing in one check is asked for in the next; the items that show a
gap stay in view. A model that knows tools is given them as functions, and what it called as messages; another names its
calls in its reply. Either way the calls are read from the reply and performed by the loop.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from typing import Any

from ..errors import ReplyError
from ..judging.evidence import Draft, Verdict, View
from ..judging.judge import (
    MOST_CALLS,
    MOST_LISTED,
    NOT_SEARCHED,
    PARTED,
    TOOLS,
    Considered,
    Decided,
    Explored,
    Move,
    Result,
    Round,
    Tool,
    ToolCall,
)
from ..judging.tracker import Claim, Requirement, Tracker
from ..lang import ENGLISH
from ..types.answer import Citation
from ..types.stored import Keyword
from ..types.trace import Complete, Message, ModelRole, Reply, ToolSpec, ToolUse
from ..types.values import Gap, GapKind, Tier, Turn
from . import json_reply, prompts
from .evidence_prompt import MAX_LABEL, ShownEvidence, evidence_request
from .json_reply import read
from .prompts import (
    ACTIONS,
    GAPS,
    MAX_QUOTE,
    STATUSES,
    TIERS,
    bullets,
    find_quote,
    load,
    marked,
    named,
    prompt_request,
    reply_form,
)
from .shown_words import escape_attribute

MAX_STEPS = 12
MAX_CITATIONS = 20


NO_ANSWER = "the evidence does not hold the answer"
UNSUPPORTED = "the answer cites nothing that was shown"
_REFUSALS = frozenset(ENGLISH.words("replies.no_answer"))
MOST_DRAFT = 1_000  # characters

MAX_GAPS = 8
MAX_CLAIMS = 12
MOST_REQUIREMENTS = 12  # of a question, those that the model added included
MAX_SENTENCE = 400
_FLAGS = {"exact": Tier.EXACT, "exact_match": Tier.EXACT, "inferrable": Tier.INFERRABLE, "partial": Tier.PARTIAL}
_WANTED = ("tier", *_FLAGS)

_KINDS: tuple[GapKind, ...] = ("entity", "attribute", "time", "attribution", "granularity", "conflict", "contradicted")

MOST_ANSWER = 1_000  # characters

MOST_RESULTS = 24  # of the newest calls that a request lists
MOST_ROWS = 12  # of each
MOST_KEY = 300  # characters
CALLED = Verdict(Tier.PARTIAL, 0.5, reason="tools were called before anything was said of the evidence", mapped=False)
_TURNS = frozenset(("event_time", "event_cues", "event_context"))  # tools that are called on an item
_FIELDS = ("calls", "tier")  # one of which a reply has


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


def choose_request(question: str, candidates: Sequence[Keyword], most: int) -> Complete:
    """Return the request to choose among the keywords that a question matches, or that a memory has."""
    rows = [f"{label}: {_keyword(one)}, in {one.turns}" for label, one in _labels(candidates).items()]
    return prompt_request(
        "decide", "keywords", prompts.KEYWORDS, question=marked(question), candidates="\n".join(rows), most=most
    )


def _keyword(one: Keyword) -> str:
    return named(one.term) if one.word == one.term else f"{named(one.term)} for {named(one.word)}"


def read_choice(text: str, candidates: Sequence[Keyword], most: int) -> tuple[Keyword, ...]:
    """Return the keywords in a reply, none for an empty list. Raise ReplyError where it names only others."""
    reply = read(text, "decide", ("keywords",), form=reply_form("keywords"))
    known = _labels(candidates)
    named_ids = [json_reply.text(item, 40).lower().strip("[]() ") for item in json_reply.items(reply["keywords"])]
    chosen = dict.fromkeys(known[label] for label in named_ids if label in known)
    if named_ids and not chosen:
        raise ReplyError("decide", "its keywords are none of those listed", text)
    return tuple(chosen)[:most]


def consider_request(view: View, reading: Round, shown: ShownEvidence) -> Complete:
    """Return the request for a round."""
    kept = [label for label, turn in shown.items.items() if turn.id in reading.critical]
    return evidence_request(
        "decide",
        "consider",
        prompts.CONSIDER,
        view,
        shown,
        number=reading.number,
        most=reading.most,
        critical=", ".join(kept) or "none",
        answer=bullets([reading.answer] if reading.answer else []),
    )


def read_considered(text: str, view: View, shown: ShownEvidence) -> Considered:
    """Return what a round came to. Raise ReplyError when the reply has no tier, confidence or word on acceptance."""
    reply = read(text, "decide", ("critical", "accepted", "tier"), form=reply_form("consider"))
    verdict = replace(verdict_in(reply, "decide", text, view, shown), mapped=False)
    accepted = json_reply.flag(reply.get("accepted"))
    if accepted is None:
        raise ReplyError("decide", "its accepted is neither true nor false", text)
    answer = json_reply.stated(reply.get("answer"), MOST_ANSWER)
    read_turns = frozenset(turn.id for turn in shown.turns)
    return Considered(verdict, answer, shown.ids(reply.get("critical")), accepted and bool(answer), read_turns)


def _labels(candidates: Sequence[Keyword]) -> dict[str, Keyword]:
    return {f"k{number}": one for number, one in enumerate(candidates[:MOST_LISTED], 1)}


def explore_request(view: View, explored: Explored, shown: ShownEvidence) -> Complete:
    """Return the request for a turn; the last one offers no tools."""
    directive = "No tool can be called any more: give the answer." if explored.last else "Call tools, or answer."
    request = evidence_request(
        "decide",
        "explore",
        prompts.explore_with(explored.tools),
        view,
        shown,
        cues=bullets(explored.cues),
        number=explored.number,
        most=explored.most,
        directive=directive,
    )
    earlier = tuple(_exchange(view, explored.results[-MOST_RESULTS:], shown))
    offered = () if explored.last else tool_specs(explored.tools)
    system, prompt = _of_graph(request.system, explored.tools), request.prompt.replace(*_named(explored.tools))
    return replace(request, system=system, prompt=prompt, tools=offered, earlier=earlier)


def read_move(reply: Reply, view: View, shown: ShownEvidence) -> Move:
    """Return the move in a reply. Raise ReplyError for a call of no known tool, or neither calls nor a verdict.

    A reply that only calls tools says nothing of the evidence: it is not enough.
    """
    called = tuple(
        _call({**_arguments(use), "tool": use.name}, use.name, shown) for use in reply.uses[: 2 * MOST_CALLS]
    )
    if called and not _states(reply.text):
        told = [_arguments(use)["keep"] for use in reply.uses if "keep" in _arguments(use)]
        kept = tuple(one for keep in told for one in _kept(keep, shown)) if told else None
        return Move(CALLED, tuple(dict.fromkeys(called)), kept=kept)
    fields = read(reply.text, "decide", _FIELDS, form=reply_form("explore"))
    verdict = replace(verdict_in(fields, "decide", reply.text, view, shown), mapped=False)
    listed = fields.get("calls")
    entries = listed if isinstance(listed, list) else []
    calls = (*called, *(_call(entry, reply.text, shown) for entry in entries[: 2 * MOST_CALLS]))
    answer = json_reply.stated(fields.get("answer"), MOST_ANSWER)
    kept = _kept(fields["keep"], shown) if "keep" in fields else None
    return Move(verdict, tuple(dict.fromkeys(calls)), answer, shown.ids(fields.get("supports")), kept)


def _kept(value: Any, shown: ShownEvidence) -> tuple[str, ...]:
    """Return the ids of the turns that a list names by their labels, and whatever else it names, cues and tags."""
    named_keys = (json_reply.text(one, MOST_KEY) for one in json_reply.items(value))
    turns = ((shown.turn(key), key) for key in named_keys)
    return tuple(dict.fromkeys(key if turn is None else turn.id for turn, key in turns))


def _of_graph(system: str, tools: Collection[Tool]) -> str:
    """Return the instructions without the lines about tools that there are not, and about tags where none are."""
    gone = tuple(f"- {tool}:" for tool in TOOLS if tool not in tools) + (() if "tags_of" in tools else ("A tag ",))
    return "\n".join(line for line in system.split("\n") if not line.startswith(gone))


def _named(tools: Iterable[Tool]) -> tuple[str, str]:
    """Return how the form of a reply names all tools, and how it is to name these."""
    return "|".join(TOOLS), "|".join(tools)


@cache
def tool_specs(tools: tuple[Tool, ...] = TOOLS) -> tuple[ToolSpec, ...]:
    """Return tools as a model is given them; what each does stands in the prompt, in its list of tools."""
    listed = (line.partition(": ") for line in load("explore").template.splitlines() if line.startswith("- "))
    says = {head.removeprefix("- "): text for head, _, text in listed}
    parted = PARTED if "tags_of" in tools else PARTED - {"events"}
    return tuple(ToolSpec(tool, says[tool], _schema(parted=tool in parted)) for tool in tools)


def _schema(*, parted: bool) -> Mapping[str, Any]:
    given: dict[str, Any] = {"of": {"type": "string"}} | ({"part": {"type": "string"}} if parted else {})
    given["keep"] = {"type": "array", "items": {"type": "string"}}
    return {"type": "object", "properties": {**given, "page": {"type": "integer"}}, "required": list(given)}


def _states(text: str) -> bool:
    """Whether a text beside calls is a reply too, and not just what the model thinks."""
    try:
        return "tier" in read(text, "decide", _FIELDS, form=reply_form("explore"))
    except ReplyError:
        return False


def _arguments(use: ToolUse) -> dict[str, Any]:
    """Return the arguments of a call. Raise ReplyError where they are no object."""
    return read(use.arguments, "decide", ("of",))


def _call(entry: Any, text: str, shown: ShownEvidence) -> ToolCall:
    fields = entry if isinstance(entry, dict) else {}
    wanted = json_reply.choice(fields.get("tool"), TOOLS)
    tool = next((known for known in TOOLS if known == wanted), None)
    if tool is None:
        raise ReplyError("decide", f"a call names none of the tools {TOOLS!r}", text)
    of, part = (json_reply.text(fields.get(name), MOST_KEY) for name in ("of", "part"))
    page = json_reply.text(fields.get("page"), 6)
    turn = shown.turn(of) if tool in _TURNS else None
    return ToolCall(tool, of if turn is None else turn.id, part, max(1, int(page)) if page.isdecimal() else 1)


def _exchange(view: View, results: Iterable[Result], shown: ShownEvidence) -> Iterator[Message]:
    """Yield the turns before this one: what was asked, then what each of them called and what that returned."""
    labels = {turn.id: label for label, turn in shown.items.items()}
    numbered = [(f"call{place:05}", result) for place, result in enumerate(results, 1)]  # Mistral: nine letters
    if numbered:
        yield Message("user", f"<question>\n{marked(view.analysis.question)}\n</question>")
    for _, made in groupby(numbered, key=lambda pair: pair[1].number):
        turn = list(made)
        yield Message("assistant", uses=tuple(_use(of, result.call, labels) for of, result in turn))
        for of, result in turn:
            yield Message("tool", _returned(result, labels), of=of)


def _use(of: str, call: ToolCall, labels: Mapping[str, str]) -> ToolUse:
    fields = {"of": labels.get(call.of, call.of), "part": call.part, "page": call.page}
    given = {name: value for name, value in fields.items() if name != "part" or value}
    return ToolUse(of, call.tool, json.dumps(given, ensure_ascii=False))


def _returned(result: Result, labels: Mapping[str, str]) -> str:
    """Return a result as text: names and keys escaped, as whatever people wrote."""
    call = result.call
    given = ", ".join(named(labels.get(one, one)) for one in (call.of, call.part) if one)
    head = f"{call.tool}({given}), page {call.page}"
    if result.refused:
        return f'{head}: refused, "{escape_attribute(result.refused, MOST_KEY)}"'
    rows = (f"{named(labels.get(row.key, row.key))} {_rest(row.text, row.count)}" for row in result.rows[:MOST_ROWS])
    left = f", {result.pruned} not kept" if result.pruned else ""
    return f"{head}: {len(result.rows)} of {result.total}{left}: {'; '.join(rows)}"


def _rest(text: str, count: int) -> str:
    return f"({escape_attribute(text)}, {count})" if count else f"({escape_attribute(text)})"
