"""The words of a turn as they stand in a prompt: made harmless, cut, and facts about the people they mean."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property

from ..types.stored import ALSO_KNOWN_AS, BY_RULE, statements
from ..types.values import Fact, Turn
from .memory_fence import QUOTED
from .names import SourceWords
from .sentences import Range, merge_ranges, sentences_around
from .terms import terms

GAP = 2  # characters between two sentences: a space, a blank line
UNIT = 240  # characters of a passage's smallest part: a sentence, or a piece of a longer one
WEIGHED = 24_576  # characters of a text that are looked through: more than the offline judge reads of a turn
_PIECE = re.compile(rf".{{1,{UNIT}}}(?=\s|\Z)|.{{1,{UNIT}}}", re.DOTALL)
MARK = QUOTED  # opens each line that somebody wrote; no line of ours begins with it
MEANT, MOST_MEANT = 2, 120  # facts that are shown beside a turn for what they name, and characters of one

# Controls, what Unicode lets a renderer ignore (zero-width, bidirectional, variation and tag characters, fillers),
# and lone surrogates: they can hide text.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
# A joiner belongs to the text after a letter of a script that is written with it (Arabic, those of India and further
# east), and between two parts of an emoji; so does a Mongolian variation selector. Alone: a row of them hides text.
_SCRIPTS = "\u0620-\u08ff\u0900-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"
_EMOJI = "\u2190-\u2bff\u3030\u303d\U0001f000-\U0001faff"
_JOINERS = "\u180b-\u180f\u200c\u200d"
_JOINER = re.compile(
    f"[{_JOINERS}]{{2,}}|(?<![{_SCRIPTS}])(?:[\u180b-\u180f\u200c]|\u200d(?![{_EMOJI}])|(?<![{_EMOJI}])\u200d)"
)


def remove_invisible(text: str) -> str:
    """Return a text without invisible characters, but for those that its script needs."""
    return text if text.isascii() and text.isprintable() else _JOINER.sub("", _INVISIBLE.sub("", text))


_TAGS = "question|requirements|wishes|evidence|item|earlier|turn|missing|facts|memory|system|assistant|user"
_ANGLE = "[<\uff1c\ufe64\u2039\u27e8\u3008]"  # an opening angle bracket, or a character that looks like one
# Names of control tokens that look like any other tag or any other word in capitals.
_TOKENS = (
    r"[bes]o[a-z]{1,2}|unk|pad|sep|cls|[gs]?mask|sys|role|think\w*|tools?|human|bot|model|developer|image|img|audio|video"
    r"|endoftext|(?-i:s)|(?:unused|special|reserved|extra)\d+"
)
_CAPITALS = (
    r"INST|SYS(?:TEM)?|USER|ASSISTANT|BOT|THINK|ARGS|IMG|AUDIO|VIDEO|TOOLS?|[gs]?MASK|SEP|CLS|PAD|UNK|PREFIX|MIDDLE"
    r"|SUFFIX|[BE]O[ST]"
)
_JOINED = r"[^\W_]*[_:\u2581][\w:\u2581]*"  # a name of parts: image_soft_token, seed:bos
# What opens a tag of ours, the name of a chat role, or a marker that a chat template writes for itself: many servers
# read it in a message as in their own template, so that a turn could end the user's part and open one of the system.
# A marker is known by its shape: a pipe inside its brackets, a name of parts or a reserved one and nothing else between
# angle brackets, capitals between square ones, a tilde among brackets (MiniMax).
_MARKER = re.compile(
    rf"{_ANGLE}(?=\s*[/\\]?\s*(?:{_TAGS})\b"
    rf"|<?\s*[|\uff5c]|\w+[|\uff5c]>|/?(?:{_TOKENS}|{_JOINED})>|<\s*/?\w+>>|(?:function|parameter)=)"
    rf"|\[(?=[|\uff5c]\w|(?-i:\s*/?(?:{_CAPITALS}|(?=[A-Z_]*_)[A-Z][A-Z_]*_\w+)\])|unused\w*\])"
    r"|[\[\]](?=[\w!]{0,4}~[\w!]{0,4}[\[\]])|\](?=<\])|>(?=(?-i:>[A-Z_]+<<))|\u25c1(?=/?\w+\u25b7)",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"[\s\"\u201c\u201d\u201e\u201f\u2033\u2036\u00ab\u00bb\uff02<>\uff1c\uff1e]+")


def escape(text: str) -> str:
    """Return untrusted text as it may stand in a prompt: no invisible characters, tag, role or template marker."""
    return _MARKER.sub("(", remove_invisible(text))


def escape_attribute(text: str, limit: int = 80) -> str:
    """Return untrusted text for use between quotes: one line, no quotes or brackets, at most `limit` characters."""
    return _QUOTES.sub(" ", escape(text)).strip()[:limit]


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Return the character range of a quote in a text, ignoring white space, case, punctuation, invisible characters.

    Of the text: a model reads, and so quotes, only its visible characters.
    """
    if len(quote) > 1_000:
        return None
    shown = remove_invisible(text)
    found = _find_normalized(quote, shown)
    if found is None or shown == text:
        return found
    places = _map_positions(shown, text)
    return places[found[0]], places[found[1] - 1] + 1


