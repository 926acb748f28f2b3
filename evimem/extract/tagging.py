"""A sentence as tokens with one tag each; the forms of English verbs and the tags of words.

A tag is a letter, so that the grammar can be regular expressions over a sentence's string of tags. Other modules write
tags by name: `Tag.MODAL`, `tag_letters("MODAL BE")` for a set, `tag_pattern` for an expression.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

from ..lang import ENGLISH
from ..text.terms import IRREGULAR_VERBS

_NAME_OR_CLASS = re.compile(r"\s+|#[^\n]*|\[\^?[A-Z_\s]+\]|\b[A-Z_]{2,}\b")

_VOWELS = frozenset("aeiou")
_NOT_DOUBLED = frozenset("wxy")


_ABBREVIATIONS = sorted(
    (*ENGLISH.words("terms.abbreviations"), *ENGLISH.words("terms.abbreviations_that_may_end")), key=len, reverse=True
)
# a number with its sign, currency and unit: -120, $48,500, 3.5, 640€, 15%, 2nd, 3-year-old
_NUMBER = (
    r"(?<![\w.])[-+\u2212]?[$\u20ac\u00a3\u00a5\u20b9]?\d+(?:[.,:]\d+)*(?:[^\W\d_][^\W_]*)?(?:[.&/-][^\W_]+)*"
    r"(?:[%\u20ac\u00a3]|\u00b0[cfk]?)?"
)
_WORD = r"[^\W_]+(?:[.&/-][^\W_]+)*"
_SHORT = rf"\b(?:{'|'.join(map(re.escape, _ABBREVIATIONS))})\.(?=\s+\S)"  # "Dr." before a word
_UNPRINTABLE = r"\x00-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060\ufeff"  # no tokens: "I\u200b left"
_OTHER = rf"--+|\.\.+|[^\s\w{_UNPRINTABLE}]|_"
_CLITIC = f"'(?:{'|'.join(ENGLISH.words('grammar.clitics'))})\\b"
# for a sentence with an apostrophe: "don't" is do + n't, "I'm" is I + 'm, "o'clock" stays one word
_DIVIDED_WORD = rf"[^\W_]+?(?=n't\b)|n't\b|{_CLITIC}|{_WORD}(?:(?!{_CLITIC})'[^\W_]+)?"
_DIGIT = re.compile("[0-9]")


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
    # nouns and their companions
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
    END = "."  # the end of a sentence
    SYMBOL = "_"


class TagSet:
    """Sets of tags that recur, as strings of their letters."""

    ADVERBS = Tag.ADVERB + Tag.NOT  # between the verbs of a group
    QUALIFIERS = Tag.ADVERB + Tag.SO + Tag.NOT + Tag.TIME  # before a verb group
    DETERMINERS = Tag.DETERMINER + Tag.POSSESSIVE
    NOUNS = Tag.NOUN + Tag.NAME + Tag.PLURAL
    # tags of a noun phrase after its determiner
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


@cache
def tag_letters(names: str) -> str:
    """Return the letters of tags and sets of tags: "BE HAVE" -> "bh". Raise KeyError for an unknown name."""
    return "".join(_LETTERS[name] for name in names.split())


@cache
def tag_set(names: str) -> frozenset[str]:
    """Return tags and sets of tags as one set of letters. Raise KeyError for an unknown name."""
    return frozenset(tag_letters(names))


def tag_pattern(pattern: str) -> str:
    """Return a regular expression over tags from one that names them; white space and comments count for nothing.

    `MODAL [NOT ADVERB]* BASE` -> `m[nR]*v`. Raise KeyError for an unknown name.
    """
    return _NAME_OR_CLASS.sub(lambda found: _expand(found.group()), pattern)


def _expand(part: str) -> str:
    if part.isspace() or part[0] == "#":
        return ""
    if part[0] == "[":
        return f"[{'^' * (part[1] == '^')}{tag_letters(part.strip('[]^'))}]"
    found = _LETTERS[part]
    return f"[{found}]" if len(found) > 1 else re.escape(found)


def _doubles_last_letter(base: str) -> bool:
    """Return whether -ed and -ing double the last letter: stop, stopped."""
    if len(base) < 3 or base[-1] in _VOWELS or base[-1] in _NOT_DOUBLED or base[-2] not in _VOWELS:
        return False
    if base in ENGLISH["verbs.doubled"]:
        return True
    return base[-3] not in _VOWELS and sum(letter in _VOWELS for letter in base) == 1


def third_person(base: str) -> str:
    """Return the third person singular of a base: go -> goes, try -> tries."""
    if base in ("be", "have"):
        return "is" if base == "be" else "has"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ies"
    return base + ("es" if base.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def _regular_past(base: str) -> str:
    """Return the regular past of a base: try -> tried, stop -> stopped."""
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2:-1] not in _VOWELS:
        return base[:-1] + "ied"
    return base + (base[-1] if _doubles_last_letter(base) else "") + "ed"


def gerund(base: str) -> str:
    """Return the -ing form: make -> making, lie -> lying."""
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "oe", "ye")) and base != "be":
        return base[:-1] + "ing"
    return base + (base[-1] if _doubles_last_letter(base) else "") + "ing"


VERB_TAGS: dict[str, str] = {}
"""The tag of each verb form."""
LEMMAS: dict[str, str] = {}
"""The base of each verb form."""


def _add_form(form: str, base: str, tag: str) -> None:
    LEMMAS.setdefault(form, base)
    VERB_TAGS.setdefault(form, tag)


def _add_verb_forms(base: str, past: str, participle: str, *, noun: bool, mostly_verb: bool) -> None:
    """Add the forms of a verb; a form that an earlier verb has keeps that verb's tag and lemma."""
    base_tag = Tag.BASE_OR_NOUN if noun else Tag.BASE
    _add_form(base, base, Tag.PAST_OR_PARTICIPLE if base == past else base_tag)
    _add_form(third_person(base), base, Tag.S_FORM if mostly_verb or not noun else Tag.S_FORM_OR_PLURAL)
    _add_form(gerund(base), base, Tag.GERUND)
    _add_form(past, base, Tag.PAST_OR_PARTICIPLE if past == participle else Tag.PAST)
    _add_form(participle, base, Tag.PARTICIPLE)


