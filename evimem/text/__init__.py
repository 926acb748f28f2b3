"""Words: sentences, terms, stems, and names by word boundary."""
