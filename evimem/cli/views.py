"""Results as pages for people: answers, hits, turns, reports, and the trace of a question by iteration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from itertools import groupby
from typing import Any

from ..calibration import Calibration
from ..loops.answering import cost
from ..types.answer import Answer, Citation, Usage
from ..types.reports import AddReport, Health, Stats
from ..types.trace import FALL_BACK, Acted, Called, Event, Found, GapsChanged, Judged, Queried, Stopped, Trace
from ..types.values import Fact, Hit, Tier, TimeSpan, Turn
from .page import BLANK, Block, Field, Heading, Piece, Style, TextLine, field, line, table

_TIER: dict[Tier, Style] = {Tier.EXACT: "good", Tier.INFERRABLE: "good", Tier.PARTIAL: "warn", Tier.NONE: "bad"}
_LONGEST_QUOTE = 300
_MIDNIGHT = time.min
_NAMED = 10  # refused items that are shown with their reason; the rest are counted
_COUNTED = ("found", "iterations", "cites", "requests", "tokens", "ms")
_BAR = 20  # characters of a bar that stands for 100 %
_PREDICTED = ("predicted", "observed", "n")
_MOST_NAMED = 6  # turns of a list that are named; the rest are counted
_SIGNALS = 8

_STEPS = {  # by the name of an action: the label of its row, and the detail that it is about
    "show": ("shown", "turns"),
    "measure": ("signals", ""),
    "abstain": ("abstain", ""),
    "fail": ("failed", ""),
    FALL_BACK: ("offline", ""),
    "look up": ("look up", "entity"),
    "extend": ("requires", "text"),
    "decide": ("decides", "action"),
    "keywords": ("keywords", "chosen"),
    "consider": ("answers", "answer"),
    "cues": ("cues", "cues"),
    "explore": ("answers", "answer"),
    "call": ("tool", "tool"),
    "search nothing": ("search", ""),
}


def answer_page(question: str, answer: Answer, turns: Mapping[str, Turn]) -> list[Block]:
    """Return a question with its answer; `turns` holds the cited turns by id."""
    return [line(Piece("? ", "dim"), Piece(question, "strong")), _text(answer), *rest_page(answer, turns)]


def streamed_page(answer: Answer, turns: Mapping[str, Turn]) -> list[Block]:
    """Return the rest of an answer whose text was printed as it came."""
    return [line(_tier_piece(answer)) if answer.kind == "answer" else _text(answer), *rest_page(answer, turns)]


def rest_page(answer: Answer, turns: Mapping[str, Turn]) -> list[Block]:
    """Return the citations of an answer, its limits and its cost."""
    page: list[Block] = []
    if answer.time is not None and (span := interval(answer.time)):
        page.append(line(Piece(span, "dim"), indent=4))
    for citation in answer.citations:
        page += _citation(citation, turns[citation.turn_id])
    page += _limits(answer)
    if answer.usage.requests:
        page.append(line(Piece(_cost(answer.usage), "dim"), indent=4))
    return [*page, BLANK]


def _cost(usage: Usage) -> str:
    failed = f" ({usage.failed:,} failed)" if usage.failed else ""
    tokens = f"{counted(usage.requests, 'request')}{failed}, {usage.input_tokens:,} + {usage.output_tokens:,} tokens"
    return tokens if usage.cost is None else f"{tokens}, ${usage.cost:.4f}"


def interval(span: TimeSpan) -> str:
    """Return the first and last day of an interval, or its times of day, with its precision; empty for a vague one."""
    if span.start is None or span.end is None:
        return ""
    start, end = span.start, span.end
    if start.time() == end.time() == _MIDNIGHT:
        first, last = start.date().isoformat(), (end - timedelta(days=1)).date().isoformat()
        days = first if first == last else f"{first} to {last}"
        return f"{days} ({span.granularity})"
    return f"{start.isoformat(' ', 'minutes')} to {end.isoformat(' ', 'minutes')} ({span.granularity})"


def _tier_piece(answer: Answer) -> Piece:
    doubt = " (uncalibrated)" if answer.confidence_is == "uncalibrated" else ""
    return Piece(f"  {answer.tier.value}, {answer.confidence:.0%}{doubt}", _TIER[answer.tier])


def _text(answer: Answer) -> TextLine:
    tier = _tier_piece(answer)
    if answer.kind == "quote":  # the citations show what was said
        return line(Piece("No short answer is proven; this was said:", "warn"), tier, indent=2)
    if answer.text is not None:
        return line(Piece(answer.text, "answer"), tier, indent=2)
    if answer.abstained:
        return line(Piece("I don't know.", "warn"), tier, indent=2)
    return line(Piece("Not finished.", "bad"), tier, indent=2)


def _citation(citation: Citation, turn: Turn) -> list[Block]:
    who = Piece(turn.speaker, "name")
    place = line(Piece(f"{citation.turn_id} ", "dim"), who, Piece(f", {day(turn.time)}", "dim"), indent=4)
    return [place, quoted(turn, citation)]


def quoted(turn: Turn, citation: Citation | None = None, indent: int = 6) -> TextLine:
    """Return the text of a turn, cut to the surroundings of the cited characters, which are marked."""
    span = citation.span if citation else None
    if citation is None or span is None:
        return line(f"\u201c{_short(said(turn))}\u201d", indent=indent)
    text, start, end = turn.text, *span
    if turn.caption and text[start:end] != citation.quote:
        text = turn.caption
    room = max(_LONGEST_QUOTE - (end - start), 60) // 2
    before, after = text[max(start - room, 0) : start], text[end : end + room]
    opening = "\u201c" if start <= room else "\u201c..."
    closing = "\u201d" if end + room >= len(text) else "...\u201d"
    cited = Piece(text[start:end], "mark" if before or after else "")
    return line(opening, before, cited, after, closing, indent=indent)


def _limits(answer: Answer) -> list[Block]:
    """Return why there is no answer, or what limits it."""
    page: list[Block] = []
    if answer.reason and (answer.kind != "quote" or answer.fell_back):
        page.append(field("because", answer.reason, indent=4))
    if answer.text is None:
        reason = answer.reason or ""  # of a failure, and after it the gap
        open_gaps = [gap for gap in answer.gaps if gap.kind != "none" and not reason.endswith(gap.text)]
        page += [field("missing", Piece(f"({gap.kind}) ", "dim"), gap.text, indent=4) for gap in open_gaps]
    return page


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE].rstrip()}..."


def hits_page(query: str, hits: Sequence[Hit], *, explain: bool = False) -> list[Block]:
    """Return the hits of a search, best first; `explain` adds the parts of each score."""
    if not hits:
        return [line(Piece("nothing found for ", "dim"), query)]
    page: list[Block] = []
    for rank, hit in enumerate(hits, start=1):
        page += [_place(hit.turn, f"{rank:>2}. ", f"  {hit.score:.3f}"), quoted(hit.turn, indent=4)]
        if explain:
            parts = "  ".join(f"{name} {value:+.3f}" for name, value in hit.parts.items())
            page.append(line(Piece(f"{parts}  by {hit.path}", "dim"), indent=4))
    return [*page, BLANK]


def turn_page(turn: Turn, facts: Sequence[Fact], around: Sequence[Turn], linked: Sequence[Hit] = ()) -> list[Block]:
    """Return a turn with the spans of its facts marked, its facts, its neighbours in the dialogue, and linked turns."""
    page: list[Block] = [_place(turn, "", f"  session {turn.session}, {turn.role}"), marked(turn, facts)]
    if turn.caption:
        page.append(line(Piece("picture  ", "dim"), turn.caption, indent=2))
    if turn.metadata:
        page.append(line(Piece(f"metadata {dict(turn.metadata)}", "dim"), indent=2))
    page += [BLANK, *_facts(turn, facts), *_around(turn, around), *_linked(linked)]
    return page


def profile_page(name: str, facts: Sequence[Fact]) -> list[Block]:
    """Return what is known about a person or thing, the newest turn first, and what replaced what."""
    if not facts:
        return [line(Piece("nothing is known about ", "dim"), name)]
    texts: dict[str | None, str] = {None: ""}
    texts.update((fact.id, fact.text) for fact in facts)
    rows = [
        (fact.text, _when(fact), fact.turn_id, texts.get(fact.replaced_by, "a fact about another")) for fact in facts
    ]
    return [table(("fact", "event", "turn", "replaced by"), rows), BLANK]


def marked(turn: Turn, facts: Sequence[Fact]) -> TextLine:
    """Return the text of a turn with the spans of its facts marked."""
    spans = sorted(fact.span for fact in facts if fact.kind != "image")
    pieces, at = [], 0
    for start, end in spans:
        if end > at:
            pieces += [Piece(turn.text[at : max(start, at)]), Piece(turn.text[max(start, at) : end], "mark")]
            at = end
    return line(*(piece for piece in (*pieces, Piece(turn.text[at:])) if piece.text), indent=2)


def _facts(turn: Turn, facts: Sequence[Fact]) -> list[Block]:
    if not facts:
        return [line(Piece("no facts were found in it; it is searched by its text", "dim"), indent=2)]
    rows = [
        (
            fact.subject,
            fact.predicate,
            fact.object,
            _when(fact),
            f"{fact.span[0]}-{fact.span[1]}",
            "replaced" if fact.replaced_by else fact.extractor,
        )
        for fact in facts
    ]
    return [table(("subject", "predicate", "object", "event", "span", "by"), rows)]


def _linked(linked: Sequence[Hit]) -> list[Block]:
    """Return the turns linked by an edge of another kind than dialogue order."""
    others = [hit for hit in linked if hit.path != "edge:next"]
    if not others:
        return []
    rows = [
        (hit.path.removeprefix("edge:"), f"{hit.score:.2f}", hit.turn.id, hit.turn.speaker, hit.turn.text)
        for hit in others
    ]
    return [BLANK, Heading("Linked turns"), table(("edge", "weight", "turn", "speaker", "text"), rows)]


def _when(fact: Fact) -> str:
    if fact.event is None:
        return ""
    return interval(fact.event) or fact.event.text


def _around(turn: Turn, around: Sequence[Turn]) -> list[Block]:
    if len(around) < 2:
        return []
    page: list[Block] = [BLANK, Heading("Context")]
    for other in around:
        words = Piece(said(other), "strong" if other.id == turn.id else "dim")
        page.append(line(Piece(f"{other.id} ", "dim"), Piece(f"{other.speaker}: ", "name"), words, indent=2))
    return page


def _place(turn: Turn, before: str, after: str) -> TextLine:
    where = f"{before}{turn.id} "
    return line(Piece(where, "dim"), Piece(turn.speaker, "name"), Piece(f", {minute(turn.time)}{after}", "dim"))


def added_page(path: str, report: AddReport, refused: Sequence[str], seconds: float) -> list[Block]:
    """Return the counts and the first refused items: those of the file, then turns."""
    total = report.added + report.existing + report.replaced
    rate = f", {total / seconds:,.0f}/s" if seconds >= 0.01 else ""
    already = f", {report.replaced:,} replaced" if report.replaced else ""
    already += f", {report.erased:,} of abandoned branches erased" if report.erased else ""
    already += f", {report.existing:,} were there already" if report.existing else ""
    already += f", {counted(report.facts, 'fact')}" if report.facts else ""
    page: list[Block] = [
        line(Piece(path, "strong")),
        line(
            f"{counted(report.added, 'turn')} added{already}",
            Piece(f"  {seconds:.1f} s{rate}", "dim"),
            indent=2,
        ),
    ]
    queued = Counter(kind for one in report.statuses for kind in one.pending if kind != "facts")  # read when needed
    page += [
        field("pending", f"{counted(n, 'turn')}: {kind}; run `evimem enrich {path}` to process them")
        for kind, n in queued.items()
    ]
    if report.dropped:
        page.append(field("dropped", f"{counted(report.dropped, 'turn')}: nothing but a block that evimem wrote"))
    reasons = [*refused, *refused_turns(report)]
    page += [field("refused", reason, style="warn") for reason in reasons[:_NAMED]]
    if len(reasons) > _NAMED:
        page.append(line(Piece(f"and {len(reasons) - _NAMED:,} more refused", "warn"), indent=2))
    return page


def refused_turns(report: AddReport) -> list[str]:
    """Return which turns were refused, and why."""
    return [f"turn {one.id!r}: {one.reason}" for one in report.statuses if one.outcome == "refused"]


def stats_page(stats: Stats) -> list[Block]:
    """Return the counts of a memory."""
    edges = ", ".join(f"{count:,} {kind}" for kind, count in stats.edges.items()) or "none"
    period = "no turns yet"
    if stats.first and stats.last:
        period = f"{day(stats.first)} to {day(stats.last)}"
    return [
        line(Piece(stats.path, "strong"), Piece(f"  {size(stats.bytes)}, schema {stats.schema}", "dim")),
        field("turns", f"{stats.turns:,} in {counted(stats.sessions, 'session')}, {period}"),
        field("speakers", ", ".join(stats.speakers) or "none"),
        field("facts", f"{stats.facts:,}"),
        field("edges", edges),
        field("embedder", f"{stats.embedder}, {stats.dimension} dimensions"),
        BLANK,
    ]


def health_page(path: str, health: Health) -> list[Block]:
    """Return the health of a memory: queued and failed jobs, problems."""
    verdict = Piece("ok", "good") if health.status == "ok" else Piece(health.status, "bad")
    page: list[Block] = [line(Piece(path, "strong"), "  ", verdict), field("turns", f"{health.turns:,}")]
    for kind, count in health.pending.items():
        page.append(field("pending", f"{count:,} {kind}; run `evimem enrich {path}` to process them"))
    for kind, count in health.failed.items():
        page.append(field("failed", f"{count:,} {kind}"))
    page += [field("problem", problem, style="bad") for problem in health.problems]
    return [*page, BLANK]


def comparison_page(question: str, answers: Mapping[str, Answer]) -> list[Block]:
    """Return what each loop found, cited and cost, and what it answered."""
    rows = [_row(name, answer) for name, answer in answers.items()]
    return [
        line(Piece("? ", "dim"), Piece(question, "strong")),
        table(("loop", "outcome", *_COUNTED), rows, right=_COUNTED),
        BLANK,
        *(field(name, *_said(answer), width=max(map(len, answers)) + 2) for name, answer in answers.items()),
        BLANK,
        *_shared(answers),
    ]


def found_by(answer: Answer) -> tuple[str, ...]:
    """Return the ids of the turns that a loop found, in order, each once."""
    return tuple(dict.fromkeys(turn for event in _finds(answer) for turn in event.turns))


def _finds(answer: Answer) -> Iterator[Found]:
    return (event for event in answer.trace if isinstance(event, Found))


def _row(name: str, answer: Answer) -> tuple[str, ...]:
    usage = answer.usage
    iterations = {event.iteration for event in _finds(answer) if event.turns}
    cited = dict.fromkeys(citation.turn_id for citation in answer.citations)
    tokens = usage.input_tokens + usage.output_tokens
    requests = f"{usage.requests:,} ({usage.failed:,} failed)" if usage.failed else f"{usage.requests:,}"
    found = (len(found_by(answer)), len(iterations), len(cited))
    cost = (tokens, round(usage.seconds * 1000))
    return (name, answer.kind, *(f"{number:,}" for number in found), requests, *(f"{number:,}" for number in cost))


def _said(answer: Answer) -> tuple[Piece, ...]:
    if answer.kind == "answer":
        return (Piece(answer.text or "", "answer"),)
    if answer.kind == "quote":
        return (Piece("; ".join(f'"{one.quote}"' for one in answer.citations if one.quote)),)
    return (Piece(answer.reason or "", "warn"),)


def _shared(answers: Mapping[str, Answer]) -> list[Block]:
    """Return how far the loops found the same turns."""
    found = [set(found_by(answer)) for answer in answers.values()]
    every, any_of = len(set.intersection(*found)), len(set.union(*found))
    return [line(Piece(f"{counted(any_of, 'turn')} found by any loop, {every} of them by all", "dim")), BLANK]


def calibration_page(found: Calibration, *, kept: bool) -> list[Block]:
    """Return a calibration with reliability as bars: filled up to the observed share, "|" at the predicted one."""
    rows = [
        (f"{one.predicted:.2f}", f"{one.observed:.2f}", f"{one.count:,}", _bar(one.observed, one.predicted))
        for one in found.reliability
    ]
    counts = f"{found.answerable:,} with an answer, {found.questions - found.answerable:,} without"
    return [
        line(f"{counted(found.questions, 'question')}: {counts}; judge {found.judge}, embedder {found.embedder}"),
        BLANK,
        table((*_PREDICTED, ""), rows, right=_PREDICTED, title="Reliability"),
        line(f"ECE {found.ece:.3f}, before {found.ece_before:.3f}; AUROC {found.auroc:.3f}, AURC {found.aurc:.3f}"),
        BLANK,
        line(
            f"Below a probability of {found.abstain_below:.3f} evimem abstains: on {found.caught:.1%} of the questions "
            f"without an answer, and on {found.false_abstention:.1%} of those with one."
        ),
        line(_precise(found)),
        line("All figures are cross-validated (five folds)."),
        BLANK,
        field("stored", "ask uses it as long as judge and embedder stay the same", width=12)
        if kept
        else field("not stored", "this was a dry run; the memory is unchanged", width=12),
    ]


def _precise(found: Calibration) -> str:
    if found.precise is None:
        return f"No threshold reaches a precision of {found.precision:.0%}."
    point = found.precise
    return (
        f"A precision of {found.precision:.0%} needs a threshold of {point.threshold:.3f}, which answers "
        f"{point.coverage:.0%} of the questions."
    )


def _bar(observed: float, predicted: float) -> str:
    filled, mark = round(observed * _BAR), min(round(predicted * _BAR), _BAR - 1)
    return "".join("|" if at == mark else "#" if at < filled else "." for at in range(_BAR))


def day(moment: datetime) -> str:
    """Return a date in words.

    >>> day(datetime(2024, 3, 8, 18, 20))
    '8 March 2024'
    """
    return f"{moment.day} {moment:%B %Y}"


def minute(moment: datetime) -> str:
    """Return a date with the time of day."""
    return f"{day(moment)}, {moment:%H:%M}"


def said(turn: Turn) -> str:
    """Return the text of a turn, followed by its caption in brackets."""
    return f"{turn.text} [{turn.caption}]".lstrip() if turn.caption else turn.text


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> counted(1, "turn"), counted(1200, "turn")
    ('1 turn', '1,200 turns')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def size(count: int) -> str:
    """Return a number of bytes in the unit that suits it.

    >>> size(512), size(1_500_000)
    ('512 B', '1.4 MiB')
    """
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024  # type: ignore[assignment]
    return f"{count:.1f} GiB"


def trace_page(trace: Trace) -> list[Block]:
    """Return every event of a trace, in order."""
    page: list[Block] = [Heading(f"Trace of {trace.question!r} through {trace.loop}")]
    for iteration, events in groupby(trace.events, key=lambda event: event.iteration):
        page.append(line(Piece(f"iteration {iteration}" if iteration else "the question", "strong"), indent=2))
        for event in events:
            page += _ROWS[type(event)](event)
    return [*page, *_totals(trace), BLANK]


def _event_row(label: str, *pieces: Piece | str) -> Field:
    return field(label, *pieces, indent=4, width=9)


def _queried(event: Queried) -> Iterator[Field]:
    how = f", {event.strategy}" if event.strategy else ""
    yield _event_row("search", Piece(event.query, "name"), Piece(f"  {event.path}, k={event.k}{how}", "dim"))


def _found(event: Found) -> Iterator[Field]:
    if not event.turns:
        yield _event_row("found", Piece(f"nothing new by {event.path}", "dim"))
        return
    count = f"{counted(len(event.turns), 'new turn')}, {counted(len(event.facts), 'fact')} by {event.path}"
    yield _event_row("found", count, Piece(_listed(event.turns), "dim"))


def _judged(event: Judged) -> Iterator[Field]:
    if event.entities:
        yield _event_row("known", ", ".join(f"{counted(n, 'fact')} about {name}" for name, n in event.entities.items()))
    final = Piece(f"{event.final_tier.value} {event.final_confidence:.2f}", "strong")
    changed = (event.tier, event.confidence) != (event.final_tier, event.final_confidence)
    given = f" (judge said {event.tier.value} {event.confidence:.2f})" if changed else ""
    fitted = "uncalibrated" if event.probability is None else f"probability {event.probability:.2f}"
    yield _event_row("judged", final, f"{given}, {fitted} by {event.judge}")
    if event.reason:
        yield _event_row("because", event.reason)
    for gap in event.gaps:
        yield _event_row("missing", Piece(f"({gap.kind}) ", "warn"), gap.text)


def _gaps(event: GapsChanged) -> Iterator[Field]:
    for requirement, turns in event.supported.items():
        yield _event_row("met", Piece(requirement, "good"), Piece(_listed(turns), "dim"))
    for requirement, why in event.waived.items():
        yield _event_row("waived", Piece(requirement, "warn"), f": {why}")
    for requirement, why in event.retracted.items():
        yield _event_row("reopened", Piece(requirement, "warn"), f": {why}")
    if event.open:
        yield _event_row("open", Piece(", ".join(gap.kind for gap in event.open), "dim"))


def _called(event: Called) -> Iterator[Field]:
    tokens = f"{event.input_tokens:,} + {event.output_tokens:,} tokens, {event.seconds:.1f} s"
    again = f", {counted(event.retries, 'retry', 'retries')}" if event.retries else ""
    repaired = f", {counted(event.repairs, 'repair')}" if event.repairs else ""
    outcome = Piece(event.outcome, "" if event.outcome == "ok" else "bad")
    yield _event_row("called", f"{event.role} model: ", outcome, Piece(f"  {tokens}{again}{repaired}", "dim"))


def _stopped(event: Stopped) -> Iterator[Field]:
    yield _event_row("stopped", Piece(event.reason, "strong"))


def _acted(event: Acted) -> Iterator[Field]:
    """Yield a step of a loop: what it was about, why, and its further details."""
    label, about = _STEPS.get(event.action, ("did", ""))
    detail = dict(event.detail)
    main = event.action if label == "did" else _value(detail.pop(about, ""))
    style: Style = "bad" if event.action == "fail" else ""
    why = f": {event.why}" if main and event.why else event.why
    yield _event_row(label, Piece(f"{main}{why}", style), Piece(_details(detail, _SIGNALS), "dim"))


def _analysed(event: Acted) -> Iterator[Field]:
    detail = event.detail
    about = f", about {', '.join(detail['entities'])}" if detail.get("entities") else ""
    today = f", as of {detail['asked_at']}" if detail.get("asked_at") else ""
    wants = "a time" if detail.get("wants") == "time" else detail.get("wants", "")
    yield _event_row("asks for", f"{wants}{about}{today}")
    for need in detail.get("requirements", ()):
        yield _event_row("requires", f"{need['id']}  ", Piece(need["text"], "dim"))
    named = {name: value for name, value in detail.get("budget", {}).items() if value is not None}
    yield _event_row("budget", Piece(_details({**detail.get("variant", {}), **named}).strip(), "dim"))


def _answered(event: Acted) -> Iterator[Field]:
    detail = event.detail
    dropped = detail.get("dropped")
    cited = f"  cites {' '.join(detail.get('citations', ())) or 'nothing'}"
    cited += f", {counted(dropped, 'citation')} of turns not shown dropped" if dropped else ""
    for step in detail.get("steps", ()):
        yield _event_row("step", str(step))
    yield _event_row(
        str(detail.get("kind", "answer")),
        Piece(str(detail.get("text")), "answer"),
        Piece(f"  {detail.get('manner')}{cited}", "dim"),
    )
    if event.why:
        yield _event_row("because", event.why)


def _totals(trace: Trace) -> list[Block]:
    """Return the sum of the model requests; nothing if there were none."""
    calls = [event for event in trace if isinstance(event, Called)]
    if not calls:
        return []
    good = [call for call in calls if call.outcome == "ok"]
    tokens = sum(call.input_tokens + call.output_tokens for call in calls)
    bill = cost(trace.events).cost
    price = "" if bill is None else f", ${bill:.4f}"
    repairs = sum(call.repairs for call in calls)
    repaired = f", {counted(repairs, 'repair')}" if repairs else ""
    return [line(Piece(f"{counted(len(good), 'request')}{repaired}, {tokens:,} tokens{price}", "dim"), indent=2)]


def _listed(turns: Sequence[str]) -> str:
    if not turns:
        return ""
    rest = f" and {len(turns) - _MOST_NAMED} more" if len(turns) > _MOST_NAMED else ""
    return f"  {' '.join(turns[:_MOST_NAMED])}{rest}"


def _details(detail: Mapping[str, Any], most: int | None = None) -> str:
    parts = [f"  {name}={_value(value)}" for name, value in detail.items() if value not in ("", [], {}, None)]
    rest = f"  and {len(parts) - most} more" if most and len(parts) > most else ""
    return "".join(parts[:most]) + rest


def _value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return _listed([_value(item) for item in value]).strip()
    if isinstance(value, dict):
        return str(value.get("id") or f"({_details(value).strip()})")
    return f"{value:.2f}" if isinstance(value, float) else str(value)


_ROWS: Mapping[type[Event], Callable[[Any], Iterator[Field]]] = {
    Queried: _queried,
    Found: _found,
    Acted: lambda event: {"analyse": _analysed, "answer": _answered}.get(event.action, _acted)(event),
    Judged: _judged,
    GapsChanged: _gaps,
    Called: _called,
    Stopped: _stopped,
}
