"""Turns as pages: the hits of a search, and one turn with its facts marked in its text."""

from __future__ import annotations

from collections.abc import Sequence

from ...types.values import Fact, Hit, Turn
from ..page import BLANK, Block, Heading, Piece, TextLine, line, table
from .answer_view import interval, quoted
from .wording import minute, said


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
