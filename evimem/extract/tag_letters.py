"""The tags of words, one letter each, so that the grammar can be regular expressions over a sentence's string of tags.

Other modules write tags by name: `Tag.MODAL`, `letters("MODAL BE")` for a set, `tag_pattern` for an expression.
"""

from __future__ import annotations

import re


class Tag:
    """Every tag with its letter."""

    # pronouns
    FIRST_PERSON = "i"  # I, we
    SECOND_PERSON = "y"  # you
    THIRD_PERSON = "e"  # he, she, they
    IT = "t"  # it, this, these, everyone
    THAT = "q"  # that, as a pronoun, a determiner or a conjunction
    THERE = "x"  # there
    OBJECT = "o"  # me, him, ourselves
    # nouns and what stands with them
    DETERMINER = "D"  # the, some, two, any number
    POSSESSIVE = "S"  # my, her
    APOSTROPHE = "'"  # the 's of a possessor
    NOUN = "N"  # a noun, or a word of unknown class
    NAME = "M"  # a name: capitalised inside the sentence
    PLURAL = "U"  # a plural noun
    ADJECTIVE = "J"
    # verbs: BASE is "go", S_FORM is "goes"
    BASE = "v"
    BASE_OR_NOUN = "w"  # walk
    S_FORM = "Z"
    S_FORM_OR_PLURAL = "z"  # walks
    LIKE = "L"  # like: verb or preposition
    PAST = "f"  # went
    PAST_OR_PARTICIPLE = "k"  # walked
    PARTICIPLE = "p"  # gone
    GERUND = "g"  # going
    # auxiliaries
    BE = "b"
    HAVE = "h"
    DO = "d"
    MODAL = "m"  # will, could
    NOT = "n"  # not, never
    # words that join and qualify
    ADVERB = "R"
    SO = "s"  # so: adverb or conjunction
    PREPOSITION = "P"
    PREPOSITION_OR_CONJUNCTION = "Q"  # after, since
    TO = "T"  # to: preposition or infinitive
    PARTICLE = "r"  # up, out: part of a phrasal verb
    AND = "C"  # and, or, but
    SUBORDINATOR = "B"  # because, if, when
    QUESTION_WORD = "W"  # who, which: interrogative or relative
    INTERJECTION = "!"  # oh, yeah
    # not words
    TIME = "~"  # part of a time expression
    COMMA = ","  # or a dash, a bracket, an ellipsis
    BREAK = ";"  # or a colon
    QUOTE = '"'  # a quotation mark, or anything quoted
    END = "."  # what ends a sentence
    SYMBOL = "_"


class TagSet:
    """Sets of tags that recur, as strings of their letters."""

    ADVERBS = Tag.ADVERB + Tag.NOT  # between the verbs of a group
    QUALIFIERS = Tag.ADVERB + Tag.SO + Tag.NOT + Tag.TIME  # before a verb group
    DETERMINERS = Tag.DETERMINER + Tag.POSSESSIVE
    NOUNS = Tag.NOUN + Tag.NAME + Tag.PLURAL
    # what may stand in a noun phrase after its determiner
    NOUN_PHRASE = NOUNS + Tag.ADJECTIVE + Tag.BASE_OR_NOUN + Tag.S_FORM_OR_PLURAL + Tag.GERUND
    PERSONS = Tag.FIRST_PERSON + Tag.SECOND_PERSON + Tag.THIRD_PERSON
    BASES = Tag.BASE + Tag.BASE_OR_NOUN + Tag.LIKE
    PASTS = Tag.PAST + Tag.PAST_OR_PARTICIPLE
    PARTICIPLES = Tag.PAST_OR_PARTICIPLE + Tag.PARTICIPLE
    FULL_VERBS = BASES + PASTS + Tag.PARTICIPLE + Tag.GERUND + Tag.S_FORM + Tag.S_FORM_OR_PLURAL
    AUXILIARIES = Tag.BE + Tag.HAVE + Tag.DO + Tag.MODAL


_LETTERS: dict[str, str] = {
    name: found for tags in (Tag, TagSet) for name, found in vars(tags).items() if name.isupper()
}
_NAME_OR_CLASS = re.compile(r"\s+|#[^\n]*|\[\^?[A-Z_\s]+\]|\b[A-Z_]{2,}\b")


def letters(names: str) -> str:
    """Return the letters of tags and sets of tags: "BE HAVE" -> "bh". Raise KeyError for an unknown name."""
    return "".join(_LETTERS[name] for name in names.split())


def tag_pattern(pattern: str) -> str:
    """Return a regular expression over tags from one that names them; white space and comments count for nothing.

    `MODAL [NOT ADVERB]* BASE` -> `m[nR]*v`. Raise KeyError for an unknown name.
    """
    return _NAME_OR_CLASS.sub(lambda found: _expanded(found.group()), pattern)


def _expanded(part: str) -> str:
    if part.isspace() or part[0] == "#":
        return ""
    if part[0] == "[":
        return f"[{'^' * (part[1] == '^')}{letters(part.strip('[]^'))}]"
    found = _LETTERS[part]
    return f"[{found}]" if len(found) > 1 else re.escape(found)
