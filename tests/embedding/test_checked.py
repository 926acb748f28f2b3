"""What an embedder may return, and what becomes of everything else."""

import numpy as np
import pytest

from evimem.embedding.checked_embedder import CallableEmbedder, embed_checked
from evimem.errors import DimensionMismatch, EmbedderError, InvalidQuery

TEXTS = ["one", "two"]


def embedder(result):
    return CallableEmbedder(lambda texts: result, "theirs", 2)


@pytest.mark.parametrize(
    "rows",
    [
        [[3, 4], [0, 0]], np.array([[3e-30, 4e-30], [0, 0]]), np.array([[3e30, 4e30], [0, 0]]),
        np.asfortranarray(np.array([[0.6, 0.8], [0, 0]], dtype=np.float32)),
        np.array([[3, 4], [0, 0]], dtype=np.float16), iter([np.array([3.0, 4.0]), np.array([0.0, 0.0])]),
    ],
)  # fmt: skip
def test_rows_become_float32_and_unit_and_zeros_stay(rows):
    given = embed_checked(embedder(rows), TEXTS)
    np.testing.assert_allclose(given, [[0.6, 0.8], [0, 0]], atol=1e-6)
    assert given.dtype == np.float32
    assert given.flags.c_contiguous


@pytest.mark.parametrize(
    "rows",
    [
        None, [], [[1, 0]], [[1, 0], [1, 0], [1, 0]], [1.0, 0.0], [[[1, 0]], [[1, 0]]], [[1, 0], [1]],
        [["a", "b"], ["c", "d"]], [[1, np.nan], [1, 0]], [[1, -np.inf], [1, 0]], [[1e300, 1], [1, 0]],
    ],
)  # fmt: skip
def test_anything_else_is_an_error_that_names_the_embedder(rows):
    with pytest.raises(EmbedderError, match="'theirs'"):
        embed_checked(embedder(rows), TEXTS)


def test_rows_of_another_width_are_a_dimension_mismatch():
    with pytest.raises(DimensionMismatch) as caught:
        embed_checked(embedder([[1, 0, 0], [0, 1, 0]]), TEXTS)
    assert (caught.value.got, caught.value.expected) == (3, 2)


def test_an_embedder_that_raises_is_an_error_without_the_text_it_quotes():
    def fail(texts):
        raise RuntimeError(f"cannot embed {texts}")

    with pytest.raises(EmbedderError, match="RuntimeError") as caught:
        embed_checked(CallableEmbedder(fail, "theirs", 2), ["my secret"])
    assert "secret" not in str(caught.value)
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert caught.value.retryable


@pytest.mark.parametrize(("name", "dimension"), [("", 2), ("x", 0)])
def test_an_embedder_without_name_or_dimension_is_refused(name, dimension):
    with pytest.raises(InvalidQuery, match="name and a positive dimension"):
        CallableEmbedder(len, name, dimension)
