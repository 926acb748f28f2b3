"""Write evimem/index/data/related.bin: the nearest words of each word in the shipped embedding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evimem.db.atomic_files import replace_with
from evimem.embedding.static_embedder import SHIPPED, WordPiece, read_artifact
from evimem.index.prepared_query import ENTRY, TABLE, WIDTH, is_word
from evimem.text.terms import stem


def relate(pieces: tuple[str, ...], vectors: NDArray[np.float32]) -> NDArray[np.void]:
    """Compute the table: for each word, the nearest of the words with other stems, one a stem."""
    words = [number for number, piece in enumerate(pieces) if is_word(piece)]
    rows = vectors[words]
    rows = rows / np.maximum(np.sqrt(np.square(rows).sum(axis=1, keepdims=True)), np.finfo(np.float32).tiny)
    stems = [stem(pieces[number]) for number in words]
    table = np.zeros((len(pieces), WIDTH), ENTRY)
    for start in range(0, len(words), 512):
        cosines = rows[start : start + 512] @ rows.T
        for offset, near in enumerate(np.argsort(-cosines, axis=1, kind="stable")[:, : 8 * WIDTH]):
            others: dict[str, int] = {}
            for at in near.tolist():
                others.setdefault(stems[at], at)
            others.pop(stems[start + offset], None)
            for slot, at in enumerate(list(others.values())[:WIDTH]):
                level = max(0, round(255 * float(cosines[offset, at])))
                table[words[start + offset], slot] = (words[at], level)
    return table


def main() -> None:
    wordpiece = WordPiece.load(SHIPPED.with_name("vocabulary.txt"))
    quantized = read_artifact(SHIPPED)
    vectors = quantized.vectors.astype(np.float32) * quantized.scale[:, None]
    table = relate(tuple(wordpiece.pieces(range(len(wordpiece)))), vectors)
    with replace_with(TABLE) as file:
        file.write(table.tobytes())


if __name__ == "__main__":
    main()