def _map_positions(shown: str, text: str) -> list[int]:
    """Return where each character stands in the text that some were left out of."""
    places: list[int] = []
    for place, character in enumerate(text):
        if len(places) < len(shown) and shown[len(places)] == character:
            places.append(place)
    return places


def _find_normalized(quote: str, text: str) -> tuple[int, int] | None:
    for candidate in (quote.split(), quote.strip(" \t\r\n\"'.,;:!?\u2026\u201c\u201d\u2018\u2019").split()):
        if candidate:
            pattern = r"\s+".join(re.escape(word) for word in candidate)
            match = re.search(pattern, text) or re.search(pattern, text, re.IGNORECASE)
            if match:
                return match.span()
    return None


def mark_lines(text: str) -> str:
    """Return untrusted text with the mark before each of its lines, whatever ends them."""
    return "\n".join(f"{MARK}{line}" for line in escape(text).splitlines() or [""])


def quote_name(name: str) -> str:
    """Return a name between quotes."""
    return f'"{escape_attribute(name)}"'


def bulleted_list(texts: Iterable[str]) -> str:
    """Return untrusted texts as a bulleted list, each between quotes."""
    return "\n".join(f'- "{escape_attribute(text, 300)}"' for text in texts) or "- none"


def format_time(time: datetime | None) -> str:
    """Return a time with its weekday, which the model needs to resolve relative dates."""
    return f"{time:%a} {time.day} {time:%B} {time.year} {time:%H:%M}" if time else "unknown"


CAPTION_OPENS = "\n[picture: "  # what stands before a caption in the text of its turn


def caption_line(caption: str | None) -> str:
    """Return a caption as a line of its turn's text; empty without one."""
    return f"{CAPTION_OPENS}{caption}]" if caption else ""


def resolved_references(facts: Iterable[Fact], turn: Turn, shown: str) -> str:
    """Return the facts in force with names that the shown words of their turn lack, on one line; empty for none.

    That is a pronoun resolved, or the question that a short answer leaves out: those first that name most, and none
    that only repeats the words or another. Left out are facts by rule, which know no more than the words, and what an
    assistant says of others.
    """
    text = {True: turn.caption or "", False: turn.text}
    told = [
        fact
        for fact in statements(facts)
        if fact.extractor != BY_RULE
        and fact.kind != "report"
        and fact.replaced_by is None
        and fact.predicate != ALSO_KNOWN_AS
        and text[fact.kind == "image"][slice(*fact.span)] in shown
    ]
    if not told:
        return ""
    said, adding = [shown, turn.speaker, turn.role or ""], list[str]()
    known = SourceWords(said)

    def count_lacking(fact: Fact) -> int:
        return known.count_missing_terms(f"{fact.subject} {fact.object}")

    for fact in sorted(told, key=count_lacking, reverse=True):
        if len(adding) == MEANT:
            break
        if count_lacking(fact):
            adding.append(f'"{escape_attribute(fact.text, MOST_MEANT)}"')
            said.append(fact.text)
            known = SourceWords(said)
    return f"that is: {'; '.join(adding)}" if adding else ""


