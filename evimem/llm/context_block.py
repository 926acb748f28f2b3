"""The evidence of a question as a block of text for somebody else's prompt, within a token budget."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..embedding import count_tokens
from ..judging.evidence import Verdict, View
from ..judging.shown_passages import most_shown
from ..text.character_ranges import Range
from ..text.memory_fence import HEAD, MISSING, fenced
from ..text.terms import terms
from ..types.block import Block
from ..types.values import Fact, Gap, Turn
from .evidence_prompt import fact_lines, in_dialogue_order, turn_texts
from .quoting import escape_attribute, format_time, marked, named

SHORTER = 4  # a turn that does not fit whole, or only stands next to a found one, is shown in a quarter of the room
LEAST = 24  # tokens of a turn with its head: with fewer left, nothing more is tried
MOST_MISFITS = 16  # turns tried that do not fit into what is left: each costs as much as one that does
MOST_TURNS = 500  # quoted at most
MOST_MISSING = 300  # characters of the line on what is missing


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A turn that may be quoted: its facts, the numbers of characters to try, the largest first, the passage found."""

    turn: Turn
    facts: tuple[Fact, ...]
    sizes: tuple[int, ...]
    found: Range | None = None


@dataclass(frozen=True, slots=True)
class _Quoted:
    """A turn as it is quoted, with its token count."""

    turn: Turn
    text: str
    tokens: int


def most_quoted(tokens: int) -> int:
    """Return how many turns may be quoted in so many tokens."""
    return min(MOST_TURNS, tokens // LEAST)


def context_block(view: View, verdict: Verdict, tokens: int) -> Block:
    """Return the turns of a view that fit into so many tokens, in dialogue order, and what a verdict misses in them.

    What was found comes first, as the view has it, then the turns next to these.
    """
    missing = [f"{MISSING}{line}"] if (line := _missing(verdict.gaps)) else []
    quoted = _fitting(view, tokens - count_tokens(fenced(missing)))
    text = _text(view, quoted, missing)
    while quoted and count_tokens(text) > tokens:  # not met so far: the tokens of lines add up
        quoted = quoted[:-1]
        text = _text(view, quoted, missing)
    turns = tuple(one.turn for one in in_dialogue_order(quoted, view))
    confidence = verdict.confidence if verdict.probability is None else verdict.probability
    return Block(text, turns, count_tokens(text), verdict.tier, confidence, verdict.gaps)


def _text(view: View, quoted: Sequence[_Quoted], missing: Sequence[str]) -> str:
    if not quoted:
        return ""
    return fenced([*(one.text for one in in_dialogue_order(quoted, view)), *missing])


def _missing(gaps: Iterable[Gap]) -> str:
    return escape_attribute("; ".join(gap.text for gap in gaps if gap.text), MOST_MISSING)


def _fitting(view: View, left: int) -> list[_Quoted]:
    """Return what fits into so many tokens, in the order in which it was chosen."""
    wanted = frozenset(terms(" ".join((view.analysis.question, *view.queries))))
    known = {fact.id: fact for item in view.evidence for fact in item.facts}
    taken: list[_Quoted] = []
    misfits = 0
    for candidate in _candidates(view):
        if left < LEAST or misfits == MOST_MISFITS:
            break
        quoted = next((one for one in _quoted(candidate, wanted, known) if one.tokens <= left), None)
        if quoted is None:
            misfits += 1
        else:
            taken.append(quoted)
            left -= quoted.tokens
    return taken


def _candidates(view: View) -> Iterator[_Candidate]:
    """Yield each turn once: the evidence in its order, then the turns around it."""
    for item in view.evidence:
        most = most_shown(item.turn)
        yield _Candidate(item.turn, item.facts, (most, most // SHORTER), item.span)
    seen = {item.turn.id for item in view.evidence}
    for item in view.evidence:
        for turn in view.context.get(item.turn.id, ()):
            if turn.id not in seen:
                seen.add(turn.id)
                yield _Candidate(turn, (), (most_shown(turn) // SHORTER,))


def _quoted(candidate: _Candidate, wanted: Collection[str], known: Mapping[str, Fact]) -> Iterator[_Quoted]:
    """Yield a turn as it is quoted in each of its sizes."""
    turn = candidate.turn
    head = f'{HEAD}{escape_attribute(turn.id, 512)}", {named(turn.speaker)}, {format_time(turn.time)}:'
    for shown in turn_texts(turn, wanted, candidate.sizes, candidate.found):
        text = "\n".join((head, marked(shown), *fact_lines(candidate.facts, turn, shown, known)))
        yield _Quoted(turn, text, count_tokens(text))
