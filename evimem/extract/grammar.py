"""Where the clauses of a sentence are: regular expressions over its string of tags (see evimem.extract.tags)."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Role = Literal["main", "shared", "dropped"]

_ADVERBS = "[Rsn~]*"
_AUXILIARY = (
    "(?:m[nR]*(?:h[nR]*)?(?:b[nR]*){0,2}[vwkpgfL]?"
    "|d[nR]*[vwL]?"
    "|h[nR]*(?:b[nR]*){0,2}(?:[kpgf]|w(?=[DSoT]))?"
    "|b[nR]*(?:b[nR]*)?[gkp]?)"
)
# to learn, to be seen, to have gone; thinking about moving to
_CHAIN = "(?:r?[nR]?T[nR]*(?:b[nR]*[gkp]?|h[nR]*(?:b[nR]*)?[kpf]?|[vwdL])|(?:P|NT)g(?=[DSPTNMUo]))*"
_PLURAL = f"{_ADVERBS}(?:{_AUXILIARY}|[vwLfk]|Z)"
_SINGULAR = f"{_ADVERBS}(?:{_AUXILIARY}|[fkZv]|z(?![nR]*[bmhdfZw]))"
_WORD = "[NMUJwzgkp'RP]"
_DETERMINERS = "(?:[DSt]|(?<![vwfkpZzLgoJ])q(?![MUDS]))"
_NOUN = f"(?:(?<!P){_DETERMINERS}{{0,2}}[NMUJDwzgkp'R]{{1,7}}?(?<=[NMUwzgkD]))"
_AFTER = "(?:P[DS]?[NMUJwzgk']{1,4}?){0,2}"
_RELATIVE = "(?:,?[Wq][^,;.]{1,12}?,?|[iye][Rn]*(?:[fkvwL]|hn?[kp]|[md]n?[vw])[PTr]?)?"
_PERSON = "(?:[DS]?[NMUJwg']{1,4}|[iyeo])"
_AT_START = '(?:(?<![^,;:!CB"~_RsQq])|^)'

_CLAUSE = re.compile(
    f"(?P<drop>^[!,_Rs]*(?=[fk](?!b)|m[nR]*[vw]|v))(?P<dropped>{_ADVERBS}(?:[fkv]|m[nR]*[vw]))(?:{_CHAIN})"
    f"|(?P<both>{_AT_START}{_PERSON}C{_PERSON}(?=[Rsn]*[bmhdvwLfk]))(?P<plural>{_PLURAL})(?:{_CHAIN})"
    f"|(?P<pronoun>[iye])(?P<person>{_PLURAL}|(?:(?<=[ie])N(?![nR]*[bmhdfZk])))(?:{_CHAIN})"
    f"|(?P<thing>[tqx])(?P<it>{_SINGULAR})(?:{_CHAIN})"
    f"|(?P<many>{_NOUN}(?<=U){_AFTER}{_RELATIVE})(?P<they>{_ADVERBS}(?:{_AUXILIARY}|[vwLfk]))(?:{_CHAIN})"
    f"|(?P<noun>{_NOUN}{_AFTER}{_RELATIVE})(?P<one>{_SINGULAR})(?:{_CHAIN})"
    f"|(?P<share>(?<=[C,])[Rs~]*)(?P<shared>n?(?:{_AUXILIARY}(?!n?[iyetqx])|[fkZv]|[zwL](?=[DSPTotqM])))(?:{_CHAIN})"
)


class Clause(NamedTuple):
    """One subject with one finite verb group: token ranges, half-open."""

    role: Role
    subject: int
    verb: int
    end: int


def find_clauses(tags: str) -> list[Clause]:
    """Return every subject with its verb group, in order, and the verbs that share or drop a subject."""
    found = []
    for match in _CLAUSE.finditer(tags):
        group = match.lastgroup or ""
        role: Role = "shared" if group == "shared" else "dropped" if group == "dropped" else "main"
        found.append(Clause(role, match.start(), match.start(group), match.end()))
    return found
