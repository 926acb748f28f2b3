"""Facts by rule and facts by a model of one turn are merged: what is said already is not stored twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evimem
from evimem.testing import ScriptedModel

SAID = "We adopted a puppy last Friday. Noah was sceptical."


@pytest.mark.parametrize(
    ("fact", "kept"),
    [
        ({"subject": "Mira", "predicate": "adopt", "object": "puppy", "when": "last Friday"}, False),
        ({"subject": "mira", "predicate": "adopted", "object": "a puppy", "when": ""}, False),
        ({"subject": "Mira", "predicate": "adopted", "object": "a sceptical puppy", "when": ""}, True),
        ({"subject": "Noah", "predicate": "adopted", "object": "a puppy", "when": ""}, True),
    ],
)
def test_a_models_fact_is_kept_where_it_says_more_than_those_by_rule(
    tmp_path: Path, fact: dict[str, Any], kept: bool
) -> None:
    reply = {"facts": [{**fact, "quote": "adopted a puppy last Friday", "kind": "event"}]}
    with evimem.open(tmp_path / "m.evimem", llm=ScriptedModel(then=lambda request: json.dumps(reply))) as memory:
        memory.add("Mira", SAID, time="2024-03-12T18:00", id="t1")
        before = [one.text for hit in memory.search("puppy") for one in hit.facts]
        memory.enrich()
        found = [one for hit in memory.search("puppy") for one in hit.facts]
    assert [one.extractor for one in found].count("llm") == kept
    assert len(found) == len(before) + kept
