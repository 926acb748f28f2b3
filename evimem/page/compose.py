"""A message in, a block out: which turns stand on the page, and how much of each is shown.

Each turn is shown by its best sentence and short ones beside it at first, best turn first; what is left goes to whole
turns. A user tells an assistant lasting things in passing, inside messages about something else, so that the user's own
turns come before the assistant's, and of each the sentence that tells most. For a request, hits and the user's
statements on themselves are one list, the line first that a reply likeliest needs. In front stand the standing
instructions nearest to the message and, where it speaks of a time of the conversation, the turns of that time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

import numpy as np

from ..embedding.static_embedder import StaticEmbedder
from ..embedding.token_bound import token_bound
from ..errors import or_else
from ..flow import Flow
from ..protocols import Store
from ..query.analysis import answer_form as form_of
from ..query.find_turns import (
    QuestionVectors,
    StandingInstruction,
    read_remaining,
    relevant_instructions,
    rerank_hits,
)
from ..text.memory_fence import WORKED_OUT, fence_lines
from ..text.prompt_text import CAPTION_OPENS, caption_line, excerpts_by_size
from ..text.sentences import sentences
from ..types.results import Block, BlockForm, CountTokens, Style
from ..types.stored import Scope
from ..types.values import Hit, TimeSpan, Turn
from ..types.vectors import Vectors
from .bearing import load_bearing, need_signals
from .gate import MIN_RELEVANCE, is_read, matches_nothing, relevance
from .profile import Statement, asks_about_user, find_statements
from .question import Asked, BlockSearch, Recalled, asks, find_later, search_for_reply, terms_in
from .quoted_lines import (
    PART_NAMES,
    FactReader,
    Line,
    Notes,
    Part,
    PartName,
    line_text,
    mark_of,
    split_turn,
    write_lines,
)

ASSISTANT_SCORE_RATIO = 0.3  # of a hit's score, that an assistant's turn keeps unless its words are asked for
LEAST_TOKENS, TOKENS_A_WHOLE_HIT = 300, 200  # of a page; for so many more one further hit is shown whole
LEADING_HITS = 6  # lines before the later mentions of the first of them
BEST_HITS = 4  # turns that may carry notes
WHOLE_CHARACTERS = 120  # of a turn that is never cut, and of the sentences shown of a longer one
FIRST_CHARACTERS, FURTHER_CHARACTERS = 400, 100  # of a long turn where no user tells an assistant: the best; the others
READ_CHARACTERS = 2_000  # of a long turn that are looked through, around the passage that the search found
MATCH_WORTH = 0.3  # of a word of the message in a sentence, beside the logarithm of its length
POINTED_SCORE_RATIO = 0.45  # of the best hit's score, below which nothing answers a pointed question
LEAST_WORDS_SCORE, GUESS_TOKENS = 0.1, 100  # no hit has more of its words: so many tokens of guesses are shown
CLOSE_SCORE_RATIO = 0.95  # of the score of a hit, from which another answers as well
COMPARED_HITS, COMPARED_CHARACTERS = 6, 400  # the first ones, whose words are compared, and so many of each
MIN_LINE_TOKENS = 8  # with fewer left, no further line is tried
MIN_REPLY_TERMS = 2  # of an assistant's turn that tells anything
MAX_MISFITS = 12  # lines in a row that do not fit, after which none is tried
LINE_NUMBER = 10  # that a line is counted with: no number of a usual block is longer
MAX_INSTRUCTIONS = 8  # standing instructions
WISH_SHARE, MAX_WISH_TOKENS = 0.16, 300  # of the tokens, and tokens, that these take at most
LEAST_REQUEST_PROBABILITY = 0.2  # below which a message asks for one value
LATER_ODDS = 0.75  # by which a later mention of the best hit's thing is likelier needed, as a logarithm
SIZE_WORTH, HEAD_CHARACTERS = 0.5, 48  # of the logarithm of a line's characters, with those of its head
PROFILE_SHARE = 0.7  # of the tokens, for users' statements on themselves where they ask about these
PROFILE_TOKENS = 350  # of the profile that a system prompt holds, whose turns a block without it leaves out
SPAN_SHARE = 0.6  # of the tokens, for the turns of a time that the message speaks of
MAX_SPAN_TURNS = 80  # that are read of such a time, the newest


def write_block(  # noqa: PLR0913, PLR0917 - the parts of a page
    store: Store,
    recalled: Recalled,
    facts: FactReader,
    asked: Asked,
    form: BlockForm,
    asked_at: datetime | None,
    exclude: Collection[str],
    scope: Scope,
    move: Callable[[Any], Any] | None = None,
    rerank_depth: int = 0,
) -> Flow[Block]:
    """Search for a message, and write a block of the lines that help to reply to it, within the tokens of a form."""
    if not form.profile:
        form_of_profile = BlockForm(PROFILE_TOKENS, count=form.count)
        known = yield from write_profile(store, recalled, form_of_profile, scope, exclude, shipped=move is not None)
        exclude = frozenset(exclude) | {turn.id for turn in known.turns}
    vectors = QuestionVectors()
    read, shipped = is_read(asked.text), move is not None
    move = move if read else None  # what bears on words that are not read is not known
    found = yield from search_for_reply(
        store, recalled, asked, form.tokens, asked_at, exclude, scope, vectors, move, rerank_depth
    )
    vector = np.asarray(StaticEmbedder().embed([asked.text])[0], np.float32)
    words = vector if shipped else None
    relevant = or_else(1.0, relevance, asked, found, words)  # a gate that cannot be read is open
    if form.gate and asked.earlier and relevant < MIN_RELEVANCE:  # the message may be complete in itself
        asked = replace(asked, earlier=())
        found = yield from search_for_reply(
            store, recalled, asked, form.tokens, asked_at, exclude, scope, vectors, move, rerank_depth
        )
        relevant = or_else(1.0, relevance, asked, found, words)
    if form.gate and relevant < MIN_RELEVANCE:
        return Block("", (), 0, relevant)
    if shipped and or_else(None, matches_nothing, asked, found):
        return Block("", (), 0, relevant)
    found = replace(found, hits=(yield from rerank_hits(asked.with_earlier, found.hits, rerank_depth)))
    count = form.count or token_bound
    request = load_bearing().request_probability(asked.text, vector) if read else 0.0
    found = replace(found, is_pointed=_asks_for_value(asked, found, request))
    openings, statements = yield from _find_openings(
        store, recalled, facts, asked, found, vector, request, form, exclude, scope, shipped=shipped
    )
    spoken_of = turns_of_time(store, found, scope, asked_at, frozenset(exclude))
    later = yield from find_later(recalled, found, exclude, scope, asked)
    notes = Notes(facts, found.hits, found.date_order, dated=found.query.when)
    wanted = terms_in(asked.search_text)
    lines = compose(found, later, openings, spoken_of, wanted, form.tokens, form.style, count, notes, statements)
    return write_lines(in_dialogue_order(store, lines), form.style, form.tokens, count, relevant)


def _asks_for_value(asked: Asked, found: BlockSearch, request: float) -> bool:
    """Return whether a message asks for one value that was told, and not for advice or the state of things."""
    if found.recalls_assistant or found.hinted.times or or_else(None, asks_about_user, asked.text):
        return False
    if is_read(asked.text):
        return request < LEAST_REQUEST_PROBABILITY
    return or_else("thing", form_of, asked.text) in {"person", "time", "count", "duration"}


@dataclass(frozen=True, slots=True)
class Opening:
    """Statements that stand before the hits, the best first, in a room of so many tokens."""

    part: Part
    said: Sequence[StandingInstruction | Statement]
    tokens: int


@dataclass(frozen=True, slots=True)
class UserStatements:
    """A user's statements on themselves that may bear on a message, and the probability that it is a request."""

    said: Sequence[Statement]
    request: float


