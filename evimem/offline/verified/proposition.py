"""Yes or no from a proposition: its subject, verb and object match the question's, and its polarity is stated.

"No" needs a negation, an opposite or an outcome that ends what was asked, or that it was only wished, planned or
possible; "yes" needs the asked verb in a clause with the asked subject that states it as a fact, and nothing later that
changes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ...extract.grammar import find_clauses
from ...extract.tagging import Tagged, lowered, tagged
from ...lang import ENGLISH
from ...text.terms import stem, words
from ..match_sentences import word_vector
from ..signals import contrasted
from .asked_form import AskedForm, asked_kind
from .bindings import share
from .candidate_passages import Passage
from .polarity import ENDED, FAILED, HEARSAY, INTENDS, NEGATION, REPLY_NO, REPLY_YES, UNSETTLED
from .subjects import is_subject

_NEAR, _WIDE = 0.33, 0.45  # least shares of the question's words that a deciding passage binds
_STATES = 0.5  # the same for a clause whose verb says nothing
_FEW = 2
_HALF = 0.5  # a passage that binds less must have two words of the question
_AFFIRMS = 0.5  # least share that an affirming passage binds by itself or with its question
_SUGGESTS = 0.75  # the same for what the assistant said, who says much of everything
_CHANGES = 0.3  # least share that a later passage binds which may change it
_AS_FIRM = 0.25  # a passage decides that binds this much less than the firmest
_SAME = 0.55  # cosine from which two verbs count as the same
_QUOTED = re.compile(r"[\"\u201c][^\"\u201d]{1,200}[\"\u201d]")
_WHOLE = 0.95  # least share for a statement whose verb is only "is" or "has"
_LIGHT_VERBS = frozenset(map(stem, ENGLISH.words("asked_forms.light")))
_AUXILIARY_VERBS = tuple(
    (re.compile(question, re.IGNORECASE), re.compile(statement, re.IGNORECASE))
    for question, statement in ENGLISH.lists("asked_forms.auxiliary_verbs").values()
)
_PAIRS = [[stem(word) for word in pair.split("/")] for pair in ENGLISH.words("asked_forms.opposites")]
_OPPOSITES = {
    word: [other for pair in _PAIRS if word in pair for other in pair if other != word]
    for pair in _PAIRS
    for word in pair
}
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CLAUSES = re.compile(
    r"[,;:\u2014.!?()]|\s[-\u2013]\s|\b(?:but|and|so|because|though|although|then|while|since|when)\b", re.IGNORECASE
)

Polarity = Literal["yes", "no", "wished", "reported"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a passage says of a question, the word that decides it, and the share of the question that it binds."""

    polarity: Polarity
    why: str
    passage: Passage
    near: float


def decision(asked: AskedForm, passages: Sequence[Passage]) -> Decision | None:
    """Return what the latest passage says that binds the question about as firmly as any; None where none decides."""
    found = [one for passage in passages if (one := _decide(asked, passage)) is not None]
    if not found:
        return None
    most = max(one.near for one in found)
    firm = [one for one in found if one.near >= most - _AS_FIRM]
    last = ([one for one in firm if one.polarity in ("yes", "no")] or firm)[-1]
    if last.polarity == "reported" or (last.polarity == "wished" and INTENDS.search(asked.text)):
        return None
    if last.polarity == "yes" and _changed(asked, last, passages):
        return None
    return last


def _decide(asked: AskedForm, passage: Passage) -> Decision | None:
    near = share(asked, passage.near)
    few = len(asked.weights) > _FEW and near < _HALF and (passage.near >= _HALF).sum() < _FEW
    if near < _NEAR or few or share(asked, passage.wide) < _WIDE:
        return None
    readers = (_replied, _cued, _affirmed)
    found = next((one for reader in readers for one in reader(asked, passage, near)), None)
    return None if found is None else Decision(*found, passage, near)


def _replied(asked: AskedForm, passage: Passage, near: float) -> Iterator[tuple[Polarity, str]]:
    """Yield the answer of a reply to a yes-no question that binds more than the reply itself."""
    asks = passage.question
    if asks is not None and share(asked, passage.own) < near and asked_kind(asks.text) == "yes_no":
        if cue := REPLY_NO.match(passage.text):
            yield "no", cue[0]
        if cue := REPLY_YES.match(passage.text):
            yield "yes", cue[0]


