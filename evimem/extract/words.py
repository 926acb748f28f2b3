"""Words that carry grammar: the closed classes of English and what chat makes of them, one tag a word."""

from __future__ import annotations

from .verbs import TAGS as VERB_TAGS

_CLASSES = {
    "i": "i we",
    "y": "you ya yall thou",
    "e": "he she they",
    "t": "it this these those everyone everybody someone somebody anyone anybody nobody everything something anything nothing",
    "q": "that",
    "x": "there",
    "o": "me him us them em myself himself herself ourselves themselves itself yourself yourselves",
    "D": "a an the some any every each no another several many few all most much more half both either neither other such "
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million "
    "first second third dozen same",
    "S": "my your his her our their its whose",
    "P": "in on at for from with about into onto of by near through during without against between among under above behind "
    "across toward towards inside outside via per within upon beyond besides beside despite except past including below than",
    "Q": "after before since until till as once",
    "T": "to",
    "r": "up out off away back down over along around together forward apart aside",
    "C": "and or but nor &",
    "B": "because when whenever while although though if unless whereas cause cuz coz whether wherever",
    "W": "who whom what which where why how whatever whoever",
    "n": "not n't never",
    "m": "will would can could may might shall should must ca wo 'll 'd ought",
    "b": "am is are was were be been being 'm 're ai",
    "h": "have has had 've",
    "d": "do does did",
    "!": "oh wow yeah yes yep yup yay nope hey hi hello ok okay haha hahaha lol lmao omg ugh aww aw ah hmm hm uh um please thanks "
    "congrats congratulations bye goodbye gosh phew anyway well btw welcome whoa woah ooh hooray gee sup yo cheers nah absolutely "
    "exactly goodness",
    "R": "just really actually also finally already recently even honestly basically kinda sorta still always usually often "
    "almost nearly maybe perhaps ever again too very quite pretty rather now here instead yet sometimes ago twice super "
    "else somewhere anywhere everywhere nowhere longer currently soon lately only mostly later seldom hardly barely rarely "
    "currently indoors outdoors abroad upstairs downstairs then forever anymore thus hence nevertheless however meanwhile "
    "regularly daily weekly monthly yearly",
    "s": "so",
    "J": "glad happy sure sorry proud afraid excited certain lucky sad surprised worried grateful thankful relieved delighted "
    "aware thrilled convinced confident hopeful disappointed curious scared pleased busy good great nice bad ready free able "
    "due early late right wrong beautiful lovely friendly lonely silly ugly likely tired bored exhausted stressed nervous "
    "jealous allergic pregnant sick ill available interested overwhelmed obsessed addicted "
    "fond new old big small little long short high low young whole entire main "
    "real different special important favorite favourite best better worst next last only fun cool awesome amazing",
    "U": "people children men women folks police kids parents friends feet teeth mice",
    "N": "thing things morning evening evenings mornings wedding king spring string ceiling sibling siblings ring wing weekend "
    "lot lots bunch couple kind sort bit news way bed seed weed shed breed bus gas class boss business glass address series always "
    "home today tonight tomorrow yesterday time family july italy reply club stuff mom dad",
}

# contractions that a word boundary does not show, and spellings without the apostrophe
SPLITS: dict[str, tuple[int, str, str]] = {
    "cannot": (3, "can", "not"),
    "gonna": (3, "gon", "to"),
    "wanna": (3, "wan", "to"),
    "gotta": (3, "got", "to"),
    "im": (1, "i", "'m"),
    "ive": (1, "i", "'ve"),
    "dont": (2, "do", "n't"),
    "didnt": (3, "did", "n't"),
    "doesnt": (4, "does", "n't"),
    "isnt": (2, "is", "n't"),
    "wasnt": (3, "was", "n't"),
    "werent": (4, "were", "n't"),
    "havent": (4, "have", "n't"),
    "hasnt": (3, "has", "n't"),
    "hadnt": (3, "had", "n't"),
    "couldnt": (5, "could", "n't"),
    "wouldnt": (5, "would", "n't"),
    "shouldnt": (6, "should", "n't"),
    "cant": (2, "ca", "n't"),
    "wont": (2, "wo", "n't"),
    "youre": (3, "you", "'re"),
    "theyre": (4, "they", "'re"),
    "youve": (3, "you", "'ve"),
    "thats": (4, "that", "'s"),
    "whats": (4, "what", "'s"),
    "hes": (2, "he", "'s"),
    "shes": (3, "she", "'s"),
    "theres": (5, "there", "'s"),
}

_FUNCTION = {word: tag for tag, words in _CLASSES.items() for word in words.split()}
TAGS: dict[str, str] = {**VERB_TAGS, **_FUNCTION, **dict.fromkeys("bring sing swing".split(), "v")}
TAGS.update({"having": "g", "'s": "'", "’s": "'", "ta": "T"})

_ADVERBLESS = frozenset("family italy july reply fly belly bully jelly lily ally rally holly molly emily sally kelly billy".split())
_SINGULAR_S = ("ss", "us", "is", "'s")


def guess(word: str) -> str:
    """Return the tag of a word that no list has, from its shape."""
    first = word[0]
    if first.isdigit():
        return "D"
    size = len(word)
    if word.endswith("ly") and size > 4 and word not in _ADVERBLESS:
        return "R"
    if word.endswith("ing") and size > 5:
        return "g"
    if word.endswith("ed") and size > 4:
        return "k"
    if word.endswith("s") and size > 3 and not word.endswith(_SINGULAR_S):
        return "U"
    return "N"
