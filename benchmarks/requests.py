"""Measure how much of a good reply's needs a block holds: `python -m benchmarks.requests FOLDER`.

A folder holds chats with an assistant (`NAME.turns.jsonl`) and what is asked of it next (`NAME.requests.jsonl`). A
request has `needs`, things that a good reply must know, each a list of turn ids of which any one tells it, and
`stale`, turns that no longer hold. A turn is in view when a block shows 30 % of its three-word runs, or twelve of
them. Beside the block stand the hits of `search`, whole and best first, until the same tokens are used. With
`--without` the block is written once more for each of the parts named, without that part.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import evimem
from evimem.embedding.token_bound import token_bound
from evimem.flow import Flow
from evimem.page import compose

from .recording import add_result, data_set, record
from .scoring.result_file import Cell, ResultTable

BUDGETS_TOKENS = (300, 800, 1500)
RUN_WORDS = 3
SHARE_IN_VIEW, RUNS_IN_VIEW = 0.3, 12
KINDS = ("applies", "update", "state", "meta", "lookup", "wish", "none")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Request:
    """A message to a chat, with the turns that a good reply needs and those that no longer hold."""

    chat: str
    message: str
    asked_at: str
    kind: str
    needs: tuple[tuple[str, ...], ...]
    stale: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """A request with the share of its needs in view by budget, and what else the page shows."""

    chat: str
    kind: str
    needs: Mapping[int, Sequence[bool]]
    stale_alone: Mapping[int, float]
    tokens: Mapping[int, int]
    empty: bool


def read_requests(folder: Path) -> Iterator[tuple[str, list[evimem.Turn], list[Request]]]:
    """Yield each chat of a folder: its name, its turns and its requests."""
    for path in sorted(folder.glob("*.requests.jsonl")):
        name = path.name.removesuffix(".requests.jsonl")
        turns = [
            evimem.Turn(**{**row, "time": datetime.fromisoformat(row["time"])})
            for row in map(json.loads, (folder / f"{name}.turns.jsonl").read_text(encoding="utf-8").splitlines())
        ]
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        yield (
            name,
            turns,
            [
                Request(
                    name,
                    row["message"],
                    row["asked_at"],
                    row["kind"],
                    tuple(tuple(need) for need in row["needs"]),
                    tuple(row["stale"]),
                )
                for row in rows
            ],
        )


def word_runs(text: str) -> set[tuple[str, ...]]:
    """Return the runs of three words of a text; of a shorter text its words as one run."""
    words = _WORD.findall(text.casefold())
    size = min(RUN_WORDS, len(words))
    return {tuple(words[at : at + size]) for at in range(len(words) - size + 1)} if words else set()


def is_in_view(turn: evimem.Turn, shown: set[tuple[str, ...]]) -> bool:
    """Return whether enough of a turn's words stand on a page."""
    runs = word_runs(turn.text)
    found = len(runs & shown)
    return bool(runs) and (found >= SHARE_IN_VIEW * len(runs) or found >= RUNS_IN_VIEW)


def lay_out_hits(memory: evimem.Memory, request: Request, tokens: int) -> str:
    """Return the hits of a search, whole, best first, until the tokens are used: the floor of a block."""
    lines: list[str] = []
    left = tokens
    for hit in memory.search(request.message, k=60, asked_at=request.asked_at):
        line = f"{hit.turn.speaker}, {hit.turn.time:%d %b %Y}: {hit.turn.text}"
        if (cost := token_bound(f"{line}\n")) <= left:
            left -= cost
            lines.append(line)
    return "\n".join(lines)


def write_block(memory: evimem.Memory, request: Request, tokens: int) -> str:
    """Return the block for a request."""
    return memory.block(request.message, asked_at=request.asked_at, tokens=tokens).text


def _find_nothing(*_: Any, **__: Any) -> Flow[tuple[Any, ...]]:
    yield from ()
    return ()


# By part: the name in `compose` of the function that makes it, and the one that stands in for it where it is left out.
ABLATIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "statements": ("find_statements", _find_nothing),
    "instructions": ("relevant_instructions", lambda *_: ()),
    "later": ("find_later", _find_nothing),
    "replies": ("with_replies", lambda hits, *_: list(hits)),
    "newest": ("_newest_first", list),
    "user": ("_user_first", lambda found: found.hits),
}


