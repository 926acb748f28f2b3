"""The routes of a user's memory, over the methods of the same names."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from datetime import datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from starlette.responses import Response, StreamingResponse

from ..adapters.user_tokens import SCOPES
from ..calibration import Calibration, Labelled
from ..errors import InvalidQuery, StoreError
from ..loops import LOOPS, VARIANTS
from ..text.names import is_named_in
from ..types.overview import SessionSummary
from ..types.results import AddReport, Answer, Block, Budget, EraseReport, Health, Stats
from ..types.trace import Trace
from ..types.values import Fact, Hit, Turn
from ..types.version import __version__
from . import request_schemas as schemas
from .endpoints import EVENT_STREAM, Endpoint, ListOf
from .json_schema import object_schema
from .problems import Refusal, encode_json, json_response, problem_document, refusal_from
from .service import Call, check_type, read_body

if TYPE_CHECKING:
    from ..api.async_memory import AsyncMemory
    from ..api.observer import Streamed
    from ..store.keeper import Keeper

STREAM_COMMENT_SECONDS = 15.0  # of a stream in which nothing happens, so that nothing between closes it
DEFAULT_PAGE_TURNS = 100  # turns of a listing that names no limit
_EXPORT_CHUNK_BYTES = 1 << 16  # bytes of an export that are read at a time
_JSON_LINES = "application/x-ndjson"

_OPERATION = object_schema(
    {
        "id": {"type": "string"}, "kind": {"type": "string", "enum": ["import", "enrich"]},
        "status": {"type": "string", "enum": ["running", "done", "failed", "cancelled"]}, "done": {"type": "integer"},
        "result": {"type": ["object", "null"]}, "problem": {"type": ["object", "null"]},
    },
    "id", "kind", "status", "done",
)  # fmt: skip


async def add_turns(call: Call) -> Any:
    """Store turns, durably on return; each has a status."""
    async with call.open_memory() as memory:
        now = None if all("time" in one for one in call.body["turns"]) else await memory.now()
        turns = [_parse_turn(one, now) for one in call.body["turns"]]
        report = await memory.extend(turns, replace=call.body.get("replace", False))
    return _report_job(call, report)


async def add_messages(call: Call) -> Any:
    """Store messages of a chat, each once."""
    given = {name: value for name, value in call.body.items() if name != "messages"}
    async with call.open_memory() as memory:
        report = await memory.remember(call.body["messages"], **{"time": "now", **given})
    return _report_job(call, report)


async def update_turn(call: Call) -> Any:
    """Give a turn another text."""
    async with call.open_memory() as memory:
        report = await memory.update(call.body["id"], call.body["text"])
    return report.to_dict()


async def list_turns(call: Call) -> Any:
    """List turns by id, or in dialogue order a page at a time."""
    async with call.open_memory() as memory:
        turns, cursor = await _read_turn_page(memory, dict(call.query))
    return {"turns": [turn.to_dict() for turn in turns], "cursor": cursor}


async def _read_turn_page(memory: AsyncMemory, query: dict[str, Any]) -> tuple[list[Turn], str | None]:
    """Return the turns of these ids, or a page of them with the cursor of the next; None where there is none.

    A cursor is the time of the last turn and how many turns of that time were given. Of ids, filters leave out those
    that do not meet them. Raise InvalidQuery, UnknownTurn.
    """
    limit, cursor, ids = query.pop("limit", DEFAULT_PAGE_TURNS), query.pop("cursor", None), query.pop("id", None)
    if ids is not None:
        before, after = (memory._core.bound(name, query.get(name)) for name in ("before", "after"))
        same = {name: query[name] for name in ("session", "speaker", "role") if name in query}
        found = [await memory.turn(one) for one in ids]
        fitting = [turn for turn in found if all(getattr(turn, name) == value for name, value in same.items())]
        return [
            turn for turn in fitting
            if (before is None or turn.time < before) and (after is None or turn.time >= after)
        ], None  # fmt: skip
    given = 0
    if cursor is not None:
        query["after"], given = _read_cursor(cursor, (await memory.now()).tzinfo)
    if query.pop("newest", False):
        seen = {turn.id for turn in await memory.turns(**query, limit=given)}
        last = await memory.turns(**query, limit=limit + given, newest=True)
        return [turn for turn in last if turn.id not in seen][-limit:], None
    found = await memory.turns(**query, limit=given + limit + 1)
    page, rest = found[given : given + limit], found[given + limit :]
    more = _make_cursor(page, query.get("after"), given) if page and rest else None
    return page, more


def _make_cursor(page: list[Turn], after: Any, given: int) -> str:
    last = page[-1].time
    same = sum(turn.time == last for turn in page)
    return f"{_to_microseconds(last)}.{same + (given if last == after else 0)}"


def _to_microseconds(time: datetime) -> int:
    return (time - datetime(1, 1, 1, tzinfo=time.tzinfo and timezone.utc)) // timedelta(microseconds=1)


def _read_cursor(cursor: str, zone: tzinfo | None) -> tuple[datetime, int]:
    """Return the time of a cursor, aware where the memory's times are, and the turns of that time that were given."""
    time, _, given = cursor.partition(".")
    aware = zone and timezone.utc
    first, last = datetime(1, 1, 2), datetime(9999, 12, 30)  # in any timezone
    within = min(max(int(time), _to_microseconds(first)), _to_microseconds(last))
    return datetime(1, 1, 1, tzinfo=aware) + timedelta(microseconds=within), int(given)


