"""What a block holds for its tokens, and what it costs: `python -m benchmarks.block LOCOMO.json`.

For each budget the share of the gold turns of answerable questions that `Memory.block` quotes, in our own chats and in
LoCoMo, and of those whose telling sentence can be read in a line; the tokens of the blocks, how much of their
characters is quoted, and the processor time beside that of a search, both measured in turn. Tokens are those of the
shipped WordPiece vocabulary, as in earlier results, and the default bound. The gate is on for the share that is empty,
and off for the rest. With `--requests FOLDER` a second table has a column for each kind of message of the chats there
(`benchmarks.requests`): needs in view, old values alone, tokens, empty blocks, and the time of blocks and searches of
messages that were not asked before.
"""

from __future__ import annotations

import argparse
import math
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from statistics import mean

import evimem
from benchmarks.data_sets import read_locomo
from evimem.embedding.static_embedder import count_tokens
from evimem.text.sentences import sentences
from evimem.text.terms import terms

from .recording import add_result, data_set, record
from .requests import BUDGETS_TOKENS, KINDS, Request, Seen, look_at, read_requests, write_block
from .scoring.estimates import rows_of
from .scoring.labelled_chats import read_chats
from .scoring.result_file import Cell, ResultTable
from .scoring.retrieval_metrics import recall

