"""Words that carry grammar: the closed classes of English and what chat makes of them, one tag a word."""

from __future__ import annotations

from typing import NamedTuple

from .verbs import TAGS as VERB_TAGS

# each line: a tag, then its words
_CLASSES = """
i i we
y you ya yall thou
e he she they
t it this these those everyone everybody someone somebody anyone anybody nobody everything something anything nothing
q that
x there
o me him us them em myself himself herself ourselves themselves itself yourself yourselves
D a an the some any every each no another several many few all most much more half both either neither other such one
D two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million first
D second third dozen same
S my your his her our their its whose
P in on at for from with about into onto of by near through during without against between among under above behind
P across toward towards inside outside via per within upon beyond besides beside despite except past including below
P than
Q after before since until till as once
T to
r up out off away back down over along around together forward apart aside
C and or but nor plus &
B because when whenever while although though if unless whereas cuz coz whether wherever
W who whom what which where why how whatever whoever
n not n't never
m will would can could may might shall should must ca wo 'll 'd ought
b am is are was were be been being 'm 're
h have has had 've
d do does did
! oh wow yeah yes yep yup yay nope hey hi hello ok okay haha hahaha lol lmao omg ugh aww aw ah hmm hm uh um bye
! goodbye gosh phew anyway btw welcome whoa woah ooh hooray gee sup yo cheers nah absolutely exactly goodness
R just only please well really actually also finally already recently even honestly basically kinda sorta still always
R usually often almost nearly maybe perhaps ever again too very quite pretty rather now here instead yet sometimes ago
R twice super else somewhere anywhere everywhere nowhere longer currently soon lately mostly later seldom hardly
R barely rarely indoors outdoors abroad upstairs downstairs then forever anymore thus hence nevertheless however
R meanwhile regularly daily weekly monthly yearly
s so
J glad happy sure sorry proud afraid excited certain lucky sad surprised worried grateful thankful relieved delighted
J aware thrilled convinced confident hopeful disappointed curious scared pleased busy good great nice bad ready free
J able due early late right wrong beautiful lovely friendly lonely silly ugly likely tired bored exhausted stressed
J nervous jealous allergic pregnant sick ill available interested overwhelmed obsessed addicted fond new old big small
J little long short high low young whole entire main real different special important favorite favourite best better
J worst next last fun cool awesome amazing exciting interesting inspiring rewarding fulfilling fascinating boring
J challenging overwhelming relaxing refreshing stunning captivating surprising tiring exhausting charming
J disappointing depressing frustrating satisfying encouraging terrifying thrilling heartwarming breathtaking touching
J promising confusing embarrassing annoying shocking entertaining eager allowed unable familiar similar full empty
J clear
U people children men women folks police kids parents friends feet teeth mice
N thing things morning evening evenings mornings wedding king spring string ceiling sibling siblings ring wing weekend
N lot lots bunch couple kind sort bit news way bed seed weed shed breed bus gas class boss business glass address
N series home today tonight tomorrow yesterday time family july italy reply club stuff mom dad thanks congrats
N congratulations
"""


class Split(NamedTuple):
    """Where a contraction divides that no apostrophe shows, and its two words."""

    at: int
    words: tuple[str, str]


_BARE_NEGATIONS = "do did does is was were have has had could would should".split()
SPLITS: dict[str, Split] = {
    **{verb + "nt": Split(len(verb), (verb, "n't")) for verb in _BARE_NEGATIONS},
    "cannot": Split(3, ("can", "not")),
    "cant": Split(2, ("ca", "n't")),
    "wont": Split(2, ("wo", "n't")),
    "gonna": Split(3, ("gon", "to")),
    "wanna": Split(3, ("wan", "to")),
    "gotta": Split(3, ("got", "to")),
    "im": Split(1, ("i", "'m")),
    "ive": Split(1, ("i", "'ve")),
    "youre": Split(3, ("you", "'re")),
    "youve": Split(3, ("you", "'ve")),
    "theyre": Split(4, ("they", "'re")),
    "hes": Split(2, ("he", "'s")),
    "shes": Split(3, ("she", "'s")),
    "thats": Split(4, ("that", "'s")),
    "whats": Split(4, ("what", "'s")),
    "theres": Split(5, ("there", "'s")),
}

_TAG_BY_WORD = {word: line[0] for line in _CLASSES.strip().splitlines() for word in line[2:].split()}
_PUNCTUATION = {
    "D": "$ # \u20ac \u00a3",
    ",": "... .. , - -- ( ) [ ] \u2026 \u2013 \u2014 \uff0c \u3001",
    ".": ". ! ? \u3002 \uff01 \uff1f",
    ";": "; :",
    '"': '" \u201c \u201d',
}
TAGS: dict[str, str] = {**VERB_TAGS, **_TAG_BY_WORD, **dict.fromkeys(("bring", "sing", "swing"), "v")}
TAGS.update({"having": "g", "doing": "g", "done": "p", "gone": "p", "'s": "'"})
TAGS.update({mark: tag for tag, marks in _PUNCTUATION.items() for mark in marks.split()})

# words in -ly that are no adverbs
_ADVERBLESS = frozenset(
    "family reply fly belly bully jelly lily ally rally holly molly emily sally kelly billy".split()
)
_SINGULAR = ("ss", "us", "is", "'s")
_SUFFIXES = (("ly", 4, "R"), ("ing", 5, "g"), ("ed", 4, "k"), ("s", 3, "U"))


def guess(word: str) -> str:
    """Return the tag of a word that no list has, from its shape."""
    if not word[0].isalpha():
        return "D" if word[0].isdigit() else "_"
    if word.startswith(("re", "un")) and VERB_TAGS.get(word[2:], "z") not in "zw":
        return VERB_TAGS[word[2:]]  # recreate, unpacked
    if word in _ADVERBLESS or word.endswith(_SINGULAR):
        return "N"
    for suffix, size, tag in _SUFFIXES:
        if len(word) > size and word.endswith(suffix):
            return tag
    return "N"
