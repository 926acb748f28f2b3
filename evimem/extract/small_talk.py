"""What is said without asserting anything: greetings, thanks, reactions, encouragement, and questions."""

from __future__ import annotations

import re
from itertools import product

from .tagging import Tagged

# a sentence of nothing but these words, and names called out, asserts nothing
_EMPTY = frozenset(
    """
    's 're a absolutely admirable adorable again agree agreed ah all alright already also always amazing amen an and
    anytime anyway are as at aw awesome awful aww be beautiful best big bless brave bravo breathtaking brilliant bro
    btw bud buddy but bye can cheers clever cool correct course crazy creative cute dang darling dear definitely
    delicious do does dope dude enjoyable epic evening exactly excellent exciting fab fabulous fair fantastic fine
    for fun funny gee glad go god good goodbye goodness gorgeous gosh gotcha great guess guy guys ha haha hahaha
    heartbreaking heartwarming heck hello here hey hi hilarious hm hmm honestly horrible how hug huge hugs huh idea
    impressive incredible indeed inspirational inspiring interesting is it its just kidding know like lol look
    looking looks lovely luck lucky magical majestic man mate maybe me morning much must n't neat never nice night
    no nope not now of oh ok okay omg on one ooh oops or ouch outstanding perfect phenomenal phew please powerful
    pretty priceless prob problem question quite rad really refreshing relatable remarkable rewarding right rock
    rocks rough sad same scary see seriously shucks smart so soon sorry sound sounds special splendid spot stressful
    stunning such super sure surely sweet terrible terrific thank thankful thanks that the then there thing things
    think this tho those though thoughtful thx to too totally touching tough tragic true truly ty ugh uh uhh um
    unfortunate very wait way welcome well what whoa wholesome wild wise woah wonderful worries wow wowza yay yeah
    yep yes yikes yo you your yum yummy yup
    """.split()
)
_INTENSIFIERS = frozenset(
    "so really very super just too also always truly honestly definitely totally absolutely pretty".split()
)
_GOOD = "nice great good lovely wonderful awesome amazing".split()
# a sentence that opens so only greets, thanks, reacts or encourages; intensifiers are left out
_OPENINGS = """
got it/i 'll let you know
thanks/thank you/thx/cheers/much appreciated/kudos/congrats/congratulations/well done/way to go/hats off
best of luck/long time/i appreciate it/i appreciate you/i appreciate that/i appreciate your/glad you/glad to hear
glad i could/glad it/glad that/happy you/happy to hear/happy to help/happy for/proud of you/sorry to hear
sorry about/sorry for/sorry you/sorry that/excited for you/thrilled for you/stoked for you/rooting for you
i 'm glad you/i 'm glad to hear/i 'm happy for you/i 'm happy you/i 'm happy to hear/i 'm proud of you
i 'm excited for you/i 'm sorry to hear/i 'm sorry you/i 'm sorry about/i 'm sorry for/i 'm sorry that
i 'm thrilled for you/i 'm rooting for you/i 'm here for you/i 'm cheering/i 'm all ears/i 'm looking forward to it
i 'm looking forward to hearing/how nice/how cool/how sweet/how lovely/how exciting/how wonderful/how fun/how great
how awesome/what a/what an/talk soon/talk later/chat soon/see you/see ya/catch you/no problem/no worries/my pleasure
of course/sure thing/sounds/happy birthday/happy anniversary/happy holidays/happy new year/merry christmas/same here
me too/me neither/never mind/you got this/you 've got this/you can do/you 're welcome/you 're right/you 're the best
you 're amazing/you 're awesome/you 're incredible/you 're an inspiration/you rock/you bet/you deserve
you should be proud/you must be/must be/must feel/must have been/that sounds/that looks/it sounds like you
not at all/not much/here 's to/i know right/i bet/i hear you/i get it/i feel you/i agree/i can imagine
i can only imagine/i believe in you/could n't agree more/i could n't agree more/i could n't have said
ca n't wait to see/ca n't wait to hear/ca n't wait to talk/i ca n't wait to see/i ca n't wait to hear
i ca n't wait to talk/looking forward to hearing/looking forward to it/hope you/hope your/hope it/hope that
hope things/hope all/hope everything/wish you/i hope you/i hope your/i hope all/i hope everything/i hope things
i wish you/love that/love it/love your/i love that for you
"""
_MEETING = "to hear/to see you/to meet you/to chat/to talk/to catch/seeing/hearing/talking/chatting/catching".split("/")
_PRAISED = "job work luck morning night evening point idea call news".split()
_LONGEST = 12  # tokens of a sentence that is empty altogether, or of what opens one
_WHOLE = frozenset("i see/i know/i understand/i do/i am/i will/i did/i guess/i think/i hope".split("/"))