BUDGETS = (400, 800, 1500)
ADVERSARIAL = 5  # the category of LoCoMo's questions without an answer
CHATS = Path(__file__).parent / "chats"
NEARLY = 0.8  # of the best match with the answer: such sentences of a turn tell it
OF_THE_QUESTION = 0.3  # of the weight of a word of the answer
READ = 0.6  # of the weight of the words of a sentence, shown in one line
_LINE = re.compile(r"^(?=\[\d+\] )", re.MULTILINE)
_HEAD = re.compile(r"^(?:\[\d+\] [^:\n]*(?:\d\d:\d\d)?: |> |= .*$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Recalled:
    """A question with what its blocks held by budget: gold turns, tokens, quoted characters; and the milliseconds."""

    source: str
    data: str
    gold: dict[int, float]
    read: dict[int, float]
    tokens: dict[int, int]
    bounded: float
    quoted: float
    empty: bool
    block_ms: float
    search_ms: float


def recalled(
    data: str, name: str, turns: Sequence[evimem.Turn], asked: Sequence[tuple[str, Sequence[str], str]]
) -> Iterator[Recalled]:
    """Yield what the blocks of questions with their gold turns held, in a memory of these turns."""
    spread = Counter(term for turn in turns for term in {*terms(turn.text)})
    weight = {term: math.log(1 + len(turns) / count) for term, count in spread.items()}
    by_id = {turn.id: turn for turn in turns}
    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
        memory.extend(turns, strict=True)
        for question, gold, answer in asked:
            blocks = {n: memory.block(question, tokens=n, gate=False, count=count_tokens) for n in BUDGETS}
            ids = {n: [turn.id for turn in block.turns] for n, block in blocks.items()}
            shown = {n: [{*terms(line)} for line in _LINE.split(block.text)] for n, block in blocks.items()}
            told = [_telling(by_id[one].text, {*terms(answer)}, {*terms(question)}, weight) for one in gold]
            begun = time.process_time()
            gated = memory.block(question, tokens=800)
            between = time.process_time()
            memory.search(question)
            ended = time.process_time()
            text = blocks[800].text
            yield Recalled(
                name,
                data,
                {n: recall(found, gold, len(found)) for n, found in ids.items()},
                {n: sum(_is_read(one, lines, weight) for one in told) / len(told) for n, lines in shown.items()},
                {n: block.tokens for n, block in blocks.items()},
                recall([turn.id for turn in gated.turns], gold, len(gated.turns)),
                len(_HEAD.sub("", "\n".join(text.splitlines()[2:-1]))) / max(1, len(text)),
                not gated.text,
                1000 * (between - begun),
                1000 * (ended - between),
            )


@dataclass(frozen=True, slots=True)
class Timed:
    """A request with its pages, and the processor time of a block or a search: a message is fresh to one of both."""

    seen: Seen
    block_ms: float | None
    search_ms: float | None


def pages_of_requests(folder: Path) -> Iterator[Timed]:
    """Yield the pages of each request of a folder; blocks and searches are timed in turn."""
    for _, turns, requests in read_requests(folder):
        by_id = {turn.id: turn for turn in turns}
        with tempfile.TemporaryDirectory() as place, evimem.open(Path(place) / "m.evimem") as memory:
            memory.extend(turns, strict=True)
            memory.enrich()
            for number, request in enumerate(requests):
                spent = time_call(memory, request, block=number % 2 == 0)
                times = (spent, None) if number % 2 == 0 else (None, spent)
                yield Timed(look_at(request, by_id, memory, write_block), *times)


def time_call(memory: evimem.Memory, request: Request, *, block: bool) -> float:
    """Return the milliseconds of a processor that a block or a search takes."""
    begun = time.process_time()
    if block:
        memory.block(request.message, asked_at=request.asked_at, tokens=800)
    else:
        memory.search(request.message, asked_at=request.asked_at)
    return 1000 * (time.process_time() - begun)


def rows_of_kinds(pages: Sequence[Timed]) -> Iterator[tuple[Cell, ...]]:
    """Yield the measures of pages, a column for each kind of request."""
    measures: dict[str, Callable[[Timed], float | None]] = {}
    for n in BUDGETS_TOKENS:
        measures[f"needs in view, {n:,} tokens"] = partial(_share_in_view, n)
        measures[f"an old value alone, {n:,} tokens"] = partial(_old_value_alone, n)
        measures[f"tokens of {n:,}"] = partial(_size, n)
    measures["empty"] = lambda page: float(page.seen.empty)
    measures["block, ms of processor time"] = attrgetter("block_ms")
    measures["search, ms of processor time"] = attrgetter("search_ms")
    of = {kind: [page for page in pages if page.seen.kind == kind] for kind in KINDS}
    for name, measure in measures.items():
        found = ([value for value in map(measure, some) if value is not None] for some in of.values())
        yield name, *(float(mean(values)) if values else None for values in found)
    yield "messages", *map(len, of.values())


def _share_in_view(tokens: int, page: Timed) -> float | None:
    """Return the share of the needs of a request that a page shows; None for a request without needs."""
    told = page.seen.needs[tokens]
    return mean(told) if told else None


def _old_value_alone(tokens: int, page: Timed) -> float:
    return page.seen.stale_alone[tokens]


def _size(tokens: int, page: Timed) -> float:
    return page.seen.tokens[tokens]


def _telling(text: str, answer: set[str], question: set[str], weight: Mapping[str, float]) -> list[set[str]]:
    """Return the terms of the sentences of a turn that match the answer best, or nearly so."""
    found = [said for start, end in sentences(text) if (said := {*terms(text[start:end])})] or [{*terms(text)}]
    worth = [_sum(said & answer, weight) + OF_THE_QUESTION * _sum(said & question, weight) for said in found]
    return [said for said, value in zip(found, worth, strict=True) if value >= NEARLY * max(worth)]


def _is_read(told: Sequence[set[str]], lines: Sequence[set[str]], weight: Mapping[str, float]) -> bool:
    return any(_sum(said & line, weight) >= READ * _sum(said, weight) for said in told for line in lines)


def _sum(found: set[str], weight: Mapping[str, float]) -> float:
    return sum(weight.get(term, 0.0) for term in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=data_set("locomo"))
    parser.add_argument("--every", type=int, default=1, help="ask every n-th question of LoCoMo only")
    parser.add_argument("--requests", type=data_set("requests"), help="chats with requests, for a table by their kind")
    add_result(parser)
    options = parser.parse_args()
    rows: list[Recalled] = []
    for chat in read_chats(CHATS):
        asked = [
            (one.text, one.evidence, one.answer) for one in chat.questions if one.evidence and one.answer is not None
        ]
        rows += recalled("our chats", chat.name, chat.turns, asked)
    for sample in read_locomo(options.locomo):
        answerable = [one for one in sample.questions if one.evidence and one.category != ADVERSARIAL]
        found = [(one.text, one.evidence, str(one.answer)) for one in answerable]
        rows += recalled("LoCoMo", sample.id, sample.turns, found[:: options.every])
    groups = {name: [one for one in rows if one.data == name] for name in ("our chats", "LoCoMo")}
    measures = {}
    for n in BUDGETS:
        measures[f"gold in view, {n:,} tokens"] = lambda one, n=n: one.gold[n]
        measures[f"its sentence in view, {n:,} tokens"] = lambda one, n=n: one.read[n]
        measures[f"tokens of {n:,}"] = lambda one, n=n: float(one.tokens[n])
    measures["gold in view, 800 tokens by the default bound, gate on"] = lambda one: one.bounded
    measures["share quoted, 800 tokens"] = lambda one: one.quoted
    measures["empty with the gate on"] = lambda one: float(one.empty)
    measures["block, ms of processor time"] = lambda one: one.block_ms
    measures["search, ms of processor time"] = lambda one: one.search_ms
    table = ResultTable("block", "Blocks", ("", *groups), rows_of(measures, groups, lambda one: one.source), ())
    tables, given = [table], [options.locomo]
    if options.requests:
        cells = tuple(rows_of_kinds(list(pages_of_requests(options.requests))))
        tables.append(ResultTable("kinds", "Blocks by the kind of a message", ("", *KINDS), cells))
        given.append(options.requests)
    record("block", options, tables, given)


if __name__ == "__main__":
    main()
