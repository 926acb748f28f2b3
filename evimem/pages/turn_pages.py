"""Pages about turns: search with its scores, one turn, people and things, the time line, lists of turns."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import groupby, islice
from typing import Any
from urllib.parse import urlencode

from ..errors import InvalidQuery, UnknownTurn
from ..loops.evidence_view import other_names
from ..times import locate_times, render
from ..types.overview import SessionSummary
from ..types.stored import ALSO_KNOWN_AS, CORRECTED_AT, LABEL, statements
from ..types.values import Fact, Hit, Turn
from . import drawings
from .requests import MAX_RANK, Page, PageRequest

FACET_TURNS = 100  # best turns that facets count
_MAX_FACET_VALUES = 8  # of a facet
_MAX_NAMES = 60  # people and things listed
_MAX_FACTS = 200  # of one person or thing
_MAX_SESSIONS = 120  # of a month
_MAX_LATEST = 40  # sessions, where no month is chosen
_MAX_SPARKLINE_TURNS = 600  # turns that are read for the lines of a month's sessions
_PAGE_TURNS = 40  # turns of a page of a list
_MAX_LINKED = 10
_MAX_CITING = 10
_MAX_COUNTED_TRACES = 100  # kept traces that a correction takes


def search_turns(request: PageRequest) -> Page:
    """Show the turns that match a query with the parts of their scores, facets, and the rank of a named turn."""
    query, k = request.text_parameter("q"), request.number_parameter("k", 10, 1, 100)
    if not query:
        return Page("search", "Search", {"query": "", "hits": []})
    given = {name: request.optional_parameter(name) for name in ("speaker", "role", "session")}
    where, month = _parse_conditions(request.text_parameter("where")), request.text_parameter("month")
    filters: dict[str, Any] = {**given, "where": where}
    named = request.find_named_turns("why")
    deep = MAX_RANK if month or named else max(FACET_TURNS, k)
    found = request.memory.search(query, k=deep, **filters)
    if month:
        found = [hit for hit in found if f"{hit.turn.time:%Y-%m}" == month]
    hits = found[:k]
    values: dict[str, Any] = {
        "query": query,
        "k": k,
        "filters": {name: value for name, value in {**filters, "month": month}.items() if value},
        "hits": hits,
        "facets": _count_facets([hit.turn for hit in found[:FACET_TURNS]]),
        "counted": min(len(found), FACET_TURNS),
    }
    if named:
        values["named"] = _explain_rank(named[0], found, hits, {**given, "month": month}, where)
        values["candidates"] = named[1:]
        if values["named"]["hit"] is None and not values["named"]["barred"]:
            values["named"] |= _score_distant_turn(request, named[0], hits)
    most = max((sum(max(part, 0) for part in hit.parts.values()) for hit in found), default=1.0) or 1.0
    return Page(
        "search", query, values, {"bars": {hit.turn.id: drawings.draw_score_bar(hit.parts, most) for hit in hits}}
    )


def search_form_page(request: PageRequest) -> Page:
    """Return the page of a search with its words and without hits."""
    return Page("search", "Search", {"query": request.text_parameter("q"), "hits": []})


def _parse_conditions(text: str) -> Mapping[str, Any] | None:
    if not text:
        return None
    try:
        given = json.loads(text)
    except ValueError as error:
        raise InvalidQuery('where is no JSON; expected conditions such as {"topic": "pets"}') from error
    if not isinstance(given, dict):
        raise InvalidQuery('where is no JSON object; expected conditions such as {"topic": "pets"}')
    return given


def _count_facets(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Return the values by which turns differ, with counts: each value with the parameter that selects it."""
    columns: list[tuple[str, str, list[str]]] = [
        ("Speaker", "speaker", [turn.speaker for turn in turns]),
        ("Role", "role", [turn.role or "user" for turn in turns]),
        ("Month", "month", [f"{turn.time:%Y-%m}" for turn in turns]),
        ("Session", "session", [turn.session for turn in turns]),
    ]
    kept: dict[str, list[str]] = defaultdict(list)
    for turn in turns:
        for key, value in turn.metadata.items():
            if isinstance(value, (str, int, float, bool)) and len(str(value)) <= 60:
                kept[key].append(json.dumps({key: value}))
    columns += [(key, "where", conditions) for key, conditions in sorted(kept.items())[:6]]
    facets = []
    for title, name, column in columns:
        counts = Counter(column).most_common(_MAX_FACET_VALUES)
        values = [{"value": value, "label": _facet_label(value, name), "count": count} for value, count in counts]
        if len(values) > 1 or name == "where":
            facets.append({"title": title, "name": name, "values": values})
    return facets


