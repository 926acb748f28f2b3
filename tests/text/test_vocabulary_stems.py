from evimem.embedding.static_embedder import SHIPPED, WordPiece
from evimem.text.terms import stem_pieces, vocabulary_stems


def test_the_shipped_table_holds_the_stems_of_the_shipped_vocabulary():
    """A change of the stemmer or of the vocabulary fails here until scripts/stem_vocabulary.py is run again."""
    wordpiece = WordPiece.load(SHIPPED.with_name("vocabulary.txt"))
    assert list(vocabulary_stems()) == stem_pieces(wordpiece.pieces(range(len(wordpiece))))


def test_only_whole_words_have_a_stem():
    assert stem_pieces(["[UNK]", "##ing", "7", "!", "adopted", "went"]) == ["", "", "", "", "adopt", "go"]
