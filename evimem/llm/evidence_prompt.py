"""The evidence in a prompt: items with labels that stay the same through all checks of a question.

Each turn is one item, found or around a found one. Its head and what was worked out from it are lines of ours; what
people wrote stands on marked lines (see `prompts`). What was shown keeps its label and its words, and what is new
comes after it, so that a server can reuse what it has read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..index.updates import outranks, replaces, topic_of
from ..judging.evidence import AROUND, Evidence, View, most_shown
from ..query.remaining_turns import read_remaining
from ..text.prompt_text import caption_line, escape_attribute, format_time, marked, named, turn_text, what_is_meant
from ..text.terms import terms
from ..times import render
from ..types.trace import Complete
from ..types.values import Fact, Turn
from .request import ReplyForm

EVIDENCE_CHARACTERS = 17_500  # about 5,000 tokens; characters, as counting tokens at each check is slow
AROUND_CHARACTERS = 1_800  # of the turns that a check adds around the found ones

MOST_FACT = 300  # of one, where facts stand for turns
NOTHING = "(nothing was found)"
HEAD = 40  # of the line above a turn, about
MOST_SPEAKERS = 20  # that a request names
_LABEL = re.compile(r"[\s\[\](){}\"'#]*e?0*([1-9]\d{0,5})[\s\[\](){}\"']*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """The text of the evidence in a prompt, and its turns by their labels e1, e2, ..."""

    text: str
    items: Mapping[str, Turn] = field(hash=False)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns, in the order of the text."""
        return tuple(self.items.values())

    def ids(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Return the ids of the turns that labels name, each once; others are left out."""
        named_turns = map(self.turn, labels)
        return tuple(dict.fromkeys(turn.id for turn in named_turns if turn is not None))

    def turn(self, label: str) -> Turn | None:
        """Return the turn of a label ("e3", "[E3]", or the turn's own id); None where it is not shown."""
        for turn in self.turns:
            if turn.id == label:
                return turn
        match = _LABEL.fullmatch(label)
        return self.items.get(f"e{match[1]}") if match else None


@dataclass(frozen=True, slots=True)
class ShownItem:
    """One turn as it is shown: its label, its text with head and facts, and the check that showed it first.

    `whole` is whether as much of it is shown as of a found one, `timed` whether its head has its time.
    """

    label: str
    turn: Turn
    text: str
    check: int
    whole: bool
    timed: bool


def evidence_request(form: ReplyForm, view: View, shown: ShownEvidence, **values: object) -> Complete:
    """Return the request for a reply of a form, about the question of a view and a page of evidence."""
    return form.request(
        question=marked(view.analysis.question),
        asked_at=format_time(view.asked_at),
        speakers=", ".join(named(speaker) for speaker in view.speakers[:MOST_SPEAKERS]) or "none",
        evidence=shown.text,
        **values,
    )


def show_evidence(
    view: View, *, by_time: bool = False, only: Collection[str] = (), room: int = EVIDENCE_CHARACTERS
) -> ShownEvidence:
    """Return the evidence of a view with the dialogue around it, within about `room` characters.

    In the order in which it was first shown, or `by_time`. With `only`, the turns of these ids and those around them.
    """
    page = _Page(view)
    taken = page.fill(frozenset(only), room)
    kept = [item for item in page.items if item.turn.id in taken]
    if by_time:
        kept.sort(key=lambda item: (item.turn.time, view.order.get(item.turn.id, 0)))
    lines: list[str] = []
    check = 1
    for item in kept:
        if item.check != check and not by_time:
            check = item.check
            lines.append(f"New in check {check}:")
        lines.append(item.text)
    return ShownEvidence("\n".join(lines) or NOTHING, {item.label: item.turn for item in kept})


def shown_so_far(view: View) -> ShownEvidence:
    """Return the turns of all pages of a question, without their text: what a reply may still name."""
    return ShownEvidence("", {item.label: item.turn for item in _Page(view).items})


def claim_lines(view: View) -> str:
    """Return what was taken from evidence so far: each claim with the labels of the items that say so."""
    labels = {item.turn.id: item.label for item in _Page(view).items}
    lines = []
    for place, claim in enumerate(view.tracker.claims, 1):
        if not claim.withdrawn:
            said_by = ", ".join(labels[one] for one in claim.sources if one in labels)
            lines.append(f'c{place} ({said_by}): "{escape_attribute(claim.text, 400)}"')
    return "\n".join(lines)


def legible(view: View, room: int = EVIDENCE_CHARACTERS) -> frozenset[str]:
    """Return the ids of the turns of a view, found or around, that `show_evidence` has room for."""
    return _Page(view).taken(view.shown, room)


def show_facts(view: View, *, with_turns: bool, room: int) -> ShownEvidence:
    """Return the facts of what is shown, within about `room` characters, under labels that stay; at least one."""
    numbers = {item.turn.id: place for place, item in enumerate(view.evidence, 1)}
    lines: list[str] = []
    shown: list[Evidence] = []
    for item in view.shown:
        new = [*_item_lines(item, f"e{numbers[item.turn.id]}", with_turns=with_turns)]
        size = sum(map(len, new))
        if shown and size > room:
            break
        room -= size
        lines += new
        shown.append(item)
    items = {f"e{numbers[item.turn.id]}": item.turn for item in shown}
    if left := sum(len(item.facts) for item in view.evidence) - sum(len(item.facts) for item in shown):
        lines.append(f"({left} further facts were found, for which there is no room)")
    return ShownEvidence("\n".join(lines) or NOTHING, items)


def _item_lines(item: Evidence, label: str, *, with_turns: bool) -> Iterator[str]:
    turn = item.turn
    when = f", {named(turn.speaker)}, {format_time(turn.time)}" if with_turns else ""
    yield f"<item {label}{when}>"
    if with_turns:
        yield marked(turn.text) + caption_line(turn.caption or "")
    for fact in item.facts:
        dated = ""
        if fact.event is not None:
            time = render(fact.event) if fact.event.start else escape_attribute(fact.event.text, MOST_FACT)
            dated = f" (time: {time})"
        yield f'= "{escape_attribute(fact.text, MOST_FACT)}"{dated}'


def _fact_lines(facts: Iterable[Fact], turn: Turn, shown: str, known: Mapping[str, Fact]) -> Iterator[str]:
    """Yield what facts add to the words of a turn: who is meant, the time of a phrase, and what no longer holds.

    `known` are facts by id: one among them that replaced another is named with it.
    """
    facts = tuple(facts)
    if meant := what_is_meant(facts, turn, shown):
        yield f"= {meant}"
    for fact in facts:
        phrase = fact.event.text if fact.event else ""
        if fact.event and fact.event.start and phrase and phrase in shown:
            time = render(fact.event, turn.time)
            if not set(time.lower().split()) <= set(phrase.lower().replace(",", " ").split()):
                yield f'= "{escape_attribute(phrase)}" is {time}'
        if fact.replaced_by:
            later = known.get(fact.replaced_by)
            since = f', since then: "{escape_attribute(later.text, 200)}"' if later else ""
            yield f'= no longer so: "{escape_attribute(fact.text, 200)}"{since}'


class _Page:
    """The items of one question in the order in which they were first shown, to which what fits of a view is added."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._wanted = frozenset(terms(" ".join((view.analysis.question, *view.queries))))
        self.items: list[ShownItem] = view.memo.setdefault("items shown", [])
        self._labels: dict[str, str] = view.memo.setdefault("labels", {})

    def _has(self, turn: Turn, *, whole: bool = False) -> bool:
        """Whether a turn was shown or, with `whole`, as much of it as of a found one."""
        return any(item.turn.id == turn.id and (item.whole or not whole) for item in self.items)

    def fill(self, only: Collection[str], room: int) -> frozenset[str]:
        """Log what fits; return the ids of the turns that are shown."""
        view = self._view
        found = [item for item in view.shown if not only or any(turn.id in only for turn in self._with_around(item))]
        taken = self.taken(found, room)
        by_id = {item.turn.id: item for item in found if item.turn.id in taken}
        for item in by_id.values():
            self._add(item, [turn for turn in self._with_around(item) if turn.id in taken], by_id)
        return taken

    def taken(self, found: Sequence[Evidence], room: int) -> frozenset[str]:
        """Return what fits: witnesses first, then the others, then what stands around them."""
        decisive = self._view.decisive
        taken: set[str] = set()
        for item in sorted(found, key=lambda item: item.turn.id not in decisive):
            size = len(self._text(item))
            if size <= room or not taken:
                taken.add(item.turn.id)
                room -= size
        new = AROUND_CHARACTERS
        near = [pair for item in found if item.turn.id in taken for pair in self._around(item)]
        # What was shown before stays; then questions with their replies.
        for turn, _ in sorted(near, key=lambda pair: (not self._has(pair[0]), not pair[1])):
            size = min(len(turn.text), AROUND) + HEAD
            known = self._has(turn)
            if turn.id not in taken and size <= (room if known else min(room, new)):
                taken.add(turn.id)
                room -= size
                new -= 0 if known else size
        return frozenset(taken)

    def _add(self, item: Evidence, around: Sequence[Turn], found: Mapping[str, Evidence]) -> None:
        """Log a turn and those around it, in the order of the dialogue."""
        labels = {turn.id: self._labels.setdefault(turn.id, f"e{len(self._labels) + 1}") for turn in around}
        place, check = "before", self._view.iteration
        for turn in around:
            known = self._has(turn)
            if turn.id in found:
                if not self._has(turn, whole=True):
                    again = ", in full" if known else ""
                    when = f"{format_time(turn.time)}{self._placed(turn)}"
                    said = self._text(found[turn.id])
                    text = f"<item {labels[turn.id]}, {named(turn.speaker)}, {when}{again}>\n{said}"
                    self.items.append(ShownItem(labels[turn.id], turn, text, check, whole=True, timed=True))
            elif not known:
                said = marked(turn_text(turn, self._wanted, AROUND))
                text = f"<item {labels[turn.id]}, {named(turn.speaker)}, {place} {labels[item.turn.id]}>\n{said}"
                whole = len(turn.text) <= AROUND
                self.items.append(ShownItem(labels[turn.id], turn, text, check, whole=whole, timed=False))
            place = "after" if turn.id == item.turn.id else place

    def _placed(self, turn: Turn) -> str:
        """Return next to which item of the same minute a turn was said, where one was shown before it."""
        places = self._view.order
        shown = [
            (places[one.turn.id], one.label)
            for one in self.items
            if one.timed and one.turn.id in places and format_time(one.turn.time) == format_time(turn.time)
        ]
        if turn.id not in places or not shown:
            return ""
        place = places[turn.id]
        earlier = max((one for one in shown if one[0] < place), default=None)
        return f", after {earlier[1]}" if earlier else f", before {min(shown)[1]}"

    def _text(self, item: Evidence) -> str:
        """Return an item below its head, made once per question: later checks show most items again."""

        def written() -> str:
            shown = turn_text(item.turn, self._wanted, most_shown(item.turn), item.span)
            known = {fact.id: fact for other in self._view.evidence for fact in other.facts}
            lines = (*_fact_lines(item.facts, item.turn, shown, known), *self._otherwise(item))
            return "\n".join((marked(shown), *lines))

        return self._view.kept(("item", item.turn.id), written)

    def _otherwise(self, item: Evidence) -> Iterator[str]:
        """Yield, once each, what others said otherwise.

        Against a report that is the own word of the person; against an own word a report that was shown before it.
        """
        earlier = {shown.turn.id for shown in self.items}
        others = [one for one in self._view.shown if one.turn.speaker != item.turn.speaker]
        said: dict[tuple[str, str], None] = {}
        for fact in _in_force(item):
            for turn, other in ((one.turn, other) for one in others for other in _in_force(one)):
                if _contradicts(fact, item.turn, other, turn) or (
                    turn.id in earlier and _contradicts(other, turn, fact, item.turn)
                ):
                    said[turn.speaker, other.text] = None
        for speaker, text in said:
            yield f'= {named(speaker)} said otherwise: "{escape_attribute(text, 200)}"'

    def _around(self, item: Evidence) -> list[tuple[Turn, bool]]:
        """Return the turns around one, and whether each asks what the next one may answer or may be that answer."""
        turns = self._with_around(item)
        at = next(place for place, turn in enumerate(turns) if turn.id == item.turn.id)
        before = [(turn, "?" in turn.text) for turn in turns[:at]]
        return before + [(turn, "?" in item.turn.text) for turn in turns[at + 1 :]]

    def _with_around(self, item: Evidence) -> tuple[Turn, ...]:
        """Return a turn between the one before and the one after it."""
        around = self._view.context.get(item.turn.id, ())
        at = next((place for place, turn in enumerate(around) if turn.id == item.turn.id), None)
        return (item.turn,) if at is None else around[max(0, at - 1) : at + 2]


def _in_force(item: Evidence) -> list[Fact]:
    """Return the facts that may contradict others and that nothing has replaced."""
    return [fact for fact in item.facts if fact.replaced_by is None and topic_of(fact) is not None]


def _contradicts(report: Fact, by: Turn, own: Fact, of: Turn) -> bool:
    return of.time <= by.time and outranks(own, of.speaker, by.speaker) and replaces(report, own)


def ordered(view: View) -> View:
    """Return a view with the `order` of its turns, asked of the store for those whose shown time does not tell it."""
    seen = {item.turn.id: item.turn for item in view.shown} | view.around
    said = {turn_id: turn.time.replace(second=0, microsecond=0) for turn_id, turn in seen.items()}
    at_once = Counter(said.values())
    alike = tuple(turn_id for turn_id, minute in said.items() if at_once[minute] > 1)
    key = ("order", alike)
    if alike and key not in view.memo:
        view.memo[key] = read_remaining(view.store, view.store.order, alike)
    return replace(view, order={turn_id: place for place, turn_id in enumerate(view.memo.get(key, ()))})