async def list_sessions(call: Call) -> Any:
    """List the sessions, the latest first."""
    limit = call.query.get("limit", schemas.MAX_REQUEST_TURNS)
    async with call.open_memory() as memory:
        found = await memory._in_worker(lambda: _read_sessions(memory._core.store, limit))
    return {"sessions": [one.to_dict() for one in found]}


def _read_sessions(store: Keeper, limit: int) -> tuple[SessionSummary, ...]:
    last = store.roster().last
    if last is None:
        return ()
    return store.summarize_sessions(datetime(1, 1, 2, tzinfo=last.tzinfo), last + timedelta(microseconds=1), limit)


async def list_facts(call: Call) -> Any:
    """List the facts about a person or thing, or those of turns by id, or of a page of turns."""
    given, cursor = dict(call.query), None
    about, current = given.pop("about", None), given.pop("current", False)
    async with call.open_memory() as memory:
        if about is not None and "id" not in given:
            facts = await memory.facts(about=about, current=current)
        else:
            turns, cursor = await _read_turn_page(memory, given)
            facts = await memory.facts([turn.id for turn in turns], current=current)
            facts = tuple(fact for fact in facts if about is None or is_named_in(fact, about))
    return {"facts": [fact.to_dict() for fact in facts], "cursor": cursor}


async def show_context(call: Call) -> Any:
    """Show a turn with its neighbours in its session."""
    async with call.open_memory() as memory:
        turns = await memory.context(**call.query)
    return {"turns": [turn.to_dict() for turn in turns]}


async def search(call: Call) -> Any:
    """Find the best turns for a query."""
    given, explain = _asked_at_argument(call.body), call.body.get("explain", False)
    given.pop("explain", None)
    async with call.open_memory() as memory:
        hits = await memory.search(given.pop("query"), given.pop("k", 10), **given)
    found = [hit.to_dict() for hit in hits]
    return {"hits": found if explain else [{**hit, "parts": {}} for hit in found]}


async def block(call: Call) -> Any:
    """Write the lines from memory that help to reply to a message."""
    given = _asked_at_argument(call.body)
    said = [given.pop(name) for name in ("message", "messages") if name in given]
    if len(said) != 1:
        raise InvalidQuery("the body has message and messages, or neither; expected one of them")
    tokens = _take_one_of(given, "tokens", "max_tokens")
    async with call.open_memory() as memory:
        written = await memory.block(said[0], **({} if tokens is None else {"tokens": tokens}), **given)
    return written.to_dict()


