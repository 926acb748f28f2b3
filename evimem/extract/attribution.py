"""The sentences of a turn that are the speaker's own: without code, quotations, tables, drafts and texts passed on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Literal

from ..lang import ENGLISH
from ..text.sentences import merge_ranges, sentences
from ..types.values import Turn

MAX_SENTENCES = 24  # that are read of a short turn


_FENCE = ("```", "~~~")
_PLACEHOLDER = re.compile(r"\[[^\]\n]{2,40}\]|\{[^}\n]{1,40}\}|<[^>\n]{1,40}>|_{3,}")
_SALUTATION = re.compile(
    rf"\s*(?:{ENGLISH.any_of_source('small_talk.formal_salutations')}\b[^!?\n]{{0,60}}"
    rf"|{ENGLISH.any_of_source('small_talk.salutations')}\b[^.?\n]{{0,30}}[,:!])\s*$",
    re.IGNORECASE,
)
_SIGN_OFF = re.compile(rf"\s*{ENGLISH.any_of_source('small_talk.sign_offs')}\b[^.?\n]{{0,30}}$", re.IGNORECASE)
# "Rewrite this:", "Here is my cover letter:"; the text that follows is passed on, not said
_PASSED_ON = re.compile(rf"\b{ENGLISH.any_of_source('small_talk.passed_on')}\b[^.!?:\n]{{0,60}}:\s*", re.IGNORECASE)
# "Write a diary entry for a pirate. I live in Tortuga.", "Let's say I'm fifty": the text that follows is about no
# participant
_MADE_UP = re.compile(
    rf"(?:^|(?<=[.!?:\n]))[^\w\n.!?:]{{0,8}}(?=\w)(?:{ENGLISH.any_of_source('small_talk.polite_leads')}\W{{1,8}}){{0,4}}"
    rf"(?:{ENGLISH.any_of_source('small_talk.writes')}\b[^.!?\n]{{0,80}}?\b{ENGLISH.any_of_source('small_talk.invented')}"
    rf"|{ENGLISH.any_of_source('small_talk.supposes')})\b",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(rf"\b{ENGLISH.any_of_source('small_talk.takes_back')}\b", re.IGNORECASE)
# "Bob: I live in Perth": a line of a pasted dialogue
_CAPITALIZED = r"[A-Z\u00c0-\u00de][\w.'\u2019-]*"
_LABELLED = re.compile(rf"\s*[*_]{{0,2}}(?:{_CAPITALIZED}(?: {_CAPITALIZED}){{0,2}}|me|you):(?=[*_\s]*\S)")
# "This is Eric's uncle", "Mira's brother here": somebody else is at the keyboard
_RELATIVE = rf"(?:\w+['\u2019]s|his|her|their) {ENGLISH.any_of_source('people.named')}"
_ANOTHER_WRITES = re.compile(
    rf"(?:^|(?<=[.!?\n,] )|(?<=\n))(?:{ENGLISH.any_of_source('small_talk.polite_leads')}\W{{1,4}}){{0,3}}"
    rf"(?:{ENGLISH.any_of_source('small_talk.another_writes')}\b|(?:this is|it's|it is|i'm|i am) {_RELATIVE}\b"
    rf"|{_RELATIVE} (?:here|speaking|typing|writing)\b)",
    re.IGNORECASE,
)
# "I'll be the customer, you the clerk": the words that follow are of no speaker, in later turns too
_STAGES, _ENDS_STAGING, _DISOWNS = (
    re.compile(rf"\b(?:{'|'.join(ENGLISH.words(name))})\b", re.IGNORECASE)
    for name in ("small_talk.stages", "small_talk.ends_staging", "small_talk.disowns")
)
TURNS_AFTER = 4  # in which it is looked for whether that is taken back
_PAUSE = timedelta(hours=1)  # that ends a role-play
_FIRST_PERSON = re.compile(rf"\b{ENGLISH.any_of_source('grammar.spoken_first_person')}\b", re.IGNORECASE)
_ACT = re.compile("\\b(?:I|We)(?:['\u2019]ve| have)?(?: just| already| also| now)? ([a-z]{2,20})")
_MAY_PASS_ON = re.compile('[\n:"\u201c]')
_QUOTE_MARKS = re.compile('["\u201c\u201d]')
# the context of a line: the own words, code, a pasted letter or its signature, an announced text, before it or in it
_Place = Literal["own", "code", "letter", "signature", "announced", "text"]

_EMPTY_LINES = re.compile("\n{4,}")


def find_own_sentences(text: str) -> list[tuple[int, int]]:
    """Return the ranges of the sentences that a speaker says themselves, at most those that are worth reading.

    A short turn gives up to `MAX_SENTENCES`; each `PER_SENTENCE` characters more give another. Sentences that are left
    out first are sentences without a first person, from the end.
    """
    # At most 1,000 characters of a sentence are read.
    found = [(start, min(end, start + 1000)) for start, end in sentences(text)]
    found = ranges_outside(found, find_passed_on_ranges(text))
    # A long turn has one sentence more for each 2,000 characters.
    most = MAX_SENTENCES + len(text) // 2000
    return found if len(found) <= most else _limit_sentences(text, found, most)


def find_own_acts(text: str) -> list[tuple[int, int]]:
    """Return the ranges of the own sentences in which "I" did something, for a speaker whose advice is no fact."""
    places = [found.start() for found in _ACT.finditer(text) if _is_past(found.group(1))]
    if places:
        quoted = _find_quotations(text)
        places = [place for place in places if not any(start <= place < end for start, end in quoted)]
    if not places:
        return []
    return [(start, end) for start, end in find_own_sentences(text) if any(start <= place < end for place in places)]


def _is_past(word: str) -> bool:
    from .tagging import TAGS, Tag  # noqa: PLC0415 - the verbs of English, which sentences are told apart without

    return TAGS.get(word, "") in (Tag.PAST, Tag.PAST_OR_PARTICIPLE, Tag.PARTICIPLE) or word.endswith("ed")


def _limit_sentences(text: str, found: Sequence[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    own = [each for each in found if text[each[1] - 1] != "?" and _FIRST_PERSON.search(text, *each)][:most]
    if len(own) < most:
        kept = set(own)
        own += [each for each in found if each not in kept][: most - len(own)]
    return sorted(own)


def ranges_outside(found: Iterable[tuple[int, int]], left_out: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges that begin in none of those left out, up to one that ends them; both are in order."""
    kept = []
    at = 0
    for start, end in found:
        while at < len(left_out) and left_out[at][1] <= start:
            at += 1
        first, last = left_out[at] if at < len(left_out) else (end, end)
        if start < first:
            kept.append((start, first if first < end <= last else end))
    return kept


