"""Pages about one question: the answer and why it was given, the block for a message, two answers side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ..api.replaying import replay
from ..errors import NoModel, StoreError, TraceMismatch, UnknownTurn
from ..loops import VARIANTS, chosen_loop
from ..offline.matching import is_question
from ..page.gate import MIN_RELEVANCE
from ..text.terms import terms
from ..times import locate_times, render
from ..types.results import Answer, Block, Citation
from ..types.trace import Trace
from ..types.values import Hit, Turn
from . import drawings
from .requests import MAX_RANK, Page, PageRequest
from .trace_rounds import TraceView, read_rounds

BLOCK_SIZES = (300, 800, 1500, 4000)  # tokens
DEFAULT_BLOCK_SIZE = 800
MAX_BLOCK_SIZE = 16_000  # tokens of a block that is shown
MAX_TURNS_SHOWN = 60  # of a trace; the rest are counted
MAX_TRACES_SHOWN = 50
MAX_CLOSEST = 3  # turns shown beside an abstention
# The loops of `evimem.loops.LOOPS`, each with a sentence
USUAL_LOOPS = {
    "iris": "Searches for the question, then for the gaps that a check of the evidence finds.",
    "single_pass": "One search, one check, one answer.",
    "memr3": "Decides after each search whether to search again, to reflect or to answer.",
    "mgretrieval": "Reads new turns round by round, from broad keywords to narrow ones.",
    "mragent": "A model explores links between turns with tools; without a model it searches as iris does.",
}
_MAX_LEFT_OUT = 8  # turns shown that fell below the cut of a block
_COMPARED_TURNS = 30  # best turns of a search that a block is compared with
_SAME_WORD_SHARE = 0.8  # share of words of a turn that another has, from which on they say nearly the same


def show_answer(request: PageRequest) -> Page:
    """Show an answer with its evidence: of a question that is asked now, or of a stored trace, which is replayed."""
    if request.query.get("n"):
        number = request.number_parameter("n", 0, 1, 2**31)
        trace = request.memory.trace(number)
        try:
            return _answer_page(request, trace.question, replay(trace, request.memory), number)
        except (TraceMismatch, NoModel) as error:
            return Page("ask", trace.question, {"question": trace.question, "outdated": str(error), "number": number})
    question = request.text_parameter("q")
    waiting = request.count_waiting_turns()
    if question and waiting and not request.text_parameter("now"):
        return Page("ask", question, {"question": question, "waiting": waiting})
    if not question or _has_model(request):
        newest = request.memory._core.store.list_traces(6)
        recent = [{"number": one.number, "question": one.trace.question} for one in newest]
        examples = [] if question else _example_questions(request)
        return Page("ask", question or "Ask", {"question": question, "recent": recent, "examples": examples},
                    {"sends": _has_model(request)})  # fmt: skip
    return _answer_page(request, question, _ask_question(request, question))


def _example_questions(request: PageRequest) -> list[str]:
    """Return three questions about who speaks most in the memory; none of an empty one."""
    speakers = [one.name for one in request.memory._core.store.count_turns_by_speaker(3) if one.name != "assistant"]
    if not speakers:
        return []
    name = speakers[0] if len(speakers[0]) <= 60 else "user"
    if name == "user":
        return ["Where do I live?", "What do I like?", "What have I planned?"]
    return [f"Where does {name} live?", f"What does {name} like?", f"What has {name} planned?"]


def keep_answer(request: PageRequest) -> Page:
    """Ask a question, store its trace and show it at an address of its own."""
    question = str(request.form.get("q", "")).strip()
    answer = _ask_question(request, question)
    try:
        number = request.memory.keep_trace(answer.trace)
    except (StoreError, UnknownTurn, TraceMismatch):
        return _answer_page(request, question, answer)
    return Page("ask", question, {"number": number}, go_to=f"ask?n={number}")


def _ask_question(request: PageRequest, question: str) -> Answer:
    return request.memory.ask(
        question,
        session=request.optional_parameter("session"),
        speaker=request.optional_parameter("speaker"),
        asked_at=request.optional_parameter("asked_at"),
    )


def _has_model(request: PageRequest) -> bool:
    return request.memory._model is not None


def _answer_page(request: PageRequest, question: str, answer: Answer, number: int | None = None) -> Page:
    view = read_rounds(answer.trace)
    cited = list(dict.fromkeys(one.turn_id for one in answer.citations))
    around = request.memory._core.store.contexts(cited, 1, 1) if cited else ()
    evidence = [
        {"turns": turns, "cited": [turn.id for turn in turns if turn.id in cited]} for turns in _merge_passages(around)
    ]
    held = {turn.id: turn for turns in around for turn in turns}
    values = {
        "question": question,
        "number": number,
        "answer": answer,
        "view": view,
        "evidence": evidence,
        "dates": _cited_dates(request, answer, held),
        "closest": () if cited else _find_closest_turns(request, view),
    }
    best = _choose_headline(answer.citations)
    first = held.get(best.turn_id) if best else None
    return Page("ask", question, values, {"meter": _draw_confidence(answer, view), "best": best, "first": first})


def _choose_headline(citations: Sequence[Citation]) -> Citation | None:
    """Return the best citation that states something, else the best one, which only asks."""
    stating = (one for one in citations if not is_question(one.quote))
    return next(stating, citations[0] if citations else None)


def _cited_dates(request: PageRequest, answer: Answer, held: Mapping[str, Turn]) -> dict[str, list[dict[str, str]]]:
    """Return the dates that cited words mean, by turn: each phrase with its date in words."""
    dates: dict[str, list[dict[str, str]]] = {}
    for one in answer.citations:
        turn = held[one.turn_id]
        if one.span is not None and turn.text[slice(*one.span)] == one.quote and one.turn_id not in dates:
            times = locate_times(turn.text, turn.time, request.memory._core.conventions)
            dates[turn.id] = [
                {"phrase": each.time.text, "words": render(each.time)}
                for each in times
                if each.time.start and one.span[0] <= each.start and each.end <= one.span[1]
            ]
    return dates


def _merge_passages(around: Iterable[Sequence[Turn]]) -> list[list[Turn]]:
    """Return passages of a dialogue as lists of turns, those that overlap as one."""
    passages: list[dict[str, Turn]] = []
    for turns in around:
        own = {turn.id: turn for turn in turns}
        for held in passages:
            if held.keys() & own.keys():
                held.update(own)
                break
        else:
            passages.append(own)
    return [sorted(held.values(), key=lambda turn: turn.time) for held in passages]


def _find_closest_turns(request: PageRequest, view: TraceView) -> list[Turn]:
    """Return the turns that came closest to answering: those that support most requirements, else the best found."""
    counts = Counter(turn for one in view.requirements for turn in one.witnesses)
    ids = dict.fromkeys([turn for turn, _ in counts.most_common(MAX_CLOSEST)])
    ids |= dict.fromkeys(view.found)
    found = request.memory._core.store.find(list(ids)[:MAX_CLOSEST])
    return [turn for turn in found if turn is not None]


def _draw_confidence(answer: Answer, view: TraceView) -> Any:
    sure = answer.confidence if view.sufficiency is None else view.sufficiency
    told = f"The evidence suffices with probability {sure:.0%}"
    told += "" if view.threshold is None else f"; answers are given from {view.threshold:.0%}"
    return drawings.draw_meter(sure, view.threshold, told)


def list_traces(request: PageRequest) -> Page:
    """List the stored traces, the newest first."""
    kept = request.memory._core.store.list_traces(MAX_TRACES_SHOWN)
    rows = [{"number": one.number, "question": one.trace.question, "loop": one.trace.loop,
             "outcome": dict(read_rounds(one.trace).outcome)} for one in kept]  # fmt: skip
    return Page("traces", "Traces", {"traces": rows})


def show_trace(request: PageRequest) -> Page:
    """Show how an answer came about, round by round: of a stored trace, or of a question that is asked now."""
    if request.query.get("n"):
        number: int | None = request.number_parameter("n", 0, 1, 2**31)
        trace = request.memory.trace(number)
    elif request.text_parameter("q") and not _has_model(request):
        number, trace = None, _ask_question(request, request.text_parameter("q")).trace
    else:
        return list_traces(request)
    values = trace_page_values(trace, request.memory._core.store.find(trace_turn_ids(trace)))
    return Page("why", f"Why: {trace.question}", values | {"number": number}, draw_trace_pictures(values))


def trace_turn_ids(trace: Trace) -> list[str]:
    """Return the ids of the turns that a trace found and read, the found ones first, at most `MAX_TURNS_SHOWN`."""
    view = read_rounds(trace)
    witnesses = [turn for one in view.requirements for turn in one.witnesses]
    cited = view.outcome.get("citations") or ()
    return list(dict.fromkeys([*cited, *witnesses, *view.found]))[:MAX_TURNS_SHOWN]


def trace_page_values(trace: Trace, turns: Iterable[Turn | None]) -> dict[str, Any]:
    """Return the values of a trace's page: the trace, its rounds and the turns that are still stored."""
    held = {turn.id: turn for turn in turns if turn is not None}
    view = read_rounds(trace)
    return {"trace": trace, "view": view, "turns": held, "cited": list(view.outcome.get("citations") or ())}


