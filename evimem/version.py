"""The version of evimem."""

__version__ = "0.1.0"
