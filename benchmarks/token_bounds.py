"""Write what words and characters cost in the dearest tokenizer: `python -m benchmarks.token_bounds FOLDER`.

FOLDER holds cl100k, o200k, llama3 and qwen as `NAME.tiktoken` files (a token in base64 and its rank a line); the
package `tiktoken` must be installed. Prints, for each kind of text, the bound over the dearest count and how often it
is below it.
"""

from __future__ import annotations

import argparse
import base64
import random
import re
import string
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import tiktoken

from evimem.embedding.token_bound import FILE, LISTED_CHARACTERS, UNLISTED_COST, token_bound

from .scoring.labelled_chats import read_chats

HERE = Path(__file__).parent
_ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_LETTERS, _SPACES = r"|[^\r\n\p{L}\p{N}]?\p{L}+|", r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_CASED = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + f"{_ENDINGS}?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + f"{_ENDINGS}?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
PATTERNS = {
    "cl100k": _ENDINGS + _LETTERS + r"\p{N}{1,3}" + _SPACES,
    "o200k": _CASED,
    "llama3": _ENDINGS + _LETTERS + r"\p{N}{1,3}" + _SPACES,
    "qwen": _ENDINGS + _LETTERS + r"\p{N}" + _SPACES,
}
SCRIPTS = {
    "Latin beyond ASCII": (0xC0, 0x24F), "Greek": (0x391, 0x3C9), "Cyrillic": (0x410, 0x44F), "Hebrew": (0x5D0, 0x5EA),
    "Arabic": (0x621, 0x64A), "Devanagari": (0x905, 0x94D), "Tamil": (0xB85, 0xBCD), "Thai": (0xE01, 0xE4F),
    "kana": (0x3041, 0x30FA), "ideographs": (0x4E00, 0x9FFF), "Hangul": (0xAC00, 0xD7A3), "emoji": (0x1F300, 0x1FAFF),
}  # fmt: skip


def dearest(folder: Path) -> Callable[[str], int]:
    """Return what counts a text with the tokenizer that makes most of it."""
    encodings = []
    for name, pattern in PATTERNS.items():
        lines = (folder / f"{name}.tiktoken").read_bytes().splitlines()
        ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, filter(None, lines))}
        encodings.append(tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={}))
    return lambda text: max(len(encoding.encode_ordinary(text)) for encoding in encodings)


def costs(count: Callable[[str], int]) -> bytes:
    """Return a byte for each piece of the shipped vocabulary, then two bits for each character."""
    pieces = (FILE.parent / "vocabulary.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    words = bytearray(len(pieces))
    for number, piece in enumerate(pieces):
        word = piece.removeprefix("##")
        if re.fullmatch("[a-z]+", word):
            forms = [word] * 4 if piece != word else [f" {word}", word, f" {word.capitalize()}", word.capitalize()]
            each = [count(form) for form in forms]
            words[number] = (
                UNLISTED_COST if max(each) > 4 else sum((cost - 1) << 2 * place for place, cost in enumerate(each))
            )
    characters = bytearray(LISTED_CHARACTERS // 4)
    for code in range(LISTED_CHARACTERS):
        cost = 3 if code < 0x80 or 0xD800 <= code < 0xE000 else count(chr(code))
        characters[code >> 2] |= (cost - 1) << 2 * (code & 3)
    return bytes(words + characters)


def samples(draw: random.Random) -> Iterator[tuple[str, list[str]]]:
    """Yield kinds of text."""
    for chat in read_chats(HERE / "chats"):
        yield chat.name, [turn.text for turn in chat.turns]
    for name, (first, last) in SCRIPTS.items():
        yield name, [_drawn(draw, [chr(code) for code in range(first, last + 1)], 60) for _ in range(600)]
    yield "random letters", [_drawn(draw, string.ascii_lowercase, 30) for _ in range(3_000)]
    yield "base64", [_drawn(draw, string.ascii_letters + string.digits + "+/", 200) for _ in range(500)]
    signed = "https://files.example/a.jpg?X-Signature={}&X-Date=20240312T182000Z"
    yield "signed URLs", [signed.format(_drawn(draw, "0123456789abcdef", 80)) for _ in range(500)]


def _drawn(draw: random.Random, characters: str | list[str], most: int) -> str:
    return "".join(draw.choice(characters) for _ in range(draw.randint(1, most)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ranks", metavar="FOLDER", type=Path)
    parser.add_argument("--write", action="store_true", help="write the file that ships")
    options = parser.parse_args()
    count = dearest(options.ranks)
    if options.write:
        FILE.write_bytes(zlib.compress(costs(count), 9))
    for name, texts in samples(random.Random(1)):
        pairs = [(token_bound(text), count(text)) for text in texts]
        below = sum(bound < most for bound, most in pairs)
        print(f"{name}: {sum(bound for bound, _ in pairs) / sum(most for _, most in pairs):.2f}, below in {below}")


if __name__ == "__main__":
    main()
