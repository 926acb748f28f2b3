"""The few lines that help the next reply: one search, and a packing within a token budget."""