def excerpts_by_size(
    turn: Turn,
    wanted: Collection[str],
    sizes: Iterable[int],
    found: Range | None = None,
    *,
    short: int = 0,
    read: int = WEIGHED,
) -> Iterator[str]:
    """Yield the words of a turn that are shown in each of some sizes, in characters of its text and of its caption.

    `found` is the passage of the text that a search found, around which so much is read; `short` as in `ranges_within`.
    """
    said, pictured = turn.text, turn.caption or ""
    of_said, of_pictured = RankedPassages(said, wanted, found, read), RankedPassages(pictured, wanted)
    for most in sizes:
        yield join_ranges(said, of_said.ranges_within(most, short=short)) + caption_line(
            join_ranges(pictured, of_pictured.ranges_within(most))
        )


class RankedPassages:
    """The parts of a text that match the wanted words, cut and ranked once for whatever sizes are asked of it.

    Args:
        text: Any text.
        wanted: Stems, as `text.terms` makes them; rare ones weigh more.
        found: The passage that a search found: around it, or else from its beginning, a longer text is looked through.
        most: How many characters are looked through.
    """

    def __init__(self, text: str, wanted: Collection[str], found: Range | None = None, most: int = WEIGHED) -> None:
        self._text = text
        self._wanted = frozenset(wanted)
        self._found = found
        self._most = most

    def ranges_within(self, most: int, *, short: int = 0) -> tuple[Range, ...]:
        """Return all of the text where it has at most `most` characters (1 or more), else the best matching parts.

        The ranges are half-open and in order, together at most `most` characters; words are whole, unless one is longer
        than `UNIT`. With `short`, a text of so many characters is whole, and the best part of another is, however long.
        """
        if len(self._text) <= max(most, short):
            return ((0, len(self._text)),)
        units, by_worth = self._units_by_worth
        taken: set[int] = set()
        left = most
        for number in by_worth:
            start, end = units[number]
            if end - start + GAP <= left or (short and not taken):
                taken.add(number)
                left -= end - start + GAP
            elif left < UNIT // 4:
                break
        return tuple(merge_ranges([units[number] for number in taken], GAP))

    @cached_property
    def _units_by_worth(self) -> tuple[list[Range], list[int]]:
        read = sentences_around(self._text, self._found, self._most)
        units = [piece for start, end in read for piece in _split_long_sentence(self._text, start, end)]
        return units, list(_rank_units(self._text, units, self._wanted))


def join_ranges(text: str, ranges: Sequence[Range]) -> str:
    """Return ranges of a text as one text, with an ellipsis wherever something is left out."""
    parts = " \u2026 ".join(text[start:end] for start, end in ranges)
    before = "\u2026 " if ranges and ranges[0][0] > 0 else ""
    after = " \u2026" if not ranges or ranges[-1][1] < len(text.rstrip()) else ""
    return f"{before}{parts}{after}"


def _split_long_sentence(text: str, start: int, end: int) -> Iterator[Range]:
    """Yield a sentence as it is, or pieces of it that end between words."""
    if end - start <= UNIT:
        yield start, end
        return
    for match in _PIECE.finditer(text, start, end):
        yield match.span()


def _rank_units(text: str, units: Sequence[Range], wanted: frozenset[str]) -> Iterator[int]:
    """Yield units by their matches, then those beside a match, then the rest from the start of the text."""
    found = [wanted.intersection(terms(text[start:end])) for start, end in units]
    spread = Counter(term for one in found for term in one)
    worth = [sum(math.log(1 + len(units) / spread[term]) for term in one) for one in found]
    best = sorted((number for number, value in enumerate(worth) if value), key=lambda number: -worth[number])
    yield from best
    known = set(best)
    for number in (near for one in best for near in (one + 1, one - 1)):
        if 0 <= number < len(units) and number not in known:
            known.add(number)
            yield number
    yield from (number for number in range(len(units)) if number not in known)
