"""Facts by rule: offline, deterministic and fast. Word lists, verb forms and punctuation; no model.

Whatever extracts facts, each is held to the bounds of `BoundedExtractor` before it is stored with a turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import get_args

from ..protocols import Extractor
from ..times import Conventions, DateOrder, Weekday
from ..types.stored import BY_RULE
from ..types.values import Fact, Granularity, TimeSpan, Turn
from .statements import fact_id, read_statements
from .turn_facts import extract_facts

# The extractors of evimem find at most 16 (rules) and 32 (LLM) facts a turn, with parts of at most some 2,500
# characters; a custom extractor may go beyond them up to these bounds.
MAX_FACTS = 128  # of one turn, over all extractors
MAX_PART = 4_096  # characters of a subject, predicate, object or time phrase
MAX_LABEL = 512  # characters of a kind or an extractor's name
_GRANULARITIES = frozenset(get_args(Granularity))


class RuleExtractor:
    """Extracts the facts of a turn by rule, from English text; needs no model and no network.

    Kinds of facts: event (something happened), state (something holds), opinion (a liking), image (the content of a
    shared picture). Facts are about speakers, their possessions, and people they name: who they are, whom or which
    things they have, did and like. Plans, suppositions, reports and unsure readings are left out. At most 16 facts come
    from a turn, and one more for every 2,000 characters of a long one; code, quotations, tables and letters that are
    passed on are not read.

    `weekday` decides how "last Friday" is read and `date_order` how 03/04/2024 is, as in `evimem.find_times`; a
    memory gives its own rules its `date_order`, and its timezone as `zone`. Safe to use from any thread.
    """

    name = BY_RULE

    def __init__(
        self, weekday: Weekday = "recent", date_order: DateOrder | None = None, zone: tzinfo | None = None
    ) -> None:
        """Raise InvalidQuery for a convention that there is not."""
        self.conventions: Conventions = Conventions(weekday, date_order, zone)

    def extract(self, turn: Turn) -> tuple[Fact, ...]:
        """Return the facts of a turn in the order of their spans; none for one that only asks, greets or reacts.

        A span is a half-open range of characters of the turn's text, or of its caption for a fact of kind image.
        """
        return extract_facts(turn, self.conventions, read_statements, self.name)


def extractor_conventions(extractor: Extractor) -> Conventions:
    """Return the conventions by which an extractor reads times: the usual things for one of another kind."""
    conventions: Conventions = getattr(extractor, "conventions", Conventions())
    return conventions


@dataclass(frozen=True, slots=True)
class BoundedExtractor:
    """A custom extractor within the bounds: facts that cannot be stored are left out, ids are those of the content."""

    inner: Extractor
    memory: Conventions = Conventions()

    @property
    def name(self) -> str:
        """The name of the extractor inside."""
        return self.inner.name

    @property
    def conventions(self) -> Conventions:
        """The conventions of the extractor inside and, where it has none, of the memory."""
        own = extractor_conventions(self.inner)
        return replace(self.memory, weekday=own.weekday, date_order=own.date_order or self.memory.date_order)

    def extract(self, turn: Turn) -> tuple[Fact, ...]:
        """Return the first MAX_FACTS facts of a turn that can be stored and exported."""
        found = (replace(fact, id=content_id(fact)) for fact in self.inner.extract(turn))
        sound = {fact.id: fact for fact in found if find_fact_fault(fact, turn) is None}
        return tuple(sound.values())[:MAX_FACTS]


def content_id(fact: Fact) -> str:
    """Return the id that the content of a fact gives."""
    return fact_id(fact.turn_id, fact.extractor, fact.span, fact.subject, fact.predicate, fact.object)


def find_fact_fault(fact: Fact, turn: Turn) -> str | None:
    """Return the fault of a fact of a turn and the expected form, or None for a fact that can be stored."""
    if fact.turn_id != turn.id:
        return f"its turn_id is {fact.turn_id[:40]!r}; expected the id of the turn on the same line, {turn.id[:40]!r}"
    for name, text in (("subject", fact.subject), ("predicate", fact.predicate), ("object", fact.object)):
        if len(text) > MAX_PART:
            return f"its {name} has {len(text)} characters; expected at most {MAX_PART}"
    for name, label in (("kind", fact.kind), ("extractor", fact.extractor), ("attribute", fact.attribute or "none")):
        if not _is_label(label):
            return f"its {name} is {label[:40]!r}; expected 1 to {MAX_LABEL} characters of valid Unicode"
    source = (turn.caption or "") if fact.kind == "image" else turn.text
    start, end = fact.span
    if not 0 <= start < end <= len(source):
        part = "caption" if fact.kind == "image" else "text"
        return f"its span is {start}..{end}; expected a range within the {len(source)} characters of the turn's {part}"
    expected = content_id(fact)
    if fact.id != expected:
        return f"its id is {fact.id[:40]!r}; expected {expected!r}, the digest of its content"
    return None if fact.event is None else _find_event_fault(fact.event, turn)


def _is_label(label: str) -> bool:
    return 0 < len(label) <= MAX_LABEL and not any("\ud800" <= character <= "\udfff" for character in label)


def _find_event_fault(event: TimeSpan, turn: Turn) -> str | None:
    if event.granularity not in _GRANULARITIES:
        return f"the granularity of its event is {event.granularity[:40]!r}; expected one of {sorted(_GRANULARITIES)}"
    if len(event.text) > MAX_PART:
        return f"the text of its event has {len(event.text)} characters; expected at most {MAX_PART}"
    start, end = event.start, event.end
    if start is None or end is None:
        return None if start is end else "its event has only one of start and end; expected both or neither"
    if {bool(start.tzinfo), bool(end.tzinfo)} != {bool(turn.time.tzinfo)}:
        return "its event and its turn differ in having a UTC offset; expected all times with one, or none"
    return None if start < end else f"its event ends at {end} and starts at {start}; expected an end after the start"