def find_passed_on_ranges(text: str) -> list[tuple[int, int]]:
    """Return the ranges of a text that are not the speaker's own statements, in order."""
    found = [*_find_quotations(text), *_lines_passed_on(text)] if _MAY_PASS_ON.search(text) else []
    for nobodys in (_MADE_UP.search(text), _ANOTHER_WRITES.search(text), _STAGES.search(text)):
        if nobodys is not None:
            found.append((nobodys.start(), len(text)))
    found += [(0, taken_back.end()) for taken_back in _TAKEN_BACK.finditer(text)]  # "I eat feta. Ignore me"
    return merge_ranges(found)


def has_unclear_speaker(turn: Turn, dialogue: Sequence[Turn]) -> bool:
    """Return whether the turns around one leave it open who speaks in it; unsure words have no speaker.

    A role-play, a dictation or somebody else at the keyboard lasts for the next turns of the same speaker until it is
    ended or a pause of an hour; a later turn may say of it that "that wasn't me". `dialogue` has the turn and some of
    its session before and after it, in order.
    """
    at = next((number for number, other in enumerate(dialogue) if other.id == turn.id), 0)
    own = [other for other in dialogue if other.speaker == turn.speaker]
    later = (other for other in dialogue[at + 1 :] if other in own and other.time - turn.time <= _PAUSE)
    if any(_DISOWNS.search(other.text) for other in later):
        return True
    after = turn
    for other in reversed(dialogue[:at]):
        if after.time - other.time > _PAUSE:
            return False
        after = other
        if other in own and (_STAGES.search(other.text) or _ANOTHER_WRITES.search(other.text)):
            return not any(_ENDS_STAGING.search(one.text) for one in dialogue[dialogue.index(other) : at + 1])
    return False


def _find_quotations(text: str) -> list[tuple[int, int]]:
    """Return the text between quotation marks, within a paragraph; a mark that is never closed quotes nothing.

    A sentence may open with a title, but a text that opens with a quoted sentence is not the speaker's own.
    """
    found = []
    opened = -1
    for mark in _QUOTE_MARKS.finditer(text):
        if opened >= 0 and "\n\n" not in (said := text[opened + 1 : mark.start()]):
            # A title has at most four words: "The Salt Road".
            found.append((opened + (len(said.split()) <= 4), mark.start()))
            opened = -1
        else:
            opened = mark.start()
    return found


def _iter_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield where each line begins, and the line; of a run of empty lines two, since a further one changes nothing."""
    at = 0
    for run in (*_EMPTY_LINES.finditer(text), None):
        end = len(text) if run is None else run.start() + 2
        for line in text[at:end].split("\n"):
            yield at, line
            at += len(line) + 1
        at = len(text) if run is None else run.end()


def _lines_passed_on(text: str) -> list[tuple[int, int]]:
    """Return code, quoted lines, table rows, lines with placeholders, pasted letters and announced texts."""
    found: list[tuple[int, int]] = []
    place: _Place = "own"
    said_before = False
    for start, line in _iter_lines(text):
        end = start + len(line)
        place, is_passed_on = _read_line(line, place, said_before=said_before)
        if is_passed_on:
            found.append((start, end))
        elif place == "own":
            announced = _PASSED_ON.search(line) if ":" in line else None
            if announced is not None and not line.startswith(('"', "\u201c"), announced.end()):
                found.append((start + announced.end(), end))
                place = "announced" if announced.end() >= len(line) else "text"
        said_before = said_before or line.strip() != ""
    return found


def _read_line(line: str, place: _Place, *, said_before: bool) -> tuple[_Place, bool]:
    """Return the context of the next line, and whether this one is passed on whole."""
    bare = line.strip()
    if place == "code" or bare.startswith(_FENCE):
        return ("own" if place == "code" and bare.startswith(_FENCE) else "code"), True
    if place == "signature" and bare:
        return "own", True
    if place in ("letter", "signature"):
        return ("signature" if place == "signature" or _SIGN_OFF.match(line) is not None else "letter"), True
    # A line that opens a letter has at most 80 characters.
    if said_before and len(bare) <= 80 and _SALUTATION.match(line) is not None:
        return "letter", True
    if place == "announced" or (place == "text" and bare):
        return ("text" if bare else "announced"), True
    has_place_to_fill = not {"[", "{", "<", "_"}.isdisjoint(line) and _PLACEHOLDER.search(line) is not None
    return "own", bare.startswith((">", "|")) or has_place_to_fill or _LABELLED.match(line) is not None