def _find_openings(  # noqa: PLR0913, PLR0917 - where and how is searched
    store: Store,
    recalled: Recalled,
    facts: FactReader,
    asked: Asked,
    found: BlockSearch,
    vector: Vectors,
    request: float,
    form: BlockForm,
    exclude: Collection[str],
    scope: Scope,
    *,
    shipped: bool,
) -> Flow[tuple[tuple[Opening, ...], UserStatements | None]]:
    """Return the standing instructions on a message, and the statements of users that bear on it.

    `request` is the probability that it asks for advice, a plan or a text. Statements are not looked for where it asks
    for one value, or for the words of an assistant.
    """
    instructions = relevant_instructions(store, found.query, found.speakers)[:MAX_INSTRUCTIONS]
    openings = [Opening("wish", instructions, min(MAX_WISH_TOKENS, int(WISH_SHARE * form.tokens)))]
    about_user = bool(or_else(None, asks_about_user, asked.text))
    if not about_user and (found.is_pointed or found.recalls_assistant or not form.profile or request == 0):
        return tuple(openings), None
    near = None if about_user else load_bearing().move(vector)
    among = [] if about_user else [hit.turn for hit in found.hits]
    said = yield from find_statements(
        store, recalled, scope, exclude, shipped=shipped, asker=asked.asker, near=near, among=among, facts=facts
    )
    said = tuple(one for one in said if not asked.holds(one.turn.text))
    if not about_user:
        return tuple(openings), UserStatements(said, request) if said else None
    return (*openings, Opening("profile", said, int(PROFILE_SHARE * form.tokens))), None


