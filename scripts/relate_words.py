"""Write evimem/index/data/related.bin: the nearest words of each word in the shipped embedding."""

from __future__ import annotations

import numpy as np

from evimem.db.atomic_files import replace_with
from evimem.embedding.static_embedder import SHIPPED, WordPiece, read_artifact
from evimem.index.prepared_query import TABLE, relate


def main() -> None:
    wordpiece = WordPiece.load(SHIPPED.with_name("vocabulary.txt"))
    quantized = read_artifact(SHIPPED)
    vectors = quantized.vectors.astype(np.float32) * quantized.scale[:, None]
    table = relate(tuple(wordpiece.pieces(range(len(wordpiece)))), vectors)
    with replace_with(TABLE) as file:
        file.write(table.tobytes())


if __name__ == "__main__":
    main()