def _build_lexicon() -> None:
    mostly = ENGLISH.words("verbs.mostly_verb")
    mostly_verb = frozenset(mostly)
    noun_too = ENGLISH.words("verbs.noun_too")
    nouns = frozenset((*mostly, *noun_too, *ENGLISH.words("verbs.irregular_nouns")))
    for base, past, participle in IRREGULAR_VERBS:
        _add_verb_forms(base, past, participle, noun=base in nouns, mostly_verb=base in mostly_verb)
    for base in (*mostly, *noun_too, *ENGLISH.words("verbs.regular")):
        _add_verb_forms(
            base, _regular_past(base), _regular_past(base), noun=base in nouns, mostly_verb=base in mostly_verb
        )
    for base, forms in ENGLISH.lists("verbs.auxiliaries").items():
        LEMMAS.update(dict.fromkeys(forms, base))
    LEMMAS.update(ENGLISH.table("verbs.shared_forms"))
    for name, forms in ENGLISH.lists("verbs.form_tags").items():
        VERB_TAGS.update(dict.fromkeys(forms, tag_letters(name.upper())))


_build_lexicon()


@lru_cache(maxsize=4096)
def lemma(word: str) -> str:
    """Return the base of a lower-case verb form: relocated -> relocate, tries -> try; other words as they are."""
    known = LEMMAS.get(word)
    if known is not None:
        return known
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "y"
    for suffix in ("ing", "ed"):
        if word.endswith(suffix) and len(word) > len(suffix) + 2:
            return _restore_base(word[: -len(suffix)])
    if word.endswith(("ches", "shes", "sses", "xes", "zzes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 3 else word


def _restore_base(stem: str) -> str:
    """Restore an unknown base from which -ed or -ing was cut: stopp -> stop, upcycl -> upcycle."""
    last, before = stem[-1], stem[-2:-1]
    if last == before and last not in "lsz" and last not in _VOWELS:
        return stem[:-1]
    mute_e = stem.endswith(("at", "iz", "is", "ur", "v", "c", "s", "z", "u")) and not stem.endswith("ss")
    cluster = len(stem) > 2 and last in "lr" and before not in _VOWELS and before not in "lr"
    # without a mute e, a base of this shape would have doubled its last letter
    short = len(stem) == 3 and before in _VOWELS and last not in _VOWELS and last not in _NOT_DOUBLED
    return stem + "e" if mute_e or cluster or short else stem


class Split(NamedTuple):
    """Where a contraction without an apostrophe divides, and its two words: "dont" is "do" and "n't"."""

    at: int
    words: tuple[str, str]


def _load_contraction_splits() -> dict[str, Split]:
    pairs = {form: (words[0], words[1]) for form, words in ENGLISH.lists("grammar.contractions").items()}
    return {form: Split(len(words[0]), words) for form, words in pairs.items()}


SPLITS = _load_contraction_splits()
TAGS: dict[str, str] = {
    **VERB_TAGS,
    **dict.fromkeys(ENGLISH.words("verbs.auxiliaries.be"), Tag.BE),
    **{
        word: tag_letters(name.upper())
        for name, words in ENGLISH.lists("grammar.word_classes").items()
        for word in words
    },
}

# an ending, how long a word with it must be at least, and the tag that it shows
_ENDINGS = (
    ("ly", 5, Tag.ADVERB),
    ("ing", 6, Tag.GERUND),
    ("ed", 5, Tag.PAST_OR_PARTICIPLE),
    ("s", 4, Tag.PLURAL),
)


def guess_tag(word: str) -> str:
    """Return the tag of a lower-case word that no list has, from its shape."""
    if not word[0].isalpha():
        return Tag.DETERMINER if word[0].isdigit() or word[-1].isdigit() or word[1:2].isdigit() else Tag.SYMBOL
    if word.startswith(("re", "un")) and VERB_TAGS.get(word[2:], Tag.BASE_OR_NOUN) not in tag_letters(
        "S_FORM_OR_PLURAL BASE_OR_NOUN"
    ):
        return VERB_TAGS[word[2:]]  # recreate, unpacked
    # In spite of their -ly.
    if word in ENGLISH["grammar.not_adverbs"] or word.endswith(("ss", "us", "is", "'s")):
        return Tag.NOUN
    for ending, least, tag in _ENDINGS:
        if len(word) >= least and word.endswith(ending):
            return tag
    return Tag.NOUN


_APOSTROPHE = re.compile(Tag.APOSTROPHE)
_QUOTED = re.compile(tag_pattern("QUOTE [^QUOTE]* QUOTE"))
_AS_A = re.compile(tag_pattern("PREPOSITION_OR_CONJUNCTION (?=DETERMINER)"))
_NO_LONGER = re.compile(tag_pattern("DETERMINER ADVERB"))


_AFTER_ADJECTIVE = frozenset(("", *tag_letters("END COMMA AND PREPOSITION TO")))


def correct_tags_by_context(tags: str, words: Sequence[str]) -> str:
    """Return the tags of a sentence, each as the words around it ask."""
    if Tag.APOSTROPHE in tags:
        tags = _APOSTROPHE.sub(lambda found: _tag_clitic(tags, words, found.start()), tags)
    if Tag.QUOTE in tags:
        tags = _QUOTED.sub(lambda found: Tag.QUOTE * len(found.group()), tags)
    if "longer" in words:
        tags = _NO_LONGER.sub(
            lambda found: Tag.NOT + Tag.ADVERB if words[found.start() + 1] == "longer" else found.group(), tags
        )
    if "as" in words:  # "works as a nurse"
        tags = _AS_A.sub(lambda found: Tag.PREPOSITION if words[found.start() + 1] in ("a", "an") else found[0], tags)
    return tags


def _tag_clitic(tags: str, words: Sequence[str], index: int) -> str:
    """Return the tag of "'s": `BE` or `HAVE` where it is short for "is" or "has", else `APOSTROPHE`."""
    before, after, second = tags[index - 1 : index], tags[index + 1 : index + 2], tags[index + 2 : index + 3]
    if before and (
        before in tag_letters("THIRD_PERSON THAT THERE SECOND_PERSON QUESTION_WORD")
        or words[index - 1] in ENGLISH["grammar.clitic_pronouns"]
    ):
        return _is_or_has(tags, words, index + 1)
    if words[index + 1 : index + 2] in (["called"], ["named"]):
        return Tag.BE  # "my son's called Leo"
    if after and after in tag_letters("DETERMINERS ADVERB PREPOSITION NOT SO TO BE IT"):
        return _is_or_has(tags, words, index + 1)
    if after in tag_set("ADJECTIVE PARTICIPLES") and second in _AFTER_ADJECTIVE:
        return _is_or_has(tags, words, index + 1)
    return Tag.BE if after == Tag.GERUND else Tag.APOSTROPHE


def _is_or_has(tags: str, words: Sequence[str], start: int) -> str:
    """Return whether "'s" is short for "has", by the verb after it: "he's had", "she's got", "it's eaten it"."""
    at = start
    while at < len(tags) and tags[at] in TagSet.ADVERBS:
        at += 1
    if at >= len(tags):
        return Tag.BE
    if words[at] in ENGLISH["grammar.after_has"]:
        return Tag.HAVE
    following = tags[at + 1 : at + 2]
    is_active = (
        tags[at] in TagSet.PARTICIPLES
        and following in tag_set("DETERMINERS OBJECT IT NAME PLURAL TO")
        and words[at] not in ENGLISH["grammar.stative_participles"]
    )
    is_active = is_active or (
        words[at].endswith(("ed", "ade", "old", "ought")) and following == Tag.OBJECT
    )  # "she's made me toast"
    return Tag.HAVE if is_active else Tag.BE


@cache
def _token_pattern(*, numbers: bool, abbreviations: bool, clitics: bool) -> re.Pattern[str]:
    """Return the pattern of tokens for a sentence with or without digits, full stops inside and apostrophes."""
    # Initials: "J.K. Rowling".
    parts = (
        [_NUMBER] * numbers
        + [_SHORT, r"\b(?:[^\W\d_]\.){1,4}(?=\s+\S)"] * abbreviations
        + [_DIVIDED_WORD if clitics else _WORD, _OTHER]
    )
    return re.compile("|".join(parts))


class Tagged(NamedTuple):
    """The tokens of one sentence: lower-case words, their ranges in the text, and one tag each."""

    text: str
    words: Sequence[str]
    ranges: Sequence[tuple[int, int]]
    tags: str


def lower_case(text: str) -> str:
    """Return the text in lower case with straight apostrophes, character by character, so that positions stay."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(letter if len(letter.lower()) != 1 else letter.lower() for letter in text)
    return low.replace("\u2019", "'")


# tags that a capital does not change to a name
_NEVER_NAMES = tag_set(
    "PERSONS IT THAT THERE OBJECT DETERMINERS PREPOSITION PREPOSITION_OR_CONJUNCTION TO AND SUBORDINATOR QUESTION_WORD "
    "NOT MODAL BE HAVE DO ADVERB APOSTROPHE INTERJECTION SO PARTICLE LIKE END COMMA BREAK SYMBOL QUOTE"
)


@lru_cache(maxsize=8192)
def _tag_word(word: str) -> str:
    return TAGS.get(word) or guess_tag(word)


def tag_sentence(text: str, low: str, start: int, end: int, times: Sequence[tuple[int, int]] = ()) -> Tagged:
    """Tag the sentence text[start:end]; `low` is `lowered(text)`, `times` are the ranges of its time expressions."""
    pattern = _token_pattern(
        numbers=_DIGIT.search(low, start, end) is not None,
        abbreviations=low.find(". ", start, end) >= 0,
        clitics=low.find("'", start, end) >= 0,
    )
    # At most 80 tokens of a sentence are tagged; the rest stays searchable as raw text.
    found = islice(pattern.finditer(low, start, end), 80)
    ranges = [token.span() for token in found]
    words = [low[first:last] for first, last in ranges]
    if not SPLITS.keys().isdisjoint(words):
        words, ranges = _divide_contractions(words, ranges)
    tags = [_tag_word(word) for word in words]
    if not text[start + 1 : end].islower():
        _tag_names(tags, text, ranges)
    for since, until in times:
        for index, (first, _) in enumerate(ranges):
            if since <= first < until and tags[index] not in tag_letters("APOSTROPHE END COMMA BREAK"):
                tags[index] = Tag.TIME
    return Tagged(text, words, ranges, correct_tags_by_context("".join(tags), words))


def _tag_names(tags: list[str], text: str, ranges: Sequence[tuple[int, int]]) -> None:
    """Change to names the tags of capitalised words inside the sentence, unless all of it is in capitals."""
    capitals = [index for index, (start, _) in enumerate(ranges) if text[start].isupper()]
    if len(capitals) > 3 and text[ranges[0][0] : ranges[-1][1]].isupper():
        return
    for index in capitals:
        opens_clause = tags[index - 1] in tag_set("END COMMA BREAK QUOTE")  # a capital may do no more than that
        is_modal_name = tags[index] == Tag.MODAL and not opens_clause  # "our son Will"
        if index and (tags[index] not in _NEVER_NAMES or is_modal_name):
            tags[index] = Tag.NAME


def _divide_contractions(words: list[str], ranges: list[tuple[int, int]]) -> tuple[list[str], list[tuple[int, int]]]:
    """Divide contractions without an apostrophe: dont, gonna."""
    new_words: list[str] = []
    new_ranges: list[tuple[int, int]] = []
    for word, (start, end) in zip(words, ranges, strict=True):
        split = SPLITS.get(word)
        if split is None:
            new_words.append(word)
            new_ranges.append((start, end))
        else:
            new_words += split.words
            new_ranges += ((start, start + split.at), (start + split.at, end))
    return new_words, new_ranges