def write_profile(
    store: Store, recalled: Recalled, form: BlockForm, scope: Scope, exclude: Collection[str], *, shipped: bool
) -> Flow[Block]:
    """Write a user's lasting statements on themselves, for any question, within the tokens of a form.

    `shipped` says whether turns have vectors of the shipped embedding.
    """
    said = yield from find_statements(store, recalled, scope, exclude, shipped=shipped)
    count = form.count or token_bound
    page = Filling(form.style, count, frozenset(), form.tokens, user=None)
    page.add_opening(Opening("profile", said, form.tokens))
    lines = in_dialogue_order(store, page.lines)
    return write_lines(lines, form.style, form.tokens, count, float(bool(lines)))


def turns_of_time(
    store: Store, found: BlockSearch, scope: Scope, asked_at: datetime | None, exclude: frozenset[str]
) -> tuple[Turn, ...]:
    """Return the turns of a past time that a user asks their assistant about ("what did we talk about on Monday?")."""
    if found.user is None or not found.hinted.recalls:
        return ()
    turns: dict[str, Turn] = {}
    for span in found.hinted.times:
        if _is_past(span, asked_at):
            listing = replace(scope.listing, after=span.start, before=span.end, limit=MAX_SPAN_TURNS, newest=True)
            turns |= {turn.id: turn for turn in store.turns(listing) if turn.id not in exclude}
    return tuple(turns.values())


def _is_past(span: TimeSpan, asked_at: datetime | None) -> bool:
    return span.start is not None and span.end is not None and (asked_at is None or span.start < asked_at)


def in_dialogue_order(store: Store, lines: Sequence[Line]) -> tuple[Line, ...]:
    """Sort by time; lines of one minute as their turns came, asked of the store where there are any."""
    minutes = Counter(line.turn.time.replace(second=0, microsecond=0) for line in lines)
    alike = [line.turn.id for line in lines if minutes[line.turn.time.replace(second=0, microsecond=0)] > 1]
    order = read_remaining(store, store.order, alike) if alike else ()
    places = {turn_id: place for place, turn_id in enumerate(order)}
    gone = set(alike).difference(order)  # forgotten since they were found
    there = [line for line in lines if line.turn.id not in gone]
    return tuple(
        sorted(there, key=lambda line: (PART_NAMES.index(line.part), line.turn.time, places.get(line.turn.id, 0)))
    )


