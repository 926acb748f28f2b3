"""Products of vectors are what numpy's own are, whatever the parts that they are computed in."""

import numpy as np
import pytest

from evimem.types import vectors
from evimem.types.vectors import all_products, products


@pytest.mark.parametrize("large", [0, vectors._THREADED_PRODUCTS])
@pytest.mark.parametrize(("some", "others"), [(0, 5), (1, 700), (3, 0), (9, 801), (1100, 7)])
def test_products_are_those_of_the_whole_matrices(some, others, large, monkeypatch):
    monkeypatch.setattr(vectors, "_THREADED_PRODUCTS", large)
    chance = np.random.default_rng(1)
    rows, columns = (chance.standard_normal((count, 256)).astype(np.float32) for count in (some, others))
    np.testing.assert_allclose(all_products(rows, columns), rows @ columns.T, atol=1e-4)
    for vector in columns[:2]:
        np.testing.assert_allclose(products(rows, vector), rows @ vector, atol=1e-4)
