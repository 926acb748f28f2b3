"""Answer as MGRetrieval does: read the turns that share a question's keywords, keep those that an answer needs (G1-G9).

A round reads only turns that none before it has read, first those that the round before had no room for. The turns that
an answer rests on are carried forward by their ids, and the answer is written from them and from what the rounds came
to, without another search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias

from ..extract.labels import read_label
from ..flow import Flow
from ..judging.apply_verdict import corrects
from ..judging.evidence import Variant
from ..judging.judge import MAX_LISTED_KEYWORDS, Chosen, Considered, Round, question_words_first
from ..judging.tracker import shown_witnesses
from ..query.find_turns import read_remaining
from ..text.terms import terms
from ..types.results import Answer
from ..types.stored import Keyword, Listing
from ..types.trace import Acted
from ..types.values import Tier, Turn
from .answering import MAX_LOST_REPLIES, Rounds, make_draft
from .question_keywords import question_keywords, written_words
from .retrieve import Arrived, Search, Task, load_facts
from .session import UNMAPPED, Check, Session

Group: TypeAlias = tuple[str, ...]
Unit: TypeAlias = tuple[str, ...]
"""The ids of the turns that are read together."""


def keyword_groups(
    terms: Sequence[str], size: Callable[[Group], int], *, largest_first: bool = False
) -> Iterator[Group]:
    """Yield the groups of some terms that hold turns, all terms together first and each alone last: the pyramid.

    Of no terms it is the one group that every turn belongs to. `size` gives the number of turns, asked of a level when
    it is reached. Of a level the fewest turns come first, where the paper has the most (`largest_first`): a small group
    of so many words is about all of them, and a large one, such as all that one speaker said, about none.
    """
    top = dict.fromkeys(terms)
    for many in range(len(top), 0, -1) if top else (0,):
        sizes = {group: size(group) for group in combinations(top, many)}
        yield from sorted((one for one in sizes if sizes[one]), key=lambda one: sizes[one], reverse=largest_first)


def exchanges(turns: Iterable[Turn]) -> list[Unit]:
    """Return the exchanges in order: a turn with the next turn of another speaker in the session."""
    made: list[list[Turn]] = []
    open_in: dict[str, list[Turn]] = {}
    for turn in turns:
        said = open_in.pop(turn.session, None)
        if said is not None and said[0].speaker != turn.speaker:
            said.append(turn)
        else:
            open_in[turn.session] = said = [turn]
            made.append(said)
    return [tuple(one.id for one in said) for said in made]


Vocabulary: TypeAlias = Mapping[str, Sequence[Unit]]
"""The keywords of a memory, V, each with the units that have it, its postings."""


def vocabulary_of(units: Iterable[Unit], keywords: Mapping[str, Iterable[str]]) -> Vocabulary:
    """Return the vocabulary of units, given the keywords of each turn: those of its unit are joined."""
    postings: dict[str, dict[Unit, None]] = {}
    for unit in units:
        for keyword in (one for turn_id in unit for one in keywords.get(turn_id, ())):
            postings.setdefault(keyword, {})[unit] = None
    return {keyword: tuple(found) for keyword, found in postings.items()}


def units_with_all(known: Vocabulary, group: Group) -> list[Unit]:
    """Return the units that have all keywords of a group, in order."""
    first, *others = (known.get(keyword, ()) for keyword in group)
    return [unit for unit in first if all(unit in other for other in map(frozenset, others))]


@dataclass(frozen=True, slots=True)
class MGRetrieval(Variant):
    """MGRetrieval: at most `iterations` rounds of reading (r), each of at most `k` new turns.

    Attributes:
        depth: At most so many keywords stand at the top of the pyramid (l), of which a question is read by.
        unit: The unit that has keywords and is read as one: a turn, or, as in the paper, an exchange of two, in order.
        vocabulary: Which keywords there are to choose from: those that the question matches in the index, or, as in the
            paper, all that the memory has. A turn has those that a model files it under (`Memory.enrich`), where one
            has, else the stems of its words. To know the exchanges or all keywords takes reading the whole memory once
            a question.
        whole_groups: A round is one whole group, the largest of a level first, as in the paper.
        neighbours: The turns before and after a read one are shown with it.
        accepts: "flag" ends where the judge says that the answer is complete, as in the paper; "tier" only where its
            evidence is exact too, the answer inferred from it, or the premise of the question corrected.
    """

    iterations: int = 4
    depth: Literal[1, 2, 3, 4, 5, 6] = 4
    unit: Literal["turn", "exchange"] = "turn"
    vocabulary: Literal["question", "whole"] = "question"
    whole_groups: bool = False
    neighbours: bool = True
    accepts: Literal["tier", "flag"] = "tier"

    def __call__(self, task: Task, /) -> Flow[Answer]:
        """Answer a question once the answer so far is accepted or the rounds are used up."""
        return Reading(Session(task, "mgretrieval", self, neighbours=self.neighbours), self).run()


class Reading(Rounds):
    """The rounds of MGRetrieval: read the next groups of keywords, and consider the new turns.

    `known` are the keywords with their units, None where the index says, `written` a word for each stem of the whole
    vocabulary; `answer` is the answer so far, `critical` are the ids of the turns that it rests on, `accepted` is
    whether it is final.
    """

    def __init__(self, session: Session, how: MGRetrieval) -> None:
        super().__init__(session)
        self.how = how
        self.known: Vocabulary | None = None
        self.written: Mapping[str, str] = {}
        self.answer, self.critical, self.accepted = "", tuple[str, ...](), False
        self._left: Iterator[Group] = iter(())
        self._group: Group | None = None  # that is being read

    def find(self, number: int) -> Flow[str | None]:
        """Choose the keywords first; read groups until a round has `k` turns that are new (G3).

        One that has none costs nothing. To the letter of the paper a round is one group, however large; one that was
        not read whole comes first.
        """
        session, literal = self.session, self.how.whole_groups
        if number == 1:
            if (self.how.unit, self.how.vocabulary) != ("turn", "question"):
                self.known, self.written = _vocabulary(session, self.how)
            terms = yield from self._keywords()
            self._left = keyword_groups(terms, self._size, largest_first=literal)
        unread = len(self._new(number))
        room = session.k - unread
        if literal:
            room = 0 if unread else session.roster.counted
        while room > 0:
            group = next(self._left, None) if self._group is None else self._group
            if group is None:
                break
            arrived = yield from self._read_group(group, room, number)
            room = 0 if literal and arrived.turns else room - len(arrived.turns)
            # A group with more turns than there was room for is read on in the next round.
            self._group = None if room or literal or not session.has("mask") else group
        return None if self._new(number) else "nothing left"

    def judge(self, number: int) -> Flow[Check]:
        """Have the judge consider the critical and the new turns alone (G4)."""
        session, new, critical = self.session, self._new(number), self.critical
        view = session.show(number, only=(*critical, *new))
        asked = Round(number, session.iterations, self.answer, critical, new)
        # Where the reply cannot be read, the critical turns stay, and the reading goes on.
        unjudged = Considered(UNMAPPED, self.answer, critical, accepted=False, read=view.readable)
        made: Considered = yield from self.ask_judge(session.task.judge.consider(view, asked), number, unjudged)
        check = session.apply_verdict(view, made.verdict)
        read = made.read.intersection(item.turn.id for item in view.shown)
        unread = [turn_id for turn_id in new if turn_id not in read]
        session.retrieval.postpone_turns(unread, number + 1)
        # The judge returns the turns that the answer rests on; those that had no room it could not return.
        without_room = (one for one in critical if one not in read)
        self.critical = shown_witnesses((*without_room, *made.critical), session.tracker.shown)
        session.add_context(self.critical, check.view)
        self.accepted = made.accepted and (
            self.how.accepts == "flag" or made.verdict.tier in (Tier.EXACT, Tier.INFERRABLE) or corrects(made.verdict)
        )
        self.answer = made.answer or self.answer
        kept = {"answer": made.answer, "critical": list(self.critical), "accepted": self.accepted, "unread": unread}
        session.events.append(Acted(number, "consider", made.verdict.reason, kept))
        return check

    def stop_reason(self, number: int, check: Check) -> str | None:
        """End where the answer is accepted, or the time or the rounds are used up."""
        if self.accepted:
            return "accepted"
        if self.session.late:
            return "time used up"
        return "rounds used up" if number == self.session.iterations else None

    def final(self, check: Check) -> Check:
        """Return the last check with the material of its answer: the critical turns and the answer so far (G6).

        Where nothing was critical, the turns of the last round: they are why there is no answer.
        """
        session = self.session
        verdict = replace(check.verdict, notes=(self.answer,) if self.answer else ())
        uses_model = session.task.judge.uses_model
        draft = make_draft(self.answer, self.critical, check.verdict.reason) if uses_model else None
        view = session.show(check.view.iteration, only=self.critical) if self.critical else check.view
        return replace(check, view=view, verdict=verdict, draft=draft, rests_on=self.critical)

    def _keywords(self) -> Flow[list[str]]:
        """Return the keywords that the question is read by (G2); the judge chooses where they are more.

        It is shown a vocabulary in pages, and chooses once more among its choices.
        """
        session, whole = self.session, self.how.vocabulary == "whole"
        judge, found = session.task.judge, question_keywords(session)
        listed: Sequence[Keyword] = found
        if self.known is not None and whole:
            own = {keyword.term for keyword in found}  # a keyword is near that has a stem which the question matches
            every = (
                Keyword(one, one, len(units), float(bool(own & {one, *terms(one)})), self.written.get(one, ""))
                for one, units in self.known.items()
            )
            listed = [one for one in every if one.closeness or judge.uses_model]
        chosen: Sequence[Keyword] = listed
        while len(chosen) > self.how.depth:
            paged = len(chosen) > MAX_LISTED_KEYWORDS
            firsts = range(0, len(chosen), MAX_LISTED_KEYWORDS)
            pages = [chosen[first : first + MAX_LISTED_KEYWORDS] for first in firsts]
            picked: list[Keyword] = []
            for page in pages:
                picked += yield from _choose(self, page)
            chosen = picked
            if not paged:
                break
        detail: dict[str, Any] = {
            "found": {one.term: one.turns for one in found},
            "chosen": [one.term for one in chosen],
        }
        if whole:
            detail["vocabulary"] = len(listed)
        session.events.append(Acted(1, "keywords", detail=detail))
        return [one.term for one in chosen]

    def _size(self, group: Group) -> int:
        """Return how many turns, exchanges or units a group has (G1)."""
        if self.known is None:
            return self.session.task.store.holding(group, 0, self.session.task.scope).total
        return len(units_with_all(self.known, group)) if group else self.session.roster.counted

    def _read_group(self, group: Group, room: int, number: int) -> Flow[Arrived]:
        """Read turns of a group while there is room; whole units, where the memory was read for them."""
        session, found = self.session, self.session.retrieval
        wanted = Search(session.task.question, holding=group)
        if self.known is None or not group:
            return (yield from found.further(wanted, room, path="keyword", iteration=number))
        found.query(wanted, room, "units", path="keyword", iteration=number)
        again, ids = not session.has("mask"), list[str]()
        for unit in units_with_all(self.known, group):
            if len(ids) < room and (again or not all(found.has(turn_id) for turn_id in unit)):
                ids += unit
        arrived = found.keep(load_facts(session.task.store, ids), "keyword", number)
        found.postpone_turns(ids if again else (), number)
        return replace(arrived, turns=tuple(ids)) if again else arrived

    def _new(self, number: int) -> tuple[str, ...]:
        """Return the ids of the turns that a round is the first to read."""
        return tuple(item.turn.id for item in self.session.retrieval.evidence if item.iteration == number)


def _vocabulary(session: Session, how: MGRetrieval) -> tuple[Vocabulary, Mapping[str, str]]:
    """Read the whole memory: return all its keywords with the units that have them, and a word for each stem (G1)."""
    store, admits = session.task.store, session.retrieval.admits
    turns = [turn for turn in store.turns(Listing()) if admits(turn)]
    units = exchanges(turns) if how.unit == "exchange" else [(turn.id,) for turn in turns]
    texts = {turn.id: f"{turn.speaker} {turn.text} {turn.caption or ''}" for turn in turns}
    said = {turn_id: tuple(dict.fromkeys(terms(text))) for turn_id, text in texts.items()}
    if how.vocabulary == "question":
        return vocabulary_of(units, said), {}
    filed: dict[str, tuple[str, ...]] = {}
    for fact in read_remaining(store, store.facts, list(said)):
        filed[fact.turn_id] = filed.get(fact.turn_id, ()) + read_label([fact]).keywords
    labels = {label for names in filed.values() for label in names}
    keywords = {turn_id: filed.get(turn_id) or words for turn_id, words in said.items()}
    written = written_words(text for turn_id, text in texts.items() if not filed.get(turn_id))
    return vocabulary_of(units, keywords), {
        stem: word for stem, word in written.items() if labels.isdisjoint((stem, word))
    }


def _choose(rounds: Reading, page: Sequence[Keyword]) -> Flow[list[Keyword]]:
    """Return the keywords that the judge chooses of a page; where its reply cannot be read, by their closeness."""
    session, most = rounds.session, rounds.how.depth
    made = Chosen(tuple(one for one in question_words_first(page, most) if one.closeness))
    if rounds.lost < MAX_LOST_REPLIES:
        made = yield from rounds.ask_judge(session.task.judge.choose(session.task.question, page, most), 1, made)
    session.events.extend(made.calls)
    return [keyword for keyword in made.keywords if keyword in page][:most]
