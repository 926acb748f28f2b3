"""The constants of retrieval, in one place: the same for every memory, whatever it holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each part of a score, in units of a turn that has every word of the question often (1.0).

    The kernel gives a passage a share of the words and vectors around it: `spread` of the next speaker's, falling by e
    with every `fade` passages up to `reach`; a further message of the same speaker is `burst` of a turn away, a further
    passage of the same message one, and at most `steps` passages to each side count. Words that ask count `asking` in
    the passage that asks them and `answering` in those that reply; of the vector of a passage that only asks, `echo`
    goes to the reply. Of a passage at most `questions` stems count as asking, `questions_to_assistant` where an
    assistant speaks: people describe their situation while they ask.

    Beside each constant stands the set that chose it: LoCoMo (its five development conversations), the scenes
    (generated, benchmarks/scenes.py), ours (benchmarks/chats), the strangers' (benchmarks/strangers), the users' (chats
    with an assistant that are kept apart for scoring). benchmarks/unseen has chosen none.
    """

    # BM25 (Robertson and Zaragoza 2009)
    k1: float = 1.0  # LoCoMo, where .8 to 2 are alike
    b: float = 0.7  # the scenes, for long messages; LoCoMo alone prefers .3, by less than .005
    # dialogue neighbours
    spread: float = 0.3  # LoCoMo, as the next two
    fade: float = 2.5
    reach: float = 4.0
    burst: float = 0.3  # the scenes' bursts; in LoCoMo speakers take turns
    steps: int = 10  # none: a bound, which only bursts reach
    asking: float = 0.5  # LoCoMo, as the next two
    answering: float = 1.0
    echo: float = 0.6
    questions: float = 6.0  # the users', as the next one; LoCoMo does not tell them from more
    questions_to_assistant: float = 1.0
    # words of the same meaning as those of the question
    related: float = 0.45  # LoCoMo, as the next one
    floor: float = 0.3
    # parts
    words: float = 1.0  # none: the unit
    meaning: float = 0.625  # LoCoMo, as the next one
    asks: float = 0.15
    brief: float = 0.06  # off a passage that tells nothing; LoCoMo, ours and the strangers', as the next one
    full: float = 20.0  # stems of a passage that is not brief at all; 16 to 24 gain alike
    speaker: float = 0.06  # LoCoMo
    laconic: float = 2.5  # times more, at most, for the one who says little in an unequal pair; the scenes
    several: float = 2.0  # times more where several things of one speaker are asked for; LoCoMo, no loss elsewhere
    date: float = 0.15  # LoCoMo, as the next two
    when: float = 0.06
    days: float = 7.0
    # 0 for short turns and where no assistant speaks
    tickets: float = 0.03  # off the best of several passages, times the logarithm of their number; the users' and ours
    user: float = 0.06  # the users'
    discarded: float = 100.0  # off a turn that is no longer part of its dialogue: more than all other parts together
    rule: float = 0.1  # of a standing instruction, where the question asks for something new; the users'


WEIGHTS = Weights()
BM25 = Weights(
    spread=0.0,
    asking=1.0,
    answering=0.0,
    echo=0.0,
    related=0.0,
    meaning=0.0,
    asks=0.0,
    brief=0.0,
    speaker=0.0,
    date=0.0,
    when=0.0,
    tickets=0.0,
    user=0.0,
    rule=0.0,
)
