"""The replies of a judge: a `Verdict`, and the rounds (MGRetrieval) and moves (MRAgent) of the loops that ask more.

A verdict has existing requirements, shown evidence and known kinds of gap only. Gaps beyond the listed requirements
become requirements of their own, so that a gap of one check is asked for in the next; the items that show a
gap stay in view. A model that knows tools is given them as functions, and its calls as messages; another names its
calls in its reply. Either way the calls are read from the reply and performed by the loop.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from typing import Any

from ..errors import ReplyError
from ..judging.apply_verdict import corrects
from ..judging.evidence import Draft, Verdict, View
from ..judging.judge import (
    MAX_LISTED_KEYWORDS,
    MAX_TURN_CALLS,
    TOOLS,
    TOOLS_WITH_PARTS,
    UNSEARCHABLE_GAP_KINDS,
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
from ..text.prompt_text import bulleted_list, escape_attribute, find_quote, mark_lines, quote_name
from ..text.terms import terms
from ..types.results import Citation
from ..types.stored import Keyword
from ..types.trace import Complete, Message, Reply, ToolSpec, ToolUse
from ..types.type_variables import T
from ..types.values import Gap, Tier
from .evidence_prompt import ShownEvidence, evidence_request
from .json_reply import read_object
from .request import (
    ANSWER,
    CONSIDER,
    DECIDE,
    EXPLORE,
    JOINT,
    JUDGE,
    KEYWORDS,
    MAX_KEY_CHARACTERS,
    load,
    names,
    with_tools,
)

NO_ANSWER_REASON = "the evidence does not hold the answer"
MAX_REQUIREMENTS = 12  # of a question, those that the model added included
CALLED_VERDICT = Verdict(
    Tier.PARTIAL, 0.5, reason="tools were called before anything was said of the evidence", mapped=False
)


def read_draft(text: str, shown: ShownEvidence, *, repaired: bool = False) -> Draft:
    """Return the draft in a reply; without a text where the model finds no answer, whatever way it says so.

    Raise ReplyError without an answer field, and where every citation names a turn that was not shown: unless the reply
    is `repaired`, whose citations the loop drops.
    """
    reply = ANSWER.read(text)
    if reply["answerable"] is False:
        answer = reply["answer"]
        return Draft(None, (), reply["steps"], reason=NO_ANSWER_REASON if not answer or _refuses(answer) else answer)
    if reply["answer"] is None:
        raise ReplyError("answer", "its answer is no text", text)
    return replace(_draft(reply, shown, text, NO_ANSWER_REASON, repaired=repaired), steps=reply["steps"])


def read_verdict_with_draft(text: str, view: View, shown: ShownEvidence, *, repaired: bool = False) -> Verdict:
    """Return the verdict in a reply, with the draft of an answer; without one where the reply has no such field.

    Raise ReplyError as `read_verdict` and, unless the reply is `repaired`, for a draft as `read_draft` does.
    """
    reply = JOINT.read(text)
    verdict = _verdict(reply, view, shown, query=reply["next_query"])
    if reply["answer"] is None:
        return verdict
    return replace(verdict, draft=_draft(reply, shown, text, verdict.reason or NO_ANSWER_REASON, repaired=repaired))


def _draft(reply: Mapping[str, Any], shown: ShownEvidence, text: str, why_none: str, *, repaired: bool) -> Draft:
    """Return the draft among the fields of a reply, without a text for the reason given where it says none."""
    answer: str = reply["answer"]
    if not answer or _refuses(answer):
        return Draft(None, reason=why_none)
    cited = tuple(dict.fromkeys(_citation(one["id"], one["quote"], shown) for one in reply["citations"]))
    ids = {turn.id for turn in shown.turns}
    invented = bool(cited) and all(citation.turn_id not in ids for citation in cited)
    if invented and not repaired:
        raise ReplyError("answer", "its citations name none of the items shown", text)
    return Draft(answer, cited)


def _refuses(answer: str) -> bool:
    """Return whether the whole of an answer only says that there is none."""
    return answer.strip(" .!\"'").lower().replace("\u2019", "'") in ENGLISH["replies.no_answer"]


def _citation(label: str, quote: str, shown: ShownEvidence) -> Citation:
    """Return a citation. One of a turn that was not shown keeps its label: the loop drops and counts it."""
    turn = shown.turn(label)
    if turn is None:
        return Citation(label, None, "")
    for text in (turn.text, turn.caption or ""):
        span = find_quote(quote, text)
        if span is not None:
            return Citation(turn.id, span, text[span[0] : span[1]])
    return Citation(turn.id, None, "")


def read_decision(text: str, view: View, shown: ShownEvidence) -> Decided:
    """Return the decision in a reply. Raise ReplyError when it has no action, tier or confidence."""
    reply = DECIDE.read(text)
    made = ((claim["text"], shown.ids(claim["evidence"])) for claim in reply["claims"])
    claims = tuple(Claim(said, sources) for said, sources in made if said and sources)
    labelled = ((one["id"].strip("[]() cC")[:6], one["why"]) for one in reply["withdrawn"])  # c1, c2, ...
    withdrawn = {int(label) - 1: why for label, why in labelled if label.isdecimal() and int(label) and why}
    verdict = replace(_verdict(reply, view, shown, query=reply["query"]), claims=claims, withdrawn=withdrawn)
    return Decided(reply["action"], verdict, reply["draft"])


def read_verdict(text: str, view: View, shown: ShownEvidence) -> Verdict:
    """Return the verdict in a judge's reply. Raise ReplyError when it has no tier or no confidence."""
    reply = JUDGE.read(text)
    return _verdict(reply, view, shown, query=reply["next_query"])


