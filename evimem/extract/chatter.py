"""What is said without asserting anything: greetings, thanks, reactions, encouragement, and questions."""

from __future__ import annotations

import re

# a sentence of nothing but these words asserts nothing
_EMPTY = frozenset(
    """
    a absolutely again agree agreed ah all alright already always amazing amen an and anytime anyway as aw awesome aww bad beautiful best
    bet big bless brilliant bro btw bud but buddy bye can cheers chat chill clever cool congrats congratulations correct course
    crazy cute darling day dear definitely delicious do dope dude enjoy epic evening exactly excellent exciting fab fabulous fair fantastic
    fine for fun funny g gee glad gnight go god good goodbye goodness gorgeous gosh gotcha great guess guy guys haha hahaha happy have
    heck hello here hey hi hilarious hm hmm how huge hug hugs huh i idea impressive incredible indeed inspiring inspirational
    interesting is it its job kidding kind kinda know lets like lol lovely luck lucky ly man mate maybe me morning much my neat never
    nice night no nope not now of oh ok okay omg one ooh oops ouch outstanding perfect phenomenal phew please powerful pretty
    priceless problem quite rad really remarkable right rock sad same see sec seriously so soon sorry sounds special splendid spot
    stunning such super sure surely sweet take terrible terrific thank thankful thanks that the then there these things think this those
    thoughtful though thx tho thought time to too totally touching tough tragic true ty ugh uh uhh um very wait way welcome well what whoa
    wholesome will wise woah wonderful wonders word wow wowza yay yeah yep yes yikes you your yum yummy yup 's 'm 're 'll n't
    """.split()
)
_REACTION = re.compile(
    r"""^(?:[\W_]*(?:wow|oh|aww?|hey|yeah|yes|haha|hi|hello|well|that's|absolutely|definitely|totally|\w+,)[\W_]+){0,3}
    (?:(?:i'?\s?a?m|we're|we\sare|so|really|very|i'm\sso|super)?\s*(?:so\s|really\s|very\s|super\s)*
        (?:glad|happy|sorry|proud|thrilled|pleased|excited|sad)\s(?:to\shear|for\syou|of\syou|you(?:'re|\sare)?\s(?:liked?|enjoy(?:ed)?|like|love|loved|think|found))
    |(?:thank\syou|thanks|thx|cheers)\b
    |(?:you(?:'re|\sare)\s(?:welcome|amazing|awesome|the\sbest|so\s\w+|right|incredible|an?\s\w+(?:\s\w+)?)[\W_]*$)
    |(?:nice|great|good|lovely|wonderful|awesome)\s(?:to\s(?:see|hear|meet|chat|talk)|seeing|hearing|talking|chatting|catching|job|work|luck)
    |(?:(?:it\s(?:was|is)|it's|it's\sbeen|was|been)\s(?:so\s|really\s)?(?:nice|great|good|lovely|wonderful|awesome)\s(?:to\s)?(?:see|hear|meet|chat|talk|catch)\w*)
    |(?:good\sluck|take\scare|keep\s(?:it\sup|up|going|me|at|pushing|on|rocking|shining|doing)|let\sme\sknow|let's\s|no\sproblem|my\spleasure|sounds\s|see\sya
        |see\syou|talk\s(?:to\syou|soon|later)|catch\syou|have\s(?:a|fun)\b|enjoy\s|best\sof\sluck|congrat\w*|happy\s(?:birthday|anniversary|holidays|new\syear)
        |way\sto\sgo|you\sgot\sthis|you've\sgot\sthis|hats\soff|good\s(?:morning|night|evening|point|idea|call)|long\stime|hang\sin|stay\s(?:safe|strong|positive)|how\s(?:nice|cool|sweet|lovely|exciting|wonderful|fun|great|awesome)
        |what\san?\s|i\s(?:know,?\sright|bet\b|hear\syou|get\sit|see[\W_]*$|agree|appreciate\s(?:it|you|that|your|the)|can\simagine)|of\scourse|(?:i\s)?(?:hope|wish)\syou|(?:i\s)?can't\swait\sto\s(?:see|hear)(?:\s(?:it|you|them|more|about|how|what)|[\W_]*$)
        |tell\sme|check\s(?:it|this|them)\sout|look\sat\s(?:this|that|it)|(?:here's|here\sis)\s(?:a\s)?(?:pic|photo|picture)|you\s(?:should|can)\sbe\s(?:so\s|really\s)?proud))
    """,
    re.IGNORECASE | re.VERBOSE,
)
_WORD = re.compile(r"[^\W_]+|['’](?:s|m|re|ll|ve)\b|n['’]t\b")
_INVERTED = re.compile(r"^[!,CR_s\"]*(?:[PW][DNSMU]{0,3}|R?W)*(?:[mdbh]n?)(?:[iyetqx]|[DS][NMUJwzg']+|[NM])")
_WH = re.compile(r"^[!,CR_\"]*W(?![iyet])")


def is_empty(sentence: str) -> bool:
    """Return whether a sentence is only greeting, thanks, reaction or encouragement."""
    plain = sentence.replace("’", "'")
    if _REACTION.match(plain) is not None:
        return True
    for word in _WORD.findall(plain):
        low = word.lower()
        if low not in _EMPTY:
            return bool(word[0].isupper() and _is_vocative(plain, word))
    return True


def _is_vocative(sentence: str, name: str) -> bool:
    """Return whether everything but a name that is called out is empty: "That's great, Ben!"."""
    rest = re.sub(rf"(?:^|[,\s]){re.escape(name)}(?=[\s,.!?]*$|,|!)", " ", sentence, count=1)
    return rest != sentence and all(word.lower() in _EMPTY for word in _WORD.findall(rest))


def is_question(sentence: str, tags: str) -> bool:
    """Return whether a sentence asks, by its mark or by its word order."""
    if sentence.rstrip("\"')”’ *_").endswith(("?", "？")):
        return True
    if _WH.match(tags) is not None and not sentence.endswith("!"):
        return _INVERTED.match(tags) is not None
    return _INVERTED.match(tags) is not None and tags.lstrip("!,CR_s\"")[:1] in ("m", "d") 


_TAG_QUESTION = re.compile(r"[,;][CRs!]*(?:[mdbh]n?[iyetq]|W|[vwL]|[CR!]?\.$|(?:y[vw])?\.$)")


def statement_before_question(tags: str) -> int | None:
    """Return where the asking part of "I got a puppy, want to see her?" starts, when a statement stands before it."""
    if _INVERTED.match(tags) is not None or tags[:1] in ("W", "y"):
        return None
    found = _TAG_QUESTION.search(tags)
    return None if found is None else found.start()
