"""How the clauses of a sentence are connected: which state something themselves, and which are part of another."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from ..lang import ENGLISH
from .grammar import ClauseSpan
from .tag_letters import Tag, TagSet, letters, tag_pattern
from .tagging import Tagged
from .verb_senses import COMPLEMENT, SAY, head
from .word_tags import TAGS

# main states something itself; content is the object of the clause before it ("I think she moved"); part belongs to a
# noun or stays in the object before it; condition qualifies the clause after it; aside states nothing ("you know");
# unsure ends the clause before it and states nothing
Link = Literal["main", "content", "part", "condition", "aside", "unsure"]
EMBEDDED = frozenset(("content", "part"))

_CONDITIONS = frozenset(ENGLISH.words("grammar.conditions"))
_CONDITIONS_IN_PRESENT = frozenset(ENGLISH.words("grammar.conditions_in_present"))
_OPEN_ENDED = frozenset(ENGLISH.words("grammar.open_ended"))
_PERCEIVED = frozenset(ENGLISH.words("predicates.senses.perceived"))
_PRESENT_AUXILIARIES = frozenset(
    (*ENGLISH.words("grammar.present_be"), *ENGLISH.words("grammar.other_present_auxiliaries"))
)
_CONNECTOR = re.compile(
    tag_pattern(
        """
        (?: [COMMA BREAK AND SUBORDINATOR QUESTION_WORD THAT SO QUOTE SYMBOL] | PREPOSITION_OR_CONJUNCTION (?!TIME) )
        (?: [ADVERB COMMA BREAK AND SUBORDINATOR QUESTION_WORD THAT SO INTERJECTION QUOTE SYMBOL]
            | PREPOSITION_OR_CONJUNCTION | [PREPOSITION DETERMINER]{0,2} TIME )*
        (?: (?<=[AND COMMA BREAK]) PREPOSITION DETERMINERS{0,2} [NOUNS ADJECTIVE BASE_OR_NOUN]{1,4} COMMA? )? $
        """
    )
)
_LISTENER = re.compile(
    tag_pattern(
        """
        [ADVERBS SO]* (?: OBJECT | POSSESSIVE | NAME | DETERMINERS [NOUNS ADJECTIVE]{1,3} )? THAT?
        [ADVERB TIME INTERJECTION]* $
        """
    )
)
_FEELING = re.compile(tag_pattern("[ADVERBS SO]* [ADJECTIVE NOUN PAST_OR_PARTICIPLE] THAT? $"))
_ADJECTIVES = re.compile(tag_pattern("[ADJECTIVE NOUN PAST_OR_PARTICIPLE GERUND ADVERBS SO COMMA]* $"))
_FILLERS = letters("ADVERB TIME INTERJECTION SYMBOL SO NOT")
_JOINING = frozenset(letters("COMMA BREAK AND QUOTE"))
_AFTER_ASIDE = frozenset(letters("FIRST_PERSON THAT THIRD_PERSON"))
_PRESENT_FORMS = letters("BASE BASE_OR_NOUN S_FORM S_FORM_OR_PLURAL LIKE")
_BASES = frozenset(TagSet.BASES)
_PASTS = frozenset(TagSet.PASTS)
_S_FORMS = frozenset(letters("S_FORM S_FORM_OR_PLURAL"))
_FINITE = letters("AUXILIARIES PAST")
_NOT_AFTER_VERB = frozenset(("", *letters("NOUN ADJECTIVE PLURAL END COMMA")))
_BEFORE_VERB = letters("QUALIFIERS")
_BEFORE_CONDITION = letters("ADVERB TIME INTERJECTION SYMBOL SO COMMA AND QUOTE")
_PARTICIPLES = frozenset(TagSet.PARTICIPLES)
_CHAINED = frozenset(letters("BASE OBJECT TO"))
_UNMISTAKABLE = frozenset(letters("AUXILIARIES PAST S_FORM BASE"))


def links(sentence: Tagged, tags: str, clauses: Sequence[ClauseSpan]) -> list[Link]:
    """Return how each clause is connected to what precedes it."""
    found: list[Link] = []
    for index, clause in enumerate(clauses):
        before = clauses[index - 1] if index else None
        found.append(_link(sentence, tags, clause, before, found[-1] if found else None))
    if found[-1] == "condition" and len(found) > 1:
        found[-1] = "part"  # "I will move, if I get the job": no clause follows for it to qualify
    return found


def opening(tags: str, clauses: Sequence[ClauseSpan], index: int) -> int:
    """Return the first token that belongs to clause `index`: its connector, or else its subject."""
    if not index:
        return 0
    found = _CONNECTOR.search(tags, clauses[index - 1].end, clauses[index].subject)
    return clauses[index].subject if found is None else found.start()


class _Gap(NamedTuple):
    """The tokens between two clauses; `connector` is the tag of the word or mark that joins them."""

    tags: str
    connector: str
    word: str  # of the connector

    @property
    def continues(self) -> bool:
        """Whether something joins the clauses side by side: a comma, a break, "and", "so"."""
        fillers = self.tags[len(self.tags.rstrip(_FILLERS)) :]
        return self.connector in _JOINING or Tag.SO in fillers


def _gap(sentence: Tagged, tags: str, start: int, end: int) -> _Gap:
    core = tags[start:end].rstrip(_FILLERS)
    return _Gap(tags[start:end], core[-1:], sentence.words[start + len(core) - 1] if core else "")


def _link(sentence: Tagged, tags: str, clause: ClauseSpan, before: ClauseSpan | None, last: Link | None) -> Link:
    gap = _gap(sentence, tags, before.end if before is not None else 0, clause.subject)
    if clause.role != "main":
        return _without_subject(sentence, tags, clause, before, last)
    start = before.end if before is not None else 0
    if gap.connector == Tag.SUBORDINATOR:
        return _subordinate(sentence, tags, clause, gap, leads=before is None)
    has_condition = not _CONDITIONS.isdisjoint(sentence.words[start : clause.subject])  # "If not, I accept it"
    if has_condition or _is_aside(sentence, tags, clause):
        return "unsure" if has_condition else "aside"
    if gap.connector == Tag.QUESTION_WORD or (last == "part" and not gap.connector):
        return "part"
    if before is None or last == "aside":
        opens_condition = gap.word in _OPEN_ENDED and _is_present(sentence, tags, clause)  # "Once I'm a doctor"
        return "condition" if opens_condition else "main"
    reduced = tags[clause.verb] == Tag.PAST_OR_PARTICIPLE and clause.verb - clause.subject > 1
    opened = tags[before.subject - 1 : before.subject] == Tag.SUBORDINATOR  # "When mine was ill I used to read"
    verb = "" if opened and tags[before.end - 1] == Tag.BE else head(sentence, before)
    return _after(verb, gap, reduced=reduced, present=_is_present(sentence, tags, clause))


def _without_subject(
    sentence: Tagged, tags: str, clause: ClauseSpan, before: ClauseSpan | None, last: Link | None
) -> Link:
    gap = _gap(sentence, tags, before.end if before is not None else 0, clause.subject)
    if before is not None and _hides_a_clause(sentence, tags, before.end, clause.subject):
        return "unsure"
    if before is None or (last == "main" and _shares(sentence, tags, clause, before, gap.tags)):
        return "main" if before is None or _is_surely_shared(sentence, tags, clause, before, gap) else "unsure"
    is_verb = tags[clause.end - 1] in _UNMISTAKABLE and last in ("main", "content", "unsure")
    return "unsure" if is_verb and gap.continues else "part"


def _hides_a_clause(sentence: Tagged, tags: str, start: int, end: int) -> bool:
    """Return whether tokens [start, end) have "its a heron", which looks like a possession and states something."""
    return any(sentence.words[at] == "its" and tags[at + 1] == Tag.DETERMINER for at in range(start, end - 1))


def _is_surely_shared(sentence: Tagged, tags: str, clause: ClauseSpan, before: ClauseSpan, gap: _Gap) -> bool:
    """Return whether a verb has the subject of the clause before it and of no other clause or noun."""
    if tags[clause.end - 1] in _BASES:
        return not _is_apart(gap)
    if tags[clause.verb : clause.end] == Tag.PAST_OR_PARTICIPLE and Tag.AND not in gap.tags:
        return tags[clause.end : clause.end + 1] not in _NOT_AFTER_VERB  # "a rail by the door, crooked"
    # "Ben agreed before I'd finished, and was insulted": Ben was
    opener = sentence.words[before.subject - 1] if before.subject else ""
    return Tag.COMMA not in gap.tags or TAGS.get(opener) != Tag.PREPOSITION_OR_CONJUNCTION


def _is_apart(gap: _Gap) -> bool:
    """Return whether a bare verb may be a request ("We'll see - hang in there") or another's ("helps me sit, read")."""
    return Tag.AND not in gap.tags or not _CHAINED.isdisjoint(gap.tags)


