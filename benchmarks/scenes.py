"""Conversations of three kinds from a seed, with questions: chat by turns, chat in bursts, a user and an assistant.

They are no benchmark of quality, because their language is poor. They show whether a change that helps one kind of
conversation costs another: where facts stand in an answer that repeats nothing of its question, in one message of a
burst, or as an aside in a long request.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from evimem import Turn

KINDS = ("turns", "bursts", "assistant")
PEOPLE = ("Mira", "Tomas")


@dataclass(frozen=True)
class Topic:
    """Something people tell of: `about` says which one is meant, `value` is what is asked for."""

    about: str
    value: str
    lead: str  # names `about` without the value
    ask: str  # asks for the value
    reply: str  # gives the value and repeats nothing
    tell: str  # gives both
    question: str  # asked later, about {who}


TOPICS = (
    Topic(
        "grandmother|neighbours|choir|boss|landlord|twins|book club|football team"
        "|chess circle|plumber|new colleagues|godson",
        "lentil stew|plum cake|mushroom risotto|fish soup|lasagna|pumpkin pie|dumplings|paella",
        "I had the {about} over for supper on Sunday.",
        "Nice! What did you make for them?",
        "A huge {value}, and everyone wanted seconds.",
        "I cooked {value} for the {about} on Sunday and they loved it.",
        "What did {who} cook for the {about}?",
    ),
    Topic(
        "kitten|puppy|parrot|pony|tortoise|rabbit|goat|hamster|donkey|canary|ferret|gecko",
        "Pickle|Captain|Juno|Biscuit|Nimbus|Olive|Radar|Tango",
        "So, we finally adopted a {about}!",
        "Oh wonderful! Does it have a name yet?",
        "{value}, after a character in a comic.",
        "The {about} we adopted is called {value} now.",
        "What is the name of {who}'s {about}?",
    ),
    Topic(
        "summer|winter|spring|honeymoon|jubilee|autumn|easter|carnival|reunion|long weekend|sabbatical|new year",
        "Lisbon|Bergen|Naxos|Tallinn|Galway|Trieste|Madeira",
        "The plans for the {about} are done at last.",
        "Where are you heading then?",
        "{value}, in a tiny house near the harbour.",
        "For the {about} trip we settled on {value}.",
        "Where did {who} plan to go for the {about}?",
    ),
    Topic(
        "school fair|wedding|street festival|retirement party|open stage"
        "|christening|harvest feast|village dance|book launch|museum night|charity gala|jazz evening",
        "violin|accordion|trumpet|ukulele|clarinet|cello|banjo",
        "They want me on stage at the {about}.",
        "Really, and what will you be doing up there?",
        "Playing the {value}, badly, in front of everyone.",
        "I will play the {value} at the {about}, wish me luck.",
        "Which instrument did {who} play at the {about}?",
    ),
    Topic(
        "aunt Rosa|uncle Piet|old Mr. Hale|cousin Dana|the Bauers"
        "|professor Lin|nurse Ivy|Frau Keller|coach Amir|the Lindqvists|Sister Agnes|captain Boone",
        "brass telescope|chess set|rocking chair|stamp album|sewing machine|record player",
        "You would not believe it, {about} sent a parcel for my birthday.",
        "What was in it?",
        "A {value}, wrapped in old newspapers.",
        "{about} gave me a {value} for my birthday, I am still amazed.",
        "What did {who} get from {about}?",
    ),
    Topic(
        "knee|wrist|back|shoulder|ankle|hip|elbow|neck|heel|thumb|rib|hamstring",
        "swimming|archery|fencing|rowing|climbing|badminton",
        "My {about} hurts again, the doctor says I must change something.",
        "So what will you do instead of running?",
        "{value}, twice a week, with a trainer.",
        "Because of my {about} I switched to {value} this month.",
        "Which sport did {who} take up because of the {about}?",
    ),
)
CHATTER = (
    "How was your week?|Busy, but fine. Yours?",
    "The weather has been awful here.|Same, I have not seen the sun since Monday.",
    "I slept badly again.|Maybe less coffee in the evening?",
    "Work was a mess today.|Oh no, do you want to talk about it?",
    "Did you watch the match?|Only the last ten minutes, sadly.",
    "The train was late again.|As always on that line.",
    "I should really clean the kitchen.|Mine is worse, believe me.",
    "Thanks for listening the other day.|Any time, you know that.",
    "My phone keeps dying.|Mine too, they are all the same.",
    "We should meet soon.|Yes, let us find a day!",
    "I finished that long novel at last.|How was the ending?",
    "The garden is a jungle by now.|Send me a picture!",
)
FILLERS = ("haha", "wait", "ok so", "you know", "honestly", "one sec", "anyway", "lol", "hmm")
REACTIONS = ("That sounds lovely.", "No way!", "I am so glad for you.", "Tell me more some day.", "Good for you!")
ERRANDS = (
    "compare two insurance offers",
    "write a polite complaint to my internet provider",
    "plan my week better",
    "rename the columns of a spreadsheet",
    "choose a mattress",
    "understand my heating bill",
    "prepare a job interview",
    "fix a squeaking door",
    "tidy the pictures on my laptop",
    "learn to read sheet music",
    "pick a running shoe",
)
ADVICE = (
    "Start by writing down what matters most to you and rank it.",
    "It helps to set a small budget and a deadline.",
    "Ask for a written confirmation before you agree to anything.",
    "Many people overlook the costs of later changes.",
    "Keep a copy of every message, with its date.",
    "Try one change at a time, so that you see what it does.",
    "If you cook, travel or play music on the side, plan for that time as well.",
    "A friend or a cousin can look over it.",
    "For a birthday, a trip or a party, prepare a week ahead.",
    "Your neighbours may have had the same question.",
    "Take breaks, drink enough water and stretch your shoulder and your wrist.",
    "Repeat the step until it feels natural.",
)


@dataclass(frozen=True)
class Scene:
    """A conversation and the questions about it, each with the ids of the turns that state the answer."""

    kind: str
    turns: tuple[Turn, ...]
    questions: tuple[tuple[str, frozenset[str]], ...]


@dataclass
class _Script:
    """A conversation that is being generated."""

    chance: random.Random
    turns: list[Turn] = field(default_factory=list)
    questions: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    session: int = 0
    now: datetime = datetime(2023, 1, 9, 18)

    def open(self) -> None:
        self.session += 1
        self.now += timedelta(days=self.chance.randint(2, 9))

    def say(self, speaker: str, text: str) -> str:
        self.now += timedelta(minutes=1)
        name = f"s{self.session}:{len(self.turns)}"
        self.turns.append(Turn(name, f"s{self.session}", speaker, text, self.now))
        return name


def scene(kind: str, seed: int = 0) -> Scene:
    """Generate a conversation of a kind, with one question per fact."""
    script = _Script(random.Random(f"{kind} {seed}"))
    facts = list(_facts(script.chance))
    script.chance.shuffle(facts)
    for first in range(0, len(facts), 2):
        script.open()
        for topic, about, value in facts[first : first + 2]:
            _STYLES[kind](script, topic, about, value)
    return Scene(kind, tuple(script.turns), tuple(script.questions))


def _facts(chance: random.Random) -> Iterator[tuple[Topic, str, str]]:
    for topic in TOPICS:
        for about in topic.about.split("|"):
            yield topic, about, chance.choice(topic.value.split("|"))


def _turns(script: _Script, topic: Topic, about: str, value: str) -> None:
    who, other = script.chance.sample(PEOPLE, 2)
    _small_talk(script, script.say)
    gold = _tell(script, script.say, topic, (who, other), about, value)
    script.questions.append((topic.question.format(who=who, about=about), gold))
    script.say(other, script.chance.choice(REACTIONS))
    _small_talk(script, script.say)


def _bursts(script: _Script, topic: Topic, about: str, value: str) -> None:
    who, other = script.chance.sample(PEOPLE, 2)

    def say(speaker: str, text: str) -> str:
        pieces = text.replace(", ", ",|").replace(". ", ".|").replace("! ", "!|").split("|")
        names = {}
        for piece in pieces:
            if script.chance.random() < 0.4:
                script.say(speaker, script.chance.choice(FILLERS))
            names[piece] = script.say(speaker, piece)
        return names[next((piece for piece in pieces if value in piece), pieces[-1])]

    _small_talk(script, say)
    gold = _tell(script, say, topic, (who, other), about, value)
    script.questions.append((topic.question.format(who=who, about=about), gold))
    say(other, script.chance.choice(REACTIONS))
    _small_talk(script, say)


def _assistant(script: _Script, topic: Topic, about: str, value: str) -> None:
    chance = script.chance
    errand, other = chance.sample(ERRANDS, 2)
    aside = topic.tell.format(about=about, value=value)
    asks = f"Could you help me to {errand}? I have no idea where to begin and little time this week."
    text = f"{asks} By the way, {aside} What would you do first?" if chance.random() < 0.5 else f"{aside} {asks}"
    gold = script.say("user", text)
    script.say("assistant", _advice(chance, errand))
    script.say("user", f"Thanks. And how would you {other}?")
    script.say("assistant", _advice(chance, other))
    question = topic.question.format(who="I", about=about).replace("I's", "my")
    script.questions.append((question, frozenset({gold})))


def _advice(chance: random.Random, errand: str) -> str:
    lines = [f"Happy to help you {errand}."] + [chance.choice(ADVICE) for _ in range(chance.randint(10, 18))]
    return " ".join(lines) + " Shall I go into detail?"


def _tell(
    script: _Script, say: Callable[[str, str], str], topic: Topic, people: tuple[str, str], about: str, value: str
) -> frozenset[str]:
    who, other = people
    form = script.chance.randrange(3)
    if form == 0:
        return frozenset({say(who, topic.tell.format(about=about, value=value))})
    say(who, topic.lead.format(about=about))
    say(other, topic.ask)
    return frozenset({say(who, topic.reply.format(value=value))})


def _small_talk(script: _Script, say: Callable[[str, str], str]) -> None:
    for line in script.chance.sample(CHATTER, 2):
        first, second = script.chance.sample(PEOPLE, 2)
        for speaker, text in zip((first, second), line.split("|"), strict=True):
            say(speaker, text)


_STYLES: dict[str, Callable[[_Script, Topic, str, str], None]] = {
    "turns": _turns,
    "bursts": _bursts,
    "assistant": _assistant,
}
