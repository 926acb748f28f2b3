"""A scripted model that judges by the gold turns of a question, and measures what it is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.data_sets import read_locomo
from evimem.embedding.static_embedder import count_tokens
from evimem.text.prompt_text import MARK, escape
from evimem.types.trace import Acted, Complete, Event
from evimem.types.values import Turn

from .scoring.labelled_chats import read_chats
from .scoring.locomo_tables import CATEGORIES

# What it replies to the requests of EviMem's pattern besides: no name, no query of its own, no chain.
APART: dict[str, Any] = {"names": [], "query": "", "type": "direct", "steps": [], "used": []}
_ROW = re.compile(r'"([^"]+)" \((tag|time|word)')


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a known kind with the turns that answer it.

    `answers` are the right forms of the answer, none where nothing was told; `asked_at` is its "today", None for the
    newest turn.
    """

    text: str
    kind: str
    gold: tuple[str, ...]
    asked_at: str | None = None
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns and the questions about them."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def conversations(path: Path) -> Iterator[Conversation]:
    """Yield the conversations of a LoCoMo file, or of a folder of labelled chats."""
    if path.is_dir():
        for chat in read_chats(path):
            asked = (Question(q.text, q.kind, q.evidence, q.asked_at, q.gold) for q in chat.questions)
            yield Conversation(chat.name, chat.turns, tuple(asked))
        return
    for sample in read_locomo(path):
        known = ((q, () if q.answer is None else (q.answer,)) for q in sample.questions)
        told = (Question(q.text, CATEGORIES[q.category], q.evidence, None, answers) for q, answers in known)
        yield Conversation(sample.id, sample.turns, tuple(told))


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its role, its tokens, those of its evidence, and how many of the gold turns it shows."""

    role: str
    sent: int
    evidence: int
    found: int
    gold: int

    @property
    def complete(self) -> bool:
        """Whether all gold turns are in view."""
        return 0 < self.gold == self.found


class GoldJudge:
    """Judges by the gold turns of the current question, and measures what it is sent.

    A gold turn is in view where the trace says that it is shown, found or beside a found one: give `hear` to
    `ask(on_event=)`, which counts by ids, since several turns may have the same words. Where all are in view, each
    requirement is supported by them; those of names are waived with `counted`, so that counts of facts decide. Until
    then it searches on without a query of its own, accepts nothing, and calls the nearest tools, of whose results it
    keeps the gold turns, cues and tags. While `trap` is set, the gold turns tell of another person what is asked, and
    it says so once they are in view.
    """

    def __init__(self, turns: Iterable[Turn], *, counted: bool = False) -> None:
        self.trap = False
        self._words = {turn.id: escape(f"{turn.text} {turn.caption or ''}") for turn in turns}
        self._shown: frozenset[str] = frozenset()
        self.gold: Sequence[str] = ()
        self.asked: list[Asked] = []
        self._mapped = re.compile(r"^(r\d+) \((?!entity)" if counted else r"^(r\d+) \(", re.MULTILINE)

    def hear(self, event: Event) -> None:
        """Note which turns a view shows."""
        if isinstance(event, Acted) and event.action == "show":
            self._shown = frozenset((*event.detail["turns"], *event.detail["around"]))

    def begin(self, gold: Sequence[str]) -> None:
        """Begin a question with these gold turns."""
        self.gold, self.asked, self._shown = gold, [], frozenset()

    def __call__(self, request: Complete) -> str:
        evidence = request.prompt.partition("<evidence>")[2].partition("</evidence>")[0]
        lines = re.split(r"^\[(e\d+)\] ", evidence, flags=re.MULTILINE)[1:]
        items = dict(zip(lines[::2], lines[1::2], strict=True))  # those of a page, else of facts
        items |= {text.partition(",")[0]: text.partition("\n")[2] for text in evidence.split("<item ")[1:]}
        found = [turn_id in self._shown for turn_id in self.gold]
        seen = [self._words[turn_id] for turn_id in self.gold if turn_id in self._shown]
        labels = [name for name, text in items.items() if any(_is_of(text, words) for words in seen)]
        sent = count_tokens(request.text)
        self.asked.append(Asked(request.role, sent, count_tokens(evidence), sum(found), len(found)))
        if request.role == "answer":
            cited = [{"id": label, "quote": ""} for label in (*labels, *items)[:1]]
            return json.dumps({"steps": [], "answer": "something", "citations": cited})
        complete = bool(found) and all(found)
        found_out = self._misattributed(labels) if self.trap else None
        reply = _searching() if not complete else found_out or self._verdict(request, labels)
        calls = [] if complete else next_calls(request)
        keep = [*labels, *(key for key, _ in _ROW.findall(request.text))]
        chosen = {"keywords": ["k1", "k2", "k3", "k4"], "calls": calls, "critical": labels, "keep": keep}
        return json.dumps({**reply, **chosen, **APART})

    def _misattributed(self, labels: Sequence[str]) -> dict[str, Any]:
        gap = {"kind": "attribution", "about": "", "text": "this is told of another", "evidence": labels}
        return {**_searching(), "gaps": [gap]}

    def _verdict(self, request: Complete, labels: Sequence[str]) -> dict[str, Any]:
        listed = request.prompt.partition("<requirements>")[2]
        mapped, names = self._mapped.findall(listed), re.findall(r"^(r\d+) \(", listed, re.MULTILINE)
        needs = [
            {"id": name, "status": "supported" if name in mapped else "waived", "evidence": labels, "why": "counted"}
            for name in names
        ]
        said = {"next_query": "", "reason": "", "answer": "something", "accepted": True, "action": "answer"}
        return {"tier": "exact", "confidence": 0.95, "requirements": needs, "gaps": [], **said, "supports": labels}


def _is_of(item: str, words: str) -> bool:
    """Return whether every piece of an item's words, behind its head if it has one, stands in a turn."""
    quoted = [line.removeprefix(MARK) for line in item.splitlines() if not line.startswith(("= ", "New in check"))]
    if not any(quoted):
        return False
    return any(
        all(piece.strip().rstrip("]") in words for line in (first, *quoted[1:]) for piece in _pieces(line))
        for first in (quoted[0], quoted[0].partition(": ")[2])
        if first
    )