def compose(  # noqa: PLR0913, PLR0917 - the parts of a page
    found: BlockSearch,
    later: Sequence[Hit],
    openings: Sequence[Opening],
    spoken_of: Sequence[Turn],
    wanted: Collection[str],
    tokens: int,
    style: Style,
    count: CountTokens,
    notes: Notes,
    statements: UserStatements | None = None,
) -> tuple[Line, ...]:
    """Return the lines of a block as they were chosen; `wanted` are the terms by which passages are shown."""
    page = Filling(style, count, frozenset(wanted), tokens, notes, user=found.user)
    fill(page, found, later, openings, spoken_of, tokens, statements)
    return tuple(page.lines)


def fill(
    page: Filling,
    found: BlockSearch,
    later: Sequence[Hit],
    openings: Sequence[Opening],
    spoken_of: Sequence[Turn],
    tokens: int,
    statements: UserStatements | None = None,
) -> None:
    """Fill a page of so many tokens with lines, in the order in which they are chosen.

    The larger the page, the more of the first hits are shown whole before any further line is taken: an answer may
    stand beside the sentence that was found.
    """
    for one in openings:
        page.add_opening(one)
    page.add_spoken_of(spoken_of, int(SPAN_SHARE * tokens))
    among = found.hits
    if found.is_pointed:
        least = POINTED_SCORE_RATIO * max((hit.score for hit in found.hits), default=0.0)
        found = replace(found, hits=tuple(hit for hit in found.hits if hit.score >= least))
        if all(hit.parts.get("words", 0.0) < LEAST_WORDS_SCORE for hit in found.hits):
            page.keep_room(GUESS_TOKENS - page.taken)
    hits = with_replies(_newest_first(_user_first(found)), page.wanted, among)
    followed = frozenset(hit.turn.id for hit in later)
    ordered = hits if statements is None else rank_by_need(hits, later, statements)
    later = later if statements is None else ()
    whole_hits = max(0, tokens - LEAST_TOKENS) // TOKENS_A_WHOLE_HIT
    leading = whole_hits or LEADING_HITS
    page.add_hits(ordered[:leading], followed)
    if whole_hits:
        page.complete()
    page.add_hits(later, followed)
    page.add_hits(ordered[leading:], followed)
    page.complete()


def rank_by_need(hits: Sequence[Hit], later: Sequence[Hit], statements: UserStatements) -> list[Hit | Statement]:
    """Return hits, later mentions and statements of other turns as one list.

    First stands the line that a reply likeliest needs, for the room that it takes.
    """
    followed = {hit.turn.id for hit in later}
    found = {hit.turn.id: hit for hit in (*later, *hits)}
    said = {one.turn.id: one for one in statements.said}
    signals = signals_of_need(hits, later, statements)
    odds = load_bearing().need_odds(np.array(list(signals.values()), np.float32))
    odds += LATER_ODDS * np.array([turn_id in followed for turn_id in signals])
    lines = [found.get(turn_id) or said[turn_id] for turn_id in signals]
    sizes = [min(WHOLE_CHARACTERS, len(one.turn.text if isinstance(one, Hit) else one.text)) for one in lines]
    worth = -np.logaddexp(0, -odds) - SIZE_WORTH * np.log(HEAD_CHARACTERS + np.array(sizes))
    return [lines[at] for at in np.argsort(-worth, kind="stable").tolist()]


def signals_of_need(
    hits: Sequence[Hit], later: Sequence[Hit], statements: UserStatements
) -> dict[str, tuple[float, ...]]:
    """Return by the id of each turn that was found what tells how likely a reply needs it (`need_signals`)."""
    places = {hit.turn.id: at for at, hit in enumerate(hits)}
    said = {one.turn.id: (one.lasting, one.worth) for one in statements.said}
    return {
        turn_id: need_signals(place, 0.0 if place is None else hits[place].score, said.get(turn_id), statements.request)
        for turn_id in dict.fromkeys((*places, *(hit.turn.id for hit in later), *said))
        for place in (places.get(turn_id),)
    }


