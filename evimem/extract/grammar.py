"""Where the clauses of a sentence are: regular expressions over its string of tags (see evimem.extract.tagging)."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from .tag_letters import letters, tag_pattern

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

# whether this is a verb is for evimem.extract.links to say
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