async def ask(call: Call) -> Any:
    """Answer a question from memory with citations, or abstain."""
    streamed = call.body.get("stream", False) or EVENT_STREAM in call.request.headers.get("accept", "")
    return await (_answer_as_stream(call) if streamed else _answer_whole(call))


async def _answer_whole(call: Call) -> Any:
    async with call.service.reserve_question(), call.open_memory() as memory:
        answer = await memory.ask(**_ask_arguments(call))
        return await _answer_body(call, memory, answer)


async def _answer_as_stream(call: Call) -> Response:
    """Begin a stream of an answer. A refused question is found before the first event, and is a problem document."""
    async with AsyncExitStack() as held:
        await held.enter_async_context(call.service.reserve_question())
        memory = await held.enter_async_context(call.open_memory())
        pieces = cast("AsyncGenerator[Streamed, None]", memory.ask(**_ask_arguments(call), stream=True))
        await held.enter_async_context(aclosing(pieces))
        first = await anext(pieces)
        events = _stream_events(call, memory, first, pieces, held.pop_all())
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events, media_type=EVENT_STREAM, headers=headers)


async def _stream_events(
    call: Call, memory: AsyncMemory, first: Streamed, pieces: AsyncIterator[Streamed], held: AsyncExitStack
) -> AsyncIterator[bytes]:
    async with held:
        try:
            piece: Any = first
            while True:
                if isinstance(piece, Answer):
                    yield _format_event("answer", await _answer_body(call, memory, piece))
                    return
                yield (
                    _format_event("text", {"text": piece})
                    if isinstance(piece, str)
                    else _format_event(*_name_event(piece))
                )
                following = asyncio.ensure_future(anext(pieces))
                try:
                    while not (await asyncio.wait([following], timeout=STREAM_COMMENT_SECONDS))[0]:
                        yield b": waiting\n\n"
                finally:
                    if not following.done():
                        following.cancel()
                        await asyncio.wait([following])
                piece = following.result()
        except Exception as error:  # noqa: BLE001 - the response has begun: told as an event, and logged
            yield _format_event("error", problem_document(refusal_from(error)))


def _name_event(piece: Any) -> tuple[str, Any]:
    """Return the stream's name and data of an event of a trace, or of a restart of the text."""
    if not hasattr(piece, "to_dict"):
        return "restart", {}
    return "trace", {"kind": type(piece).__name__.lower(), **piece.to_dict()}


def _format_event(name: str, value: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), encode_json(value))


def _ask_arguments(call: Call) -> dict[str, Any]:
    given = _asked_at_argument(call.body)
    for name in ("stream", "explain", "keep"):
        given.pop(name, None)
    budget = Budget(**given.pop("budget", {}))
    if budget.seconds is None:
        budget = replace(budget, seconds=call.service.limits.seconds)
    return {**given, "budget": budget}


async def _answer_body(call: Call, memory: AsyncMemory, answer: Answer) -> dict[str, Any]:
    call.service.metrics.increment("evimem_answers_total", {"kind": answer.kind, "tier": answer.tier.value})
    result = answer.to_dict()
    if not call.body.get("explain", False):
        result["trace"] = None
    result["trace_number"] = await _keep_trace_safely(memory, answer) if call.body.get("keep", False) else None
    return result


async def _keep_trace_safely(memory: AsyncMemory, answer: Answer) -> int | None:
    """Keep the trace of an answer; return its number, or None where it cannot be kept: no answer is lost by it."""
    try:
        return await memory.keep_trace(answer.trace)
    except StoreError as error:
        logging.getLogger("evimem.server").warning("a trace was not kept: %s", type(error).__name__)
        return None


async def forget(call: Call) -> Any:
    """Erase turns with everything derived from them."""
    async with call.open_memory() as memory:
        report = await memory.forget(**call.body)
    return _report_erasure(call, report)


async def erase(call: Call) -> Any:
    """Forget a user, and remove their memory."""
    return _report_erasure(call, await call.service.pool.erase_async(call.user))


async def show_stats(call: Call) -> Any:
    """Count turns, sessions, speakers and facts."""
    async with call.open_memory() as memory:
        stats = await memory.stats()
    return {**stats.to_dict(), "path": ""}  # a place of the server, which is nothing to a client