def _facet_label(value: str, name: str) -> str:
    return str(next(iter(json.loads(value).values()))) if name == "where" else value


def _explain_rank(
    turn: Turn, found: Sequence[Hit], shown: Sequence[Hit], given: Mapping[str, str | None], where: Any
) -> dict[str, Any]:
    """Return the rank of a turn, or why it has none, and how it falls short of the last turn that is shown."""
    rank = next((rank for rank, hit in enumerate(found, 1) if hit.turn.id == turn.id), None)
    told: dict[str, Any] = {"turn": turn, "rank": rank, "of": len(found), "hit": None, "short": [], "barred": []}
    if rank is None:
        own = {"speaker": turn.speaker, "role": turn.role, "session": turn.session, "month": f"{turn.time:%Y-%m}"}
        barred = [f"its {name} is {own[name]}" for name, value in given.items() if value and own[name] != value]
        barred += ["its metadata differs"] if where and not barred and len(found) < MAX_RANK else []
        told["barred"] = barred
        told["reason"] = (
            f"The filters leave it out: {', '.join(barred)}."
            if barred
            else f"It is not among the {len(found):,} best turns for this query."
        )
        return told
    hit = found[rank - 1]
    told["hit"] = hit
    if rank <= len(shown):
        told["reason"] = f"It is shown, at rank {rank}."
        return told
    last = shown[-1]
    told["short"] = _score_shortfall(hit, last)
    told["reason"] = (
        f"Rank {rank}: it scores {hit.score:.3f}, the last turn shown (rank {len(shown)}) {last.score:.3f}."
    )
    return told


def _score_shortfall(hit: Hit, last: Hit) -> list[dict[str, Any]]:
    """Return the parts of its score by which a hit falls short of another, the largest first."""
    names = {*hit.parts, *last.parts}
    short = sorted((hit.parts.get(name, 0.0) - last.parts.get(name, 0.0), name) for name in names)
    return [{"part": name, "by": by} for by, name in short if by < -0.0005]


def _score_distant_turn(request: PageRequest, turn: Turn, shown: Sequence[Hit]) -> dict[str, Any]:
    """Return the score of a turn that is far down, from a search of its session."""
    within = request.memory.search(request.text_parameter("q"), k=FACET_TURNS, session=turn.session)
    hit = next((one for one in within if one.turn.id == turn.id), None)
    if hit is None or not shown:
        return {}
    reason = f"It is after the {MAX_RANK} best turns: it scores {hit.score:.3f}, the last turn shown "
    return {
        "reason": f"{reason}(rank {len(shown)}) {shown[-1].score:.3f}.",
        "hit": hit,
        "short": _score_shortfall(hit, shown[-1]),
    }


def show_turn(request: PageRequest) -> Page:
    """Show a turn verbatim with its facts, dates, links and jobs, and the traces that read it."""
    memory, store = request.memory, request.memory._core.store
    turn = memory.turn(request.query.get("id", ""))
    near = request.number_parameter("around", 3, 0, 20)
    waiting = request.count_waiting_turns()
    facts = store.facts([turn.id]) if waiting else memory.facts([turn.id])
    times = locate_times(turn.text, turn.time, memory._core.conventions)
    dates = [
        {"phrase": one.time.text, "start": one.start, "end": one.end, "time": one.time,
         "words": render(one.time) if one.time.start else "no certain date"}
        for one in times
    ]  # fmt: skip
    near_by = store.expand([turn.id], _MAX_LINKED) if waiting else memory.neighbours(turn.id, _MAX_LINKED)
    linked = [hit for hit in near_by if hit.path != "edge:next"]
    citing = [
        {"number": one.number, "question": one.trace.question, "cited": turn.id in _cited_turn_ids(one.trace)}
        for one in store.list_traces(_MAX_CITING, [turn.id])
    ]
    values = {
        "turn": turn,
        "around": memory.context(turn.id, near, near),
        "facts": statements(facts),
        "dates": dates,
        "linked": linked,
        "traces": citing,
        "jobs": store.jobs_of_turn(turn.id),
        "waiting": waiting,
    }
    marks = [(one.start, one.end) for one in times]
    return Page(
        "turn",
        f"{turn.speaker}, {turn.time:%Y-%m-%d}",
        values,
        {"marks": marks, "filed": [fact.object for fact in facts if fact.kind == LABEL],
         "corrected": _correction_time(turn),
         "noted": {name: value for name, value in turn.metadata.items() if name != CORRECTED_AT}},
    )  # fmt: skip


