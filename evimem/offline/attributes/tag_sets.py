"""Tags of words, and sets of them, by name; `extract.tagging` lists the letters."""

from __future__ import annotations

# single tags
ADVERB = "R"
BE = "b"
COMMA = ","
DETERMINER = "D"
GERUND = "g"
NAME = "M"
NOUN = "N"  # or a word of unknown class
APOSTROPHE = "'"  # the 's of a possessor
POSSESSIVE_WORD = "S"  # my, her
PLURAL = "U"
PREPOSITION = "P"
QUOTE = '"'

# sets: strings of letters
DETERMINERS = "DS"  # with possessives
LEADING = "DSR"  # what may stand before the noun without naming anything
PREPOSITIONS = "PQ"  # with those that are also conjunctions
PRONOUNS = "iyeot"
QUALIFIERS = "Rs~"  # adverbs, so, time expressions
NOUN_PHRASE_WORDS = "JNUwzkpg"  # adjectives, nouns, and verb forms that may be either
NOUN_PHRASE_START = "DSJNMUwkpgR"
NOUN_PHRASE = NOUN_PHRASE_START + "z'"
BEFORE_DETERMINER = "DSJR'"  # after which a determiner continues a phrase: "my two"
BETWEEN_PHRASES = "PQD"  # what may stand between the phrases that name one owner: "the door of my shed"
OWNER = BETWEEN_PHRASES + PRONOUNS + QUOTE + NOUN_PHRASE  # all that a phrase for an owner may have
ADVISED = "DSJNMUwg"  # a phrase that adds to what was recommended: "the book on Egypt"
NOUNS = "NMUwz"  # what the object of a verb ends in
TRADES = "NwM"  # what a trade may be tagged as
NOT_NAMES = "SiyetoWdhbmPC!"  # tags that no capital turns into a name
FINITE_VERBS = "bhZzfkdm"
AUXILIARY_OR_FIRST_PERSON = "bhdmi"  # which show that a reply is a sentence of its own
NAME_LIST = "M,"
LIST_BREAKS = ",;"
LISTED = ",;MC"  # between the parts of a list of names
AGE_ENDS = ".,;CsRnBPQ~"  # what may follow a number that is an age
LIKING_ENDS = "TBWq.;iye"  # where a phrase for what is liked ends
LIKING_TRAILS = "CRB,"  # what is cut off at its end
COMPLEMENT_ENDS = "PQTBWq.;,"
