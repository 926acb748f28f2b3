"""Unit vectors as stored: int8 with one scale a row, a quarter of float32; cosines agree to four digits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..types.vectors import Vectors

Packed = tuple[NDArray[np.int8], float]


def pack(vector: Vectors) -> Packed:
    """Return a vector, shape (dimension,), as int8 values and a scale: float32 ~ int8 * scale."""
    scale = float(np.abs(vector).max()) / 127
    if scale == 0:
        return np.zeros(len(vector), np.int8), 0.0
    return np.rint(vector / scale).astype(np.int8), float(np.float32(scale))


def is_packed(packed: Packed) -> bool:
    """Return whether stored values are as `pack` leaves them: the largest is 127, or all are 0."""
    values, scale = packed
    if scale == 0:
        return not values.any()
    return bool(np.isfinite(scale) and scale > 0 and np.abs(values.astype(np.int16)).max() == 127)


def unpack(data: bytes, scale: float) -> Vectors:
    """Return the vector that `pack` packed."""
    quantized: NDArray[np.int8] = np.frombuffer(data, dtype=np.int8)
    return quantized.astype(np.float32) * np.float32(scale)