async def show_health(call: Call) -> Any:
    """Tell whether all stored turns are fully derived."""
    async with call.open_memory() as memory:
        return (await memory.health()).to_dict()


async def show_trace(call: Call) -> Any:
    """Show a trace that was kept."""
    word = call.request.path_params["number"]
    if not (word.isascii() and word.isdigit()) or len(word) > 9:
        raise InvalidQuery("the number of a trace in the path is none; expected a whole number, as ask with keep gave")
    async with call.open_memory() as memory:
        try:
            return (await memory.trace(int(word))).to_dict()
        except InvalidQuery as error:  # the number is one: there is no such trace
            raise Refusal(
                404, "UnknownTrace", "no trace of this number; expected one that ask with keep gave"
            ) from error


async def read_profile(call: Call) -> Any:
    """Read the profile of the user, for a system prompt: the same text as long as nothing changes."""
    async with call.open_memory() as memory:
        return (await memory.profile(tokens=call.query.get("tokens", 350))).to_dict()


async def export(call: Call) -> Response:
    """Write the memory as lines of JSON, which import reads."""
    path = _new_work_file(call, "export")
    try:
        async with call.open_memory() as memory:
            await memory.export(path)
        file = await asyncio.to_thread(path.open, "rb")
    finally:
        path.unlink(missing_ok=True)

    async def lines() -> AsyncIterator[bytes]:
        with file:
            while chunk := await asyncio.to_thread(file.read, _EXPORT_CHUNK_BYTES):
                yield chunk

    size = {"Content-Length": str(os.fstat(file.fileno()).st_size)}
    return StreamingResponse(lines(), media_type=_JSON_LINES, headers=size)


async def import_turns(call: Call) -> Response:
    """Add the turns of an export, in the background."""
    check_type(call.request, _JSON_LINES)
    path = _new_work_file(call, "import")
    raw = await read_body(call.request, call.service.limits.import_bytes)
    if not raw:
        raise InvalidQuery("the body is empty; expected the lines of an export")
    await asyncio.to_thread(path.write_bytes, raw)
    path.chmod(0o600)

    async def work(tell: Callable[[int], None]) -> dict[str, Any]:
        try:
            async with call.open_memory() as memory:
                report = await memory.import_(path, progress=tell)
        finally:
            path.unlink(missing_ok=True)
        call.service.metrics.increment("evimem_turns_added_total", amount=report.added)
        return {name: count for name, count in report.to_dict().items() if name != "statuses"}

    return _operation_started_response(call, call.service.operations.start("import", call.user, work))


async def enrich(call: Call) -> Response:
    """Process the queued jobs of a memory, in the background."""

    async def work(tell: Callable[[int], None]) -> dict[str, Any]:
        async with call.open_memory() as memory:
            report = await memory.enrich(retry_now=call.body.get("retry_now", False), progress=tell)
        return report.to_dict()

    return _operation_started_response(call, call.service.operations.start("enrich", call.user, work))


async def calibrate(call: Call) -> Any:
    """Fit the probabilities of a memory to labelled questions."""
    given = dict(call.body)
    questions = [Labelled(**one) for one in given.pop("questions")]
    async with call.service.reserve_question(), call.open_memory() as memory:
        try:
            return (await memory.calibrate(questions, **given)).to_dict()
        except InvalidQuery as error:  # the body is as described: this memory finds too little for it
            raise Refusal(409, "NotCalibrated", str(error)) from error


async def show_operation(call: Call) -> Any:
    """Tell how far an import or an enrichment is."""
    return call.service.operations.read_state(call.user, call.request.path_params["operation"])


async def cancel_operation(call: Call) -> Any:
    """End an operation before its next batch; durable turns stay."""
    return call.service.operations.cancel(call.user, call.request.path_params["operation"])


async def healthz(call: Call) -> Any:
    """Report that the server runs, without reading a store."""
    return {"status": "ok"}


