"""Replies as models spoil them: seeded families of damage, composed one to four deep."""

import copy
import json
import random
from collections.abc import Iterator

ODD = [
    None, True, 3, -1, 0.5, 1e308, [], {}, "", "none", "x" * 1_000, "\x00", "\u202e", "\U000e0041", "日本語で答えます",
    "2024-02-30", "year 0", "in 99999999999 years", "2024-03-12T12:00+99:99", "0000-01-01", "10000-01-01", "e999",
    "e-1", "0 ", "1.0", "other-tenant:4", ["e1", None, {}, [[]]], [{"id": {"id": []}}], "NaN", "95%", "0.95 (high)",
]  # fmt: skip
WHOLE = [
    "", " ", "I can't help with that.", "<html><body>502 Bad Gateway</body></html>", "null", "[]", "{}", "{",
    "[" * 3_000, '{"a":' * 2_000, '{"name": "judge", "arguments": "{\\"tier\\": \\"exact\\"}"}', "```json\n```",
    "<think>so", 'data: {"choices":[{"delta":{"content":"{"}}]}', '{"object":"chat.completion.chunk","choices":[]}',
    "NaN", '{"tier": "' + "x" * 1_000_000 + '"}',
]  # fmt: skip


def mutants(bases: list[dict], count: int, seed: int = 1) -> Iterator[str]:
    """Yield that many spoilt replies."""
    rng = random.Random(seed)
    for _ in range(count):
        base = json.loads(json.dumps(rng.choice(bases)))
        for _ in range(rng.randint(0, 2)):
            _spoil_value(rng, base)
        text = json.dumps(base, ensure_ascii=rng.random() < 0.5)
        if rng.random() < 0.05:
            text = _cut(rng, text) + _cut(rng, json.dumps(rng.choice(bases)))
        for _ in range(rng.randint(1, 3)):
            text = rng.choice(TEXTUAL)(rng, text)
        yield text


def _spoil_value(rng: random.Random, value: object) -> None:
    """Change, rename, drop or repeat something at a random place inside."""
    while True:
        places = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
        if not places:
            return
        place = rng.choice(places)
        if isinstance(value[place], (dict, list)) and value[place] and rng.random() < 0.6:
            value = value[place]
            continue
        act = rng.random()
        if act < 0.6:
            value[place] = copy.deepcopy(rng.choice(ODD))
        elif act < 0.75 and isinstance(value, dict):
            value[f"{place}_"] = value.pop(place)
        elif act < 0.9:
            del value[place]
        elif isinstance(value, list):
            value.extend(value * rng.randint(1, 40))
        return


def _replace(rng: random.Random, text: str, old: str, new: str) -> str:
    return text.replace(old, new, rng.randint(1, 5))


def _cut(rng: random.Random, text: str) -> str:
    return text[: rng.randint(0, len(text))]


def _insert(rng: random.Random, text: str) -> str:
    at = rng.randint(0, len(text))
    return (
        text[:at]
        + rng.choice(["\ud800", "\x00", '"', "'", "\\", "{", "}", "]", ",", "\\u12", "\n", "//", "/*", ":"])
        + text[at:]
    )


TEXTUAL = [
    lambda rng, text: text,
    lambda rng, text: text,
    lambda rng, text: f"```json\n{text}\n```",
    lambda rng, text: f"Sure! Here it is:\n\n{text}\n\nAnything else?",
    lambda rng, text: f"<think>{text[:40]} hmm</think>{text}",
    lambda rng, text: "\ufeff" + text,
    lambda rng, text: text.replace('"', "'"),
    lambda rng, text: text.replace("}", ",}"),
    lambda rng, text: text.replace("{", "{ // note\n", 1),
    lambda rng, text: text + text,
    lambda rng, text: _cut(rng, text) + text,
    lambda rng, text: _replace(rng, text, "0.9", rng.choice(["NaN", "-Infinity", "9" * 5_000, "1e999", "0x1F"])),
    lambda rng, text: _replace(rng, text, '"tier"', '"tier": "none", "tier"'),
    lambda rng, text: _replace(rng, text, "e1", rng.choice(["e99", "\\ud800", "\\u0000", "E1", "[e1]"])),
    lambda rng, text: text.replace('": ', '": ' + "[" * rng.choice([1, 70, 2_000]), 1),
    lambda rng, text: text.replace("a", "a" * rng.choice([10, 1_000, 20_000]), 1),
    lambda rng, text: "\n".join(f"**{line.strip()}**" for line in text.strip("{}").split(",")),
    lambda rng, text: rng.choice(WHOLE),
    _cut,
    _insert,
    _insert,
]