def _user_first(found: BlockSearch) -> Sequence[Hit]:
    """Return hits, best first, an assistant's turns behind the user's unless the message asks for its words."""
    if found.recalls_assistant or found.user is None:
        return found.hits

    def rank(hit: Hit) -> float:
        return hit.score * (1.0 if hit.turn.speaker == found.user else ASSISTANT_SCORE_RATIO)

    return sorted(found.hits, key=rank, reverse=True)


def _newest_first(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits in their order, but those that answer as well in similar words by time, the newest first."""
    ordered = list(hits)
    said = [terms_in(hit.turn.text[:COMPARED_CHARACTERS]) for hit in ordered[:COMPARED_HITS]]
    for place, hit in enumerate(ordered[:COMPARED_HITS]):
        close = [place]
        for other in range(place + 1, min(len(ordered), COMPARED_HITS)):
            if ordered[other].score < CLOSE_SCORE_RATIO * hit.score:
                break
            both = len(said[other]) + len(said[place])
            if ordered[other].turn.speaker == hit.turn.speaker and 2 * len(said[other] & said[place]) >= 0.5 * both:
                close.append(other)
        newest = sorted(((ordered[one], said[one]) for one in close), key=lambda one: one[0].turn.time, reverse=True)
        for one, (newer, its_terms) in zip(close, newest, strict=True):
            ordered[one], said[one] = newer, its_terms
    return ordered


def with_replies(hits: Sequence[Hit], wanted: frozenset[str], among: Sequence[Hit]) -> list[Hit]:
    """Return hits, each with the one among all found that it cannot be read without.

    Behind one of the first turns that asks much the same as the message stands its reply, behind a short reply the
    question.
    """
    by_id = {hit.turn.id: hit for hit in among}
    ordered: dict[str, Hit] = {}
    for place, hit in enumerate(hits):
        ordered.setdefault(hit.turn.id, hit)
        if len(hit.turn.text) <= 40 and not asks(
            hit.turn
        ):  # characters of a turn that is not read without its question
            there = (one for one in _beside(hit, by_id) if one.turn.time <= hit.turn.time and asks(one.turn))
        elif place < LEADING_HITS and asks(hit.turn) and wanted and _share_of(wanted, hit.turn.text) >= 0.5:
            there = (one for one in _beside(hit, by_id) if one.turn.time >= hit.turn.time)
        else:
            continue
        for one in there:
            ordered.setdefault(one.turn.id, one)
    return list(ordered.values())


def _beside(hit: Hit, found: Mapping[str, Hit]) -> Iterator[Hit]:
    return (found[one] for one in hit.neighbours if one in found)


def _share_of(wanted: frozenset[str], text: str) -> float:
    """Return the share of terms that a text has."""
    return len(wanted & terms_in(text)) / len(wanted)


def _is_assent(text: str) -> bool:
    """Return whether a turn of an assistant is an assent, a greeting or thanks, which tells nothing."""
    return len(terms_in(text[:READ_CHARACTERS])) < MIN_REPLY_TERMS


def best_passage(text: str, wanted: frozenset[str]) -> str:
    """Return the sentence of a turn that tells most, with the ones beside it up to `WHOLE_CHARACTERS` characters.

    That is a long sentence, and rather one that has words of the message; those before it come first, since it may
    point to them.
    """
    said = sentences(text[:READ_CHARACTERS])
    if not said:
        return text

    def worth(sentence: tuple[int, int]) -> float:
        start, end = sentence
        return math.log(end - start) + MATCH_WORTH * len(wanted & terms_in(text[start:end]))

    first = last = max(range(len(said)), key=lambda place: worth(said[place]))
    while first and said[last][1] - said[first - 1][0] <= WHOLE_CHARACTERS:
        first -= 1
    while last + 1 < len(said) and said[last + 1][1] - said[first][0] <= WHOLE_CHARACTERS:
        last += 1
    return text[said[first][0] : said[last][1]]


def _plain_words(text: str) -> str:
    """Return a text without case, blanks and closing marks: two that agree then say the same."""
    return " ".join(text.casefold().split()).rstrip(".!?\u2026 ")


def is_passed_on(text: str, said: str) -> bool:
    """Return whether a part of a text begins in a pasted text, a draft, code or a role, without the words around it."""
    from ..extract.attribution import find_passed_on_ranges  # noqa: PLC0415 - only a cut turn is read for whose words they are

    if said == text:
        return False
    shown = said.partition(CAPTION_OPENS)[0].lstrip("\u2026 ")
    start = text.find(shown.partition(" \u2026")[0])
    return any(first <= start < last for first, last in find_passed_on_ranges(text[:READ_CHARACTERS]))


def unseen_words(line: Line) -> str:
    """Return the words of a turn that its line leaves out, with an ellipsis for those that it shows; empty for none."""
    _, left_out = split_turn(line)
    parts = [part for part in map(str.strip, left_out) if any(map(str.isalnum, part))]
    return " \u2026 ".join(("", *parts)).strip()[:800] if parts else ""


class Filling:
    """Takes lines while they fit: short ones first, then whole turns for the rest."""

    def __init__(  # noqa: PLR0913 - how lines are written, and for whom
        self,
        style: Style,
        count: CountTokens,
        wanted: frozenset[str],
        tokens: int,
        notes: Notes | None = None,
        *,
        user: str | None,
        known: Iterable[Line] = (),
        noted: int = BEST_HITS,
        weekday: bool = False,
        whole: bool = False,
    ) -> None:
        """Begin a page of so many tokens; `known` lines stand before it, `noted` lines may carry notes.

        With `weekday` each date has its weekday, from which a reader counts "last Friday"; with `whole` no turn is left
        out because it says little, or what another one says.
        """
        self.lines: list[Line] = []
        self._noted, self._weekday, self._whole = noted, weekday, whole
        self._style, self._count, self.wanted, self._notes, self._user = style, count, wanted, notes, user
        self._tokens, self._left = tokens, tokens - count(fence_lines(()))
        self._misfits = 0
        known = tuple(known)
        self._known = frozenset(line.turn.id for line in known)
        self._shown = set(self._known)
        self._of: dict[tuple[Part, date], Line] = {}  # a line of each day
        self._texts = {_plain_words(text) for line in known for text in (line.said, line.turn.text)}

    @property
    def is_full(self) -> bool:
        return self._left < MIN_LINE_TOKENS or self._misfits >= MAX_MISFITS

    @property
    def taken(self) -> int:
        """The tokens of the page so far, with those of its fence."""
        return self._tokens - self._left

    def add_opening(self, opening: Opening) -> None:
        """Take lines that stand before the hits, as far as they fit into a room of their own."""
        least = self._left - opening.tokens
        for one in opening.said:
            name: PartName = "standing wishes" if opening.part == "wish" else "about the user"
            self._take(Line(one.turn, one.text, part=opening.part, name=name), least)

    def add_spoken_of(self, turns: Sequence[Turn], room: int) -> None:
        """Take the turns of a time in a room of their own: the user's, then as much of the replies as fits."""
        least = self._left - room
        own = [turn for turn in turns if turn.speaker == self._user]
        for turn in (*own, *(turn for turn in turns if turn.speaker != self._user)):
            self._take(Line(turn, self._shortest(turn), clock=True, name="the conversation"), least)

    def add_hits(self, hits: Sequence[Hit | Statement], followed: Collection[str]) -> None:
        """Take hits and statements, best first, while there is room; `followed` are the ids of later mentions."""
        for hit in hits:
            if self.is_full:
                return
            if isinstance(hit, Hit):
                self.add(hit, "what came of it" if hit.turn.id in followed else "answers")
            elif self._take(Line(hit.turn, hit.text, name="about the user")):
                self._misfits = 0
            else:
                self._misfits += 1

    def add(self, hit: Hit, name: PartName = "answers") -> None:
        """Take a hit by its shortest form, with notes where it is among the best."""
        if hit.turn.id in self._shown or (not self._whole and _plain_words(hit.turn.text) in self._texts):
            return
        is_reply = self._user is not None and hit.turn.speaker != self._user
        if is_reply and not self._whole and not asks(hit.turn) and _is_assent(hit.turn.text):
            return
        if self._user is not None:
            sizes = iter((self._shortest(hit.turn, hit.span),))
        else:
            most = (FIRST_CHARACTERS, FURTHER_CHARACTERS) if len(self.lines) < BEST_HITS else (FURTHER_CHARACTERS,)
            sizes = excerpts_by_size(hit.turn, self.wanted, most, hit.span, short=160, read=READ_CHARACTERS)
        for said in sizes:
            if self._take(Line(hit.turn, said, name=name)):
                self._misfits = 0
                if is_passed_on(hit.turn.text, said):
                    marked = replace(self.lines[-1], is_quoted=True)
                    self._extend_last(marked, f", {mark_of(marked)}")
                if self._notes and len(self.lines) <= self._noted and (notes := self._notes.on(hit.turn, said)):
                    added = "".join(f"\n{WORKED_OUT}{one}" for one in notes)
                    self._extend_last(replace(self.lines[-1], worked_out=notes), added)
                return
        self._misfits += 1

    def add_rest(self, known: Line) -> None:
        """Take the words of a turn that its line does not show, if there are any and they fit."""
        if rest := unseen_words(known):
            self._take(replace(known, said=rest, worked_out=(), part="", is_quoted=False), again=True)

    def _extend_last(self, line: Line, added: str) -> None:
        """Put a line with more text in the place of the last one, where what is added fits."""
        if (cost := self._count(added)) <= self._left:
            self._left -= cost
            self.lines[-1] = line

    def keep_room(self, tokens: int) -> None:
        """Take so many tokens at most from now on."""
        self._left = max(0, min(self._left, tokens))

    def complete(self) -> None:
        """Show whole turns in the place of their sentences, in the order of the lines, while tokens are left."""
        for place, line in enumerate(self.lines):
            whole = line.turn.text
            if line.part or line.turn.id in self._known or len(line.said) >= len(whole) or self._left < MIN_LINE_TOKENS:
                continue
            further = self._count(whole) - self._count(line.said) + 1
            if further <= self._left:
                self._left -= further
                self.lines[place] = replace(line, said=whole, is_quoted=False)

    def _shortest(self, turn: Turn, found: tuple[int, int] | None = None) -> str:
        text = turn.text
        if turn.speaker != self._user and found is not None:
            text = text[slice(*found)]
        said = text if len(text) <= WHOLE_CHARACTERS else best_passage(text, self.wanted)
        return said + caption_line(turn.caption or "")

    def _take(self, line: Line, least: int = 0, *, again: bool = False) -> bool:
        words = {_plain_words(line.turn.text)}
        if line.said != line.turn.text:
            words.add(_plain_words(line.said))
        if not again and (line.turn.id in self._shown or (not self._whole and words & self._texts)):
            return False
        line = replace(line, weekday=self._weekday)
        day = (line.part, line.turn.time.date())
        above = self._of.get(day) or next(iter(self.lines[-1:]), None)
        cost = self._count(f"\n{line_text(LINE_NUMBER, line, above, self._style)}")
        if self._left - cost < least:
            return False
        self._left -= cost
        self._of[day] = line
        self._shown.add(line.turn.id)
        self._texts |= words
        self.lines.append(line)
        return True
