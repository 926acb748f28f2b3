import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evimem.errors import ImportFailed
from evimem.loaders import conversation

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.lists(VALUES, max_size=6), st.integers(1, 7), st.booleans())
def test_the_elements_are_those_of_the_list_whatever_the_chunks(values, chunk, spaced):
    original, conversation._CHUNK = conversation._CHUNK, chunk
    data = json.dumps(values, indent=2 if spaced else None, ensure_ascii=not spaced).encode()
    try:
        assert list(conversation.elements(io.BytesIO(data), "a list")) == values
    finally:
        conversation._CHUNK = original


@pytest.mark.parametrize("data", [b'[{"a": 1}, {"b": 2', b'[{"a": 1}', b'["never closed', b'["escaped \\'])
def test_a_list_cut_short_is_an_error_and_not_a_shorter_list(data):
    with pytest.raises(ImportFailed, match=r"truncated|not JSON"):
        list(conversation.elements(io.BytesIO(data), "export.json"))


def test_an_endless_element_is_given_up(monkeypatch):
    monkeypatch.setattr(conversation, "_CHUNK", 64)
    monkeypatch.setattr(conversation, "MAX_ELEMENT", 256)
    with pytest.raises(ImportFailed, match="has an element of over 0 MiB"):
        list(conversation.elements(io.BytesIO(b'["' + b"x" * 1000 + b'"]'), "export.json"))
