"""A search for erased content: every form a text or vector may take, in every byte of the files of a memory."""

import base64
import json
import os
import unicodedata
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from evimem.text.terms import terms
from evimem.types.vectors import pack

Needles = dict[str, bytes]


def forms(text: str) -> Needles:
    """Return the byte strings a text may be stored as, by name."""
    spelled = {
        "as it is": text,
        "lower case": text.lower(),
        "folded": text.casefold(),
        **{form: unicodedata.normalize(form, text) for form in ("NFKC", "NFD")},
        "escaped": json.dumps(text)[1:-1],
        **{f"term {term}": term for term in terms(text)},
    }
    bytes_ = {name: value.encode() for name, value in spelled.items()}
    bytes_ |= {f"UTF-16 {end}": text.encode(f"utf-16-{end}") for end in ("le", "be")}
    coded = text.encode()  # base64 depends on where a text begins: its ends, which mix with what is around, are cut off
    return bytes_ | {f"base64 from {at}": base64.b64encode(b"." * at + coded)[4 if at else 0 : -4] for at in range(3)}


def vector_forms(vector: np.ndarray) -> Needles:
    """Return the byte strings a vector may be stored as, by name."""
    packed, scale = pack(vector)
    restored = np.frombuffer(packed, np.int8).astype(np.float32) * np.float32(scale)
    floats = {
        "float32": vector.astype("<f4").tobytes(),
        "float32 of unit": (restored / np.linalg.norm(restored)).astype("<f4").tobytes(),
    }
    return {**floats, "int8": bytes(packed)}


def hits(needles: Needles, folders: Iterable[Path]) -> list[str]:
    """Return which needles are in which files, deleted ones that this process still holds open included."""
    found = []
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    for file in (*files, *_deleted_but_open()):
        try:
            content = file.read_bytes()
        except OSError:
            continue
        found += [
            f"{name} in {file.name} ({content.count(needle)}x)" for name, needle in needles.items() if needle in content
        ]
    return found


def _deleted_but_open() -> list[Path]:
    return [handle for handle, file in open_handles().items() if file.endswith("(deleted)") and "evimem" in file]


def open_handles() -> dict[Path, str]:
    """Return each open file of this process by its handle; none where the system does not list them."""
    handles = Path("/proc/self/fd")
    return {one: os.readlink(one) for one in handles.iterdir() if one.is_symlink()} if handles.is_dir() else {}
