"""The Raw layer: verbatim turns."""
