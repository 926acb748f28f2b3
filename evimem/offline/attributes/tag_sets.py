"""Sets of tags by which the rules for attributes read a tagged sentence, as strings of their letters."""

from __future__ import annotations

from ...extract.tag_letters import letters

LEADING = letters("DETERMINERS ADVERB")  # what may stand before the noun without naming anything
PREPOSITIONS = letters("PREPOSITION PREPOSITION_OR_CONJUNCTION")
PRONOUNS = letters("PERSONS OBJECT IT")
COPULA = letters("BE ADVERB")  # between a noun and what it is
BEFORE_COMPLEMENT = letters("ADVERB SO TIME")  # between "is" and what the subject is
# adjectives, nouns, and verb forms that may be either
NOUN_PHRASE_WORDS = letters("ADJECTIVE NOUN PLURAL BASE_OR_NOUN S_FORM_OR_PLURAL PARTICIPLES GERUND")
NOUN_PHRASE_START = letters("DETERMINERS ADJECTIVE NOUNS BASE_OR_NOUN PARTICIPLES GERUND ADVERB")
NOUN_PHRASE = NOUN_PHRASE_START + letters("S_FORM_OR_PLURAL APOSTROPHE")
BEFORE_DETERMINER = letters("DETERMINERS ADJECTIVE ADVERB APOSTROPHE")  # where one continues a phrase: "my two"
# what may stand between the phrases that name one owner: "the door of my shed"
BETWEEN_PHRASES = letters("PREPOSITION PREPOSITION_OR_CONJUNCTION DETERMINER")
OWNER = BETWEEN_PHRASES + PRONOUNS + NOUN_PHRASE + letters("QUOTE")  # all that a phrase for an owner may have
ADVISED = letters("DETERMINERS ADJECTIVE NOUNS BASE_OR_NOUN GERUND")  # adds to what was recommended: "on Egypt"
OBJECT_ENDS = letters("NOUNS BASE_OR_NOUN S_FORM_OR_PLURAL")  # what the object of a verb ends in
TRADES = letters("NOUN NAME BASE_OR_NOUN")  # what a trade may be tagged as
# tags that no capital turns into a name
NOT_NAMES = letters("POSSESSIVE PERSONS IT OBJECT QUESTION_WORD AUXILIARIES PREPOSITION AND INTERJECTION")
FINITE_VERBS = letters("AUXILIARIES S_FORM S_FORM_OR_PLURAL PASTS")
AUXILIARY_OR_FIRST_PERSON = letters("AUXILIARIES FIRST_PERSON")  # which show that a reply is a sentence of its own
NAME_LIST = letters("NAME COMMA")
LIST_BREAKS = letters("COMMA BREAK")
LISTED = letters("COMMA BREAK NAME AND")  # between the parts of a list of names
# what may follow a number that is an age
AGE_ENDS = letters("END COMMA BREAK AND SO ADVERBS SUBORDINATOR TIME") + PREPOSITIONS
LIKING_ENDS = letters("TO SUBORDINATOR QUESTION_WORD THAT END BREAK PERSONS")  # where a phrase for what is liked ends
LIKING_TRAILS = letters("AND ADVERB SUBORDINATOR COMMA")  # what is cut off at its end
COMPLEMENT_ENDS = letters("TO SUBORDINATOR QUESTION_WORD THAT END BREAK COMMA") + PREPOSITIONS