@contextmanager
def leave_out(part: str) -> Iterator[None]:
    """Write blocks without a part of `ABLATIONS` inside the context; another name leaves none out."""
    name, stand_in = ABLATIONS.get(part, ("write_block", compose.write_block))
    kept = getattr(compose, name)
    setattr(compose, name, stand_in)
    try:
        yield
    finally:
        setattr(compose, name, kept)


def look_at(
    request: Request, turns: Mapping[str, evimem.Turn], memory: evimem.Memory, write: Callable[..., str]
) -> Seen:
    """Return how much of a request's needs a page shows at each budget."""
    needs, stale, sizes = {}, {}, {}
    for tokens in BUDGETS_TOKENS:
        text = write(memory, request, tokens)
        shown = word_runs(text)
        told = [any(is_in_view(turns[one], shown) for one in need) for need in request.needs]
        needs[tokens] = told
        old = any(is_in_view(turns[one], shown) for one in request.stale)
        stale[tokens] = float(old and not any(told))
        sizes[tokens] = token_bound(text) if text else 0
    return Seen(request.chat, request.kind, needs, stale, sizes, not sizes[max(BUDGETS_TOKENS)])


def share_in_view(rows: Sequence[Seen], tokens: int) -> float:
    """Return the share of all needs of requests that are in view."""
    told = [one for row in rows for one in row.needs[tokens]]
    return sum(told) / max(1, len(told))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=data_set("requests"))
    parser.add_argument("--without", nargs="*", default=[], choices=ABLATIONS, help="parts to leave out, one by one")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only these chats")
    add_result(parser)
    options = parser.parse_args()
    pages = {"block": write_block, "hits of search": lay_out_hits}
    pages |= {f"without {part}": write_block for part in options.without}
    seen: dict[str, list[Seen]] = defaultdict(list)
    spent: dict[str, float] = defaultdict(float)
    for chat, turns, requests in read_requests(options.folder):
        if options.only and chat not in options.only:
            continue
        by_id = {turn.id: turn for turn in turns}
        with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
            memory.extend(turns, strict=True)
            memory.enrich()
            for name, write in pages.items():
                begun = time.process_time()
                with leave_out(name.removeprefix("without ")):
                    seen[name] += [look_at(request, by_id, memory, write) for request in requests]
                spent[name] += time.process_time() - begun
    cells = [row for name, rows in seen.items() for row in rows_of(name, rows, 1000 * spent[name])]
    columns = ("share of needs in view", *(f"{tokens:,} tokens" for tokens in BUDGETS_TOKENS), "messages")
    table = ResultTable("requests", "Needs of the next message in view", columns, tuple(cells))
    record("requests", options, [table], [options.folder])


def rows_of(page: str, rows: Sequence[Seen], spent_ms: float) -> Iterator[tuple[Cell, ...]]:
    """Yield the rows of a page: needs in view of all and of each kind, old values alone, empty pages, time."""
    asked = [row for row in rows if row.kind != "none"]
    none = [row for row in rows if row.kind == "none"]
    for kind in ("all", *KINDS):
        of = asked if kind == "all" else [row for row in rows if row.kind == kind]
        if of and kind != "none":
            yield f"{page}: {kind}", *(share_in_view(of, tokens) for tokens in BUDGETS_TOKENS), len(of)
    stale = [sum(row.stale_alone[tokens] for row in asked) / len(asked) for tokens in BUDGETS_TOKENS]
    blank = (None,) * (len(BUDGETS_TOKENS) - 1)
    yield f"{page}: an old value alone", *stale, len(asked)
    yield f"{page}: wrongly empty", *blank, sum(row.empty for row in asked) / len(asked), len(asked)
    yield (
        f"{page}: empty where nothing is needed",
        *blank,
        sum(row.empty for row in none) / max(1, len(none)),
        len(none),
    )
    yield f"{page}: ms of a processor a page", *blank, spent_ms / len(rows) / len(BUDGETS_TOKENS), len(rows)


if __name__ == "__main__":
    main()
