"""The clauses of a tagged sentence, by regular expressions over its tags: where each is and how it hangs on the others.

What kind of fact its verb makes, what stands before its subject, and which words take back certainty, is said here too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from ..lang import ENGLISH
from .tagging import TAGS, Tag, Tagged, TagSet, lemma, letters, tag_pattern

Role = Literal["main", "shared", "dropped"]

# A noun that stands before an object after an auxiliary is a verb that the lexicon does not have ("she will yeet it").
_AUXILIARY = """(?:
    MODAL ADVERBS* (?:
        (?:HAVE ADVERBS*)? (?:BE ADVERBS*){1,2} [PARTICIPLES GERUND PAST]?
        | HAVE ADVERBS* [PARTICIPLES PAST]?
        | [BASES PASTS DO]
        | NOUN (?=[DETERMINERS OBJECT IT PREPOSITION])
    )?
    | DO ADVERBS* (?: [BASES PAST_OR_PARTICIPLE HAVE DO] | NOUN (?=[DETERMINERS OBJECT IT]) )?
    | HAVE ADVERBS* (?:BE ADVERBS*){0,2} [PARTICIPLES GERUND PAST HAVE]?
    | BE ADVERBS* (?:BE ADVERBS*)? (?:MODAL ADVERBS*)? [GERUND PARTICIPLES]?
)"""
# to learn, to be seen, to have gone; thinking about moving to
_CHAIN = """(?:
    PARTICLE? ADVERBS? TO ADVERBS* (?:
        BE ADVERBS* [GERUND PARTICIPLES]?
        | HAVE ADVERBS* (?:BE ADVERBS*)? [PARTICIPLES PAST]?
        | [BASES DO PAST_OR_PARTICIPLE]
        | NOUN (?=[DETERMINERS OBJECT IT])
    )
    | (?:PREPOSITION | NOUN TO) GERUND (?=[DETERMINERS PREPOSITION TO NOUNS OBJECT])
)*"""
_NOT_AFTER_AUXILIARY = "(?<![AUXILIARIES TO NOT])"
_ANY_VERB = f"{_NOT_AFTER_AUXILIARY} QUALIFIERS* (?:{_AUXILIARY} | [BASES PASTS] | S_FORM)"  # after I, you, they
_SINGULAR_VERB = f"""{_NOT_AFTER_AUXILIARY} QUALIFIERS* (?:
    {_AUXILIARY} | [PASTS S_FORM]
    | S_FORM_OR_PLURAL (?=[DETERMINERS PREPOSITION TO OBJECT PARTICLE THAT ADVERB NAME TIME])
)"""
# "dogs like water", but not "dogs like these are"
_PLURAL_VERB = f"""{_NOT_AFTER_AUXILIARY} QUALIFIERS* (?:
    {_AUXILIARY} | [BASE PASTS]
    | BASE_OR_NOUN (?= [DETERMINERS PREPOSITION TO OBJECT IT THAT NOUNS ADVERB GERUND TIME END COMMA] | $ )
    | LIKE (?=[DETERMINERS PREPOSITION TO OBJECT IT THAT NOUNS ADVERB GERUND TIME])
      (?! (?: [IT OBJECT] | DETERMINERS? [NOUNS ADJECTIVE]{{1,3}} ) ADVERBS* [AUXILIARIES PAST S_FORM] )
)"""
_DETERMINER = """(?:
    [DETERMINERS IT]
    | (?<![FULL_VERBS OBJECT ADJECTIVE]) THAT (?![NAME PLURAL DETERMINERS])
)"""
_NOUN = f"""(?: (?<!PREPOSITION) (?:
    {_DETERMINER}{{1,2}}
    | {_DETERMINER}{{0,2}} [NOUN_PHRASE PARTICIPLES APOSTROPHE ADVERB]{{1,7}}?
      (?<=[NOUNS BASE_OR_NOUN S_FORM_OR_PLURAL GERUND PAST_OR_PARTICIPLE]) (?:DETERMINER{{1,2}})?
))"""
_GERUND = """(?: (?<![PREPOSITION TO BE HAVE BASE]) GERUND (?:
    [OBJECT THERE IT]
    | DETERMINERS{0,2} [NOUN_PHRASE PAST_OR_PARTICIPLE APOSTROPHE ADVERB]{0,6}?
))"""
_AFTER_NOUN = """(?:
    PREPOSITION (?: [DETERMINERS IT]{0,2} [NOUN_PHRASE PAST_OR_PARTICIPLE APOSTROPHE]{1,4}? | OBJECT )
    | LIKE THAT
){0,2}"""
_START = (
    "(?: (?<![^ COMMA BREAK INTERJECTION AND SUBORDINATOR QUOTE TIME SYMBOL ADVERB SO "
    "PREPOSITION_OR_CONJUNCTION THAT]) | ^ )"
)
# "who lives upstairs", ", a vet," and "we bought"
_RELATIVE = """(?:
    COMMA? [QUESTION_WORD THAT] [^ COMMA BREAK END]{0,6}?
      [AUXILIARIES BASE BASE_OR_NOUN PASTS S_FORM S_FORM_OR_PLURAL] [^ COMMA BREAK END]{0,10}? COMMA?
    | COMMA [DETERMINERS NAME NOUN] [^ COMMA BREAK END]{0,5} COMMA
    | PERSONS ADVERBS* (?: [PASTS BASES] | HAVE NOT? PARTICIPLES | [MODAL DO] NOT? [BASE BASE_OR_NOUN] )
      [PREPOSITION TO PARTICLE]?
) [ADVERB TIME]*"""
_PERSON = "(?: DETERMINERS{0,2} [NOUN_PHRASE APOSTROPHE]{1,4}? | [PERSONS OBJECT] )"

# whether this is a verb is for evimem.extract.clauses to say
_SHARED_NOUN_TOO = (
    "[BASE_OR_NOUN LIKE] (?= [DETERMINERS PREPOSITION TO OBJECT IT THAT NAME S_FORM_OR_PLURAL PLURAL ADJECTIVE NOUN "
    "END COMMA] | $ )"
)
_BEFORE_FIRST_WORD = "^ [INTERJECTION COMMA SYMBOL ADVERB SO]*"

# The name of the group that holds the verb says what kind of subject was found.
_CLAUSE = re.compile(
    tag_pattern(f"""
    # no subject: "Went home", "Hope it works"
    (?P<drop> {_BEFORE_FIRST_WORD} (?=
        NOT? PASTS (?!BE) | MODAL ADVERBS* [BASE BASE_OR_NOUN] | HAVE NOT [PARTICIPLES BE]
        | NOT? BE [PAST_OR_PARTICIPLE GERUND PREPOSITION DETERMINER] | BASES | DO DETERMINER
    ))
    (?P<dropped> NOT? QUALIFIERS* (?:
        [PASTS BASES] | MODAL ADVERBS* [BASE BASE_OR_NOUN] | HAVE NOT? BE? [PARTICIPLES GERUND]?
        | BE [GERUND PARTICIPLES]? | DO
    )) {_CHAIN}
    # two persons: "Ana and I went"
    | (?P<both> {_START} {_PERSON} AND {_PERSON} (?=[ADVERB SO NOT]* [AUXILIARIES BASES PASTS]) )
      (?P<plural> {_ANY_VERB} ) {_CHAIN}
    # a pronoun
    | (?P<pronoun> PERSONS )
      (?P<person>
        {_ANY_VERB} | (?<=[FIRST_PERSON THIRD_PERSON]) NOUN (?= [DETERMINERS OBJECT IT TIME PREPOSITION] | $ )
      )
      {_CHAIN}
    | (?P<thing> [IT THAT THERE] | {_START} [DETERMINER IT]? TIME+ (?= ADVERBS* [BE HAVE] ) )
      (?P<it> {_SINGULAR_VERB} ) {_CHAIN}
    # a noun phrase
    | (?! (?<=[AND TO]) BASE_OR_NOUN S_FORM_OR_PLURAL
        | (?<=AND) BASE_OR_NOUN [PREPOSITION DETERMINERS OBJECT TO IT] )
      (?P<opens> {_START} )? {_NOUN} (?:
        (?: (?<=[PLURAL S_FORM_OR_PLURAL]) | (?<=DETERMINER) (?=PREPOSITION) ) {_AFTER_NOUN} (?P<they> {_PLURAL_VERB} )
        | {_AFTER_NOUN} (?:
            (?P<one> {_SINGULAR_VERB} )
            | (?(opens) (?:
                (?P<ends> (?<=[NOUNS GERUND BASE_OR_NOUN]) QUALIFIERS* S_FORM_OR_PLURAL (?= [END COMMA] | $ ) )
                | {_RELATIVE} (?P<which> {_SINGULAR_VERB} )
            ) | (?!) )
        )
      ) {_CHAIN}
    # an activity: "learning Greek takes time"
    | {_GERUND} {_AFTER_NOUN}
      (?P<doing> {_NOT_AFTER_AUXILIARY} QUALIFIERS* (?: {_AUXILIARY} | [PASTS S_FORM] ) ) {_CHAIN}
    # the subject of the clause before: "and bought a boat"
    | (?<=[AND COMMA]) [ADVERB SO TIME]*
      (?P<shared> NOT? (?:
        {_AUXILIARY} (?! NOT? [PERSONS THAT THERE IT] ) | [PASTS S_FORM BASE]
        | S_FORM_OR_PLURAL (?=[DETERMINERS TO OBJECT IT THAT NAME]) | {_SHARED_NOUN_TOO}
      )) {_CHAIN}
    | {_BEFORE_FIRST_WORD} (?P<act> GERUND [^ COMMA BREAK END SUBORDINATOR]{{1,18}} )
      (?P<acts> (?<=[NOUN_PHRASE OBJECT SECOND_PERSON ADVERB PARTICLE]) QUALIFIERS* (?:
        BE ADVERBS* [GERUND PARTICIPLES]? | MODAL ADVERBS* [BE BASE BASE_OR_NOUN] | S_FORM
      )) {_CHAIN}
    # no subject and no auxiliary: "Thinking of moving"
    | (?P<begun> {_BEFORE_FIRST_WORD} ) (?P<going> GERUND ) {_CHAIN}
    """)
)


# without one of these there is no verb
_VERBAL = frozenset(letters("FULL_VERBS AUXILIARIES PERSONS"))
Kind = Literal["event", "state", "opinion", "plan", "report", "image", "statement"]

THINK = frozenset(ENGLISH.words("predicates.senses.think"))
LIKE = frozenset(ENGLISH.words("predicates.senses.like"))
HOPE = frozenset(ENGLISH.words("predicates.senses.hope"))
SAY = frozenset(ENGLISH.words("predicates.senses.say"))
KNOW = frozenset(ENGLISH.words("predicates.senses.know"))
FACTIVE = frozenset(ENGLISH.words("predicates.senses.factive"))
"""Verbs of knowing whose object is a fact: "realized that Ana moved", but not "heard that she did"."""
GERUND = frozenset(ENGLISH.words("predicates.senses.gerund"))
"""Verbs that the gerund after them completes: "started learning Greek"."""
COMPLEMENT = THINK | HOPE | SAY | KNOW | frozenset(ENGLISH.words("predicates.senses.other_complement"))
"""Verbs whose object may be a clause: "ensure that it works"."""

_OPINION = THINK - frozenset(ENGLISH.words("predicates.senses.not_opinion"))
_STATIVE = frozenset(ENGLISH.words("predicates.senses.stative"))
_PRESENT = frozenset(ENGLISH.words("grammar.present_be"))
_MODALS_OF_PLANS = frozenset(ENGLISH.words("grammar.modals_of_plans"))

_HEADS = letters("FULL_VERBS NOUN")  # a noun in a verb group is a verb that the lexicon does not have
_LASTING = letters("BE S_FORM S_FORM_OR_PLURAL BASES HAVE MODAL DO")

_PHRASE_WORDS = frozenset(ENGLISH.words("grammar.phrase_words"))
_POSSIBLE = frozenset(ENGLISH.words("grammar.hedges.possible"))
_HEARSAY = frozenset(ENGLISH.words("grammar.hedges.hearsay"))
_HEDGES = _POSSIBLE | _HEARSAY
# "In Porto,", "After my holiday,"
_LEADING_PHRASE = re.compile(
    tag_pattern(
        """
        [ADVERB INTERJECTION COMMA AND]* [PREPOSITION PREPOSITION_OR_CONJUNCTION] DETERMINERS?
        [NOUNS ADJECTIVE BASE_OR_NOUN GERUND APOSTROPHE]{1,5} COMMA? [ADVERB COMMA]* $
        """
    )
)

# main states something itself; content is the object of the clause before it ("I think she moved"); part belongs to a
# noun or stays in the object before it; condition qualifies the clause after it; aside states nothing ("not sure if");
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


class ClauseSpan(NamedTuple):
    """One subject with one finite verb group: token ranges, half-open."""

    role: Role
    subject: int
    verb: int
    end: int


def find_clauses(tags: str) -> list[ClauseSpan]:
    """Return every subject with its verb group, in order, and the verbs that share or drop a subject."""
    if _VERBAL.isdisjoint(tags):
        return []
    found = []
    for match in _CLAUSE.finditer(tags):
        group = match.lastgroup or ""
        role: Role = "shared" if group == "shared" else "dropped" if group in ("dropped", "going") else "main"
        found.append(ClauseSpan(role, match.start(), match.start(group), match.end()))
    return found


def head(sentence: Tagged, clause: ClauseSpan) -> str:
    """Return the lemma of the verb that carries the meaning: the last of the group, "be" for a copula."""
    tags = sentence.tags
    for index in range(clause.end - 1, clause.verb - 1, -1):
        if tags[index] in _HEADS:
            return lemma(sentence.words[index])
    for index in range(clause.end - 1, clause.verb - 1, -1):
        if tags[index] in TagSet.AUXILIARIES:
            return "be" if tags[index] == Tag.BE else lemma(sentence.words[index])
    return ""


def kind_of(sentence: Tagged, clause: ClauseSpan, verb: str) -> Kind:
    """Return the kind of fact that a verb group with this head makes."""
    group = sentence.tags[clause.verb : clause.end]
    words = sentence.words[clause.verb : clause.end]
    chained = Tag.TO in group  # "wants to learn"
    lemmas = _lemmas(words, group) if chained else {verb}
    if chained and "used" in words:
        return "state"
    modals = [word for word, tag in zip(words, group, strict=True) if tag == Tag.MODAL]
    if verb in HOPE or (chained and not lemmas.isdisjoint(HOPE | {"go"})) or not _MODALS_OF_PLANS.isdisjoint(modals):
        return "plan"
    if verb in _OPINION or not lemmas.isdisjoint(LIKE):
        return "opinion"
    is_result = group[-1] in TagSet.PARTICIPLES and not _PRESENT.isdisjoint(words)  # "is broken"
    return "state" if is_result or verb in _STATIVE or group[-1] in _LASTING else "event"


def _lemmas(words: Sequence[str], tags: str) -> set[str]:
    return {lemma(word) for word, tag in zip(words, tags, strict=True) if tag in TagSet.FULL_VERBS}


class Hedge(NamedTuple):
    """A word that takes back certainty, and the kind of fact that it makes."""

    word: str
    kind: Kind


def _hedge(word: str) -> Hedge:
    return Hedge(word, "report" if word in _HEARSAY else "plan")


def is_hedged(sentence: Tagged) -> bool:
    """Return whether a sentence has a word that takes back certainty."""
    return not _HEDGES.isdisjoint(sentence.words)


def hedge_before(sentence: Tagged, start: int, clause: ClauseSpan) -> Hedge | None:
    """Return the hedge between token `start` and the verb group of a clause: "Maybe my sister will come"."""
    found = _HEDGES.intersection(sentence.words[start : clause.verb])
    return _hedge(min(found)) if found else None


def hedge_in(predicate: str) -> Hedge | None:
    """Return the hedge in a predicate: "probably lost"."""
    found = _HEDGES.intersection(predicate.split(" "))
    return _hedge(min(found)) if found else None


def with_hedges(predicate: str, words: Sequence[str]) -> str:
    """Return a predicate with the hedges that it dropped of its words: "I'm basically a dentist" is unsure."""
    return " ".join((predicate, *(word for word in words if word in _HEDGES and word not in predicate)))


def has_leading_phrase(sentence: Tagged, tags: str, start: int, end: int) -> bool:
    """Return whether tokens [start, end) say where or why, before the subject: "In Porto," but not "By the way,"."""
    found = _LEADING_PHRASE.match(tags[start:end])
    return found is not None and _PHRASE_WORDS.isdisjoint(sentence.words[start:end])


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
    if has_condition:
        return "unsure"
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
    if reduced and verb in _PERCEIVED:
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


def _subordinate(sentence: Tagged, tags: str, clause: ClauseSpan, gap: _Gap, *, leads: bool) -> Link:
    present = _is_present(sentence, tags, clause)
    if leads and gap.tags.strip(_BEFORE_CONDITION)[1:]:
        return "aside"  # "Not sure if I mentioned it, but"
    if gap.word in _CONDITIONS or (gap.word in _CONDITIONS_IN_PRESENT and present):
        return "condition" if leads or Tag.COMMA in gap.tags else "part"
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
