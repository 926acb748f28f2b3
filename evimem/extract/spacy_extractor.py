"""Facts from a dependency parse and named entities, with any spaCy pipeline that has a parser."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from ..errors import MissingExtra
from ..lang import ENGLISH
from ..times import Conventions, DateOrder, Weekday
from ..types.values import Fact, Turn
from .statements import ClauseSpan, Statement, Voice, read_statements, statements_from
from .tagging import Tag, Tagged, TagSet, tag_letters, tag_set
from .turn_facts import extract_facts

try:
    from spacy.language import Language
    from spacy.tokens import Doc, Token
except ImportError as _error:
    raise MissingExtra("SpacyExtractor", "spacy") from _error

# labels of the English (ClearNLP) and of the Universal Dependencies schemes
_SUBJECTS = frozenset(("nsubj", "nsubjpass", "nsubj:pass", "csubj", "csubjpass", "expl"))
_WITHIN_VERB = frozenset(("aux", "auxpass", "aux:pass", "neg", "cop", "advmod", "mark", "prt", "compound:prt"))
_BEFORE_VERB = _WITHIN_VERB | {"intj", "cc", "punct", "npadvmod", "discourse"}
_PARTS = frozenset(("relcl", "acl", "acl:relcl", "csubj", "csubjpass", "pcomp", "xcomp"))
_SURROGATES = re.compile("[\ud800-\udfff]")  # spaCy hashes UTF-8; the length stays
_BY_TAG = {"VBD": Tag.PAST, "VBN": Tag.PAST_OR_PARTICIPLE, "VBG": Tag.GERUND, "VBZ": Tag.S_FORM}
_BY_POS = {"NOUN": Tag.NOUN, "PROPN": Tag.NAME, "ADJ": Tag.ADJECTIVE}


class SpacyExtractor:
    """Extracts the facts of a turn from the dependency parse of `nlp`; kinds of facts are those of `RuleExtractor`.

    `nlp` is any spaCy pipeline that sets heads and dependency labels, with the English (ClearNLP) or the Universal
    Dependencies labels. Parts of speech and entities are used where it sets them. A sentence in which the parse finds
    no subject with a verb is read by the rules. `weekday` and `date_order` are those of `RuleExtractor`.

    Importing this module raises MissingExtra where spaCy is not installed.
    """

    name = "spacy"

    def __init__(self, nlp: Language, weekday: Weekday = "recent", date_order: DateOrder | None = None) -> None:
        self._nlp = nlp
        self.conventions: Conventions = Conventions(weekday, date_order)

    def extract(self, turn: Turn) -> tuple[Fact, ...]:
        """Return the facts of a turn in the order of their spans; none for one that only asks, greets or reacts."""
        return extract_facts(turn, self.conventions, self._read_statements, self.name)

    def _read_statements(self, sentence: Tagged, voice: Voice, limit: int | None, whom: str) -> list[Statement]:
        if not sentence.words:
            return []
        start, end = sentence.ranges[0][0], sentence.ranges[-1][1]
        doc = self._nlp(_SURROGATES.sub("\ufffd", sentence.text[start:end]))
        if not doc.has_annotation("DEP"):
            return read_statements(sentence, voice, limit, whom)
        parse = _Parse(doc, sentence, start)
        sentence = sentence._replace(tags=parse.tags())
        tags = sentence.tags if limit is None else sentence.tags[:limit]
        found = [clause for clause in parse.clauses() if clause.end <= len(tags)]
        return (
            statements_from(sentence, tags, found, voice, whom)
            if found
            else read_statements(sentence, voice, limit, whom)
        )


class _Parse:
    """A parsed sentence aligned to our own tokens, from which the facts are made."""

    def __init__(self, doc: Doc, sentence: Tagged, offset: int) -> None:
        self._doc = doc
        self._sentence = sentence
        self._offset = offset
        self._starts = [start for start, _ in sentence.ranges]

    def _token_index(self, token: Token) -> int:
        """Return the index of our token that contains the first character of a token of the parse."""
        return max(bisect_right(self._starts, self._offset + token.idx) - 1, 0)

    def tags(self) -> str:
        """Return our tags, corrected by the parts of speech and the entities."""
        tags = list(self._sentence.tags)
        for token in self._doc:
            at = self._token_index(token)
            is_verb = tags[at] in tag_set("FULL_VERBS AUXILIARIES")
            if token.pos_ == "VERB" and not is_verb:
                tags[at] = _BY_TAG.get(token.tag_, Tag.BASE)
            elif token.pos_ in _BY_POS and is_verb and tags[at] not in TagSet.AUXILIARIES:
                tags[at] = _BY_POS[token.pos_]
        for entity in self._doc.ents:
            for token in entity:
                at = self._token_index(token)
                if (
                    tags[at] not in tag_letters("TIME POSSESSIVE PREPOSITION TO END COMMA BREAK")
                    and token.text[:1].isupper()
                ):
                    tags[at] = Tag.NAME
        return "".join(tags)

    def clauses(self) -> list[ClauseSpan]:
        """Return the clauses in the order of the text, without those that another only speaks of."""
        found: list[tuple[ClauseSpan, bool]] = []
        heads: list[Token] = []
        for token in self._doc:
            clause = self._make_clause(token, heads)
            if clause is not None and _is_whole(clause):
                found.append((clause, _is_asserted(token)))
                heads.append(token)
        found.sort(key=lambda item: item[0].verb)
        return [
            one for one, asserted in found if asserted and not any(_is_within_subject(one, other) for other, _ in found)
        ]

    def _make_clause(self, token: Token, heads: Sequence[Token]) -> ClauseSpan | None:
        """Return the clause whose head is this token: with a subject, sharing one, or (at the start) without one."""
        subject = next((child for child in token.lefts if child.dep_ in _SUBJECTS), None)
        if subject is not None:
            verb = (
                self._token_index(self._doc[subject.right_edge.i + 1])
                if subject.right_edge.i < token.i
                else self._token_index(token)
            )
            return ClauseSpan("main", self._token_index(subject.left_edge), verb, self._verb_group_end(token))
        if token.dep_ == "conj" and token.head in heads and _is_verb(token):
            first = self._first_verb_token(token)
            return ClauseSpan("shared", first, first, self._verb_group_end(token))
        opens = all(child.dep_ in _BEFORE_VERB for child in token.lefts)
        if token.dep_ == "ROOT" and token.tag_ in ("VBD", "VBN", "VBG") and opens:
            first = self._first_verb_token(token)
            return ClauseSpan("dropped", first, first, self._verb_group_end(token))
        return None

    def _first_verb_token(self, token: Token) -> int:
        within = [child for child in token.lefts if child.dep_ in _WITHIN_VERB - {"mark", "advmod"}]
        return min([self._token_index(token), *(self._token_index(child) for child in within)])

    def _verb_group_end(self, token: Token) -> int:
        """Return where a verb group ends: after its copula, or its last infinitive: "wants to learn"."""
        copula = [child.i for child in token.lefts if child.dep_ == "cop"]
        if copula:
            last = max(copula)
            while last + 1 < token.i and self._doc[last + 1].dep_ in ("neg", "aux"):
                last += 1
            return self._token_index(self._doc[last]) + 1
        last_verb = token
        for verb in _infinitives(token):
            last_verb = verb
        return self._token_index(last_verb) + 1


def _is_asserted(token: Token) -> bool:
    """Return whether a clause with this head is stated, not thought, supposed or part of a noun."""
    if token.dep_ == "ccomp" or token.dep_ in _PARTS or (token.dep_ == "conj" and token.head.dep_ in _PARTS):
        return False
    return token.dep_ != "advcl" or any(child.lower_ in ENGLISH["statements.opens_a_reason"] for child in token.lefts)


def _is_verb(token: Token) -> bool:
    """Return whether a word is a verb, by whichever of the two tag sets the pipeline sets."""
    return token.pos_ in ("VERB", "AUX") or token.tag_.startswith(("VB", "MD"))


def _infinitives(token: Token) -> Iterator[Token]:
    """Yield the verbs that complete a verb as infinitives, each adjacent to the one before: wants to learn to swim."""
    while True:
        following = next((child for child in token.rights if child.dep_ == "xcomp" and _is_verb(child)), None)
        if following is None:
            return
        between = [token.doc[index] for index in range(token.i + 1, following.i)]
        if not between or any(word.dep_ not in _WITHIN_VERB for word in between):
            return
        yield following
        token = following


def _is_whole(clause: ClauseSpan) -> bool:
    """Return whether a clause has a verb, and its subject, after alignment to our own tokens."""
    return (clause.subject < clause.verb if clause.role == "main" else True) and clause.verb < clause.end


def _is_within_subject(clause: ClauseSpan, other: ClauseSpan) -> bool:
    """Return whether a clause is part of another's subject: "The man who lives upstairs plays"."""
    return clause is not other and other.subject <= clause.subject and clause.end <= other.verb
