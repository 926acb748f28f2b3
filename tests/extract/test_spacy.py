"""Facts from a parse where it is better than the rules; the contract is in test_contract.py."""

import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from evimem import Turn
from evimem.extract.rule_extractor import RuleExtractor
from evimem.extract.spacy_extractor import SpacyExtractor
from evimem.protocols import Extractor

from .pipeline import head_index, parses, pipeline, spacy_extractor


def facts(extractor: Extractor, text: str) -> list[tuple[str, str, str]]:
    found = extractor.extract(Turn("t", "s", "Mira", text, datetime(2024, 3, 12)))
    return [(fact.subject, fact.predicate, fact.object) for fact in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The old man the boats.", []),
        ("Hope thinks the plan works.", []),
        ("Ana is a nurse.", [("Ana", "is", "a nurse")]),
        ("The Cure played in Porto.", [("The Cure", "played in", "Porto")]),
        ("The man who lives upstairs plays chess and sings.", []),
        ("I want to move to Porto.", []),
        (
            "My sister moved to Porto, and I sold the car.",
            [("Mira's sister", "moved to", "Porto"), ("Mira", "sold", "the car")],
        ),
        ("When I was a kid, I lived in Chile.", [("Mira", "lived in", "Chile")]),
    ],
)
def test_facts_follow_the_parse(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert facts(spacy_extractor(), text) == expected


def test_a_sentence_without_a_parse_is_read_by_the_rules() -> None:
    text = "My aunt bought a kiosk."
    assert text not in parses()
    assert facts(spacy_extractor(), text) == facts(RuleExtractor(), text)


def trained() -> Language:
    """Return a pipeline that spaCy trained for a few seconds on our sentences."""
    spacy.util.fix_random_seed(7)
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger")
    nlp.add_pipe("parser", config={"min_action_freq": 1})
    examples = []
    for words in parses().values():
        doc = Doc(nlp.vocab, [word.text for word in words])
        gold = {
            "tags": [word.tag for word in words],
            "heads": [head_index(words, at) for at in range(len(words))],
            "deps": ["ROOT" if word.head == "-" else word.dep for word in words],
        }
        examples.append(Example.from_dict(doc, gold))
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(60):
        nlp.update(examples, sgd=optimizer)
    return nlp


@pytest.mark.nightly
def test_a_trained_parser_gives_80_percent_of_the_same_facts() -> None:
    learnt, written = SpacyExtractor(trained()), SpacyExtractor(pipeline())
    same = [facts(learnt, text) == facts(written, text) for text in parses()]
    assert sum(same) >= 0.8 * len(same), dict(zip(parses(), same, strict=True))


def test_the_example_of_the_page_runs_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    section = (
        (Path(__file__).parents[2] / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## Dependencies")[2]
    )
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(spacy, "load", lambda name: pipeline())  # no pipeline is downloaded for a test
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["facts"] == [("The Cure", "played in", "Porto", "spacy")]


def test_without_spacy_the_error_names_the_extra() -> None:
    code = "import sys; sys.modules['spacy'] = None; import evimem.extract.spacy_extractor"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtra" in ran.stderr
    assert "pip install 'evimem[spacy]'" in ran.stderr
