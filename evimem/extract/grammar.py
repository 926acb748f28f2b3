"""Where the clauses of a sentence are: regular expressions over its string of tags (see evimem.extract.tagging)."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Role = Literal["main", "shared", "dropped"]

_ADVERBS = "[Rsn~]*"
_AUXILIARY = (
    "(?:m[nR]*(?:(?:h[nR]*)?(?:b[nR]*){1,2}[kpgf]?|h[nR]*[kpf]?|[vwkfLd]|N(?=[DSotP]))?"
    "|d[nR]*(?:[vwLkhd]|N(?=[DSot]))?"
    "|h[nR]*(?:b[nR]*){0,2}[kpgfh]?"
    "|b[nR]*(?:b[nR]*)?(?:m[nR]*)?[gkp]?)"
)
# to learn, to be seen, to have gone; thinking about moving to
_CHAIN = "(?:r?[nR]?T[nR]*(?:b[nR]*[gkp]?|h[nR]*(?:b[nR]*)?[kpf]?|[vwdLk]|N(?=[DSot]))|(?:P|NT)g(?=[DSPTNMUo]))*"
_NOT_AFTER_AUXILIARY = "(?<![bhmdTn])"
_PLURAL = f"{_NOT_AFTER_AUXILIARY}{_ADVERBS}(?:{_AUXILIARY}|[vwLfk]|Z)"
_SINGULAR = f"{_NOT_AFTER_AUXILIARY}{_ADVERBS}(?:{_AUXILIARY}|[fkZ]|z(?=[DSPTorqRM~]))"
# "dogs like water", but not "dogs like these are"
_MANY = (
    f"{_NOT_AFTER_AUXILIARY}{_ADVERBS}(?:{_AUXILIARY}|[vfk]|w(?=[DSPTotqMUNRg~.,]|$)"
    "|L(?=[DSPTotqMUNRg~])(?!(?:[to]|[DS]?[NMUJ]{1,3})[Rn]*[bmhdfZ]))"
)
_DETERMINERS = "(?:[DSt]|(?<![vwfkpZzLgoJ])q(?![MUDS]))"
_NOUN = f"(?:(?<!P)(?:{_DETERMINERS}{{1,2}}|{_DETERMINERS}{{0,2}}[NMUJwzgkp'R]{{1,7}}?(?<=[NMUwzgk])(?:D{{1,2}})?))"
_GERUND = "(?:(?<![PTbhv])g(?:[oxt]|[DS]{0,2}[NMUJwzgk'R]{0,6}?))"
_AFTER = "(?:P(?:[DSt]{0,2}[NMUJwzgk']{1,4}?|o)|Lq){0,2}"
_START = '(?:(?<![^,;:!CB"~_RsQq])|^)'
# "who lives upstairs", ", a vet," and "we bought"
_RELATIVE = (
    "(?:,?[Wq][^,;.]{0,6}?[bhmdvwfkZz][^,;.]{0,10}?,?"
    "|,[DSMN][^,;.]{0,5},"
    "|[iye][Rn]*(?:[fkvwL]|hn?[kp]|[md]n?[vw])[PTr]?)[R~]*"
)
_PERSON = "(?:[DS]{0,2}[NMUJwzg']{1,4}?|[iyeo])"

_SHARED_NOUN_TOO = "[wL](?=[DSPTotqMzUJN.,]|$)"  # whether it is a verb is for evimem.extract.links to say

_CLAUSE = re.compile(
    f"(?P<drop>^[!,_Rs]*(?=n?[fk](?!b)|m[nR]*[vw]|hn[kpb]|n?b[kgPD]|[vwL]|dD))"
    f"(?P<dropped>n?{_ADVERBS}(?:[fkvwL]|m[nR]*[vw]|hn?b?[kpg]?|b[kgp]?|d)){_CHAIN}"
    f"|(?P<both>{_START}{_PERSON}C{_PERSON}(?=[Rsn]*[bmhdvwLfk]))(?P<plural>{_PLURAL}){_CHAIN}"
    f"|(?P<pronoun>[iye])(?P<person>{_PLURAL}|(?<=[ie])N(?=[DSotP~]|$)){_CHAIN}"
    f"|(?P<thing>[tqx]|{_START}[Dt]?~+(?=[Rn]*[bh]))(?P<it>{_SINGULAR}){_CHAIN}"
    f"|(?!(?<=[CT])wz|(?<=C)w[PDSoTt])(?P<opens>{_START})?{_NOUN}"
    f"(?:(?:(?<=[Uz])|(?<=D)(?=P)){_AFTER}(?P<they>{_MANY})"
    f"|{_AFTER}(?:(?P<one>{_SINGULAR})"
    f"|(?(opens)(?:(?P<ends>(?<=[NMUgw]){_ADVERBS}z(?=[.,]|$))|{_RELATIVE}(?P<which>{_SINGULAR}))|(?!)))){_CHAIN}"
    f"|{_GERUND}{_AFTER}(?P<doing>{_NOT_AFTER_AUXILIARY}{_ADVERBS}(?:{_AUXILIARY}|[fkZ])){_CHAIN}"
    f"|(?<=[C,])[Rs~]*(?P<shared>n?(?:{_AUXILIARY}(?!n?[iyetqx])|[fkZv]|z(?=[DSTotqM])|{_SHARED_NOUN_TOO})){_CHAIN}"
    f"|^[!,_Rs]*(?P<act>g[^,;.B]{{1,18}})(?P<acts>(?<=[NMUJowzygRr]){_ADVERBS}(?:b[nR]*[gkp]?|m[nR]*[bvw]|Z)){_CHAIN}"
    f"|(?P<begun>^[!,_Rs]*)(?P<going>g){_CHAIN}"
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
        role: Role = "shared" if group == "shared" else "dropped" if group in ("dropped", "going") else "main"
        found.append(Clause(role, match.start(), match.start(group), match.end()))
    return found