def _verdict(reply: Mapping[str, Any], view: View, shown: ShownEvidence, query: str = "") -> Verdict:
    """Return the verdict among the fields of a reply; those of an unknown requirement or item are `dropped`."""
    tier, tracker, confidence = Tier(reply["tier"]), view.tracker, reply["confidence"]
    known = {need.id: need for need in tracker.requirements} | label_things("r", tracker.requirements)
    supported, waived, retracted, dropped = dict[str, tuple[str, ...]](), dict[str, str](), dict[str, str](), 0
    for entry in reply.get("requirements", ()):
        need = known.get(entry["id"].lower().strip("[]() ")) or known.get(entry["id"])
        if need is None:
            dropped += 1
            continue
        dropped += [shown.turn(label) for label in entry["evidence"]].count(None)
        status, witnesses, why = entry["status"], shown.ids(entry["evidence"]), entry["why"]
        if status == "supported" and witnesses:
            supported[need.id] = witnesses
        elif status == "waived" and why:
            waived[need.id] = why
        elif status == "open" and why and need.id in tracker.supported:
            retracted[need.id] = why
    named_gaps = [one for one in reply["gaps"] if one["text"] or one["about"]]
    gaps = tuple(
        dict.fromkeys(
            Gap(one["kind"] or "attribute", one["about"], one["text"] or f"too little about {one['about']}")
            for one in named_gaps
        )
    )
    return Verdict(
        tier=tier,
        confidence=confidence,
        supported=supported,
        gaps=gaps,
        query=query,
        reason=reply["reason"],
        waived=waived,
        retracted=retracted,
        extended=() if tier is Tier.EXACT else _extensions(gaps, tracker),
        # Turns that show a gap: the two sides of a conflict, the correction of a premise.
        pinned=tuple(dict.fromkeys(turn_id for one in named_gaps for turn_id in shown.ids(one["evidence"]))),
        signals={"score": confidence, "confidence": confidence, "dropped": float(dropped)},
    )


def label_things(letter: str, things: Iterable[T]) -> dict[str, T]:
    """Return things by their labels in a prompt: requirements are r1, r2, ..., keywords k1, k2, ..."""
    return {f"{letter}{number}": one for number, one in enumerate(things, 1)}


def _extensions(gaps: Iterable[Gap], tracker: Tracker) -> tuple[Requirement, ...]:
    """Return a requirement for each gap that a search may close and no requirement has, within bounds."""
    known = {requirement.gap for requirement in tracker.requirements}
    new = {}
    for gap in gaps:
        if gap.kind not in UNSEARCHABLE_GAP_KINDS and gap not in known:
            of = f"gap:{gap.kind}:{' '.join(gap.text.casefold().split())}"  # one for all of this kind and text
            new[of] = Requirement(of, gap.kind, gap.about, gap.text)
    return tuple(new.values())[: max(0, MAX_REQUIREMENTS - len(tracker.requirements))]


