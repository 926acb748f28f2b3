"""The file format of a static embedding: int8 rows with one scale each, as safetensors, and a vocabulary file.

Row i of the embedding is `vectors[i] * scale[i]`, for the piece on line i (from 0) of vocabulary.txt.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from ..db.atomic_files import replace_with
from ..errors import EmbedderError

VOCABULARY = "vocabulary.txt"
_LENGTH_BYTES = 8
_LARGEST = 127
_TENSORS: dict[str, tuple[str, np.dtype[Any], int]] = {
    "scale": ("F32", np.dtype("<f4"), 1),
    "vectors": ("I8", np.dtype("i1"), 2),
}


@dataclass(frozen=True, slots=True)
class Quantized:
    """A matrix as one byte a value: row i is `vectors[i] * scale[i]`."""

    vectors: NDArray[np.int8]
    scale: NDArray[np.float32]


def quantize(matrix: NDArray[Any]) -> Quantized:
    """Round every row to 255 levels of its own largest value."""
    rows = np.asarray(matrix, dtype=np.float32)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError(f"expected finite rows of one length, got shape {rows.shape!r}; repair the rows first")
    scale = np.abs(rows).max(axis=1, initial=0.0) / np.float32(_LARGEST)
    levels = rows / np.where(scale > 0, scale, np.float32(1))[:, None]
    return Quantized(np.clip(np.rint(levels), -_LARGEST, _LARGEST).astype(np.int8), scale.astype(np.float32))


def write_artifact(path: Path, quantized: Quantized, vocabulary: Sequence[str]) -> None:
    """Write the vectors to `path` and vocabulary.txt into the same folder."""
    if len(vocabulary) != len(quantized.vectors):
        raise ValueError(f"expected a piece a row, got {len(vocabulary)} pieces for {len(quantized.vectors)} rows")
    broken = [piece for piece in vocabulary if len(piece.splitlines()) != 1]
    if broken:
        raise ValueError(f"a piece is one line of the vocabulary, got {broken[0]!r}; drop it and its row")
    with replace_with(path) as file:
        file.write(_packed({"scale": quantized.scale, "vectors": quantized.vectors}))
    with replace_with(path.with_name(VOCABULARY)) as file:
        file.write("".join(f"{piece}\n" for piece in vocabulary).encode())


def read_artifact(path: Path) -> Quantized:
    """Read the vectors that `write_artifact` wrote, after checking the whole file. Raise EmbedderError."""
    try:
        data = path.read_bytes()
        tensors = _unpacked(data)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    return Quantized(tensors["vectors"], tensors["scale"])


def digest_artifact(path: Path) -> str:
    """Return 8 hex digits that identify the vectors and vocabulary at `path`."""
    digest = hashlib.blake2b(digest_size=4)
    try:
        for part in (path, path.with_name(VOCABULARY)):
            digest.update(part.read_bytes())
    except OSError as error:
        raise _unreadable(path, error) from error
    return digest.hexdigest()


def _unreadable(path: Path, error: Exception) -> EmbedderError:
    return EmbedderError(
        f"no static embedding could be read from {str(path)!r}: {error}; expected a .safetensors file with int8 "
        f"'vectors' and float32 'scale', and {VOCABULARY!r} in its folder, as scripts/distill_embedding.py writes them",
        retryable=False,
    )


def _packed(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    header: dict[str, Any] = {}
    end = 0
    for name, tensor in tensors.items():
        start, end = end, end + tensor.nbytes
        header[name] = {"dtype": _TENSORS[name][0], "shape": tensor.shape, "data_offsets": [start, end]}
    head = orjson.dumps(header)
    head += b" " * (-len(head) % _LENGTH_BYTES)
    body = b"".join(tensor.astype(_TENSORS[name][1]).tobytes() for name, tensor in tensors.items())
    return len(head).to_bytes(_LENGTH_BYTES, "little") + head + body


def _unpacked(data: bytes) -> dict[str, NDArray[Any]]:
    length = int.from_bytes(data[:_LENGTH_BYTES], "little")
    header = orjson.loads(data[_LENGTH_BYTES : _LENGTH_BYTES + length])
    body = memoryview(data)[_LENGTH_BYTES + length :]
    try:
        tensors = {name: _tensor(name, header[name], body) for name in _TENSORS}
    except (KeyError, TypeError) as error:
        raise ValueError(f"its header is not that of {sorted(_TENSORS)!r}") from error
    bounds = [bound for span in sorted(header[name]["data_offsets"] for name in _TENSORS) for bound in span]
    if bounds != [0, bounds[1], bounds[1], len(body)]:
        raise ValueError(f"its tensors do not lie end to end in its {len(body)} bytes")
    rows, scales = len(tensors["vectors"]), len(tensors["scale"])
    if rows != scales or not np.isfinite(tensors["scale"]).all():
        raise ValueError(f"it has {scales} scales for {rows} rows, or a scale that is not finite")
    return tensors


def _tensor(name: str, entry: Mapping[str, Any], body: memoryview) -> NDArray[Any]:
    dtype_name, dtype, dimensions = _TENSORS[name]
    shape = tuple(entry["shape"])
    start, end = entry["data_offsets"]
    if entry["dtype"] != dtype_name or len(shape) != dimensions:
        raise ValueError(f"its {name!r} is {entry!r}, expected {dtype_name} in {dimensions} dimension(s)")
    if end - start != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"its {name!r} claims bytes {start} to {end} for shape {shape!r}")
    flat: NDArray[Any] = np.frombuffer(body, dtype, math.prod(shape), start)
    return flat.reshape(shape)
