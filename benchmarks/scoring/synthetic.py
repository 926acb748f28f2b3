"""A labelled conversation from a seed: facts, updates, what nobody told, false premises, and chains of relations.

It measures the harness and how figures move with size and depth; its sentences are far plainer than what people write,
so that its figures say nothing of conversations.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from evimem.types.values import Turn

from .labelled_chats import ChatQuestion, LabelledChat

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_START = datetime(2024, 1, 8, 9, 0)
_PER_SESSION = 25
_STEP = timedelta(minutes=3)
_SESSION_STEP = timedelta(hours=22)
_UPDATED = 0.5  # share of the attributes that change, of those that can
_UNTOLD = 0.25  # share of the attributes of a person that are never told, and asked for


@dataclass(frozen=True, slots=True)
class _Statement:
    speaker: str
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class _Asked:
    text: str
    answer: str | None
    keys: tuple[str, ...]
    kind: str


def synthetic_chat(seed: int, *, turns: int = 200, people: int = 6, depth: int = 3) -> LabelledChat:
    """Return a group chat of about this many turns, at least those that tell something.

    Every person tells some attributes, some anew, and is asked about one of them with a value that was never told; a
    chain of each length from 2 to `depth` starts at a person: its question names the person and the relations, and
    needs as many turns.
    """
    draw = random.Random(f"evimem {seed}")
    names = _names(draw, people * (depth + 1))
    told, asked = _attributes(draw, names[:people])
    for length in range(2, depth + 1):
        for number in range(people):
            some = [names[number], *draw.sample(names[people:], length - 1)]
            chained, question = _chain(draw, some, f"chain{length}.{number}")
            told += chained
            asked.append(question)
    asked += _premises(random.Random(f"evimem premises {seed}"), names[:people], told)
    spoken, place = _spoken(draw, told, turns, names[:people])
    questions = tuple(
        ChatQuestion(one.text, one.answer, (), tuple(place[key] for key in one.keys), one.kind) for one in asked
    )
    return LabelledChat(f"seed-{seed}", "synthetic", spoken, questions)


def _attributes(draw: random.Random, people: Sequence[str]) -> tuple[list[list[_Statement]], list[_Asked]]:
    """Return runs of statements, each in its order, and the questions about them."""
    told: list[list[_Statement]] = []
    asked: list[_Asked] = []
    for who in people:
        for name, form in _tables()["attributes"].items():
            question = form["asks"].format(who=who)
            if draw.random() < _UNTOLD:
                asked.append(_Asked(question, None, (), "never told"))
                continue
            values = draw.sample(form["values"], 2)
            run = [_Statement(who, draw.choice(form["told"]).format(value=values[0]), f"{who}.{name}")]
            if form["anew"] and draw.random() < _UPDATED:
                run.append(_Statement(who, draw.choice(form["anew"]).format(value=values[1]), f"{who}.{name}.anew"))
            told.append(run)
            asked.append(_Asked(question, values[len(run) - 1], (run[-1].key,), "update" if len(run) > 1 else "fact"))
    return told, asked


def _premises(draw: random.Random, people: Sequence[str], told: Sequence[Sequence[_Statement]]) -> Iterator[_Asked]:
    """Yield a question for each person that supposes another value of something that the person told."""
    for who in people:
        runs = [run for run in told if run[0].key in {f"{who}.{name}" for name in _tables()["attributes"]}]
        if runs:
            run = draw.choice(runs)
            form = _tables()["attributes"][run[0].key.rpartition(".")[2]]
            others = [value for value in form["values"] if not any(value in one.text for one in run)]
            yield _Asked(form["premise"].format(who=who, value=draw.choice(others)), None, (), "false premise")


def _chain(draw: random.Random, people: Sequence[str], key: str) -> tuple[list[list[_Statement]], _Asked]:
    """Return the statements of a chain, each of them a run of its own, and the question about its end."""
    relations = draw.sample(_tables()["relations"], len(people) - 1)
    form = _tables()["attributes"]["city"]
    value = draw.choice(form["values"])
    links = [
        _Statement(who, f"{who} here: my {relation} is {other}.", f"{key}.{number}")
        for number, (who, relation, other) in enumerate(zip(people[:-1], relations, people[1:], strict=True))
    ]
    links.append(_Statement(people[-1], draw.choice(form["told"]).format(value=value), f"{key}.end"))
    whose = people[0]
    for relation in relations:
        whose = f"the {relation} of {whose}"
    keys = tuple(one.key for one in links)
    return [[one] for one in links], _Asked(form["asks"].format(who=whose), value, keys, f"chain of {len(keys)}")


def _spoken(
    draw: random.Random, told: Sequence[Sequence[_Statement]], turns: int, people: Sequence[str]
) -> tuple[tuple[Turn, ...], Mapping[str, str]]:
    """Return the turns with filler between the statements, and the id of the turn of each."""
    runs = [list(run) for run in told]
    order = [number for number, run in enumerate(runs) for _ in run]
    draw.shuffle(order)  # the statements of one run keep their order
    statements = [runs[number].pop(0) for number in order]
    total = max(turns, len(statements))
    places = dict(zip(sorted(draw.sample(range(total), len(statements))), statements, strict=True))
    found: dict[str, str] = {}
    spoken: list[Turn] = []
    for number in range(total):
        session, within = divmod(number, _PER_SESSION)
        one = places.get(number)
        if one:
            found[one.key] = f"t{number}"
        speaker, text = (one.speaker, one.text) if one else (draw.choice(people), _filler(draw))
        time = _START + session * _SESSION_STEP + within * _STEP
        spoken.append(Turn(f"t{number}", f"s{session}", speaker, text, time))
    return tuple(spoken), found


def _filler(draw: random.Random) -> str:
    form = _tables()["filler"]
    sentence: str = draw.choice(form["said"])
    return sentence.format(thing=draw.choice(form["things"]), state=draw.choice(form["states"]))


def _names(draw: random.Random, count: int) -> list[str]:
    def endless() -> Iterator[str]:
        while True:
            yield "".join(draw.choice(_tables()[part]) for part in ("first", "middle", "last"))

    found: dict[str, None] = {}
    for name in endless():
        found[name] = None
        if len(found) == count:
            break
    return list(found)


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads((files("benchmarks.scoring") / "synthetic.toml").read_text(encoding="utf-8"))
