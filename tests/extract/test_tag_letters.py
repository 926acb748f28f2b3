import re

import pytest

from evimem.extract.tagging import Tag, tag_pattern

TAGS = {name: letter for name, letter in vars(Tag).items() if name.isupper()}


def test_every_tag_has_a_letter_of_its_own() -> None:
    assert all(len(letter) == 1 for letter in TAGS.values())
    assert len(set(TAGS.values())) == len(TAGS)


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("MODAL [NOT ADVERB]* BASE", "m[nR]*v"),
        ("(?P<subject> PERSONS ) NOT{0,2}", "(?P<subject>[iye])n{0,2}"),
        ("[^ COMMA END ]+ END", r"[^,.]+\."),
        ("(?<![BE HAVE]) TO # the infinitive\n BASES? $", "(?<![bh])T[vwL]?$"),
    ],
)
def test_a_pattern_of_names_becomes_a_pattern_of_letters(named: str, expected: str) -> None:
    assert tag_pattern(named) == expected
    re.compile(tag_pattern(named))


@pytest.mark.parametrize("named", ["VERBS", "[BE VERBS]"])
def test_an_unknown_tag_is_an_error(named: str) -> None:
    with pytest.raises(KeyError, match="VERBS"):
        tag_pattern(named)