def _correction_time(turn: Turn) -> datetime | None:
    """Return when the words of a turn were corrected; None where they never were."""
    given = turn.metadata.get(CORRECTED_AT)
    try:
        return datetime.fromisoformat(given) if isinstance(given, str) else None
    except ValueError:  # a value of the caller's under the same name
        return None


def _cited_turn_ids(trace: Iterable[Any]) -> set[str]:
    """Return the ids of the turns that the answer of a trace cites."""
    details = [event.detail for event in trace if getattr(event, "action", None) == "answer"]
    return {turn_id for detail in details for turn_id in detail.get("citations") or ()}


def edit_turn(request: PageRequest) -> Page:
    """Give a turn another text, and show it with what was erased of the old one."""
    turn_id, text = str(request.form.get("id", "")), _read_sent_text(request)
    memory, store = request.memory, request.memory._core.store
    facts, traces = len(store.facts([turn_id])), len(store.list_traces(_MAX_COUNTED_TRACES, [turn_id]))
    (status,) = memory.update(turn_id, text).statuses
    saved = {"same": 1} if status.outcome == "exists" else {
        "facts": facts, "traces": traces - len(store.list_traces(_MAX_COUNTED_TRACES, [turn_id]))}  # fmt: skip
    address = urlencode({"id": turn_id, "saved": 1, **saved})
    return Page("turn", "Saved", {"id": turn_id}, go_to=f"turn?{address}")


def _read_sent_text(request: PageRequest) -> str:
    return str(request.form.get("text", "")).replace("\r\n", "\n")


def turn_form_page(request: PageRequest) -> Page:
    """Return the page of a turn with the text that was sent for it; of a turn that is not there, a form for its id."""
    turn_id = request.query.get("id") or str(request.form.get("id", ""))
    try:
        page = show_turn(replace(request, query={"id": turn_id}))
    except UnknownTurn:
        return Page("problem", "Turn", {"kind": "UnknownTurn"})
    return replace(page, shown={**page.shown, "draft": _read_sent_text(request) or page.values["turn"].text})


def show_people(request: PageRequest) -> Page:
    """Show the facts about a person or thing; without a name, the names in the memory."""
    name, store = request.text_parameter("name"), request.memory._core.store
    if not name:
        speakers, things = store.count_turns_by_speaker(_MAX_NAMES), store.count_facts_by_subject(_MAX_NAMES)
        named = {"name": "", "speakers": speakers, "things": things, "waiting": request.count_waiting_turns()}
        return Page("people", "People and things", named)
    waiting = request.count_waiting_turns()
    known = store.about(name, _MAX_FACTS).facts if waiting else request.memory.facts(about=name)
    facts = [fact for fact in statements(known) if fact.predicate != ALSO_KNOWN_AS]
    shown = facts[:_MAX_FACTS]
    texts = {fact.id: fact for fact in facts}
    replaced = [
        {"old": old, "new": texts[old.replaced_by], "by": texts[old.replaced_by].extractor}
        for old in facts
        if old.replaced_by in texts
    ]
    turns = {turn.id: turn for turn in store.find(sorted({fact.turn_id for fact in shown})) if turn is not None}
    values = {
        "name": name,
        "aliases": other_names(name, known),
        "facts": shown,
        "total": len(facts),
        "replaced": replaced,
        "beside": _group_contradicting_facts(facts),
        "turns": turns,
        "waiting": waiting,
    }
    return Page("people", name, values)


def _group_contradicting_facts(facts: Sequence[Fact]) -> list[dict[str, Any]]:
    """Return the facts of one subject and predicate that differ in their object, none of them replaced."""
    groups: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.replaced_by is None and fact.object and fact.kind in {"state", "opinion", "plan"}:
            groups[fact.subject, fact.predicate].append(fact)
    return [
        {"subject": subject, "predicate": predicate, "facts": held}
        for (subject, predicate), held in groups.items()
        if len({fact.object.casefold() for fact in held}) > 1
    ]


