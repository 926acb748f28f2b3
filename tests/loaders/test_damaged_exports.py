import json
from contextlib import suppress
from copy import deepcopy

import pytest

from evimem.errors import ImportFailed
from evimem.loaders import load

from .test_exports import EXPORTS

WRONG = (None, 7, "x", [], {}, [7], {"x": 7}, True)


def places(value, path=()):
    yield path
    rows = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in rows:
        yield from places(below, (*path, key))


def with_value(export, path, value):
    whole = deepcopy([export])
    at = whole
    for key in (0, *path)[:-1]:
        at = at[key]
    at[(0, *path)[-1]] = value
    return whole[0]


@pytest.mark.parametrize("name", sorted(set(EXPORTS) - {"whatsapp"}))
def test_any_value_in_any_place_gives_turns_or_a_typed_error(name, tmp_path):
    file, read = tmp_path / "given", 0
    for path in places(EXPORTS[name]):
        for value in WRONG:
            file.write_text(json.dumps(with_value(EXPORTS[name], path, value)))
            with suppress(ImportFailed):
                read += sum(len(list(one.turns)) for one in load(file, name, refuse=lambda item: None))
    assert read > 0
