"""spaCy pipelines without a model: one looks up parses that we wrote by hand, one sets random parses."""

from functools import lru_cache
from pathlib import Path
from random import Random
from typing import NamedTuple

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from evimem.extract.spacy_extractor import SpacyExtractor


class Word(NamedTuple):
    """One token of a parse; `head` is the text of its head, "-" for the root."""

    text: str
    pos: str
    tag: str
    head: str
    dep: str
    entity: str


@lru_cache(maxsize=1)
def parses() -> dict[str, list[Word]]:
    """Return the sentences of parses.txt with their words."""
    found = {}
    for block in Path(__file__).with_name("parses.txt").read_text(encoding="utf-8").split("\n\n"):
        sentence, *lines = block.strip().splitlines()
        if not sentence.startswith("#"):
            found[sentence] = [Word(*(*line.split(), "")[:6]) for line in lines]
    return found


def head_index(words: list[Word], at: int) -> int:
    """Return the position of a word's head: the nearest word of that text."""
    wanted = words[at].head
    if wanted == "-":
        return at
    return min((abs(index - at), index) for index, word in enumerate(words) if word.text == wanted and index != at)[1]


@Language.component("written_parses")
def written_parses(doc: Doc) -> Doc:
    words = parses().get(doc.text)
    if words is None:
        return doc
    assert [token.text for token in doc] == [word.text for word in words]
    for at, (token, word) in enumerate(zip(doc, words, strict=True)):
        token.pos_, token.tag_, token.dep_ = word.pos, word.tag, word.dep
        token.head = doc[head_index(words, at)]
    doc.ents = [Span(doc, at, at + 1, label=word.entity) for at, word in enumerate(words) if word.entity]
    return doc


LABELS = "nsubj nsubjpass dobj aux neg cop ccomp xcomp conj advcl relcl mark cc punct prep pobj det expl dep".split()


@Language.component("random_parses")
def random_parses(doc: Doc) -> Doc:
    """Set a random parse that is a tree: the head of each word is one before it, or for each one after it."""
    dice = Random(doc.text)
    forward = dice.random() < 0.5
    for token in doc:
        token.dep_ = dice.choice(LABELS)
        token.pos_ = dice.choice(["VERB", "AUX", "NOUN", "PROPN", "ADP"])
        token.head = doc[dice.randint(0, token.i)] if forward else doc[dice.randint(token.i, len(doc) - 1)]
    return doc


@lru_cache(maxsize=1)
def random_extractor() -> SpacyExtractor:
    nlp = spacy.blank("en")
    nlp.add_pipe("random_parses")
    return SpacyExtractor(nlp)


@lru_cache(maxsize=1)
def pipeline() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("written_parses")
    return nlp


def spacy_extractor() -> SpacyExtractor:
    return SpacyExtractor(pipeline())
