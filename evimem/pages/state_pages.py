"""Pages that change a memory or tell of its state: forgetting, imports, corrections, health."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args
from urllib.parse import urlencode

from ..db.atomic_files import replace_with
from ..errors import InvalidQuery
from ..loaders import load
from ..loaders.conversation import RefusedItem
from ..types.values import Turn
from . import drawings
from .requests import Page, PageRequest

Mark = Literal["right", "wrong", "outdated"]
HIT_MARKS: tuple[Mark, ...] = get_args(Mark)
ANSWER_KEY = ""  # the key of a mark on an answer as a whole, beside the ids of turns
_FORGET_KINDS = ("turn", "session", "speaker", "before")
_MAX_PREVIEW_TURNS = 2_000  # turns that a preview reads
_MAX_LISTED_TURNS = 20  # of them that it shows
_MAX_ALIKE_TURNS = 5
_MAX_SOUGHT_TEXTS = 50  # erased texts that are looked for in the bytes of the file
_MIN_SOUGHT_CHARACTERS = 12  # a shorter text stands in many longer ones
_MAX_SEARCHED_FILE_BYTES = 512 * 2**20  # bytes of a file that is searched for erased texts
_CHUNK_BYTES = 2**22
_MAX_REFUSALS = 200
_MAX_NAME_BYTES = 255  # of the name of a file, on most systems
_UPLOADED = "conversation"  # the folder of an uploaded file, and the name of one that has none


def preview_forgetting(request: PageRequest) -> Page:
    """Show the turns that an erasure would take, and those that would stay."""
    kind, value = request.text_parameter("kind") or "turn", request.query.get("value", "")
    if kind not in _FORGET_KINDS:
        raise InvalidQuery(f"kind is {kind[:20]!r}; expected one of {', '.join(_FORGET_KINDS)}")
    if not value.strip():
        values = {"kind": kind, "value": "", "preview": None, "words": request.text_parameter("words")}
        return Page("forget", "Forget", values | {"found": request.find_named_turns("words")})
    memory, store = request.memory, request.memory._core.store
    turns = _select_turns_to_forget(request, kind, value)
    ids = [turn.id for turn in turns]
    total = memory.health().turns
    traces = store.list_traces(100, ids) if turns else ()
    preview = {
        "turns": turns[:_MAX_LISTED_TURNS],
        "count": len(turns),
        "is_whole": len(turns) < _MAX_PREVIEW_TURNS,
        "facts": len(store.facts(ids)) if turns else 0,
        "traces": [{"number": one.number, "question": one.trace.question} for one in traces],
        "stays": total - len(turns),
        "alike": _find_similar_remaining(request, turns),
    }
    return Page("forget", "Forget", {"kind": kind, "value": value, "preview": preview})


def forgetting_form_page(request: PageRequest) -> Page:
    """Return the page with what was chosen to be erased, and without a preview."""
    given = request.form or request.query
    kind = str(given.get("kind", ""))
    values = {"kind": kind if kind in _FORGET_KINDS else "turn", "value": str(given.get("value", "")), "preview": None}
    return Page("forget", "Forget", values)


def _select_turns_to_forget(request: PageRequest, kind: str, value: str) -> list[Turn]:
    memory = request.memory
    if kind == "turn":
        return [memory.turn(value)]
    given: dict[str, Any] = {kind: value}
    return list(islice(memory.turns(**given), _MAX_PREVIEW_TURNS))


def _find_similar_remaining(request: PageRequest, turns: Sequence[Turn]) -> list[Turn]:
    """Return turns that say something alike and would stay: of one or two erased turns, else it tells too little."""
    if not 0 < len(turns) <= 2:
        return []
    gone = [turn.id for turn in turns]
    found = [
        hit
        for turn in turns
        for hit in request.memory.search((turn.text or turn.caption or "")[:2_000], k=3, exclude=gone)
        if hit.score > 0.35
    ]
    return list({hit.turn.id: hit.turn for hit in found}.values())[:_MAX_ALIKE_TURNS]


def forget_turns(request: PageRequest) -> Page:
    """Erase turns, and show the report with the proof."""
    kind, value = str(request.form.get("kind", "")), str(request.form.get("value", ""))
    if kind not in _FORGET_KINDS or not value.strip():
        raise InvalidQuery("nothing was chosen to be erased; choose on the page that shows what goes")
    memory = request.memory
    turns = _select_turns_to_forget(request, kind, value)
    given: dict[str, Any] = {"turns": [value]} if kind == "turn" else {kind: value}
    report = memory.forget(**given)
    proof = {
        "read": sum(turn is not None for turn in memory._core.store.find([turn.id for turn in turns])),
        "asked": len(turns),
        "bytes": _search_files_for_texts(request, [turn.text for turn in turns]),
        "left": memory.health().turns,
    }
    return Page("forgotten", "Erased", {"kind": kind, "report": report, "proof": proof})


def _search_files_for_texts(request: PageRequest, texts: Sequence[str]) -> Mapping[str, Any] | None:
    """Look for erased texts in the bytes of the memory's files; None where there are none to look in."""
    file = Path(request.memory._core.store.name)  # on a server it names no file
    long = [text for text in texts if len(text) >= _MIN_SOUGHT_CHARACTERS][:_MAX_SOUGHT_TEXTS]
    wanted = [text.encode("utf-8", "surrogatepass") for text in long]
    if not wanted:
        return None
    named = [file, *(file.with_name(f"{file.name}{ending}") for ending in ("-wal", "-journal", ".mark"))]
    places = [place for place in named if place.is_file()]
    size = sum(place.stat().st_size for place in places)
    if not 0 < size <= _MAX_SEARCHED_FILE_BYTES:
        return None
    found = {text for place in places for text in _find_texts_in_file(place, wanted)}
    stored = sum(_is_stored_elsewhere(request, text.decode("utf-8", "surrogatepass")) for text in found)
    return {"texts": len(wanted), "files": len(places), "size": size, "found": len(found), "of_other_turns": stored}