def _after(verb: str, gap: _Gap, *, reduced: bool, present: bool) -> Link:
    """Return how a clause is connected to the one before it, which has this verb.

    It may be `reduced` to a participle: "I read a novel called Dune", not "I know a girl called me". No verb is that of
    a clause like "When she was ill", after which nothing follows that belongs to it.
    """
    if reduced and verb in _PERCEIVED and Tag.THAT not in gap.tags:
        return "part"
    if Tag.COMMA not in gap.tags or verb in SAY:
        is_direct = Tag.COMMA not in gap.tags or gap.tags == Tag.COMMA
        is_object = is_direct and verb in COMPLEMENT and _LISTENER.match(gap.tags.replace(Tag.COMMA, "")) is not None
        if is_object or (verb in ("be", "feel") and _FEELING.match(gap.tags) is not None):
            return "content"
    if gap.connector == Tag.PREPOSITION_OR_CONJUNCTION:
        return "part" if gap.word in _OPEN_ENDED or present else "main"  # "before you hear it": not yet
    if gap.continues:
        return "main"
    return "part" if verb else "unsure"


def _is_aside(sentence: Tagged, tags: str, clause: ClauseSpan) -> bool:
    """Return whether a clause is the "you know" of "You know I love olives"."""
    return (
        tags[clause.subject] == Tag.SECOND_PERSON
        and tags[clause.end : clause.end + 1] in _AFTER_ASIDE
        and head(sentence, clause) in ("know", "see")
    )


