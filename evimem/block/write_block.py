"""A message in, a block out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime

from ..embedding.token_bound import token_bound
from ..errors import without
from ..flow import Flow
from ..protocols import Store
from ..query.find_turns import Wish, wishes_on
from ..types.results import Block, BlockForm
from ..types.stored import Scope
from .compose import compose, terms_in
from .find import Recalled, find_for
from .gate import fitted, relevance
from .notes import FactReader, Notes
from .question import Asked
from .quoted_lines import PARTS, Line, Part, block_text

Profile = Callable[[Collection[str]], Sequence[Wish]]  # what was said of people, the newest first


def write_block(  # noqa: PLR0913, PLR0917 - what a block is made from
    store: Store,
    recalled: Recalled,
    facts: FactReader,
    asked: Asked,
    form: BlockForm,
    asked_at: datetime | None,
    exclude: Collection[str],
    scope: Scope,
    profile: Profile | None = None,
) -> Flow[Block]:
    """Search once for a message, and write what helps to reply to it within the tokens of a form."""
    found = yield from find_for(store, recalled, asked, form.tokens, asked_at, exclude, scope)
    relevant = without(1.0, relevance, asked, found)  # a gate that cannot be read is open
    if form.gate and asked.earlier and relevant < fitted().least:  # it may point at what is told by itself alone
        asked = replace(asked, earlier=())
        found = yield from find_for(store, recalled, asked, form.tokens, asked_at, exclude, scope)
        relevant = without(1.0, relevance, asked, found)
    if form.gate and relevant < fitted().least:
        return Block("", (), 0, relevant)
    count = form.count or token_bound
    first: dict[Part, Sequence[Wish]] = {"wish": wishes_on(store, found.query, found.speakers)}
    if profile:
        known = profile(found.hinted.names)
        first["profile"] = [one for one in known if not asked.holds(one.turn.text)]
    notes = Notes(facts, found.hits, found.date_order)
    lines = compose(found, first, terms_in(asked.searched), form.tokens, form.style, count, notes)
    lines = _in_dialogue_order(store, lines)
    text = block_text(lines, form.style)
    while (taken := count(text) if text else 0) > form.tokens:  # not met so far: the tokens of lines add up
        lines = lines[:-1]
        text = block_text(lines, form.style)
    return Block(text, tuple(line.turn for line in lines), taken, relevant)


def _in_dialogue_order(store: Store, lines: Sequence[Line]) -> tuple[Line, ...]:
    """Sort by time; lines of one minute as their turns came, asked of the store where there are any."""
    minutes = Counter(line.turn.time.replace(second=0, microsecond=0) for line in lines)
    alike = [line.turn.id for line in lines if minutes[line.turn.time.replace(second=0, microsecond=0)] > 1]
    places = {turn_id: place for place, turn_id in enumerate(store.order(alike) if alike else ())}
    return tuple(sorted(lines, key=lambda line: (PARTS.index(line.part), line.turn.time, places.get(line.turn.id, 0))))