def _find_texts_in_file(place: Path, wanted: Sequence[bytes]) -> Iterator[bytes]:
    """Yield those of some texts that the bytes of a file contain."""
    overlap = max(map(len, wanted))
    kept = b""
    with place.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            held = kept + chunk
            yield from (text for text in wanted if text in held)
            kept = held[-overlap:]


def _is_stored_elsewhere(request: PageRequest, text: str) -> bool:
    """Whether another turn, which stays, holds the same words."""
    return any(text in hit.turn.text for hit in request.memory.search(text[:2_000], k=5))


def show_import(request: PageRequest) -> Page:
    """Show the form to add a conversation from a file."""
    return Page("import", "Import", {"report": None})


def import_file(request: PageRequest) -> Page:
    """Add a conversation from a file that was sent, and show how much of it was stored, left out and refused."""
    name, content = request.form.get("file") or ("", b"")
    if not content:
        raise InvalidQuery("no file was sent; choose one that `evimem ingest` reads")
    refusals: list[RefusedItem] = []
    with TemporaryDirectory(prefix="evimem-") as folder:
        path = Path(folder) / _UPLOADED / _upload_file_name(name)
        path.parent.mkdir()
        path.write_bytes(content)
        (found,) = load(path, refuse=refusals.append)
        report = request.memory.extend(found.turns)
    refused: list[dict[str, Any]] = [{"place": one.where, "reason": one.why} for one in refusals]
    refused += [{"place": one.id, "reason": one.reason} for one in report.statuses if one.outcome == "refused"]
    counts = {name: value for name, value in report.to_dict().items() if isinstance(value, int)}
    added = [one.id for one in report.statuses if one.outcome in ("added", "readded")]
    values = {
        "name": name,
        "report": counts,
        "refused": refused[:_MAX_REFUSALS],
        "refusals": len(refused),
        "added": added[:_MAX_LISTED_TURNS],
    }
    return Page("import", "Imported", values)


def _upload_file_name(name: str) -> str:
    """Return the name under which an upload is read: its own, which names its session, without folders."""
    own = "".join(char for char in name.replace("\\", "/").rpartition("/")[2] if char.isprintable())
    fits = own.encode("utf-8", "ignore")[-_MAX_NAME_BYTES:].decode("utf-8", "ignore")
    return _UPLOADED if fits in ("", ".", "..") else fits


def show_corrections(request: PageRequest) -> Page:
    """Show the questions that were marked."""
    rows = _read_labelled_questions(request.labels) if request.labels else []
    values = {
        "file": None if request.labels is None else request.labels.name,
        "questions": rows,
        "answerable": sum(_is_answerable(row) for row in rows),
    }
    return Page("corrections", "Corrections", values)


def mark_hit(request: PageRequest) -> Page:
    """Mark a hit or an answer of a question right, wrong or outdated, in the file that `evimem calibrate` reads.

    A question is answerable once a turn or an answer of it was marked right, or its answer as told in other words.
    """
    labels = request.labels
    question, turn_id = str(request.form.get("question", "")).strip(), str(request.form.get("turn", ANSWER_KEY))
    mark = str(request.form.get("mark", ""))
    if labels is None:
        raise InvalidQuery("corrections are not kept here; open one memory in a file, or give --labels FILE")
    if not question or mark not in HIT_MARKS:
        raise InvalidQuery(f"a correction needs a question and one of {', '.join(HIT_MARKS)}")
    rows = {row["question"]: row for row in _read_labelled_questions(labels)}
    row = rows.setdefault(question, {"question": question, "answerable": False, "marks": {}})
    row["marks"] = {**row.get("marks", {}), turn_id: mark}
    row["answerable"] = "right" in row["marks"].values()
    with replace_with(labels) as file:
        file.write("".join(f"{json.dumps(each)}\n" for each in rows.values()).encode())
    return Page("corrections", "Corrected", {"question": question, "mark": mark, "turn": turn_id},
                go_to=f"corrections?{urlencode({'q': question})}")  # fmt: skip


def _is_answerable(row: Mapping[str, Any]) -> bool:
    return bool(row.get("answerable", row.get("answer") is not None))


def _read_labelled_questions(labels: Path) -> list[dict[str, Any]]:
    if not labels.exists():
        return []
    rows = [json.loads(line) for line in labels.read_bytes().splitlines() if line.strip()]
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("question"), str)]


def show_health(request: PageRequest) -> Page:
    """Show the queue, failures, sizes, and how well probabilities are calibrated."""
    memory = request.memory
    found = memory.calibration()
    stats = memory._core.store.stats() if request.count_waiting_turns() else memory.stats()
    values = {"health": memory.health(), "stats": stats, "calibration": found}
    return Page("health", "Health", values, {} if found is None else _draw_calibration_charts(found))


def _draw_calibration_charts(found: Any) -> dict[str, Any]:
    return {
        "reliability": drawings.draw_reliability(found.reliability),
        "risk": drawings.draw_risk(found.curve),
    }


def enrich_or_check(request: PageRequest) -> Page:
    """Process queued jobs, or verify the whole memory, and show its health."""
    action = str(request.form.get("action", ""))
    if action == "enrich":
        told: Mapping[str, Any] = {"enriched": request.memory.enrich()}
    elif action == "check":
        told = {"checked": request.memory.check()}
    else:
        raise InvalidQuery("expected the action enrich or check")
    page = show_health(request)
    return Page(page.template, page.title, {**page.values, **told}, page.shown)
