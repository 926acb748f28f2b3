"""Make the embedding that evimem ships from the weights of the sentence transformer that it comes from.

    python -m venv distill && distill/bin/pip install 'model2vec[distill,quantization]==0.10.0' .
    distill/bin/python scripts/distill_embedding.py all-MiniLM-L6-v2/ static-minilm-256.safetensors

The first argument is a folder with model.safetensors, config.json and the tokenizer; nothing is downloaded. It
writes a .safetensors file with a vocabulary.txt next to it, and prints the facts that NOTICE states. Use a separate
environment, because model2vec needs older versions of its dependencies. Other versions and processors may flip
or turn the principal components, so compare cosines between texts and not the bytes of two runs.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from evimem.embedding.static_embedder import LENGTH_BYTES, TENSORS, VOCABULARY, Quantized

WEIGHTS = "model.safetensors"
LARGEST = 127
SHIPPED_FROM = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # all-MiniLM-L6-v2, see NOTICE


@dataclass(frozen=True, slots=True)
class Distilled:
    """A row for each piece of a vocabulary."""

    matrix: NDArray[Any]
    vocabulary: tuple[str, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Distill, write and report."""
    options = _parser().parse_args(arguments)
    found = _sha256(options.upstream / WEIGHTS)
    if options.sha256 not in {"any", found}:
        sys.stderr.write(
            f"{str(options.upstream / WEIGHTS)!r} has sha256 {found!r}, expected {options.sha256!r}; "
            "get the revision that NOTICE names, or pass --sha256 any\n"
        )
        return 1
    distilled = distill(options.upstream, options.dimension, options.sif)
    loss = write(distilled, options.output)
    sys.stdout.write(f"upstream {found}\nrows {len(distilled.vocabulary)}, mean cosine to float16 {loss:.5f}\n")
    for path in (options.output, options.output.with_name(VOCABULARY)):
        sys.stdout.write(f"{_sha256(path)}  {path.name}  {path.stat().st_size:,} bytes\n")
    return 0


def distill(upstream: Path, dimension: int, sif: float) -> Distilled:
    """Send every piece of the upstream vocabulary through the model; reduce and weight what comes out."""
    os.environ["HF_HUB_OFFLINE"] = "1"  # read when these are imported, so they are imported here
    from model2vec.distill import distill_from_model  # noqa: PLC0415
    from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415

    model = AutoModel.from_pretrained(upstream, local_files_only=True)
    tokenizer = AutoTokenizer.from_pretrained(upstream, local_files_only=True)
    static = distill_from_model(
        model, tokenizer, device="cpu", pca_dims=dimension, sif_coefficient=sif, quantize_to="float16"
    )
    numbers = static.tokenizer.get_vocab()
    return Distilled(static.embedding, tuple(sorted(numbers, key=numbers.__getitem__)))


def write(distilled: Distilled, output: Path) -> float:
    """Write the artifact; return the mean cosine between its rows and those that were distilled."""
    quantized = quantize(distilled.matrix)
    write_artifact(output, quantized, distilled.vocabulary)
    before = distilled.matrix.astype(np.float64)
    after = quantized.vectors.astype(np.float64)  # the scale of a row has no part in its direction
    norms = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    return float((np.sum(before * after, axis=1)[norms > 0] / norms[norms > 0]).mean())


def quantize(matrix: NDArray[Any]) -> Quantized:
    """Round every row to 255 levels of its own largest value."""
    rows = np.asarray(matrix, dtype=np.float32)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError(f"expected finite rows of one length, got shape {rows.shape!r}; repair the rows first")
    scale = np.abs(rows).max(axis=1, initial=0.0) / np.float32(LARGEST)
    levels = rows / np.where(scale > 0, scale, np.float32(1))[:, None]
    return Quantized(np.clip(np.rint(levels), -LARGEST, LARGEST).astype(np.int8), scale.astype(np.float32))


def write_artifact(path: Path, quantized: Quantized, vocabulary: Sequence[str]) -> None:
    """Write the vectors to `path`, as safetensors, and vocabulary.txt into the same folder."""
    if len(vocabulary) != len(quantized.vectors) or any(len(piece.splitlines()) != 1 for piece in vocabulary):
        raise ValueError(f"expected a piece of one line a row, got {len(vocabulary)} for {len(quantized.vectors)} rows")
    header, body = dict[str, Any](), b""
    for name, tensor in (("scale", quantized.scale), ("vectors", quantized.vectors)):
        data = tensor.astype(TENSORS[name][1]).tobytes()
        span = [len(body), len(body) + len(data)]
        header[name] = {"dtype": TENSORS[name][0], "shape": tensor.shape, "data_offsets": span}
        body += data
    head = orjson.dumps(header)
    head += b" " * (-len(head) % LENGTH_BYTES)
    path.write_bytes(len(head).to_bytes(LENGTH_BYTES, "little") + head + body)
    path.with_name(VOCABULARY).write_text("".join(f"{piece}\n" for piece in vocabulary), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Make a static embedding from a sentence transformer's weights.")
    parser.add_argument("upstream", type=Path, help=f"folder with {WEIGHTS}, config.json and the tokenizer")
    parser.add_argument("output", type=Path, help=f"the .safetensors file to write; {VOCABULARY} goes next to it")
    parser.add_argument("--dimension", type=int, default=256, help="principal components to keep (256)")
    parser.add_argument("--sif", type=float, default=1e-4, help="smooth inverse frequency coefficient (1e-4)")
    parser.add_argument("--sha256", default=SHIPPED_FROM, help=f"digest {WEIGHTS} must have, or 'any'")
    return parser


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
