"""What a block holds for its tokens, and what it costs: `python -m benchmarks.block LOCOMO.json`.

For each budget the share of the gold turns of answerable questions that `Memory.block` quotes, in our own chats and in
LoCoMo, the tokens of the blocks, how much of their characters is quoted, and the processor time beside that of a
search, both measured in turn. Tokens are those of the shipped WordPiece vocabulary, as in earlier results, and the
default bound. The gate is on for the share that is empty, and off for the rest.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import evimem
from evimem.embedding import count_tokens
from evimem.loaders.locomo_format import read_locomo

from .recording import add_result, data_set, record
from .scoring.estimates import rows_of
from .scoring.labelled_chats import read_chats
from .scoring.result_file import ResultTable
from .scoring.retrieval_metrics import recall

BUDGETS = (400, 500, 800, 1000, 1500)
ADVERSARIAL = 5  # the category of LoCoMo's questions without an answer
CHATS = Path(__file__).parent / "chats"
_HEAD = re.compile(r"^(?:\[\d+\] [^:\n]*(?:\d\d:\d\d)?: |> |= .*$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Recalled:
    """A question with what its blocks held by budget: gold turns, tokens, quoted characters; and the milliseconds."""

    source: str
    data: str
    gold: dict[int, float]
    tokens: dict[int, int]
    bounded: float
    quoted: float
    empty: bool
    block_ms: float
    search_ms: float


def recalled(
    data: str, name: str, turns: Sequence[evimem.Turn], asked: Sequence[tuple[str, Sequence[str]]]
) -> Iterator[Recalled]:
    """Yield what the blocks of questions with their gold turns held, in a memory of these turns."""
    with tempfile.TemporaryDirectory() as folder, evimem.open(Path(folder) / "m.evimem") as memory:
        memory.extend(turns, strict=True)
        for question, gold in asked:
            blocks = {n: memory.block(question, tokens=n, gate=False, count=count_tokens) for n in BUDGETS}
            ids = {n: [turn.id for turn in block.turns] for n, block in blocks.items()}
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
                {n: block.tokens for n, block in blocks.items()},
                recall([turn.id for turn in gated.turns], gold, len(gated.turns)),
                len(_HEAD.sub("", "\n".join(text.splitlines()[2:-1]))) / max(1, len(text)),
                not gated.text,
                1000 * (between - begun),
                1000 * (ended - between),
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=data_set("locomo"))
    parser.add_argument("--every", type=int, default=1, help="ask every n-th question of LoCoMo only")
    add_result(parser)
    options = parser.parse_args()
    rows: list[Recalled] = []
    for chat in read_chats(CHATS):
        asked = [(one.text, one.evidence) for one in chat.questions if one.evidence and one.answer is not None]
        rows += recalled("our chats", chat.name, chat.turns, asked)
    for sample in read_locomo(options.locomo):
        found = [(one.text, one.evidence) for one in sample.questions if one.evidence and one.category != ADVERSARIAL]
        rows += recalled("LoCoMo", sample.id, sample.turns, found[:: options.every])
    groups = {name: [one for one in rows if one.data == name] for name in ("our chats", "LoCoMo")}
    measures = {}
    for n in BUDGETS:
        measures[f"gold in view, {n:,} tokens"] = lambda one, n=n: one.gold[n]
        measures[f"tokens of {n:,}"] = lambda one, n=n: float(one.tokens[n])
    measures["gold in view, 800 tokens by the default bound, gate on"] = lambda one: one.bounded
    measures["share quoted, 800 tokens"] = lambda one: one.quoted
    measures["empty with the gate on"] = lambda one: float(one.empty)
    measures["block, ms of processor time"] = lambda one: one.block_ms
    measures["search, ms of processor time"] = lambda one: one.search_ms
    table = ResultTable("block", "Blocks", ("", *groups), rows_of(measures, groups, lambda one: one.source), ())
    record("block", options, [table], [options.locomo])


if __name__ == "__main__":
    main()