def choose_request(question: str, candidates: Sequence[Keyword], most: int) -> Complete:
    """Return the request to choose among the keywords that a question matches, or that a memory has."""
    rows = []
    for label, one in label_things("k", candidates[:MAX_LISTED_KEYWORDS]).items():
        stands_for = "" if one.term in (one.word, *terms(one.word)) else f" for {quote_name(one.word)}"
        rows.append(f"{label}: {quote_name(one.written or one.term)}{stands_for}, in {one.turns}")
    return KEYWORDS.request(question=mark_lines(question), candidates="\n".join(rows), most=most)


def read_choice(text: str, candidates: Sequence[Keyword], most: int) -> tuple[Keyword, ...]:
    """Return the keywords in a reply, none for an empty list. Raise ReplyError where it names only unknown ones."""
    known = label_things("k", candidates[:MAX_LISTED_KEYWORDS])
    given = [label.lower().strip("[]() ") for label in KEYWORDS.read(text)["keywords"]]
    chosen = dict.fromkeys(known[label] for label in given if label in known)
    if given and not chosen:
        raise ReplyError("decide", "its keywords are none of those listed", text)
    return tuple(chosen)[:most]


def consider_request(view: View, reading: Round, shown: ShownEvidence) -> Complete:
    """Return the request for a round."""
    kept = [label for label, turn in shown.items.items() if turn.id in reading.critical]
    return evidence_request(
        CONSIDER,
        view,
        shown,
        number=reading.number,
        most=reading.most,
        critical=", ".join(kept) or "none",
        answer=bulleted_list([reading.answer] if reading.answer else []),
    )


def read_considered(text: str, view: View, shown: ShownEvidence) -> Considered:
    """Return the result of a round. Raise ReplyError when the reply has no tier, confidence or word on acceptance."""
    reply = CONSIDER.read(text)
    answer = reply["answer"]
    verdict = replace(_verdict(reply, view, shown), mapped=False)
    read_turns = frozenset(turn.id for turn in shown.turns)
    accepted = reply["accepted"] and (bool(answer) or corrects(verdict))
    return Considered(verdict, answer, shown.ids(reply["critical"]), accepted, read_turns)


def explore_request(view: View, explored: Explored, shown: ShownEvidence) -> Complete:
    """Return the request for a turn; the last one offers no tools."""
    directive = "No tool can be called any more: give the answer." if explored.last else "Call tools, or answer."
    request = evidence_request(
        with_tools(explored.tools),
        view,
        shown,
        cues=bulleted_list(explored.cues),
        number=explored.number,
        most=explored.most,
        directive=directive,
    )
    # A request lists the newest 24 calls, and 12 rows of each result.
    earlier = tuple(_exchange(view, explored.results[-24:], shown))
    offered = () if explored.last else tool_specs(explored.tools)
    # No line about tools that there are not, and about tags where none are.
    gone = tuple(f"- {tool}:" for tool in TOOLS if tool not in explored.tools)
    gone += () if "tags_of" in explored.tools else ("A tag ",)
    system = "\n".join(line for line in request.system.split("\n") if not line.startswith(gone))
    system = system.replace("at most five", f"at most {explored.calls}")
    prompt = request.prompt.replace("|".join(TOOLS), "|".join(explored.tools))
    return replace(request, system=system, prompt=prompt, tools=offered, earlier=earlier)


def read_move(reply: Reply, view: View, shown: ShownEvidence, most: int = MAX_TURN_CALLS) -> Move:
    """Return the move in a reply. Raise ReplyError for a call of no known tool, or neither calls nor a verdict.

    A reply that only calls tools says nothing of the evidence: it is not enough.
    """
    made = reply.uses[: 2 * max(MAX_TURN_CALLS, most)]
    uses = [{**read_object(use.arguments, "decide", ("of",)), "tool": use.name} for use in made]
    called = [_call(entry, reply.text, shown) for entry in EXPLORE.fields["calls"].read(uses)]
    if called and not _states(reply.text):
        told = [names(use["keep"]) for use in uses if "keep" in use]
        kept = tuple(one for keep in told for one in _kept(keep, shown)) if told else None
        return Move(CALLED_VERDICT, tuple(dict.fromkeys(called)), kept=kept)
    fields = EXPLORE.read(reply.text)
    verdict = replace(_verdict(fields, view, shown), mapped=False)
    calls = (*called, *(_call(entry, reply.text, shown) for entry in fields["calls"]))
    kept = None if fields["keep"] is None else _kept(fields["keep"], shown)
    return Move(verdict, tuple(dict.fromkeys(calls)), fields["answer"], shown.ids(fields["supports"]), kept)


