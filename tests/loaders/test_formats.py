from datetime import datetime

import pytest

from evimem.errors import ImportFailed
from evimem.loaders import load
from evimem.loaders.formats import FORMATS, detect

BEGINNINGS = {
    '{"speaker": "Mira", "text": "Hi", "time": "2024-03-12"}\n': "turns",
    '[{"role": "user", "content": "Hi"}]': "messages",
    '{"messages": [{"role": "user", "content": "Hi"}]}': "messages",
    '{\n  "messages": [\n': "messages",
    '{"role": "user", "content": "Hi"}\n': "messages",
    '[{"title": "x", "mapping": {}}]': "chatgpt",
}


@pytest.mark.parametrize(("text", "name"), BEGINNINGS.items())
def test_a_format_is_seen_from_the_beginning_of_a_file(tmp_path, text, name):
    path = tmp_path / "a"
    path.write_text(text, encoding="utf-8")
    assert detect(path) == name


@pytest.mark.parametrize("text", BEGINNINGS)
def test_a_path_may_be_a_string(tmp_path, text):
    path = tmp_path / "a"
    path.write_text(text, encoding="utf-8")

    def read(given):
        try:
            return [list(one.turns) for one in load(given, start=datetime(2024, 3, 12))]
        except ImportFailed as error:
            return str(error)

    assert detect(str(path)) == detect(path)
    assert read(str(path)) == read(path)


def test_an_export_of_evimem_is_pointed_to_its_own_command(tmp_path):
    path = tmp_path / "export.jsonl"
    path.write_text('{"evimem":1}\n')
    with pytest.raises(ImportFailed, match="evimem import"):
        detect(path)


def test_a_format_that_does_not_exist_is_refused_with_those_that_do(tmp_path):
    with pytest.raises(ImportFailed, match=f"no format 'csv'; expected one of {', '.join(FORMATS)}"):
        list(load(tmp_path / "a", "csv"))
