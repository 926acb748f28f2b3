"""Texts as sentences, words and stems; names by word boundary."""