def _kept(keys: Iterable[str], shown: ShownEvidence) -> tuple[str, ...]:
    """Return the ids of the turns that are named by their labels, and whatever else is named, cues and tags."""
    turns = ((shown.turn(key), key) for key in keys)
    return tuple(dict.fromkeys(key if turn is None else turn.id for turn, key in turns))


@cache
def tool_specs(tools: tuple[Tool, ...] = TOOLS) -> tuple[ToolSpec, ...]:
    """Return tools as a model is given them; the prompt describes each in its list of tools."""
    listed = (line.partition(": ") for line in load("explore").system.splitlines() if line.startswith("- "))
    says = {head.removeprefix("- "): text for head, _, text in listed}
    parted = TOOLS_WITH_PARTS if "tags_of" in tools else TOOLS_WITH_PARTS - {"events"}
    return tuple(ToolSpec(tool, says[tool], _schema(parted=tool in parted)) for tool in tools)


def _schema(*, parted: bool) -> Mapping[str, Any]:
    given: dict[str, Any] = {"of": {"type": "string"}} | ({"part": {"type": "string"}} if parted else {})
    given["keep"] = {"type": "array", "items": {"type": "string"}}
    return {"type": "object", "properties": {**given, "page": {"type": "integer"}}, "required": list(given)}


def _states(text: str) -> bool:
    """Return whether a text beside calls is a reply too, and no mere thoughts."""
    try:
        return "tier" in read_object(text, "decide", EXPLORE.by)
    except ReplyError:
        return False


def _call(entry: Mapping[str, Any], text: str, shown: ShownEvidence) -> ToolCall:
    if entry["tool"] is None:
        raise ReplyError("decide", f"a call names none of the tools {TOOLS!r}", text)
    of = entry["of"]
    # tools that are called on an item
    turn = shown.turn(of) if entry["tool"] in {"event_time", "event_cues", "event_context"} else None
    return ToolCall(entry["tool"], of if turn is None else turn.id, entry["part"], entry["page"])


def _exchange(view: View, results: Iterable[Result], shown: ShownEvidence) -> Iterator[Message]:
    """Yield the messages of the turns before this one: the question, then the calls of each and their results."""
    labels = {turn.id: label for label, turn in shown.items.items()}
    numbered = [(f"call{place:05}", result) for place, result in enumerate(results, 1)]  # Mistral: nine letters
    if numbered:
        yield Message("user", f"<question>\n{mark_lines(view.analysis.question)}\n</question>")
    for _, made in groupby(numbered, key=lambda pair: pair[1].number):
        turn, uses = list(made), []
        for of, result in turn:
            call = result.call
            fields = {"of": labels.get(call.of, call.of), "part": call.part, "page": call.page}
            given = {name: value for name, value in fields.items() if name != "part" or value}
            uses.append(ToolUse(of, call.tool, json.dumps(given, ensure_ascii=False)))
        yield Message("assistant", uses=tuple(uses))
        for of, result in turn:
            yield Message("tool", _result_text(result, labels), of=of)


def _result_text(result: Result, labels: Mapping[str, str]) -> str:
    """Return a result as text: names and keys escaped, as whatever people wrote."""
    call = result.call
    given = ", ".join(quote_name(labels.get(one, one)) for one in (call.of, call.part) if one)
    head = f"{call.tool}({given}), page {call.page}"
    if result.refused:
        return f'{head}: refused, "{escape_attribute(result.refused, MAX_KEY_CHARACTERS)}"'
    rows = []
    for row in result.rows[:12]:
        count = f", {row.count}" if row.count else ""
        rows.append(f"{quote_name(labels.get(row.key, row.key))} ({escape_attribute(row.text)}{count})")
    left = f", {result.pruned} not kept" if result.pruned else ""
    behind = f", in {result.turns} turns" if result.turns else ""
    return f"{head}: {len(result.rows)} of {result.total}{behind}{left}: {'; '.join(rows)}"
