"""Ways in which a file goes bad between two openings, each named and reproducible."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

PAGE = 4096


@dataclass(frozen=True, slots=True)
class Damage:
    """What is done to the bytes of one file."""

    name: str
    apply: Callable[[bytes], bytes]


def truncations(size: int, random: Random) -> Iterator[Damage]:
    """Truncate at every page, and one byte before and after some of them."""
    cuts = list(range(0, size, PAGE))
    beside = [cut + one for cut in random.sample(cuts, min(64, len(cuts))) for one in (-1, 1) if cut + one > 0]
    for cut in sorted({*cuts, *beside}):
        yield Damage(f"cut to {cut} of {size} bytes", lambda data, cut=cut: data[:cut])  # type: ignore[misc]


def flips(size: int, count: int, random: Random, below: int | None = None) -> Iterator[Damage]:
    """Flip single bits, anywhere or in the first bytes."""
    for _ in range(count):
        at, bit = random.randrange(min(size, below or size)), random.randrange(8)
        yield Damage(f"bit {bit} of byte {at} of {size}", lambda data, at=at, bit=bit: _flipped(data, at, bit))  # type: ignore[misc]


def letters(content: bytes, texts: Sequence[str], count: int, random: Random) -> Iterator[Damage]:
    """Flip one of the low bits of a character in some of the texts, wherever a file holds them."""
    for text in random.sample(texts, count):
        found = [match.start() for match in re.finditer(re.escape(text.encode()), content)]
        assert found, f"{text!r} does not stand in the file"
        inside, bit = random.randrange(len(text.encode())), random.randrange(5)

        def spoil(data: bytes, places: Sequence[int] = found, inside: int = inside, bit: int = bit) -> bytes:
            for place in places:
                data = _flipped(data, place + inside, bit)
            return data

        yield Damage(f"bit {bit} of byte {inside} of {text!r}", spoil)


def heads_of_pages(size: int, random: Random) -> Iterator[Damage]:
    """Flip a bit in the first bytes of each page, its header."""
    for page in range(0, size, PAGE):
        at, bit = page + random.randrange(12), random.randrange(8)
        yield Damage(f"bit {bit} of byte {at} of {size}", lambda data, at=at, bit=bit: _flipped(data, at, bit))  # type: ignore[misc]


def headers(size: int, length: int = 128) -> Iterator[Damage]:
    """Flip one bit in each of the first bytes."""
    for at in range(min(size, length)):
        yield Damage(f"bit {at % 8} of byte {at}", lambda data, at=at: _flipped(data, at, at % 8))  # type: ignore[misc]


def pages(size: int, count: int, random: Random) -> Iterator[Damage]:
    """Zero a page, swap two, put one in another's place, put noise in one, add noise at the end."""
    last = size // PAGE
    for _ in range(count):
        one, other = random.randrange(last) * PAGE, random.randrange(last) * PAGE
        noise = random.randbytes(PAGE)
        yield Damage(f"page at {one} zeroed", lambda data, one=one: _put(data, one, bytes(PAGE)))  # type: ignore[misc]
        yield Damage(f"page at {one} is noise", lambda data, one=one, noise=noise: _put(data, one, noise))  # type: ignore[misc]
        yield Damage(
            f"page at {other} is that at {one}",
            lambda data, one=one, other=other: _put(data, other, data[one : one + PAGE]),  # type: ignore[misc]
        )
        yield Damage(
            f"pages at {one} and {other} swapped",
            lambda data, one=one, other=other: _put(  # type: ignore[misc]
                _put(data, one, data[other : other + PAGE]), other, data[one : one + PAGE]
            ),
        )
    yield Damage("a page of noise at the end", lambda data: data + random.randbytes(PAGE))
    yield Damage("some zeros at the end", lambda data: data + bytes(1000))


def _flipped(data: bytes, at: int, bit: int) -> bytes:
    return _put(data, at, bytes([data[at] ^ (1 << bit)]))


def _put(data: bytes, at: int, piece: bytes) -> bytes:
    return data[:at] + piece + data[at + len(piece) :]