def _cued(asked: AskedForm, passage: Passage, near: float) -> Iterator[tuple[Polarity, str]]:
    """Yield what the words of the clauses that have the asked verb decide; not what is quoted or advised."""
    clause = _clauses_with(asked, _QUOTED.sub(" ", passage.text))
    verbless = not asked.verb or stem(asked.verb) in _LIGHT_VERBS
    states = near >= _STATES if verbless else bool(_verb(asked, clause, whole=False))
    if not asked.of_assistant and (cue := UNSETTLED.search(clause)):
        yield "wished" if states else "reported", cue[0]
    if not asked.of_assistant and (cue := HEARSAY.search(passage.text)):
        yield "reported", cue[0]
    if cue := NEGATION.search(clause):
        yield "no" if states else "reported", cue[0]
    if against := _opposite(asked.verb, clause):
        yield "no", against
    if cue := FAILED.search(clause):
        yield "reported", cue[0]
    if cue := ENDED.search(clause):
        yield "yes" if ENDED.search(asked.text) else "no", cue[0]


def _affirmed(asked: AskedForm, passage: Passage, near: float) -> Iterator[tuple[Polarity, str]]:
    """Yield the verb of the clause that states what is asked, of the asked subject, with all its numbers."""
    least = _SUGGESTS if asked.of_assistant else _AFFIRMS
    bound = share(asked, passage.own) if stem(asked.verb) in _LIGHT_VERBS else near
    if bound < least or not asked.numbers <= set(_NUMBER.findall(passage.text)):
        return
    sentence = tagged(passage.turn.text, lowered(passage.turn.text), *passage.unit.span)
    verb = asked.of_assistant or _verb(
        asked, _clauses_with(asked, _QUOTED.sub(" ", passage.text)), whole=near >= _WHOLE
    )
    if verb is True:
        yield "yes", asked.verb
    elif verb and _same_subject(asked, passage, sentence, verb):
        yield "yes", verb


def _verb(asked: AskedForm, clause: str, *, whole: bool) -> str:
    """Return the verb of a clause that says what the question asks: its own, one of its meaning, or "is" and "has"."""
    said = words(clause)
    if asked.verb:
        same = next((word for word in said if stem(word) == stem(asked.verb)), "")
        if same or stem(asked.verb) in _LIGHT_VERBS:
            return same
        row = word_vector(asked.verb)
        return next((word for word in said if float(row @ word_vector(word)) >= _SAME), "")
    for question, statement in _AUXILIARY_VERBS:
        if whole and question.search(asked.text) and (found := statement.search(clause)):
            return found[0].strip()
    return ""


def _opposite(verb: str, clause: str) -> str:
    """Return the word of a clause that is the opposite of a verb: "failed" where "passed" is asked for."""
    said = {stem(word): word for word in words(clause)}
    against = contrasted([stem(verb)], said).values() if verb else ()
    return next((said[term] for term in (*against, *_OPPOSITES.get(stem(verb), ())) if term in said), "")


def _changed(asked: AskedForm, found: Decision, passages: Sequence[Passage]) -> bool:
    """Return whether something said later may end or deny what a passage affirms."""
    later = [one for one in passages if one.turn.time >= found.passage.turn.time and one is not found.passage]
    cues = (NEGATION, ENDED) if not ENDED.search(asked.text) else (NEGATION,)
    return any(
        share(asked, one.near) >= _CHANGES and any(cue.search(_clauses_with(asked, one.text)) for cue in cues)
        for one in later
    )


def _clauses_with(asked: AskedForm, text: str) -> str:
    """Return the clauses of a sentence that have words of the question; all of it where none has."""
    parts = [part for part in _CLAUSES.split(text) if part.strip()]
    found = [part for part in parts if any(stem(word) in asked.weights for word in words(part))]
    return " | ".join(found) if found else text


def _same_subject(asked: AskedForm, passage: Passage, sentence: Tagged, verb: str) -> bool:
    """Return whether the clause of a verb has the asked subject: not "my brother has a boat" for me."""
    for clause in find_clauses(sentence.tags):
        if any(word.strip("'") == verb.strip("'\u2019") for word in sentence.words[clause.verb : clause.end]):
            return is_subject(asked, passage, sentence, clause)
    return True