def _subordinate(sentence: Tagged, tags: str, clause: ClauseSpan, gap: _Gap, *, leads: bool) -> Link:
    present = _is_present(sentence, tags, clause)
    if leads and gap.tags.strip(_BEFORE_CONDITION)[1:]:
        return "aside"  # "Not sure if I mentioned it, but"
    if gap.word in _CONDITIONS or (gap.word in _CONDITIONS_IN_PRESENT and present):
        return "condition" if leads or Tag.COMMA in gap.tags or Tag.AND in gap.tags else "part"
    return "part" if gap.word == "whether" else "main"


def _is_present(sentence: Tagged, tags: str, clause: ClauseSpan) -> bool:
    return tags[clause.end - 1] in _PRESENT_FORMS or sentence.words[clause.verb] in _PRESENT_AUXILIARIES


def _shares(sentence: Tagged, tags: str, clause: ClauseSpan, before: ClauseSpan, gap: str) -> bool:
    """Return whether a verb without a subject has the form to share that of the clause before: "sold it and bought"."""
    if Tag.QUESTION_WORD in gap or Tag.THAT in gap:
        return False
    group = tags[before.verb : before.end].lstrip(_BEFORE_VERB)
    word = sentence.words[before.verb + tags[before.verb : before.end].find(group[:1])] if group else ""
    if group.endswith(Tag.BE) and _ADJECTIVES.match(gap.replace(Tag.AND, "")):
        return tags[clause.verb] in _FINITE
    first, form = group[:1], tags[clause.verb : clause.end].lstrip(_BEFORE_VERB)[:1]
    if form in _PASTS:
        participles = first in (Tag.HAVE, Tag.BE) and not _PARTICIPLES.isdisjoint(group)
        return first in _PASTS or word in ("was", "were", "had", "did") or participles
    if form in _BASES or sentence.words[clause.verb] == "be":
        shared = Tag.TO in group or first in (Tag.MODAL, Tag.DO)
        return shared or (first in _BASES and tags[clause.end : clause.end + 1] not in _NOT_AFTER_VERB)
    if form in _S_FORMS:
        return first in _S_FORMS or word in ("is", "has", "does", "'s")
    return True
