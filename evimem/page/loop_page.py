"""The page of a block in a loop: its lines with labels, e1, e2, ..., that stay through all checks of a question.

A check adds lines for what is new, in the order of the dialogue; what stands there already stays as it is, so that a
server can reuse what it has read. No words stand twice: of a turn that was cut, a later line has the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from ..embedding.static_embedder import count_tokens
from ..judging.evidence import Evidence, View
from ..query.find_turns import StandingInstruction
from ..text.prompt_text import CAPTION_OPENS
from ..types.values import Fact, Hit, Query
from .compose import PROFILE_SHARE, Filling, Opening, fill, in_dialogue_order
from .question import BlockSearch, terms_in
from .quoted_lines import Line, Notes, line_text, split_turn

SCORED_PATHS = frozenset(("anchor", "further", "refined", "keyword"))  # whose scores are those of a search
NO_LINE = "(nothing was found)"


@dataclass(frozen=True, slots=True)
class Item:
    """A line of the page: its label, its size, the check that showed it first, and its rank among the lines of that."""

    label: str
    line: Line
    check: int
    rank: int
    tokens: int


def extend_page(view: View) -> tuple[Item, ...]:
    """Return the lines of a page, and after them lines for turns of a view that it does not have, within its tokens."""
    page: list[Item] = list(view.page)
    there = view.readable
    known = [one for one in page if one.line.turn.id in there]
    left = view.tokens - sum(one.tokens for one in known)
    if view.whole:  # kept turns leave room for new ones
        left = max(left, view.tokens // 4)
    wanted = there.difference(one.line.turn.id for one in page)
    if wanted or (view.parts.get("sought") and all(one.check < view.iteration for one in page)):
        lines = _new_lines(view, [one.line for one in page], left)
        rank = {line.turn.id: place for place, line in enumerate(lines)}
        labels = {one.line.turn.id: one.label for one in page}
        above: Line | None = None
        for line in map(mark_left_out, in_dialogue_order(view.store, lines)):
            label = labels.setdefault(line.turn.id, f"e{len(labels) + 1}")
            tokens = count_tokens(line_text(label, line, above, "plain"))
            page.append(Item(label, line, view.iteration, rank[line.turn.id], tokens))
            above = line
    return tuple(page)


def lines_of_view(view: View, page: Iterable[Item]) -> tuple[Item, ...]:
    """Return the lines of a page that are of turns of a view."""
    there = view.readable
    return tuple(one for one in page if one.line.turn.id in there)


def mark_left_out(line: Line) -> Line:
    """Return a line with an ellipsis for the words of its turn that it leaves out before and after the shown ones."""
    said, picture, caption = line.said.partition(CAPTION_OPENS)
    shown, left_out = split_turn(line)
    if shown != [said.strip()]:  # its words are marked already, or are none of the turn's own
        return line
    opened, closed = (any(map(str.isalnum, left)) for left in left_out)
    words = " ".join((*("\u2026",) * opened, *shown, *("\u2026",) * closed))
    return replace(line, said=f"{words}{picture}{caption}") if opened or closed else line


def lines_to_add(view: View) -> frozenset[str]:
    """Return the ids of the turns that `extend_page` would add lines for."""
    left = view.tokens - sum(one.tokens for one in view.page)
    return frozenset(line.turn.id for line in _new_lines(view, [one.line for one in view.page], left))


def _new_lines(view: View, known: Sequence[Line], tokens: int) -> list[Line]:
    """Return lines for the new turns of a view, in the order in which they were chosen."""
    found = {item.turn.id: item for item in view.shown}
    facts = {turn_id: item.facts for turn_id, item in found.items()}
    hits = tuple(_as_hit(item, view) for item in view.shown)
    recollected = BlockSearch(hits, view.analysis.hints, Query(view.analysis.question, 1), view.speakers)

    def read(turn_ids: Iterable[str]) -> tuple[Fact, ...]:
        return tuple(fact for turn_id in turn_ids for fact in facts.get(turn_id, ()))

    page = Filling(
        "plain",
        count_tokens,
        terms_in(" ".join((view.analysis.question, *view.queries))),
        tokens,
        Notes(read, hits, None, dated=view.analysis.temporal),
        user=recollected.user,
        known=known,
        noted=len(hits),
        weekday=True,
        whole=view.whole,
    )
    sought = view.parts.get("sought", {})
    seen = {line.turn.id: [one for one in known if one.turn.id == line.turn.id] for line in known}
    for turn_id in [one for one in sought if len(seen.get(one, ())) == 1][:6]:
        page.add_rest(seen[turn_id][0])  # what was searched for may stand in the words that were left out
    for item in sorted((one for one in view.shown if _place(view, one) < 9), key=lambda one: _place(view, one)):
        page.add(_as_hit(item, view))
    parts = {name: [one for one in part if one in found] for name, part in view.parts.items()}
    said = [StandingInstruction(found[one].turn, view.parts["profile"][one]) for one in parts.get("profile", ())]
    of_time = [found[one].turn for one in parts.get("of_time", ())]
    later = [_as_hit(found[one], view) for one in parts.get("later", ())]
    fill(page, recollected, later, (Opening("profile", said, int(PROFILE_SHARE * tokens)),), of_time, tokens)
    for item in view.shown:  # where there is room, the dialogue around what was found
        for turn in view.context.get(item.turn.id, ()):
            page.add(Hit(turn, (), 0.0))
    return page.lines


def _place(view: View, item: Evidence) -> int:
    """Return the rank of evidence: witnesses of requirements first, then turns for the gaps, edges; else 9."""
    places = {"refined": 1, "about": 2, "edge": 3}
    there = 0 if item.turn.id in view.decisive else places.get(item.path.partition(":")[0], 9)
    return there if there == 0 or item.iteration == view.iteration else 9


def _as_hit(item: Evidence, view: View) -> Hit:
    """Return a turn that was found as a hit; one that no search found comes behind those that one did."""
    score = item.score if item.path in SCORED_PATHS else 0.0
    beside = tuple(turn.id for turn in view.context.get(item.turn.id, ()))
    return Hit(item.turn, item.facts, score, item.parts, item.path, beside, item.span)


def fitting(items: Sequence[Item], decisive: Collection[str], room: float) -> list[Item]:
    """Return the items that fit into so many characters, at least one: witnesses first, then best first."""
    taken: set[str] = set()
    for one in sorted(items, key=lambda one: (one.line.turn.id not in decisive, one.check, one.rank)):
        size = len(line_text(one.label, one.line, None, "plain"))
        if size <= room or not taken:
            taken.add(one.label)
            room -= size
    return [one for one in items if one.label in taken]


def page_text(items: Sequence[Item]) -> str:
    """Return items as text, those of each check after a line that says so."""
    groups = [list(group) for _, group in groupby(items, key=lambda one: one.check)]
    lines = chain.from_iterable(_group_text(group, first=place == 0) for place, group in enumerate(groups))
    return "\n".join(lines) or NO_LINE


def _group_text(items: Sequence[Item], *, first: bool) -> Iterator[str]:
    if not first:
        yield f"New in check {items[0].check}:"
    above: Line | None = None
    for one in items:
        yield line_text(one.label, one.line, above, "plain")
        above = one.line