async def readyz(call: Call) -> Any:
    """Report whether memories can be opened and the server is not ending."""
    if await asyncio.to_thread(call.service.is_ready):
        return {"status": "ok"}
    return json_response({"status": "unavailable"}, 503)


async def list_loops(call: Call) -> Any:
    """List the loops that ask knows, and their variants."""
    kinds = [("loop", name) for name in LOOPS] + [("variant", name) for name in VARIANTS]
    return {"loops": [{"name": name, "kind": kind} for kind, name in kinds]}


async def version(call: Call) -> Any:
    """Tell the version and the features of this server."""
    features = ["rest", "mem0", "tokens" if call.service.tokens else "loopback"]
    return {"version": __version__, "features": [*features, *call.service.features]}


async def show_metrics(call: Call) -> Response:
    """Give counters in the text format of Prometheus."""
    service = call.service
    gauges = {"evimem_requests_under_way": service.under_way, **await asyncio.to_thread(service.measure_pool)}
    return Response(service.metrics.prometheus_text(gauges), media_type="text/plain; version=0.0.4")


def _parse_turn(given: Mapping[str, Any], now: datetime | None) -> Turn:
    kept = {"id": "", "session": "", **given, "time": cast(datetime, given.get("time", now))}
    return Turn(**kept)


def _report_job(call: Call, report: AddReport) -> dict[str, Any]:
    call.service.metrics.increment("evimem_turns_added_total", amount=report.added + report.replaced)
    return report.to_dict()


def _report_erasure(call: Call, report: EraseReport) -> dict[str, Any]:
    call.service.metrics.increment("evimem_turns_forgotten_total", amount=report.turns)
    return report.to_dict()