def show_timeline(request: PageRequest) -> Page:
    """Show the turns by day as a picture, and the sessions of one month by day."""
    memory, store = request.memory, request.memory._core.store
    counts = store.count_turns_by_day()
    if not counts:
        return Page("timeline", "Time line", {"days": (), "month": None, "sessions": []})
    day = _parse_day(request.text_parameter("day"))
    chosen = day or _parse_month(request.text_parameter("month"))
    month = (chosen or counts[-1].day).replace(day=1)
    begins = month if chosen else counts[0].day
    first, following = _start_of_day(begins, memory), _start_of_day(_next_month(month), memory)
    sessions = store.summarize_sessions(first, following, _MAX_SESSIONS if chosen else _MAX_LATEST)
    months = sorted({one.day.replace(day=1) for one in counts})
    lengths = _turn_lengths_by_session(request, sessions, first, following)
    by_day = [
        {"day": each, "sessions": list(held)} for each, held in groupby(sessions, key=lambda one: one.first.date())
    ]
    values = {
        "days": counts,
        "month": month if chosen else None,
        "sessions": by_day,
        "earlier": max((one for one in months if one < month), default=None),
        "later": min((one for one in months if one > month), default=None),
        "last": counts[-1].day,
    }
    address = {one.day: request_link("timeline", request, month=f"{one.day:%Y-%m}") for one in counts}
    sparks = {name: drawings.draw_sparkline(sizes, f"lengths of {len(sizes)} turns") for name, sizes in lengths.items()}
    bar = day or next((one.day for one in counts if chosen and one.day.replace(day=1) == month), None)
    return Page("timeline", "Time line", values, {"picture": drawings.draw_day_bars(counts, bar, address),
                                                  "sparks": sparks, "chosen": day or counts[-1].day})  # fmt: skip


def request_link(page: str, request: PageRequest, **parameters: str) -> str:
    """Return the relative address of a page with parameters, and with the user where pages name one."""
    user = {"user": request.query["user"]} if request.source.has_users and "user" in request.query else {}
    return f"{page}?{urlencode({**user, **parameters})}"


def _turn_lengths_by_session(
    request: PageRequest, sessions: Sequence[SessionSummary], after: datetime, before: datetime
) -> dict[str, list[int]]:
    """Return the lengths of the turns of a month's sessions, in characters; none where there are very many."""
    if not sessions or sum(one.turns for one in sessions) > _MAX_SPARKLINE_TURNS:
        return {}
    after = max(after, min(one.first for one in sessions))
    lengths: dict[str, list[int]] = defaultdict(list)
    for turn in request.memory.turns(after=after, before=before):
        lengths[turn.session].append(len(turn.text))
    return lengths


def _start_of_day(day: date, memory: Any) -> datetime:
    """Return the beginning of a day in the convention of the memory's times."""
    last = memory._core.store.roster().last
    return datetime(day.year, day.month, day.day, tzinfo=last.tzinfo if last else None)


def _next_month(month: date) -> date:
    return (month + timedelta(32)).replace(day=1)


def _parse_day(text: str) -> date | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise InvalidQuery(f"day is {text[:20]!r}; expected a date such as 2024-03-12") from error


def _parse_month(text: str) -> date | None:
    return _parse_day(f"{text}-01") if text else None


def list_turns(request: PageRequest) -> Page:
    """List the turns of a session, a day or a speaker, a page at a time, in dialogue order."""
    memory, day = request.memory, _parse_day(request.text_parameter("day"))
    given: dict[str, Any] = {name: request.optional_parameter(name) for name in ("session", "speaker", "role")}
    bounds: dict[str, Any] = {}
    if day is not None:
        bounds = {"after": _start_of_day(day, memory), "before": _start_of_day(day + timedelta(1), memory)}
    if request.text_parameter("after"):
        bounds["after"] = request.text_parameter("after")
    skip = request.number_parameter("skip", 0, 0, 10_000)
    page = list(islice(memory.turns(**given, **bounds, limit=skip + _PAGE_TURNS + 1), skip, None))
    shown = page[:_PAGE_TURNS]
    more = None
    if len(page) > _PAGE_TURNS:
        last = shown[-1].time
        same = sum(turn.time == last for turn in shown)
        more = {"after": last.isoformat(), "skip": same + (skip if same == len(shown) else 0)}
    values = {"filters": {**given, "day": day}, "turns": shown, "more": more}
    title = str(day or given["session"] or given["speaker"] or "Turns")
    return Page("turns", title, values, {"days_of": list(_group_turns_by_day(shown))})


def _group_turns_by_day(turns: Sequence[Turn]) -> Iterator[tuple[date, list[Turn]]]:
    for day, held in groupby(turns, key=lambda turn: turn.time.date()):
        yield day, list(held)