# what calls out before the sentence proper: "Oh, hey Ben,"
_CALL = re.compile(r"(?:[!R_,.]|[MN](?=[,.])|(?<=!)[MN](?=[!,.]))*")
_INVERTED = re.compile(r"[!,C_s\"]*(?:P?W[NUMJD]{0,3}R?)?[mdbh]n?(?:[iyetqx]|[DS][NMUJwzg']+|[NM])")
_ASIDE = re.compile(r"[,;][CRs!]*(?:[mdbh]n?[iyetq]|W|[vwL]|[CRJ!]\.|y[vw]\.)")
_CLOSING = "\"')*_ \u2019\u201d"


def _by_first_word() -> dict[str, tuple[str, ...]]:
    phrases = {phrase for line in _OPENINGS.strip().splitlines() for phrase in line.split("/")}
    leads = ("", "it 's ", "it was ", "it 's been ", "been ")
    phrases |= {f"{lead}{good} {meeting}" for lead, good, meeting in product(leads, _GOOD, _MEETING)}
    phrases |= {f"{good} {thing}" for good, thing in product(_GOOD, _PRAISED)}
    found: dict[str, tuple[str, ...]] = {}
    for phrase in sorted(phrases):
        first = phrase.split(" ", 1)[0]
        found[first] = (*found.get(first, ()), phrase + " ")
    return found


_OPENINGS_BY_WORD = _by_first_word()


def is_empty(sentence: Tagged) -> bool:
    """Return whether a sentence is only greeting, thanks, reaction or encouragement."""
    tags = sentence.tags
    called = _CALL.match(tags)
    start = called.end() if called is not None else 0
    words = [
        word
        for word, tag in zip(sentence.words[start : start + _LONGEST], tags[start:], strict=False)
        if tag not in '.,;"_' and word not in _INTENSIFIERS
    ]
    if _EMPTY.issuperset(words) or (len(words) < 4 and " ".join(words) in _WHOLE):
        return len(tags) <= start + _LONGEST
    openings = _OPENINGS_BY_WORD.get(words[0])
    if openings is not None and f"{' '.join(words)} ".startswith(openings):
        return True
    return "M" in tags and _only_calls(sentence, start)


def _only_calls(sentence: Tagged, start: int) -> bool:
    """Return whether what is not empty in a sentence are names called out: "That's great, Ben!"."""
    tags = sentence.tags
    return all(
        word in _EMPTY
        or tags[index] in ".,;_!"
        or (tags[index] == "M" and (tags[index - 1] in ",!M" or tags[index + 1 : index + 2] == ","))
        for index, word in enumerate(sentence.words)
        if index >= start
    )


def is_question(sentence: Tagged, start: int, end: int) -> bool:
    """Return whether a sentence asks, by its mark or by its word order."""
    if sentence.text[start:end].rstrip(_CLOSING).endswith(("?", "\uff1f")):
        return True
    if _INVERTED.match(sentence.tags) is None or sentence.words[-1] == "!":
        return False
    return sentence.tags.lstrip('!,CR_s"')[:1] in ("m", "d", "b", "h", "W", "P")


def statement_end(sentence: Tagged) -> int | None:
    """Return the token at which "I got a puppy, want to see her?" starts to ask, None where it asks from the start."""
    tags = sentence.tags
    if _INVERTED.match(tags) is not None or tags.lstrip("!,CR_")[:1] in ("W", "y"):
        return None
    found = _ASIDE.search(tags)
    return None if found is None else found.start()