def _asked_at_argument(body: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(body)
    today = _take_one_of(given, "asked_at", "query_timestamp")
    return given if today is None else {**given, "asked_at": today}


def _take_one_of(given: dict[str, Any], *names: str) -> Any:
    """Take the value of one of several names out of the arguments. Raise InvalidQuery for two of them."""
    found = [given.pop(name) for name in names if name in given]
    if len(found) > 1:
        raise InvalidQuery(f"the body has {' and '.join(names)}, which are the same; give one of them")
    return found[0] if found else None


def _new_work_file(call: Call, kind: str) -> Path:
    return call.service.folder / f"{secrets.token_hex(8)}.{kind}"


def _operation_started_response(call: Call, state: Mapping[str, Any]) -> Response:
    place = call.request.scope["path"].rpartition("/")[0]
    return json_response(state, 202, {"Location": f"{place}/operations/{state['id']}"})


_BASE = "/v1/users/{user}"
_TOKENS = {"tokens": schemas.TOKENS}
_AROUND = {"type": "integer", "minimum": 0, "maximum": schemas.MAX_NEIGHBOURS}


def user_endpoints() -> Iterable[Endpoint]:
    """Return the routes of a user's memory."""
    read, write, admin = SCOPES
    return (
        Endpoint("POST", f"{_BASE}/turns", "addTurns", "Store turns.", add_turns, write, schemas.ADD_TURNS,
                 gives=AddReport),
        Endpoint("POST", f"{_BASE}/messages", "addMessages", "Store messages of a chat, each once.", add_messages,
                 write, schemas.ADD_MESSAGES, gives=AddReport),
        Endpoint("PATCH", f"{_BASE}/turns", "updateTurn", "Give a turn another text.", update_turn, write,
                 schemas.UPDATE_TURN, gives=AddReport),
        Endpoint("GET", f"{_BASE}/turns", "listTurns", "List turns by id, or a page at a time.", list_turns, read,
                 query=schemas.LISTING, gives=ListOf("turns", Turn, paged=True)),
        Endpoint("GET", f"{_BASE}/sessions", "listSessions", "List the sessions.", list_sessions, read,
                 query={"limit": schemas.LISTING["limit"]}, gives=ListOf("sessions", SessionSummary)),
        Endpoint("GET", f"{_BASE}/facts", "listFacts", "List facts of turns, or about a name.", list_facts, read,
                 query={"about": schemas.NAME, "current": schemas.FLAG,
                        **{name: schemas.LISTING[name] for name in ("id", "limit", "cursor")}},
                 gives=ListOf("facts", Fact, paged=True)),
        Endpoint("GET", f"{_BASE}/context", "showContext", "Show a turn with its neighbours.", show_context, read,
                 query={"id": schemas.NAME, "before": _AROUND, "after": _AROUND}, gives=ListOf("turns", Turn),
                 needs=("id",)),
        Endpoint("POST", f"{_BASE}/search", "search", "Find turns.", search, read, schemas.SEARCH,
                 gives=ListOf("hits", Hit)),
        Endpoint("POST", f"{_BASE}/block", "block", "Write the lines that help to reply.", block, read, schemas.BLOCK,
                 gives=Block),
        Endpoint("POST", f"{_BASE}/ask", "ask", "Answer a question, or abstain.", ask, read, schemas.ASK, gives=Answer,
                 media=("application/json", EVENT_STREAM)),
        Endpoint("POST", f"{_BASE}/forget", "forget", "Erase turns.", forget, admin, schemas.FORGET, gives=EraseReport),
        Endpoint("GET", f"{_BASE}/profile", "readProfile", "Read the profile of the user.", read_profile, read,
                 query=_TOKENS, gives=Block),
        Endpoint("GET", f"{_BASE}/stats", "showStats", "Count turns, sessions and facts.", show_stats, read,
                 gives=Stats),
        Endpoint("GET", f"{_BASE}/health", "showHealth", "Tell which jobs wait.", show_health, read, gives=Health),
        Endpoint("GET", f"{_BASE}/traces/{{number}}", "showTrace", "Show a kept trace.", show_trace, read, gives=Trace),
        Endpoint("GET", f"{_BASE}/export", "exportTurns", "Write the memory as lines.", export, read,
                 media=(_JSON_LINES,)),
        Endpoint("POST", f"{_BASE}/import", "importTurns", "Add the turns of an export.", import_turns, write,
                 reads=_JSON_LINES, gives=_OPERATION, status=202),
        Endpoint("POST", f"{_BASE}/enrich", "enrich", "Process queued jobs.", enrich, write, schemas.ENRICH,
                 gives=_OPERATION, status=202),
        Endpoint("POST", f"{_BASE}/calibrate", "calibrate", "Fit probabilities to labelled questions.", calibrate,
                 write, schemas.CALIBRATE, gives=Calibration),
        Endpoint("GET", f"{_BASE}/operations/{{operation}}", "showOperation", "Tell how far an operation is.",
                 show_operation, read, gives=_OPERATION),
        Endpoint("POST", f"{_BASE}/operations/{{operation}}/cancel", "cancelOperation", "End an operation early.",
                 cancel_operation, write, gives=_OPERATION),
        Endpoint("DELETE", _BASE, "erase", "Forget the user.", erase, admin, gives=EraseReport),
    )  # fmt: skip


def probe_endpoints() -> Iterable[Endpoint]:
    """Return the routes about the server itself, which need no token and show no user's data."""
    status = object_schema({"status": {"type": "string"}}, "status")
    kind = {"type": "string", "enum": ["loop", "variant"]}
    loop = object_schema({"name": schemas.LOOP, "kind": kind}, "name", "kind")
    told = object_schema({"version": {"type": "string"}, "features": {"type": "array", "items": {"type": "string"}}})
    return (
        Endpoint("GET", "/healthz", "healthz", "Tell that the server runs.", healthz, None, gives=status),
        Endpoint("GET", "/readyz", "readyz", "Tell whether it can serve.", readyz, None, gives=status),
        Endpoint("GET", "/version", "version", "Tell the version.", version, None, gives=told),
        Endpoint(
            "GET",
            "/v1/loops",
            "listLoops",
            "List the loops that ask knows.",
            list_loops,
            None,
            gives=ListOf("loops", loop),
        ),
        Endpoint("GET", "/metrics", "metrics", "Give counters.", show_metrics, None, media=("text/plain",)),
    )
