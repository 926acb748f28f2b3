"""Write evimem/text/data/vocabulary_stems.txt: the stems of the shipped embedding's vocabulary, a line each."""

from __future__ import annotations

from evimem.db.atomic_files import replace_with
from evimem.embedding.static_embedder import SHIPPED, WordPiece
from evimem.text.terms import TABLE, stem_pieces


def main() -> None:
    wordpiece = WordPiece.load(SHIPPED.with_name("vocabulary.txt"))
    stems = stem_pieces(wordpiece.pieces(range(len(wordpiece))))
    with replace_with(TABLE) as file:
        file.write(("\n".join(stems) + "\n").encode())


if __name__ == "__main__":
    main()