def draw_trace_pictures(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pictures of a trace: when its evidence was said, and how sure each check was."""
    view: TraceView = values["view"]
    held: Mapping[str, Turn] = values["turns"]
    moments = [
        (turn.time.date(), f"{turn.speaker}, {turn.time.day} {turn.time:%B %Y}", f"#turn-{place}",
         turn.id in values["cited"])
        for place, turn in enumerate(held.values(), 1)
    ]  # fmt: skip
    meters = {
        one.number: drawings.draw_meter(one.verdict.own_probability, view.threshold, "probability of this check")
        for one in view.rounds
        if one.verdict is not None
    }
    return {"moments": drawings.draw_evidence(moments, None), "meters": meters}


def show_block(request: PageRequest) -> Page:
    """Show the block for a message at a size, the turns below its cut, and why a named turn is not in it."""
    message = request.text_parameter("q")
    size = request.number_parameter("tokens", DEFAULT_BLOCK_SIZE, 0, MAX_BLOCK_SIZE)
    sizes = sorted({*BLOCK_SIZES, size})
    if not message:
        return Page("block", "Block", {"message": "", "tokens": size}, {"sizes": sizes})
    blocks = {each: request.memory.block(message, tokens=each) for each in sizes}
    hits = request.memory.search(message, k=_COMPARED_TURNS)
    block, named = blocks[size], request.find_named_turns("why")
    outside = [hit for hit in hits if hit.turn.id not in _block_turn_ids(block)]
    known = {hit.turn.id for hit in hits} | _block_turn_ids(block)
    left_out = [
        {"hit": hit, "rank": rank, "reason": _reason_hit_left_out(hit, hits[0], blocks, size) if block.text else None}
        for rank, hit in enumerate(hits, 1)
        if hit in outside[:_MAX_LEFT_OUT]
    ]
    values = {
        "message": message,
        "tokens": size,
        "block": block,
        "sizes": [{"tokens": each, "used": one.tokens, "turns": len(one.turns)} for each, one in blocks.items()],
        "left_out": left_out,
        "below": len(outside) - len(left_out),
        "compared": len(hits),
        "not_found": max(request.memory.health().turns - len(known), 0),
        "empty": _explain_empty_block(request, message, block, size, hits) if not block.text else None,
        "named": _explain_turn_left_out(request, named[0], hits, blocks, size) if named else None,
        "candidates": named[1:],
    }
    return Page(
        "block",
        message,
        values,
        {"slices": _block_tokens_by_part(block), "bar": drawings.draw_split_bar(_block_tokens_by_part(block), size)},
    )


def _block_turn_ids(block: Block) -> set[str]:
    return {turn.id for turn in block.turns}


def _block_tokens_by_part(block: Block) -> list[tuple[str, int]]:
    """Return the tokens of a block by part, and those of the fence around them."""
    around = block.tokens - sum(block.parts.values())
    return [*block.parts.items(), *((("heading and tags", around),) if around > 0 else ())]


def _reason_hit_left_out(hit: Hit, best: Hit, blocks: Mapping[int, Block], size: int) -> str:
    """Return why a turn is not in the block of a size."""
    fits = [each for each, one in blocks.items() if each > size and hit.turn.id in _block_turn_ids(one)]
    if fits:
        return f"no room: needs {fits[0]:,} tokens"
    if (alike := _find_near_duplicate(hit.turn, blocks[size].turns)) is not None:
        return f"says nearly the same as line {alike}"
    share = hit.score / best.score if best.score > 0 else 0.0
    return f"not helpful enough at any size: its score is {share:.0%} of the best one's"


def _find_near_duplicate(turn: Turn, shown: Collection[Turn]) -> int | None:
    own = set(terms(turn.text))
    for place, other in enumerate(shown, 1):
        if own and turn.speaker == other.speaker and len(own & set(terms(other.text))) >= _SAME_WORD_SHARE * len(own):
            return place
    return None


def _explain_turn_left_out(
    request: PageRequest, turn: Turn, hits: list[Hit], blocks: Mapping[int, Block], size: int
) -> dict[str, Any]:
    """Return why a turn is not in the block, with its rank and score, and those of the last line that is in it."""
    block = blocks[size]
    place = next((place for place, one in enumerate(block.turns, 1) if one.id == turn.id), None)
    message = request.text_parameter("q")
    ranked = list(enumerate(hits, 1))
    rank, hit = next(((rank, hit) for rank, hit in ranked if hit.turn.id == turn.id), (None, None))
    if hit is None:
        deep = request.memory.search(message, k=MAX_RANK)
        rank, hit = next(((rank, hit) for rank, hit in enumerate(deep, 1) if hit.turn.id == turn.id), (None, None))
    cut = next(((rank, hit) for rank, hit in reversed(ranked) if hit.turn.id in _block_turn_ids(block)), None)
    reason = f"it is not among the {MAX_RANK} turns that match this message best"
    if place is not None:
        reason = f"it is in the block: line {place}"
    elif not block.text:
        reason = "the block is empty for this message, whatever turns there are"
    elif hit is not None:
        reason = _reason_hit_left_out(hit, hits[0], blocks, size)
    return {"turn": turn, "reason": reason, "hit": hit, "rank": rank, "cut": cut and {"rank": cut[0], "hit": cut[1]}}


def _explain_empty_block(request: PageRequest, message: str, block: Block, size: int, hits: list[Hit]) -> str:
    """Return why a block has no text."""
    if not hits:
        return "The memory holds no turn yet."
    ungated = request.memory.block(message, tokens=size, gate=False)
    if ungated.text:
        return (
            "The message does not seem to ask for anything that is remembered: it needs the memory with probability "
            f"{block.relevance:.0%}, and a block is made from {MIN_RELEVANCE:.0%}. Made all the same, it would quote "
            f"{len(ungated.turns)} turns."
        )
    return f"Nothing fits: a budget of {size:,} tokens has no room for a line inside the fence of a block."


def question_form_page(request: PageRequest) -> Page:
    """Return the page of a question that is not asked."""
    question = request.text_parameter("q") or str(request.form.get("q", ""))
    return Page("ask", question or "Ask", {"question": question}, {"sends": _has_model(request)})


def block_form_page(request: PageRequest) -> Page:
    """Return the page of a block with its message alone."""
    return Page("block", "Block", {"message": request.text_parameter("q"), "tokens": DEFAULT_BLOCK_SIZE}, {"sizes": ()})


def compare_answers(request: PageRequest) -> Page:
    """Show the answers to one question by two loops, or to two questions, side by side."""
    question, other = request.text_parameter("q"), request.text_parameter("q2")
    loops = [request.text_parameter("a") or "iris", request.text_parameter("b") or ("iris" if other else "single_pass")]
    for name in loops:
        chosen_loop(name)
    shown = {"loops": USUAL_LOOPS, "variants": list(VARIANTS), "sends": _has_model(request)}
    if not question or _has_model(request):
        return Page("compare", "Compare", {"question": question, "other": other, "chosen": loops, "sides": []}, shown)
    sides, meters = [], []
    for text, loop in zip((question, other or question), loops, strict=True):
        answer = request.memory.ask(text, loop)
        view = read_rounds(answer.trace)
        cited = dict.fromkeys(one.turn_id for one in answer.citations)
        sides.append({"question": text, "loop": loop, "answer": answer, "view": view,
                      "turns": {one: request.memory.turn(one) for one in cited}})  # fmt: skip
        meters.append(drawings.draw_meter(answer.confidence, None, f"probability {answer.confidence:.0%}"))
    values = {"question": question, "other": other, "chosen": loops, "sides": sides}
    return Page("compare", f"Compare: {question}", values, shown | {"meters": meters})