def _pieces(line: str) -> list[str]:
    return line.removeprefix("[picture: ").split("\u2026")


def _searching() -> dict[str, Any]:
    gaps = [{"kind": "attribute", "about": "", "text": "not all of it is there"}]
    said = {"next_query": "", "reason": "", "accepted": False, "action": "retrieve"}  # no answer yet
    return {"tier": "partial", "confidence": 0.45, "requirements": [], "gaps": gaps, **said}


def next_calls(request: Complete) -> list[dict[str, Any]]:
    """Return up to five calls that were not made yet: tags of cues, their events, cues of items, times, more tags."""
    if not request.tools:
        return []
    made, rows = set(), []
    uses = {use.id: json.loads(use.arguments) | {"tool": use.name} for one in request.earlier for use in one.uses}
    for message in request.earlier:
        if message.of:
            use = uses[message.of]
            made.add((use["tool"], use["of"], use.get("part", "")))
            rows += [(use, key, what) for key, what in _ROW.findall(message.text.partition(": ")[2])]
    cues = re.findall(r'^- "([^"]+)"$', request.prompt.partition("Cues in the question")[2], re.MULTILINE)
    wanted = [
        *(("tags_of", cue, "") for cue in cues),
        *(("events", use["of"], key) for use, key, what in rows if what == "tag"),
        *(("event_cues", label, "") for label in ("e1", "e2")),
        *(("events_between", key, key) for _, key, what in rows if what == "time"),
        *(("tags_of", key, "") for _, key, what in rows if what == "word"),
    ]
    left = dict.fromkeys(call for call in wanted if call not in made)
    return [{"tool": tool, "of": of, "part": part, "page": 1} for tool, of, part in list(left)[:5]]
