"""How a path is given."""

from os import PathLike

AnyPath = str | PathLike[str]
